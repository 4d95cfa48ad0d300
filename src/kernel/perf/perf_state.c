/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is not seen of each group by perf events, in words. */
#include "src/kernel/perf/perf_state_priv.h"

#include <stdio.h>

static void group_says(struct kernel_group_state *out, enum kernel_group_status status,
		       const char *why, const char *remedy)
{
	out->status = status;
	snprintf(out->why, sizeof(out->why), "%s", why);
	snprintf(out->remedy, sizeof(out->remedy), "%s", remedy);
}

static void unseen(struct kernel_group_state *out, enum trace_kind kind)
{
	out->unseen[kind / 64] |= 1ull << kind % 64;
}

static void calls_state(struct kernel_group_state *out)
{
	static const enum trace_kind not[] = {
		TRACE_SHMGET, TRACE_SHMAT, TRACE_SHMDT, TRACE_SHMCTL, TRACE_MEMFD, TRACE_SHM_OPEN,
		TRACE_SHM_UNLINK, TRACE_MUNMAP, TRACE_MREMAP, TRACE_MADVISE,
	};

	group_says(out, KERNEL_GROUP_PARTLY,
		   "perf events show mappings made or protected and heap growth, without stacks; no "
		   "munmap, mremap, madvise, shmat, no failed calls", "");
	for (size_t i = 0; i < sizeof(not) / sizeof(*not); i++)
		unseen(out, not[i]);
}

static void pmc_state(bool failed, struct kernel_group_state *out)
{
	if (failed)
		group_says(out, KERNEL_GROUP_FAILED,
			   "there are no hardware counters (a virtual machine may hide them)",
			   "--counters cpu_clock,page_faults works everywhere");
	else
		group_says(out, KERNEL_GROUP_PARTLY,
			   "perf events count in user mode only, and page_faults not beside event "
			   "'faults'", "");
}

void perf_state(enum kernel_group group, bool failed, struct kernel_group_state *out)
{
	switch (group) {
	case KERNEL_LIFE:
		group_says(out, KERNEL_GROUP_PARTLY,
			   "perf events show no exit status and no OOM scores, arguments only while "
			   "the process runs, no set-user-ID programs", "");
		break;
	case KERNEL_CALLS:
		calls_state(out);
		break;
	case KERNEL_FAULTS:
		group_says(out, KERNEL_GROUP_PARTLY,
			   "perf events do not tell reads from writes, and show no faults of the "
			   "kernel in system calls", "");
		break;
	case KERNEL_MAJOR:
		group_says(out, KERNEL_GROUP_PARTLY,
			   "perf events show no faults of the kernel in system calls", "");
		break;
	case KERNEL_PMC:
		pmc_state(failed, out);
		break;
	default:
		group_says(out, KERNEL_GROUP_FAILED,
			   KERNEL_NEEDS_PROGRAMS, "");
		break;
	}
}
