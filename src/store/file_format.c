/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sections a .pmm capture has and their columns; checksum; strings from outside. See
 * file_format.h.
 */
#include "src/store/file_format.h"

#include <lzma.h>
#include <string.h>

#include "include/pmm/ledger.h"

#define IS_BOOL(x) _Generic((x), bool: true, default: false)
#define FIELD(type, field)                                                                         \
	{                                                                                          \
		offsetof(struct type, field), sizeof(((struct type *)0)->field),                   \
			IS_BOOL(((struct type *)0)->field)                                         \
	}
#define HEAP(field)   FIELD(heap, field)
#define MODULE(field) FIELD(heap_module, field)
#define THREAD(field) FIELD(heap_thread, field)
#define SITE(field)   FIELD(heap_site, field)
#define LIVED(bucket) { bucket, sizeof(uint64_t), false, true }
#define BLOCK(field)  FIELD(heap_block, field)
#define CLASS(field)  FIELD(heap_class, field)
#define LEAK(field)   FIELD(heap_leak, field)
#define FIND(field)   FIELD(heap_finding, field)
#define KROW(field)   FIELD(heap_kernel_row, field)
#define USAGE(field)  FIELD(heap_usage_point, field)

/* The order is the format's. */
static const struct file_column head_columns[] = {
	HEAP(pid),
	HEAP(ppid),
	HEAP(start_realtime_ns),
	HEAP(attach_ns),
	HEAP(taken_ns),
	HEAP(end),
	HEAP(end_status),
	HEAP(began),
	HEAP(mode),
	HEAP(sample_bytes),
	HEAP(min_size_bytes),
	HEAP(warn_size_bytes),
	HEAP(tick_ns),
	HEAP(ledger_bytes),
	HEAP(ledger_limit_bytes),
	HEAP(ledger_slots_used),
	HEAP(ledger_slots),
	HEAP(dropped[0]),
	HEAP(dropped[1]),
	HEAP(dropped[2]),
	HEAP(dropped[3]),
	HEAP(dropped[4]),
	HEAP(dropped[5]),
	HEAP(dropped_bytes),
	HEAP(off_reason),
	HEAP(drift_blocks),
	HEAP(allocs),
	HEAP(frees),
	HEAP(bytes_in),
	HEAP(bytes_out),
	HEAP(live_bytes),
	HEAP(live_blocks),
	HEAP(peak_bytes),
	HEAP(peak_ns),
	HEAP(temporary),
	HEAP(failed),
	HEAP(zero_size),
	HEAP(huge),
	HEAP(untracked_frees),
	HEAP(skipped_allocs),
	HEAP(skipped_bytes),
	HEAP(allocator.valid),
	HEAP(allocator.taken_ns),
	HEAP(allocator.arena_bytes),
	HEAP(allocator.used_bytes),
	HEAP(allocator.free_bytes),
	HEAP(allocator.free_chunks),
	HEAP(allocator.fast_chunks),
	HEAP(allocator.fast_bytes),
	HEAP(allocator.mmapped_chunks),
	HEAP(allocator.mmapped_bytes),
	HEAP(allocator.top_bytes),
	HEAP(mapping.mmap_calls),
	HEAP(mapping.mmap_bytes),
	HEAP(mapping.mmap_failed),
	HEAP(mapping.munmap_calls),
	HEAP(mapping.munmap_bytes),
	HEAP(mapping.mremap_calls),
	HEAP(mapping.mremap_grown_bytes),
	HEAP(mapping.mremap_shrunk_bytes),
	HEAP(mapping.brk_calls),
	HEAP(mapping.brk_growth_bytes),
	HEAP(mapping.brk_peak_bytes),
};

static const struct file_column class_columns[] = {
	CLASS(calls[0]),  CLASS(calls[1]),  CLASS(calls[2]),  CLASS(calls[3]),	CLASS(calls[4]),
	CLASS(calls[5]),  CLASS(calls[6]),  CLASS(calls[7]),  CLASS(calls[8]),	CLASS(calls[9]),
	CLASS(calls[10]), CLASS(calls[11]), CLASS(calls[12]), CLASS(calls[13]), CLASS(calls[14]),
	CLASS(calls[15]), CLASS(frees),	    CLASS(bytes_in),  CLASS(bytes_out), CLASS(failed),
};

