/* SPDX-License-Identifier: MIT */
/*
 * Tables as text on demand, by signal, to whom they are to go.
 */
static void put_totals(void)
{
	struct pmm_stats all;

	pmm_get_stats(&all);
	put_text("pmm: totals\n  blocks: %zu new, %zu freed, %zu live, %zu at most\n", all.nr_new,
		 all.nr_freed, all.nr_live, all.nr_peak);
	put_text("  bytes: %llu new, %llu freed, %zu live, %zu at most\n", all.bytes_new,
		 all.bytes_freed, all.bytes_live, all.bytes_peak);
	put_text("  requests: %zu failed, %zu for 0 bytes, %zu huge, %zu passed untracked\n  "
		 "frees: %zu of blocks not tracked, %zu given up\n",
		 all.nr_failed, all.nr_zero, all.nr_huge, all.nr_passed, all.nr_foreign,
		 all.nr_lost);
	put_in_use(&all);
	put_text("%s, %zu of %zu call sites\n  errors: %zu\n", all.table_full ? " (was full)" : "",
		 all.sites_used, all.sites, all.nr_errors);
	put_kmod();
}

#if defined(__GLIBC__) && defined(__GLIBC_PREREQ) && !defined(PMM_BARE)
#if __GLIBC_PREREQ(2, 33)
#include <malloc.h>
#define HEAP_TOTALS
#ifndef HEAP_UNKNOWN
#define HEAP_UNKNOWN 0
#endif
#endif
#endif

int pmm_get_heap(struct pmm_heap *heap)
{
#ifdef HEAP_TOTALS
	struct mallinfo2 all;

	if (HEAP_UNKNOWN) {
		memset(heap, 0, sizeof(*heap));
		return -1;
	}
	all = mallinfo2();

	heap->bytes = all.arena + all.hblkhd;
	heap->bytes_used = all.uordblks + all.hblkhd;
	heap->bytes_free = all.fordblks;
	return 0;
#else
	memset(heap, 0, sizeof(*heap));
	return -1;
#endif
}

static void put_heap(void)
{
	struct pmm_heap heap;

	if (!pmm_get_heap(&heap))
		put_text("pmm: allocator\n  bytes: %zu from the system, %zu in use, %zu free\n",
			 heap.bytes, heap.bytes_used, heap.bytes_free);
}

static void put_tables(unsigned tables)
{
	if (tables & PMM_BLOCKS)
		put_blocks();
	if (tables & PMM_SITES)
		put_sites();
	if (tables & PMM_CLASSES)
		put_classes();
	if (tables & PMM_TOTALS)
		put_totals();
	if (tables & PMM_HEAP)
		put_heap();
}

void pmm_report(unsigned tables)
{
	if (!enter()) {
		monitor.late_tables = monitor.late_tables | tables;
		monitor.late = 1;
		return;
	}
	put_tables(tables);
	leave();
}

void pmm_report_to(pmm_output *output, void *ctx, unsigned tables)
{
	pmm_output *old;
	void *old_ctx;

	if (!enter())
		return;
	hand_on();
	old = monitor.output;
	old_ctx = monitor.output_ctx;
	monitor.output = output;
	monitor.output_ctx = ctx;
	put_tables(tables);
	hand_on();
	monitor.output = old;
	monitor.output_ctx = old_ctx;
	leave();
}

#ifndef PMM_BARE
void pmm_report_fd(int fd, unsigned tables)
{
	pmm_report_to(write_to_fd, &fd, tables);
}

static void report_signal(int signo)
{
	(void)signo;
	pmm_report(monitor.signal_tables);
}

int pmm_report_on(int signo, unsigned tables)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = report_signal;
	action.sa_flags = SA_RESTART;
	/* the handler may have come in the middle of malloc() */
	monitor.signal_tables = tables & ~(unsigned)PMM_HEAP;
	return sigaction(signo, &action, NULL);
}
#else
void pmm_report_fd(int fd, unsigned tables)
{
	(void)fd;
	(void)tables;
}

int pmm_report_on(int signo, unsigned tables)
{
	(void)signo;
	(void)tables;
	errno = ENOSYS;
	return -1;
}
#endif
