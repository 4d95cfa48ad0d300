/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Test helper: are two heaps the same, field by field? On a difference `what`, of `size`, names it.
 */
#ifndef TESTS_UNIT_HEAP_EQUAL_H
#define TESTS_UNIT_HEAP_EQUAL_H

#include "src/model/heap_lifetimes.h"
#include "tests/unit/fields.h"

/* All that holds no pointer, and the strings. */
static const struct field heap_equal_head[] = {
	FIELD(heap, pid),
	FIELD(heap, ppid),
	FIELD_TEXT(heap, comm),
	FIELD_TEXT(heap, exe),
	FIELD_TEXT(heap, cmdline),
	FIELD_TEXT(heap, host),
	FIELD(heap, start_realtime_ns),
	FIELD(heap, attach_ns),
	FIELD(heap, taken_ns),
	FIELD(heap, end),
	FIELD(heap, end_status),
	FIELD(heap, began),
	FIELD(heap, mode),
	FIELD(heap, sample_bytes),
	FIELD(heap, min_size_bytes),
	FIELD(heap, warn_size_bytes),
	FIELD(heap, tick_ns),
	FIELD(heap, ledger_bytes),
	FIELD(heap, ledger_limit_bytes),
	FIELD(heap, space_taken_bytes),	FIELD(heap, own_calls),
	FIELD(heap, ledger_slots_used),
	FIELD(heap, ledger_slots),
	FIELD(heap, dropped),
	FIELD(heap, dropped_bytes),
	FIELD(heap, off_reason),
	FIELD(heap, drift_blocks),
	FIELD(heap, allocs),
	FIELD(heap, frees),
	FIELD(heap, bytes_in),
	FIELD(heap, bytes_out),
	FIELD(heap, live_bytes),
	FIELD(heap, live_blocks),
	FIELD(heap, peak_bytes),
	FIELD(heap, peak_ns),
	FIELD(heap, temporary),
	FIELD(heap, failed),
	FIELD(heap, zero_size),
	FIELD(heap, huge),
	FIELD(heap, untracked_frees),
	FIELD(heap, missed_frees),
	FIELD(heap, peak_resident_bytes),
	FIELD(heap, kmod.logged),
	FIELD(heap, kmod.over_limit),
	FIELD(heap, kmod.no_memory),
	FIELD(heap, kmod.overflows),
	FIELD(heap, kmod.torn),
	FIELD(heap, kmod.bad),
	FIELD(heap, kmod.sites_lost),
	FIELD(heap, kmod.replaced),
	FIELD(heap, kmod.foreign_frees),
	FIELD(heap, kmod.double_frees),
	FIELD(heap, kmod.evicted),
	FIELD(heap, kmod.sums),
	FIELD(heap, kmod.lost_bytes),
	FIELD(heap, kmod.peak_bytes),
	FIELD(heap, kmod.peak_blocks),
	FIELD(heap, skipped_allocs),
	FIELD(heap, skipped_bytes),
	FIELD(heap, class),
	FIELD(heap, mapping),
	FIELD(heap, search.how),
	FIELD(heap, search.complete),
	FIELD(heap, search.at_ns),
	FIELD(heap, search.pause_ns),
	FIELD(heap, search.took_ns),
	FIELD(heap, search.read_bytes),
	FIELD(heap, search.unread_bytes),
	FIELD(heap, nr_leaks),
	FIELD(heap, nr_modules),
	FIELD(heap, nr_threads),
	FIELD(heap, nr_blocks),
	FIELD(heap, nr_maps),
	FIELD(heap, nr_nodes),
	FIELD(heap, nr_srclocs),
	FIELD(heap, nr_sites),
	FIELD(heap, nr_map_sites),
	FIELD(heap, nr_findings),
	FIELD(heap, check.level),
	FIELD(heap, check.mechanism),
	FIELD(heap, check.flags),
	FIELD(heap, check.guarded),
	FIELD(heap, check.guarded_now),
	FIELD(heap, check.guarded_most),
	FIELD(heap, check.canaried),
	FIELD(heap, check.passed),
	FIELD(heap, check.passed_early),
	FIELD(heap, check.unkept_large),
	FIELD(heap, check.unkept_busy),
	FIELD(heap, check.unguarded_limit),
	FIELD(heap, check.unguarded_budget),
	FIELD(heap, check.unguarded_large),
	FIELD(heap, check.unguarded_refused),
	FIELD(heap, check.failed_on_purpose),
	FIELD(heap, check.quarantined_bytes),
	FIELD(heap, check.findings_lost),
	FIELD(heap, check.left_open),
	FIELD(heap, check.scans),
	FIELD(heap, check.swept_ns),
	FIELD(heap, death.known),
	FIELD(heap, death.by_choice),
	FIELD(heap, death.signal),
	FIELD(heap, death.fault),
	FIELD(heap, death.map_access),
	FIELD(heap, death.code),
	FIELD(heap, death.sender),
	FIELD(heap, death.status),
	FIELD(heap, death.finding),
	FIELD(heap, death.map_start),
	FIELD(heap, death.map_end),
	FIELD(heap, death.regs),
	FIELD(heap, nr_points),
	FIELD(heap, nr_site_points),
	FIELD(heap, usage.sampled),
	FIELD(heap, usage.why),
	FIELD(heap, usage.pss_why),
	FIELD(heap, usage.took_ns),
	FIELD(heap, usage.pss_took_ns),
	FIELD(heap, nr_usage_points),
	FIELD(heap, nr_marks),
	FIELD(heap, allocator.valid),
	FIELD(heap, allocator.taken_ns),
	FIELD_TEXT(heap, allocator.path),
	FIELD(heap, allocator.arena_bytes),
	FIELD(heap, allocator.used_bytes),
	FIELD(heap, allocator.free_bytes),
	FIELD(heap, allocator.free_chunks),
	FIELD(heap, allocator.fast_chunks),
	FIELD(heap, allocator.fast_bytes),
	FIELD(heap, allocator.mmapped_chunks),
	FIELD(heap, allocator.mmapped_bytes),
	FIELD(heap, allocator.top_bytes),
	FIELD(heap, allocator.outside),
	FIELD(heap, allocator.why),
	FIELD(heap, allocator.nr_arenas),
	FIELD(heap, kernel.traced),
	FIELD(heap, kernel.stacks),
	FIELD(heap, kernel.sample),
	FIELD(heap, kernel.classes),
	FIELD(heap, kernel.unseen_classes),
	FIELD(heap, kernel.bin_ns),
	FIELD(heap, kernel.complete_stacks),
	FIELD(heap, kernel.all_stacks),
	FIELD(heap, kernel.rows_lost),
	FIELD(heap, kernel.bins_lost),
	FIELD(heap, kernel.faults_counted),
	FIELD(heap, kernel.faults),
	FIELD(heap, kernel.major_faults),
	FIELD_TEXT(heap, kernel.unseen),
	FIELD(heap, nr_kernel_kinds),
	FIELD(heap, nr_kernel_rows),
	FIELD(heap, nr_kernel_bins),
};

