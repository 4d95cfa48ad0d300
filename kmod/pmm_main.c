// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pmm.ko: programs log their memory requests to /dev/pmm, a kernel thread watches the processes,
 * /proc/pmm shows both (doc/kmod.md). Parameters, configuration, load and unload.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/user_namespace.h>

#include "pmm_module.h"
#include "pmm_parse.h"

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Process memory monitor: logs of memory requests, watched processes");
MODULE_VERSION("1.0");

static unsigned int interval_ms = 1000;
module_param(interval_ms, uint, 0444);
MODULE_PARM_DESC(interval_ms, "milliseconds between two looks at the processes, 10 to 3600000");

static bool scan = true;
module_param(scan, bool, 0444);
MODULE_PARM_DESC(scan, "look at the processes");

static unsigned int window = 32;
module_param(window, uint, 0444);
MODULE_PARM_DESC(window, "looks that growth is judged by, 8 to 64");

static unsigned int processes = 4096;
module_param(processes, uint, 0444);
MODULE_PARM_DESC(processes, "processes monitored at most, 1 to 65536");

static unsigned long entries_per_process = 1048576;
module_param(entries_per_process, ulong, 0444);
MODULE_PARM_DESC(entries_per_process, "entries in the log of one process at most, to 16777216");

static unsigned long entries_in_all = 4194304;
module_param(entries_in_all, ulong, 0444);
MODULE_PARM_DESC(entries_in_all, "entries in all logs at most, to 16777216");

static unsigned long growth_kib = 65536;
module_param(growth_kib, ulong, 0444);
MODULE_PARM_DESC(growth_kib, "alert when resident memory gains this steadily in a window; 0: none");

static unsigned long resident_kib;
module_param(resident_kib, ulong, 0444);
MODULE_PARM_DESC(resident_kib, "alert at this much resident memory; 0: none");

static unsigned long logged_kib;
module_param(logged_kib, ulong, 0444);
MODULE_PARM_DESC(logged_kib, "alert at this much outstanding in the log; 0: none");

static unsigned int keep_s = 600;
module_param(keep_s, uint, 0444);
MODULE_PARM_DESC(keep_s, "seconds for which the log of a dead process stays, to 2592000");

/* Those that are about one process, and can fail. */
#define SET_PIDS (PMM_KMOD_SET_START | PMM_KMOD_SET_STOP | PMM_KMOD_SET_CLEAR)

struct pmm_settings pmm_settings;
struct pmm_log_limits pmm_limits;

/* Of what changes together. */
static DEFINE_MUTEX(settings_lock);

void pmm_config_get(struct pmm_kmod_config *config)
{
	memset(config, 0, sizeof(*config));
	config->size = sizeof(*config);
	config->version = PMM_KMOD_VERSION;
	mutex_lock(&settings_lock);
	config->scan = pmm_settings.scan;
	config->interval_ms = pmm_settings.interval_ms;
	config->entries_per_process = pmm_limits.entries_per_process;
	config->entries_in_all = pmm_limits.entries_in_all;
	config->growth_bytes = atomic64_read(&pmm_settings.growth_bytes);
	config->resident_bytes = atomic64_read(&pmm_settings.resident_bytes);
	config->logged_bytes = atomic64_read(&pmm_settings.logged_bytes);
	config->keep_s = pmm_settings.keep_s;
	config->window = pmm_settings.window;
	mutex_unlock(&settings_lock);
}

/* What cannot fail. */
static void set_settings(const struct pmm_kmod_config *c)
{
	mutex_lock(&settings_lock);
	if (c->set & PMM_KMOD_SET_INTERVAL)
		WRITE_ONCE(pmm_settings.interval_ms, c->interval_ms);
	if (c->set & PMM_KMOD_SET_SCAN)
		WRITE_ONCE(pmm_settings.scan, c->scan);
	if (c->set & PMM_KMOD_SET_ENTRIES) {
		WRITE_ONCE(pmm_limits.entries_per_process, c->entries_per_process);
		WRITE_ONCE(pmm_limits.entries_in_all, c->entries_in_all);
	}
	if (c->set & PMM_KMOD_SET_GROWTH)
		atomic64_set(&pmm_settings.growth_bytes, c->growth_bytes);
	if (c->set & PMM_KMOD_SET_RESIDENT)
		atomic64_set(&pmm_settings.resident_bytes, c->resident_bytes);
	if (c->set & PMM_KMOD_SET_LOGGED)
		atomic64_set(&pmm_settings.logged_bytes, c->logged_bytes);
	if (c->set & PMM_KMOD_SET_KEEP)
		WRITE_ONCE(pmm_settings.keep_s, c->keep_s);
	mutex_unlock(&settings_lock);
}

