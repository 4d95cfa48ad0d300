/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of /proc, line by line. */
#include "src/proc/machine.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "src/base/nanotime.h"

static const struct {
	const char *name, *key;
} counter_names[] = {
	[MACHINE_FAULTS] = { "page faults", "page_faults" },
	[MACHINE_MAJOR_FAULTS] = { "major faults", "major_faults" },
	[MACHINE_SWAP_IN] = { "pages swapped in", "pages_swapped_in" },
	[MACHINE_SWAP_OUT] = { "pages swapped out", "pages_swapped_out" },
	[MACHINE_SCANNED_DIRECT] = { "pages scanned by processes", "pages_scanned_direct" },
	[MACHINE_SCANNED_KSWAPD] = { "pages scanned by kswapd", "pages_scanned_kswapd" },
	[MACHINE_RECLAIMED] = { "pages reclaimed", "pages_reclaimed" },
	[MACHINE_STALLS] = { "direct reclaims", "direct_reclaims" },
	[MACHINE_COMPACTION] = { "waits for compaction", "compaction_waits" },
	[MACHINE_HUGE_FAULTS] = { "huge pages by faults", "huge_pages_by_faults" },
	[MACHINE_HUGE_COLLAPSED] = { "huge pages collapsed", "huge_pages_collapsed" },
	[MACHINE_OOM_KILLS] = { "OOM kills", "oom_kills" },
};

_Static_assert(sizeof(counter_names) / sizeof(*counter_names) == MACHINE_NR_COUNTERS,
	       "a name for each");

const char *machine_counter_name(enum machine_counter counter)
{
	return counter_names[counter].name;
}

const char *machine_counter_key(enum machine_counter counter)
{
	return counter_names[counter].key;
}

/* Names of /proc/vmstat; those with a final '_' stand for all that begin so (a zone each). */
static const struct {
	const char *name;
	enum machine_counter counter;
} vmstat[] = {
	{ "pgfault", MACHINE_FAULTS },
	{ "pgmajfault", MACHINE_MAJOR_FAULTS },
	{ "pswpin", MACHINE_SWAP_IN },
	{ "pswpout", MACHINE_SWAP_OUT },
	{ "pgscan_direct", MACHINE_SCANNED_DIRECT },
	{ "pgscan_kswapd", MACHINE_SCANNED_KSWAPD },
	{ "pgsteal_direct", MACHINE_RECLAIMED },
	{ "pgsteal_kswapd", MACHINE_RECLAIMED },
	{ "allocstall_", MACHINE_STALLS },
	{ "compact_stall", MACHINE_COMPACTION },
	{ "thp_fault_alloc", MACHINE_HUGE_FAULTS },
	{ "thp_collapse_alloc", MACHINE_HUGE_COLLAPSED },
	{ "oom_kill", MACHINE_OOM_KILLS },
};

static bool is_named(const char *pattern, const char *name)
{
	size_t n = strlen(pattern);

	return pattern[n - 1] == '_' ? !strncmp(pattern, name, n) : !strcmp(pattern, name);
}

static void take_vmstat(struct machine *m, const char *line)
{
	char name[64];
	uint64_t value;

	if (sscanf(line, "%63s %" SCNu64, name, &value) != 2)
		return;
	for (size_t i = 0; i < sizeof(vmstat) / sizeof(*vmstat); i++)
		if (is_named(vmstat[i].name, name))
			m->counter[vmstat[i].counter] += value;
}

static void take_meminfo(struct machine *m, const char *line)
{
	const struct {
		const char *format;
		uint64_t *to;
	} lines[] = {
		{ "MemTotal: %" SCNu64, &m->total_bytes },
		{ "MemAvailable: %" SCNu64, &m->available_bytes },
		{ "SwapTotal: %" SCNu64, &m->swap_bytes },
		{ "SwapFree: %" SCNu64, &m->swap_free_bytes },
	};
	uint64_t kib;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (sscanf(line, lines[i].format, &kib) == 1)
			*lines[i].to = kib << 10;
}

static void take_loadavg(struct machine *m, const char *line)
{
	(void)!sscanf(line, "%lf %lf %lf", &m->load[0], &m->load[1], &m->load[2]);
}

static void take_pressure(struct machine *m, const char *line)
{
	struct machine_pressure *p = &m->pressure;
	uint64_t us;
	double percent;

	if (sscanf(line, "some avg10=%lf avg60=%*f avg300=%*f total=%" SCNu64, &percent, &us) ==
	    2) {
		p->known = true;
		p->some_percent = percent;
		p->some_ns = us * 1000;
	}
	if (sscanf(line, "full avg10=%lf avg60=%*f avg300=%*f total=%" SCNu64, &percent, &us) ==
	    2) {
		p->full_percent = percent;
		p->full_ns = us * 1000;
	}
}

static bool each_line(const char *root, const char *file, struct machine *m,
		      void (*take)(struct machine *, const char *))
{
	char path[PATH_MAX], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/%s", root, file);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f))
		take(m, line);
	fclose(f);
	return true;
}

int machine_read(const char *root, struct machine *out)
{
	bool any;

	*out = (struct machine){ .time_ns = nanotime() };
	any = each_line(root, "meminfo", out, take_meminfo);
	any |= each_line(root, "vmstat", out, take_vmstat);
	any |= each_line(root, "loadavg", out, take_loadavg);
	any |= each_line(root, "pressure/memory", out, take_pressure);
	return any ? 0 : -ENOENT;
}

uint64_t machine_oom_kills(const char *root)
{
	struct machine m = { 0 };

	each_line(root, "vmstat", &m, take_vmstat);
	return m.counter[MACHINE_OOM_KILLS];
}
