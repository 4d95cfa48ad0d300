/* SPDX-License-Identifier: GPL-2.0-or-later */ /* What pmm.h gives to this program. */
#include "monitor.h"

#include <pmm.h>

#include <stdio.h>

#ifdef PMM
#include "log.h"

bool monitor_is_in(void)
{
	return true;
}

void monitor_silence(void)
{
	pmm_set(PMM_AT_EXIT, 0);
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

void monitor_stats(char *text, size_t room)
{
	struct pmm_stats all;

	pmm_get_stats(&all);
	snprintf(text, room, "%zu blocks live, %zu bytes; %zu passed untracked; %zu errors",
		 all.nr_live, all.bytes_live, all.nr_passed, all.nr_errors);
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
