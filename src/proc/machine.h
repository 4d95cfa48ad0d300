/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of the whole machine at one moment: /proc/meminfo, vmstat, loadavg, pressure/memory.
 */
#ifndef PROC_MACHINE_H
#define PROC_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

/* Counters of /proc/vmstat since boot, those of one thing added up. */
enum machine_counter {
	MACHINE_FAULTS,			/* pgfault */
	MACHINE_MAJOR_FAULTS,		/* pgmajfault */
	MACHINE_SWAP_IN,		/* pswpin, pages */
	MACHINE_SWAP_OUT,		/* pswpout, pages */
	MACHINE_SCANNED_DIRECT,		/* pgscan_direct, pages */
	MACHINE_SCANNED_KSWAPD,		/* pgscan_kswapd, pages */
	MACHINE_RECLAIMED,		/* pgsteal_direct, pgsteal_kswapd, pages */
	MACHINE_STALLS,			/* allocstall_*: entries into direct reclaim */
	MACHINE_COMPACTION,		/* compact_stall */
	MACHINE_HUGE_FAULTS,		/* thp_fault_alloc */
	MACHINE_HUGE_COLLAPSED,		/* thp_collapse_alloc */
	MACHINE_OOM_KILLS,		/* oom_kill */
	MACHINE_NR_COUNTERS
};

struct machine_pressure {
	bool known;			/* the kernel has PSI, and it is on */
	double some_percent, full_percent;	/* of the last 10 s */
	uint64_t some_ns, full_ns;	/* since boot */
};

struct machine {
	uint64_t time_ns;		/* CLOCK_MONOTONIC */
	uint64_t total_bytes, available_bytes, swap_bytes, swap_free_bytes;
	double load[3];			/* of 1, 5, 15 minutes */
	struct machine_pressure pressure;
	uint64_t counter[MACHINE_NR_COUNTERS];
};

/* Read it; `root` goes before /proc. What cannot be read is 0. 0, or -ENOENT: nothing could be. */
int machine_read(const char *root, struct machine *out);

/*
 * Processes that the kernel ended for want of memory, a control group's or the machine's, since
 * boot; 0 where that is not known.
 */
uint64_t machine_oom_kills(const char *root);

/* "major faults"; a key for JSON: "major_faults". */
const char *machine_counter_name(enum machine_counter counter);
const char *machine_counter_key(enum machine_counter counter);

#endif
