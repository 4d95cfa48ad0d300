/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is a root: the parts joined. */
#include <errno.h>
#include <stdlib.h>

#include "src/roots/roots_priv.h"

/* a hook's caller is at most so far above the thread's stack pointer */
#define NEAR_BYTES	(8ull << 20)
#define MAX_FRAME	(256ull << 10)	/* of the allocator's stack that is looked at */

/* ---- blocks on their way (struct precopy_move) ----------------------------------------------- */

static int kept_add(struct roots_ranges *kept, uint64_t start, uint64_t bytes)
{
	struct memory_range r = { .start = start,
				  .end = start + bytes,
				  .kind = MEMORY_UNKNOWN_BLOCKS };

	return r.end > r.start ? vec_push(kept, r) : 0;
}

static int word_kept(const struct roots_find *f, const struct precopy_move *m, uint64_t word,
		     struct roots_ranges *kept)
{
	size_t i = roots_span_at(&f->covered, word);

	if (i == f->covered.nr || f->covered.v[i].start > word || roots_in_block(f->heap, word))
		return 0;
	return kept_add(kept, word, m->to_bytes);
}

/*
 * The thread that is at it: by its number, or the one whose stack pointer is nearest below the
 * hook's caller.
 */
static const struct process_copy_thread *mover(const struct roots_find *f,
					       const struct precopy_move *m)
{
	const struct process_copy_thread *nearest = NULL;

	for (size_t i = 0; i < f->nr_threads; i++) {
		const struct process_copy_thread *t = &f->threads[i];

		uint64_t sp = arch_sp(&t->regs);

		if (sp > m->sp || m->sp - sp > NEAR_BYTES)
			continue;
		if (m->tid && (uint32_t)t->tid == m->tid)
			return t;
		if (!nearest || sp > arch_sp(&nearest->regs))
			nearest = t;
	}
	return nearest;
}

static int move_kept(const struct roots_find *f, const struct precopy_move *m,
		     struct roots_ranges *kept)
{
	const struct process_copy_thread *t = mover(f, m);
	int rc = kept_add(kept, m->from, m->bytes);
	struct roots_window w = { .f = f };
	uint64_t at, word, low;

	if (!t)
		return rc;
	for (size_t i = 0; !rc && i < t->nr_words; i++)
		rc = word_kept(f, m, t->words[i], kept);
	low = arch_sp(&t->regs) - ARCH_RED_ZONE;
	for (at = low & ~7ull; !rc && at < m->sp && at - low < MAX_FRAME; at += 8)
		if (roots_window_word(&w, at, &word))
			rc = word_kept(f, m, word, kept);
	free(w.bytes);
	return rc;
}

/* By overlapping each other, ranges would cut each other off at the wrong end: joined. */
static void ranges_join(struct roots_ranges *r)
{
	size_t nr = 0;

	roots_ranges_order(r);
	for (size_t i = 0; i < r->nr; i++)
		if (nr && r->v[i].start <= r->v[nr - 1].end)
			r->v[nr - 1].end = r->v[i].end;
		else
			r->v[nr++] = r->v[i];
	r->nr = nr;
}

/* Memory that counts although it is the allocator's. */
static int moves_find(struct roots_find *f, struct roots_ranges *kept)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < f->nr_moves; i++)
		rc = move_kept(f, &f->moves[i], kept);
	if (rc)
		return rc;
	ranges_join(kept);
	return roots_keep(kept, &f->covered);
}

/* ---- all ------------------------------------------------------------------------------------- */

static int join_take(struct roots_find *f, const struct roots_ranges *more)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < more->nr; i++)
		rc = vec_push(&f->ranges, more->v[i]);
	if (!rc)
		rc = roots_ranges_order(&f->ranges);
	if (!rc)
		rc = roots_cut_blocks(&f->ranges, f->heap);
	if (rc)
		return rc;
	vec_fini(&f->memory->roots);
	f->memory->roots.v = f->ranges.v;
	f->memory->roots.nr = f->ranges.nr;
	f->memory->roots.room = f->ranges.room;
	f->ranges = (struct roots_ranges){ 0 };
	return memory_order(f->memory);
}

int roots_join(struct roots_find *f)
{
	struct roots_ranges kept = { 0 };
	int rc = roots_objects_find(f);

	if (!rc)
		rc = roots_maps_find(f);
	if (!rc)
		rc = roots_threads_find(f);
	if (!rc)
		rc = roots_libc_find(f);
	if (!rc)
		rc = glibc_chunk_map_find(f);
	if (!rc)
		rc = moves_find(f, &kept);
	if (!rc)
		rc = roots_cut(&f->ranges, &f->covered);
	if (!rc)
		rc = roots_pages_trim(f);
	if (!rc)
		rc = join_take(f, &kept);
	vec_fini(&kept);
	return rc;
}

void roots_find_fini(struct roots_find *f)
{
	vec_fini(&f->own);
	vec_fini(&f->ranges);
	vec_fini(&f->covered);
	vec_fini(&f->objects);
	roots_page_cache_fini(&f->cache);
}