static const struct file_column module_columns[] = {
	MODULE(start),	 MODULE(end),	    MODULE(bias),
	MODULE(load_ns), MODULE(unload_ns), MODULE(build_id_len),
};

static const struct file_column thread_columns[] = {
	THREAD(tid),   THREAD(alive),	 THREAD(start_ns),  THREAD(allocs),
	THREAD(frees), THREAD(bytes_in), THREAD(bytes_out),
};

static const struct file_column frame_columns[] = {FIELD(file_frame, pc),
						   FIELD(file_frame, module)};

/* The first column of NODE, each node's frame, is no field of the heap: see file_write.c. */
static const struct file_column node_columns[] = {FIELD(heap_node, parent)};

static const struct file_column site_columns[] = {
	SITE(node),	    SITE(allocs),	SITE(frees),	    SITE(bytes_in),
	SITE(bytes_out),    SITE(live_bytes),	SITE(live_blocks),  SITE(peak_bytes),
	SITE(peak_blocks),  SITE(temporary),	SITE(max_bytes),    SITE(failed),
	SITE(zero_size),    SITE(huge),		SITE(first_ns),	    SITE(last_ns),
	SITE(samples_in),   SITE(samples_out),	SITE(at_once),	    LIVED(1),
	LIVED(2),  LIVED(3),  LIVED(4),	 LIVED(5),  LIVED(6),  LIVED(7),  LIVED(8),  LIVED(9),
	LIVED(10), LIVED(11), LIVED(12), LIVED(13), LIVED(14), LIVED(15), LIVED(16), LIVED(17),
	LIVED(18), LIVED(19), LIVED(20), LIVED(21), LIVED(22), LIVED(23),
};

static const struct file_column block_columns[] = {
	BLOCK(address), BLOCK(size_bytes), BLOCK(birth_ns), BLOCK(site), BLOCK(thread), BLOCK(kind),
};

static const struct file_column point_columns[] = {
	FIELD(heap_point, time_ns), FIELD(heap_point, live_bytes), FIELD(heap_point, live_blocks),
	FIELD(heap_point, allocs),  FIELD(heap_point, rss_bytes),
};

static const struct file_column site_point_columns[] = {
	FIELD(heap_site_point, time_ns),
	FIELD(heap_site_point, site),
	FIELD(heap_site_point, live_bytes),
	FIELD(heap_site_point, live_blocks),
};

static const struct file_column search_columns[] = {
	HEAP(search.how),	   HEAP(search.complete), HEAP(search.at_ns),
	HEAP(search.pause_ns),	   HEAP(search.took_ns),  HEAP(search.read_bytes),
	HEAP(search.unread_bytes),
};

static const struct file_column leak_columns[] = {
	LEAK(site),	 LEAK(class),		LEAK(holder_site),    LEAK(blocks),
	LEAK(bytes),	 LEAK(indirect_blocks), LEAK(indirect_bytes), LEAK(oldest_ns),
	LEAK(newest_ns), LEAK(held_blocks),	LEAK(chained_blocks),
};

static const struct file_column check_columns[] = {
	HEAP(check.level),
	HEAP(check.mechanism),
	HEAP(check.flags),
	HEAP(check.guarded),
	HEAP(check.guarded_now),
	HEAP(check.guarded_most),
	HEAP(check.canaried),
	HEAP(check.passed),
	HEAP(check.unguarded_limit),
	HEAP(check.unguarded_budget),
	HEAP(check.unguarded_large),
	HEAP(check.unguarded_refused),
	HEAP(check.failed_on_purpose),
	HEAP(check.quarantined_bytes),
	HEAP(check.findings_lost),
	HEAP(check.scans),
	HEAP(check.swept_ns),
	HEAP(check.left_open),
};

static const struct file_column coverage_columns[] = {
	HEAP(check.passed_early),    HEAP(check.unkept_large),	   HEAP(check.unkept_busy),
};