static const struct field heap_equal_kernel_kind[] = {
	FIELD(heap_kernel_kind, kind),
	FIELD(heap_kernel_kind, events),
	FIELD(heap_kernel_kind, lost),
	FIELD(heap_kernel_kind, dropped),
};

static const struct field heap_equal_kernel_row[] = {
	FIELD(heap_kernel_row, kind),	  FIELD(heap_kernel_row, detail),
	FIELD(heap_kernel_row, node),	  FIELD(heap_kernel_row, site),
	FIELD(heap_kernel_row, of),	  FIELD(heap_kernel_row, events),
	FIELD(heap_kernel_row, records),  FIELD(heap_kernel_row, failed),
	FIELD(heap_kernel_row, bytes),	  FIELD(heap_kernel_row, ns),
	FIELD(heap_kernel_row, max_ns),	  FIELD(heap_kernel_row, first_ns),
	FIELD(heap_kernel_row, last_ns),
};

static const struct field heap_equal_kernel_bin[] = {
	FIELD(heap_kernel_bin, time_ns), FIELD(heap_kernel_bin, kind),
	FIELD(heap_kernel_bin, events),	 FIELD(heap_kernel_bin, bytes),
	FIELD(heap_kernel_bin, ns),
};

static const struct field heap_equal_usage_point[] = {
	FIELD(heap_usage_point, time_ns),      FIELD(heap_usage_point, known),
	FIELD(heap_usage_point, threads),      FIELD(heap_usage_point, minor_faults),
	FIELD(heap_usage_point, major_faults), FIELD(heap_usage_point, user_ns),
	FIELD(heap_usage_point, system_ns),    FIELD(heap_usage_point, anon_bytes),
	FIELD(heap_usage_point, file_bytes),   FIELD(heap_usage_point, shmem_bytes),
	FIELD(heap_usage_point, swap_bytes),   FIELD(heap_usage_point, pss_bytes),
};