bool pmm_may_all(struct file *file)
{
	return capable(CAP_SYS_ADMIN) && file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN);
}

static int clear_log(struct pid *pid, bool may_all)
{
	struct pmm_target *t = pmm_target_find(pid);
	int err;

	if (!t)
		return -ESRCH;
	err = mutex_lock_killable(&t->lock);
	if (!err) {
		pmm_target_drain(t);
		pmm_target_empty(t);
		mutex_unlock(&t->lock);
	}
	pmm_target_put(t);
	return err;
}

static int stop_pid(struct pid *pid, bool may_all)
{
	return pmm_target_stop(pid);
}

/* A process begins as it would by logging: one that was stopped stays so. */
static int start_pid(struct pid *pid, bool may_all)
{
	struct pmm_target *t = pmm_target_start(pid, !may_all);

	if (IS_ERR(t))
		return PTR_ERR(t);
	pmm_target_put(t);
	return 0;
}

struct action {
	u32 set;
	s32 pid;
	int (*act)(struct pid *pid, bool may_all);
	bool own_too;		/* a process may do it to itself */
};

static int act(const struct action *a, bool may_all)
{
	bool begins = a->set == PMM_KMOD_SET_START;
	struct pid *pid = begins ? find_get_pid(a->pid) : pmm_target_pid(a->pid);
	int err;

	if (!pid)
		return may_all ? -ESRCH : -EPERM;
	if (may_all || (a->own_too && pid == task_tgid(current)))
		err = a->act(pid, may_all);
	else
		err = -EPERM;
	put_pid(pid);
	return err;
}

int pmm_config_set(const struct pmm_kmod_config *config, bool may_all)
{
	const struct action actions[] = {
		{ PMM_KMOD_SET_START, config->start_pid, start_pid, true },
		{ PMM_KMOD_SET_STOP, config->stop_pid, stop_pid, false },
		{ PMM_KMOD_SET_CLEAR, config->clear_pid, clear_log, true },
	};
	u32 set = config->set & SET_PIDS;
	unsigned int i;
	int err = 0;

	if (config->set & ~SET_PIDS && !may_all)
		return -EPERM;
	/* one that can fail at a time: else the first would have to be undone */
	if (hweight32(set) > 1)
		return -EINVAL;
	for (i = 0; !err && i < ARRAY_SIZE(actions); i++)
		if (set & actions[i].set)
			err = act(&actions[i], may_all);
	if (!err && config->set & ~SET_PIDS) {
		set_settings(config);
		pmm_scan_kick();
	}
	return err;
}

/* The parameters, as a configuration that is checked and set as any other. */
static int settings_init(void)
{
	const struct pmm_kmod_config c = {
		.set = PMM_KMOD_SET_ALL & ~SET_PIDS,
		.scan = scan,
		.interval_ms = interval_ms,
		.entries_per_process = entries_per_process,
		.entries_in_all = entries_in_all,
		.growth_bytes = (u64)growth_kib << 10,
		.resident_bytes = (u64)resident_kib << 10,
		.logged_bytes = (u64)logged_kib << 10,
		.keep_s = keep_s,
	};

	if (pmm_config_check(&c) || window < PMM_TREND_MIN || window > PMM_TREND_MAX ||
	    !processes || processes > 65536) {
		pr_err("a parameter is out of range: see modinfo\n");
		return -EINVAL;
	}
	pmm_settings.window = window;
	pmm_settings.processes = processes;
	set_settings(&c);
	return 0;
}

static int __init pmm_init(void)
{
	int err = settings_init();

	if (!err)
		err = pmm_table_init();
	if (err)
		return err;
	err = pmm_scan_init();
	if (err)
		goto no_scan;
	err = pmm_proc_init();
	if (err)
		goto no_proc;
	err = pmm_dev_init();
	if (err)
		goto no_dev;
	return 0;
no_dev:
	pmm_proc_exit();
no_proc:
	pmm_scan_exit();
no_scan:
	pmm_table_exit();
	return err;
}

/* No file of the device is open, and no ring mapped: both hold the module. */
static void __exit pmm_exit(void)
{
	pmm_dev_exit();
	pmm_proc_exit();
	pmm_scan_exit();
	pmm_table_exit();
}

module_init(pmm_init);
module_exit(pmm_exit);