static const struct file_column death_columns[] = {
	HEAP(death.known),	HEAP(death.by_choice), HEAP(death.signal),   HEAP(death.fault),
	HEAP(death.map_access), HEAP(death.code),      HEAP(death.sender),   HEAP(death.status),
	HEAP(death.finding),	HEAP(death.map_start), HEAP(death.map_end),  HEAP(death.regs[0]),
	HEAP(death.regs[1]),	HEAP(death.regs[2]),   HEAP(death.regs[3]),  HEAP(death.regs[4]),
	HEAP(death.regs[5]),	HEAP(death.regs[6]),   HEAP(death.regs[7]),  HEAP(death.regs[8]),
	HEAP(death.regs[9]),	HEAP(death.regs[10]),  HEAP(death.regs[11]), HEAP(death.regs[12]),
	HEAP(death.regs[13]),	HEAP(death.regs[14]),  HEAP(death.regs[15]), HEAP(death.regs[16]),
};

static const struct file_column finding_columns[] = {
	FIND(number),	    FIND(type),	    FIND(by),	     FIND(access),	FIND(place),
	FIND(kind),	    FIND(release),  FIND(guarded),   FIND(count),	FIND(first_ns),
	FIND(last_ns),	    FIND(since_ns), FIND(address),   FIND(size_bytes),	FIND(block),
	FIND(block_bytes),  FIND(other),    FIND(site),	     FIND(thread),	FIND(alloc_site),
	FIND(alloc_thread), FIND(alloc_ns), FIND(free_site), FIND(free_thread), FIND(free_ns),
	FIND(parent_pid),   FIND(nr_code),  FIND(nr_bytes),
};

static const struct file_column missed_columns[] = {HEAP(missed_frees)};

static const struct file_column space_columns[] = {HEAP(space_taken_bytes)};
static const struct file_column own_columns[] = {HEAP(own_calls)};

static const struct file_column resident_columns[] = {HEAP(peak_resident_bytes)};

static const struct file_column figures_columns[] = { HEAP(allocator.outside), HEAP(allocator.why),
						      HEAP(allocator.nr_arenas) };

static const struct file_column srcloc_columns[] = {FIELD(heap_srcloc, line)};

static const struct file_column kernel_columns[] = {
	HEAP(kernel.traced),	 HEAP(kernel.stacks),	      HEAP(kernel.sample),
	HEAP(kernel.classes),	 HEAP(kernel.unseen_classes), HEAP(kernel.bin_ns),
	HEAP(kernel.complete_stacks), HEAP(kernel.all_stacks), HEAP(kernel.rows_lost),
	HEAP(kernel.bins_lost),
};

static const struct file_column kernel_fault_columns[] = {
	HEAP(kernel.faults_counted),
	HEAP(kernel.faults),
	HEAP(kernel.major_faults),
};

static const struct file_column kernel_kind_columns[] = {
	FIELD(heap_kernel_kind, kind),
	FIELD(heap_kernel_kind, events),
	FIELD(heap_kernel_kind, lost),
	FIELD(heap_kernel_kind, dropped),
};

static const struct file_column kernel_row_columns[] = {
	KROW(kind),    KROW(detail), KROW(node),  KROW(site), KROW(of),	    KROW(events),
	KROW(records), KROW(failed), KROW(bytes), KROW(ns),   KROW(max_ns), KROW(first_ns),
	KROW(last_ns),
};

static const struct file_column kernel_bin_columns[] = {
	FIELD(heap_kernel_bin, time_ns), FIELD(heap_kernel_bin, kind),
	FIELD(heap_kernel_bin, events),	 FIELD(heap_kernel_bin, bytes),
	FIELD(heap_kernel_bin, ns),
};

static const struct file_column kmod_columns[] = {
	HEAP(kmod.logged), HEAP(kmod.over_limit), HEAP(kmod.no_memory),
	HEAP(kmod.overflows), HEAP(kmod.torn), HEAP(kmod.bad),
	HEAP(kmod.sites_lost), HEAP(kmod.replaced), HEAP(kmod.foreign_frees),
	HEAP(kmod.double_frees),
};