static const struct field heap_equal_mark[] = {
	FIELD(heap_mark, time_ns), FIELD(heap_mark, last_ns), FIELD(heap_mark, count),
	FIELD(heap_mark, pid),	   FIELD(heap_mark, kind),    FIELD_TEXT(heap_mark, name),
};

static const struct field heap_equal_block[] = {
	FIELD(heap_block, address), FIELD(heap_block, size_bytes), FIELD(heap_block, birth_ns),
	FIELD(heap_block, site),    FIELD(heap_block, thread),	   FIELD(heap_block, kind),
};

static const struct field heap_equal_leak[] = {
	FIELD(heap_leak, site),		  FIELD(heap_leak, class),
	FIELD(heap_leak, holder_site),	  FIELD(heap_leak, blocks),
	FIELD(heap_leak, bytes),	  FIELD(heap_leak, indirect_blocks),
	FIELD(heap_leak, indirect_bytes), FIELD(heap_leak, oldest_ns),
	FIELD(heap_leak, newest_ns),	  FIELD(heap_leak, held_blocks),
	FIELD(heap_leak, chained_blocks),
};

static const struct field heap_equal_finding[] = {
	FIELD(heap_finding, type),	  FIELD(heap_finding, by),
	FIELD(heap_finding, access),	  FIELD(heap_finding, place),
	FIELD(heap_finding, kind),	  FIELD(heap_finding, release),
	FIELD(heap_finding, guarded),	  FIELD(heap_finding, nr_code),
	FIELD(heap_finding, nr_bytes),	  FIELD(heap_finding, code),
	FIELD(heap_finding, bytes),	  FIELD_TEXT(heap_finding, function),
	FIELD_TEXT(heap_finding, text),	  FIELD(heap_finding, number),
	FIELD(heap_finding, count),	  FIELD(heap_finding, first_ns),
	FIELD(heap_finding, last_ns),	  FIELD(heap_finding, since_ns),
	FIELD(heap_finding, address),	  FIELD(heap_finding, size_bytes),
	FIELD(heap_finding, block),	  FIELD(heap_finding, block_bytes),
	FIELD(heap_finding, other),	  FIELD(heap_finding, site),
	FIELD(heap_finding, alloc_site),  FIELD(heap_finding, free_site),
	FIELD(heap_finding, thread),	  FIELD(heap_finding, alloc_thread),
	FIELD(heap_finding, free_thread), FIELD(heap_finding, alloc_ns),
	FIELD(heap_finding, free_ns),	  FIELD(heap_finding, parent_pid),
};

static const struct field heap_equal_module[] = {
	FIELD(heap_module, start),     FIELD(heap_module, end),
	FIELD(heap_module, bias),      FIELD(heap_module, load_ns),
	FIELD(heap_module, unload_ns), FIELD_TEXT(heap_module, path),
	FIELD(heap_module, build_id),  FIELD(heap_module, build_id_len),
};

static const struct field heap_equal_thread[] = {
	FIELD(heap_thread, tid),      FIELD_TEXT(heap_thread, name), FIELD(heap_thread, alive),
	FIELD(heap_thread, start_ns), FIELD(heap_thread, allocs),    FIELD(heap_thread, frees),
	FIELD(heap_thread, bytes_in), FIELD(heap_thread, bytes_out),
};

static const struct field heap_equal_srcloc[] = { FIELD_TEXT(heap_srcloc, file),
						  FIELD_TEXT(heap_srcloc, function),
						  FIELD(heap_srcloc, line) };

/* Are two arrays of `nr` the same, in these fields of their elements? */
#define HEAP_EQUAL_EACH(fields, a, b, nr, what, size)                                              \
	heap_equal_each(fields, sizeof(fields) / sizeof(*(fields)), a, b, nr, sizeof(*(a)), what,  \
			size)

