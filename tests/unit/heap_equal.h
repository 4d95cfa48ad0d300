/*
 * Test helper: are two heaps the same, field by field? On a difference *what names it.
 */
#ifndef UNIT_HEAP_EQUAL_H
#define UNIT_HEAP_EQUAL_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "src/model/heap.h"

#define HEAP_SAME(a, b, field) do {								\
	if (memcmp(&(a)->field, &(b)->field, sizeof((a)->field)))				\
		return snprintf(what, size, "%s", #field), false;				\
} while (0)
#define HEAP_SAME_TEXT(a, b, field) do {							\
	if (strcmp((a)->field, (b)->field))							\
		return snprintf(what, size, "%s: '%s', '%s'", #field, (a)->field, (b)->field), false;	\
} while (0)
/* Rows without padding. */
#define HEAP_SAME_ROWS(a, b, field) do {							\
	HEAP_SAME(a, b, nr_##field);								\
	if ((a)->nr_##field && memcmp((a)->field, (b)->field, (a)->nr_##field * sizeof(*(a)->field)))	\
		return snprintf(what, size, "%s", #field), false;				\
} while (0)

static inline bool heap_equal_blocks(const struct heap_block *a, const struct heap_block *b, uint64_t nr,
				     char *what, size_t size)
{
	for (uint64_t i = 0; i < nr; i++) {
		HEAP_SAME(&a[i], &b[i], address);
		HEAP_SAME(&a[i], &b[i], size_bytes);
		HEAP_SAME(&a[i], &b[i], birth_ns);
		HEAP_SAME(&a[i], &b[i], site);
		HEAP_SAME(&a[i], &b[i], thread);
		HEAP_SAME(&a[i], &b[i], kind);
	}
	return true;
}

static inline bool heap_equal_leaks(const struct heap *a, const struct heap *b, char *what, size_t size)
{
	for (uint64_t i = 0; i < a->nr_leaks; i++) {
		const struct heap_leak *k = &a->leaks[i], *l = &b->leaks[i];

		HEAP_SAME(k, l, site);
		HEAP_SAME(k, l, class);
		HEAP_SAME(k, l, holder_site);
		HEAP_SAME(k, l, blocks);
		HEAP_SAME(k, l, bytes);
		HEAP_SAME(k, l, indirect_blocks);
		HEAP_SAME(k, l, indirect_bytes);
		HEAP_SAME(k, l, oldest_ns);
		HEAP_SAME(k, l, newest_ns);
		HEAP_SAME(k, l, held_blocks);
		HEAP_SAME(k, l, chained_blocks);
	}
	return true;
}

static inline bool heap_equal_modules(const struct heap *a, const struct heap *b, char *what, size_t size)
{
	for (uint32_t i = 0; i < a->nr_modules; i++) {
		const struct heap_module *m = &a->modules[i], *n = &b->modules[i];

		HEAP_SAME(m, n, start);
		HEAP_SAME(m, n, end);
		HEAP_SAME(m, n, bias);
		HEAP_SAME(m, n, load_ns);
		HEAP_SAME(m, n, unload_ns);
		HEAP_SAME_TEXT(m, n, path);
		HEAP_SAME(m, n, build_id);
		HEAP_SAME(m, n, build_id_len);
	}
	return true;
}

static inline bool heap_equal_threads(const struct heap *a, const struct heap *b, char *what, size_t size)
{
	for (uint32_t i = 0; i < a->nr_threads; i++) {
		const struct heap_thread *s = &a->threads[i], *t = &b->threads[i];

		HEAP_SAME(s, t, tid);
		HEAP_SAME_TEXT(s, t, name);
		HEAP_SAME(s, t, alive);
		HEAP_SAME(s, t, start_ns);
		HEAP_SAME(s, t, allocs);
		HEAP_SAME(s, t, frees);
		HEAP_SAME(s, t, bytes_in);
		HEAP_SAME(s, t, bytes_out);
	}
	return true;
}

/* All between the strings and the arrays that holds no pointer. */
static inline bool heap_equal_head(const struct heap *a, const struct heap *b, char *what, size_t size)
{
	HEAP_SAME(a, b, pid);
	HEAP_SAME(a, b, ppid);
	HEAP_SAME_TEXT(a, b, comm);
	HEAP_SAME_TEXT(a, b, exe);
	HEAP_SAME_TEXT(a, b, cmdline);
	HEAP_SAME_TEXT(a, b, host);
	HEAP_SAME(a, b, start_realtime_ns);
	HEAP_SAME(a, b, attach_ns);
	HEAP_SAME(a, b, taken_ns);
	HEAP_SAME(a, b, end);
	HEAP_SAME(a, b, end_status);
	HEAP_SAME(a, b, began);
	HEAP_SAME(a, b, mode);
	HEAP_SAME(a, b, sample_bytes);
	HEAP_SAME(a, b, min_size_bytes);
	HEAP_SAME(a, b, warn_size_bytes);
	HEAP_SAME(a, b, tick_ns);
	HEAP_SAME(a, b, ledger_bytes);
	HEAP_SAME(a, b, ledger_limit_bytes);
	HEAP_SAME(a, b, ledger_slots_used);
	HEAP_SAME(a, b, ledger_slots);
	HEAP_SAME(a, b, dropped);
	HEAP_SAME(a, b, dropped_bytes);
	HEAP_SAME(a, b, off_reason);
	HEAP_SAME(a, b, drift_blocks);
	HEAP_SAME(a, b, allocs);
	HEAP_SAME(a, b, frees);
	HEAP_SAME(a, b, bytes_in);
	HEAP_SAME(a, b, bytes_out);
	HEAP_SAME(a, b, live_bytes);
	HEAP_SAME(a, b, live_blocks);
	HEAP_SAME(a, b, peak_bytes);
	HEAP_SAME(a, b, peak_ns);
	HEAP_SAME(a, b, temporary);
	HEAP_SAME(a, b, failed);
	HEAP_SAME(a, b, zero_size);
	HEAP_SAME(a, b, huge);
	HEAP_SAME(a, b, untracked_frees);
	HEAP_SAME(a, b, skipped_allocs);
	HEAP_SAME(a, b, skipped_bytes);
	return true;
}

static inline bool heap_equal_allocator(const struct heap_allocator *a, const struct heap_allocator *b,
					char *what, size_t size)
{
	HEAP_SAME(a, b, valid);
	HEAP_SAME(a, b, taken_ns);
	HEAP_SAME_TEXT(a, b, path);
	HEAP_SAME(a, b, arena_bytes);
	HEAP_SAME(a, b, used_bytes);
	HEAP_SAME(a, b, free_bytes);
	HEAP_SAME(a, b, free_chunks);
	HEAP_SAME(a, b, fast_chunks);
	HEAP_SAME(a, b, fast_bytes);
	HEAP_SAME(a, b, mmapped_chunks);
	HEAP_SAME(a, b, mmapped_bytes);
	HEAP_SAME(a, b, top_bytes);
	return true;
}

static inline bool heap_equal(const struct heap *a, const struct heap *b, char *what, size_t size)
{
	if (!heap_equal_head(a, b, what, size) ||
	    !heap_equal_allocator(&a->allocator, &b->allocator, what, size))
		return false;
	HEAP_SAME(a, b, class);
	HEAP_SAME(a, b, mapping);
	HEAP_SAME(a, b, search.how);
	HEAP_SAME(a, b, search.complete);
	HEAP_SAME(a, b, search.at_ns);
	HEAP_SAME(a, b, search.pause_ns);
	HEAP_SAME(a, b, search.took_ns);
	HEAP_SAME(a, b, search.read_bytes);
	HEAP_SAME(a, b, search.unread_bytes);
	HEAP_SAME(a, b, nr_leaks);
	HEAP_SAME(a, b, nr_modules);
	HEAP_SAME(a, b, nr_threads);
	HEAP_SAME_ROWS(a, b, nodes);
	HEAP_SAME_ROWS(a, b, sites);
	HEAP_SAME_ROWS(a, b, map_sites);
	HEAP_SAME_ROWS(a, b, points);
	HEAP_SAME_ROWS(a, b, site_points);
	HEAP_SAME(a, b, nr_blocks);
	HEAP_SAME(a, b, nr_maps);
	return heap_equal_leaks(a, b, what, size) && heap_equal_modules(a, b, what, size) && heap_equal_threads(a, b, what, size) &&
	       heap_equal_blocks(a->blocks, b->blocks, a->nr_blocks, what, size) &&
	       heap_equal_blocks(a->maps, b->maps, a->nr_maps, what, size);
}

#endif
