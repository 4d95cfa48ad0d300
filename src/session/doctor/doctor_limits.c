/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmm doctor: the machine's and the user's limits. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/base/fmt.h"
#include "src/ledger/ledger_tree.h"
#include "src/track/watched.h"
#include "src/session/doctor/doctor.h"
#include "src/proc/limits.h"

/* First line of a file into `line`; false when there is none. */
static bool first_line(const char *path, char *line, size_t size)
{
	FILE *f = fopen(path, "re");
	bool got = f && fgets(line, (int)size, f);

	if (f)
		fclose(f);
	if (got)
		line[strcspn(line, "\n")] = '\0';
	return got;
}

/* The sign of a container, NULL = none seen; `name` is room for it. */
static const char *container(char name[64])
{
	if (!access("/.dockerenv", F_OK))
		return "docker";
	if (!access("/run/.containerenv", F_OK))
		return "podman";
	if (first_line("/run/systemd/container", name, 64) && name[0])
		return name;
	if (getenv("container"))
		return getenv("container");
	if (getenv("KUBERNETES_SERVICE_HOST"))
		return "kubernetes";
	return NULL;
}

static void check_container(struct doctor *d)
{
	char room[64];
	const char *name = container(room);

	if (name)
		doctor_add(d, "container", DOCTOR_OK, false, NULL,
			   "inside a container (%s): only its own processes are seen", name);
	else
		doctor_add(d, "container", DOCTOR_OK, false, NULL, "no container");
}

/* The monitor has a few descriptors of each process that it watches. */
static uint64_t most_processes(void)
{
	struct rlimit lim;

	return getrlimit(RLIMIT_NOFILE, &lim) ? 0 : lim.rlim_max / WATCHED_NR_FDS;
}

static void check_ledger(struct doctor *d)
{
	struct ledger_tree_options o = { .space_bytes = UINT64_MAX, .file_bytes = UINT64_MAX };
	struct ledger_tree t;
	struct rlimit lim;
	struct err e = { .text = "" };

	if (!getrlimit(RLIMIT_AS, &lim))
		o.space_bytes = lim.rlim_cur;
	if (!getrlimit(RLIMIT_FSIZE, &lim))
		o.file_bytes = lim.rlim_max;
	if (ledger_tree_init(&t, &o, &e)) {
		doctor_add(d, "ledger", DOCTOR_NO, true,
			   "raise the limits: ulimit -v, ulimit -f, cgroup", "%s", e.text);
		return;
	}
	doctor_add(d, "ledger", t.shrunk ? DOCTOR_NOTE : DOCTOR_OK, true,
		   "a resource limit (ulimit -v or -f) keeps it below what the machine allows",
		   "one ledger may take %s by default; %s processes at a time",
		   fmt_bytes(t.head->limit_bytes).s, fmt_count(most_processes()).s);
	ledger_tree_fini(&t);
}

/* The memory limit of our control group, either version. */
static void check_cgroup(struct doctor *d)
{
	uint64_t bytes = limits_cgroup("", getpid());
	uint64_t ram = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	if (bytes < ram)
		doctor_add(d, "memory", DOCTOR_NOTE, false, "ledgers count against it",
			   "the control group allows %s of %s", fmt_bytes(bytes).s,
			   fmt_bytes(ram).s);
	else
		doctor_add(d, "memory", DOCTOR_OK, false, NULL,
			   "%s, no limit of a control group is in the way", fmt_bytes(ram).s);
}

static void check_core(struct doctor *d)
{
	char pattern[256] = "";
	struct rlimit lim = { 0, 0 };

	getrlimit(RLIMIT_CORE, &lim);
	first_line("/proc/sys/kernel/core_pattern", pattern, sizeof(pattern));
	if (lim.rlim_cur || pattern[0] == '|')
		doctor_add(d, "core", DOCTOR_OK, false, NULL, "crashes leave a core file (%s)",
			   pattern);
	else
		doctor_add(d, "core", DOCTOR_NOTE, false,
			   "ulimit -c unlimited; pmm's captures do not need it",
			   "crashes leave no core file");
}

void doctor_limits(struct doctor *d)
{
	check_container(d);
	check_cgroup(d);
	check_ledger(d);
	check_core(d);
}