static inline bool heap_equal_each(const struct field *fields, size_t nr_fields, const void *a,
				   const void *b, uint64_t nr, size_t bytes, char *what,
				   size_t size)
{
	for (uint64_t i = 0; i < nr; i++)
		if (!fields_equal(fields, nr_fields, (const char *)a + i * bytes,
				  (const char *)b + i * bytes, what, size))
			return false;
	return true;
}

static inline bool heap_equal_blocks(const struct heap_block *a, const struct heap_block *b,
				     uint64_t nr, char *what, size_t size)
{
	return HEAP_EQUAL_EACH(heap_equal_block, a, b, nr, what, size);
}

/* Rows without padding. */
static inline bool heap_equal_bytes(const char *name, const void *a, const void *b, uint64_t bytes,
				    char *what, size_t size)
{
	if (!bytes || !memcmp(a, b, bytes))
		return true;
	snprintf(what, size, "%s", name);
	return false;
}

#define HEAP_EQUAL_BYTES(field) \
	heap_equal_bytes(#field, a->field, b->field, a->nr_##field * sizeof(*a->field), what, size)

/* Which row a site's lifetimes have may differ. */
static inline bool heap_equal_sites(const struct heap *a, const struct heap_site *in_a,
				    const struct heap *b, const struct heap_site *in_b, uint64_t nr,
				    char *what, size_t size)
{
	for (uint64_t i = 0; i < nr; i++) {
		struct heap_site x = in_a[i], y = in_b[i];
		uint64_t of_x[HEAP_NR_LIFETIMES], of_y[HEAP_NR_LIFETIMES];

		heap_lifetimes_get(a, &x, of_x);
		heap_lifetimes_get(b, &y, of_y);
		x.lifetimes = y.lifetimes = 0;
		if (!heap_equal_bytes("sites", &x, &y, sizeof(x), what, size) ||
		    !heap_equal_bytes("lifetimes", of_x, of_y, sizeof(of_x), what, size))
			return false;
	}
	return true;
}

static inline bool heap_equal(const struct heap *a, const struct heap *b, char *what, size_t size)
{
	return HEAP_EQUAL_EACH(heap_equal_head, a, b, 1, what, size) && HEAP_EQUAL_BYTES(nodes) &&
	       heap_equal_sites(a, a->sites, b, b->sites, a->nr_sites, what, size) &&
	       heap_equal_sites(a, a->map_sites, b, b->map_sites, a->nr_map_sites, what, size) &&
	       HEAP_EQUAL_BYTES(points) &&
	       HEAP_EQUAL_BYTES(site_points) &&
	       HEAP_EQUAL_EACH(heap_equal_usage_point, a->usage_points, b->usage_points,
			       a->nr_usage_points, what, size) &&
	       HEAP_EQUAL_EACH(heap_equal_mark, a->marks, b->marks, a->nr_marks, what, size) &&
	       HEAP_EQUAL_EACH(heap_equal_leak, a->leaks, b->leaks, a->nr_leaks, what, size) &&
	       HEAP_EQUAL_EACH(heap_equal_finding, a->findings, b->findings, a->nr_findings, what,
			       size) &&
	       HEAP_EQUAL_EACH(heap_equal_srcloc, a->srclocs, b->srclocs, a->nr_srclocs, what,
			       size) &&
	       HEAP_EQUAL_EACH(heap_equal_module, a->modules, b->modules, a->nr_modules, what,
			       size) &&
	       HEAP_EQUAL_EACH(heap_equal_thread, a->threads, b->threads, a->nr_threads, what,
			       size) &&
	       HEAP_EQUAL_EACH(heap_equal_kernel_kind, a->kernel_kinds, b->kernel_kinds,
			       a->nr_kernel_kinds, what, size) &&
	       HEAP_EQUAL_EACH(heap_equal_kernel_row, a->kernel_rows, b->kernel_rows,
			       a->nr_kernel_rows, what, size) &&
	       HEAP_EQUAL_EACH(heap_equal_kernel_bin, a->kernel_bins, b->kernel_bins,
			       a->nr_kernel_bins, what, size) &&
	       heap_equal_blocks(a->blocks, b->blocks, a->nr_blocks, what, size) &&
	       heap_equal_blocks(a->maps, b->maps, a->nr_maps, what, size);
}

#endif