static const struct file_column kmod_sum_columns[] = {
	HEAP(kmod.sums),       HEAP(kmod.evicted),    HEAP(kmod.lost_bytes),
	HEAP(kmod.peak_bytes), HEAP(kmod.peak_blocks),
};

static const struct file_column usage_columns[] = {
	HEAP(usage.sampled), HEAP(usage.why), HEAP(usage.pss_why),
	HEAP(usage.took_ns), HEAP(usage.pss_took_ns),
};

static const struct file_column usage_point_columns[] = {
	USAGE(time_ns),	   USAGE(known),      USAGE(threads),	 USAGE(minor_faults),
	USAGE(major_faults), USAGE(user_ns),  USAGE(system_ns),	 USAGE(anon_bytes),
	USAGE(file_bytes), USAGE(shmem_bytes), USAGE(swap_bytes), USAGE(pss_bytes),
};

static const struct file_column mark_columns[] = {
	FIELD(heap_mark, time_ns), FIELD(heap_mark, last_ns), FIELD(heap_mark, count),
	FIELD(heap_mark, pid),	   FIELD(heap_mark, kind),
};

_Static_assert(HEAP_NR_DROPS == 6 && HEAP_NR_KINDS == 16 && HEAP_NR_LIFETIMES == 24 &&
		       HEAP_NR_CLASSES == 7 && HEAP_NR_REGS == 17,
	       "a new one is a new optional section, see doc/capture-format.md");

