/* SPDX-License-Identifier: GPL-2.0-or-later */ /* What pmm.h gives to this program. */
#include "monitor.h"

#include <pmm.h>

#include <stdio.h>

#ifdef PMM
#include <errno.h>
#include <string.h>

#include "log.h"

bool monitor_is_in(void)
{
	return true;
}

void monitor_silence(void)
{
	pmm_set(PMM_AT_EXIT, 0);
	pmm_kmod_disable();	/* of a form that is compiled with PMM_KMOD it would be on */
}

void monitor_start(void)
{
	pmm_set_output(log_text, NULL);
	pmm_set(PMM_AT_EXIT, PMM_BLOCKS | PMM_TOTALS);
	pmm_report_on(SIGUSR1, PMM_ALL);
}

void monitor_signals(sigset_t *set)
{
	(void)set;
}

void monitor_dump(void)
{
	pmm_report(PMM_ALL);
}

size_t monitor_check(void)
{
	return pmm_check();
}

bool monitor_log(bool on, char *why, size_t room)
{
	int status;

	if (!on) {
		pmm_kmod_disable();
		return true;
	}
	status = pmm_kmod_enable();
	if (status > 0)
		return true;
	if (status == -ENOENT || status == -ENXIO)
		snprintf(why, room, "it is not loaded, which 'pmm kmod load' does as root");
	else if (status == -ENOSYS)
		snprintf(why, room, "this pmmd is compiled without PMM_KMOD");
	else
		snprintf(why, room, "/dev/pmm cannot be used: %s", strerror(-status));
	return false;
}

void monitor_stats(char *text, size_t room)
{
	struct pmm_stats all;

	pmm_get_stats(&all);
	snprintf(text, room, "%zu blocks live, %zu bytes; %zu passed untracked; %zu errors%s",
		 all.nr_live, all.bytes_live, all.nr_passed, all.nr_errors,
		 pmm_kmod_status() == 1 ? "; logs to the kernel module" : "");
}
#else
bool monitor_is_in(void)
{
	return false;
}

void monitor_silence(void)
{
}

void monitor_start(void)
{
}

bool monitor_log(bool on, char *why, size_t room)
{
	snprintf(why, room, "this pmmd has no monitor inside");
	return !on;
}

void monitor_signals(sigset_t *set)
{
	sigaddset(set, SIGUSR1);
}

void monitor_dump(void)
{
}

size_t monitor_check(void)
{
	return 0;
}

void monitor_stats(char *text, size_t room)
{
	snprintf(text, room, "none compiled in");
}
#endif