#define COLUMNS(c) c, sizeof(c) / sizeof(*(c))
#define ARRAY(field)                                                                               \
	sizeof(*((struct heap *)0)->field), offsetof(struct heap, field),                          \
		offsetof(struct heap, nr_##field), sizeof(((struct heap *)0)->nr_##field)

const struct file_table file_tables[FILE_NR_TABLES] = {
	[FILE_HEAD] = { "HEAD", "what ran", 1, sizeof(struct heap), 0, 0, 0,
			COLUMNS(head_columns) },
	[FILE_CLASSES] = { "CLAS", "size classes", HEAP_NR_CLASSES, sizeof(struct heap_class), 0, 0,
			   0, COLUMNS(class_columns) },
	[FILE_MODULES] = { "MODU", "modules", 1 << 20, ARRAY(modules), COLUMNS(module_columns) },
	[FILE_THREADS] = { "THRD", "threads", PMM_MAX_THREADS + 1, ARRAY(threads),
			   COLUMNS(thread_columns) },
	[FILE_FRAMES] = { "FRAM", "frames", PMM_MAX_NODES, sizeof(struct file_frame), 0, 0, 0,
			  COLUMNS(frame_columns) },
	[FILE_NODES] = { "NODE", "call tree", PMM_MAX_NODES, ARRAY(nodes), COLUMNS(node_columns) },
	[FILE_SITES] = { "SITE", "call sites", PMM_MAX_SITES, ARRAY(sites), COLUMNS(site_columns) },
	[FILE_MAP_SITES] = { "MSIT", "mapping sites", PMM_MAX_SITES, ARRAY(map_sites),
			     COLUMNS(site_columns) },
	[FILE_BLOCKS] = { "BLOK", "live blocks", 1ull << 34, ARRAY(blocks),
			  COLUMNS(block_columns) },
	[FILE_MAPS] = { "MAPS", "live mappings", 1ull << 30, ARRAY(maps), COLUMNS(block_columns) },
	[FILE_POINTS] = { "PNTS", "time series", 1 << 24, ARRAY(points), COLUMNS(point_columns) },
	[FILE_SITE_POINTS] = { "SPNT", "time series of sites", 1 << 28, ARRAY(site_points),
			       COLUMNS(site_point_columns) },
	[FILE_SEARCH] = { "SRCH", "search for leaks", 1, sizeof(struct heap), 0, 0, 0,
			  COLUMNS(search_columns), .optional = true },
	[FILE_LEAKS] = { "LEAK", "leaks", 1 << 28, ARRAY(leaks), COLUMNS(leak_columns),
			 .optional = true },
	[FILE_CHECK] = { "CHCK", "check for heap errors", 1, sizeof(struct heap), 0, 0, 0,
			 COLUMNS(check_columns), .optional = true },
	[FILE_FINDINGS] = { "FIND", "heap errors", 1 << 24, ARRAY(findings),
			    COLUMNS(finding_columns), .optional = true },
	[FILE_COVERAGE] = { "COVR", "what was not checked", 1, sizeof(struct heap), 0, 0, 0,
			    COLUMNS(coverage_columns), .optional = true },
	[FILE_DEATH] = { "DIED", "what ended the process", 1, sizeof(struct heap), 0, 0, 0,
			 COLUMNS(death_columns), .optional = true },
	[FILE_SRCLOCS] = { "SPOT", "lines of the source", PMM_MAX_SRCLOCS, ARRAY(srclocs),
			   COLUMNS(srcloc_columns), .optional = true },
	[FILE_RESIDENT] = { "RESI", "resident memory", 1, sizeof(struct heap), 0, 0, 0,
			    COLUMNS(resident_columns), .optional = true },
	[FILE_FIGURES] = { "FIGS", "the allocator's figures", 1, sizeof(struct heap), 0, 0, 0,
			   COLUMNS(figures_columns), .optional = true },
	[FILE_MISSED] = { "MISS", "what was not seen", 1, sizeof(struct heap), 0, 0, 0,
			  COLUMNS(missed_columns), .optional = true },
	[FILE_KERNEL] = { "KERN", "kernel events", 1, sizeof(struct heap), 0, 0, 0,
			  COLUMNS(kernel_columns), .optional = true },
	[FILE_KERNEL_KINDS] = { "KKND", "kinds of kernel events", HEAP_KERNEL_MAX_KINDS,
				ARRAY(kernel_kinds), COLUMNS(kernel_kind_columns),
				.optional = true },
	[FILE_KERNEL_ROWS] = { "KROW", "sums of kernel events", HEAP_KERNEL_MAX_ROWS,
			       ARRAY(kernel_rows), COLUMNS(kernel_row_columns), .optional = true },
	[FILE_KERNEL_BINS] = { "KBIN", "kernel events over time", HEAP_KERNEL_MAX_BINS,
			       ARRAY(kernel_bins), COLUMNS(kernel_bin_columns), .optional = true },
	[FILE_KERNEL_FAULTS] = { "KFLT", "page faults", 1, sizeof(struct heap), 0, 0, 0,
				 COLUMNS(kernel_fault_columns), .optional = true },
	[FILE_KMOD] = { "KMOD", "the kernel module's log", 1, sizeof(struct heap), 0, 0, 0,
			COLUMNS(kmod_columns), .optional = true },
	[FILE_KMOD_SUMS] = { "KSUM", "sums of the kernel module's log", 1, sizeof(struct heap), 0,
			     0, 0, COLUMNS(kmod_sum_columns), .optional = true },
	[FILE_USAGE] = { "USAG", "the kernel's figures", 1, sizeof(struct heap), 0, 0, 0,
			 COLUMNS(usage_columns), .optional = true },
	[FILE_USAGE_POINTS] = { "UPNT", "the kernel's figures over time", 1 << 24,
				ARRAY(usage_points), COLUMNS(usage_point_columns),
				.optional = true },
	[FILE_SPACE] = { "ROOM", "address space taken", 1, sizeof(struct heap), 0, 0, 0,
			 COLUMNS(space_columns), .optional = true },
	[FILE_OWN] = { "OWNF", "calls of the allocator's functions", 1, sizeof(struct heap), 0, 0,
		       0, COLUMNS(own_columns), .optional = true },
	[FILE_MARKS] = { "MARK", "what happened when", HEAP_MAX_MARKS, ARRAY(marks),
			 COLUMNS(mark_columns), .optional = true },
};

/*
 * Column coding and zstd together make at most some thousand bytes of heap from one of file;
 * small heaps go beyond.
 */
uint64_t file_budget(uint64_t file_bytes)
{
	uint64_t ratio = 4096, floor = 1ull << 30;

	return file_bytes > (UINT64_MAX - floor) / ratio ? UINT64_MAX : floor + ratio * file_bytes;
}

uint32_t file_crc(uint32_t crc, const void *bytes, size_t n)
{
	return lzma_crc32(bytes, n, crc);
}
