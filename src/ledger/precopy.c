/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Block tables of one moment, by pre-copy: doc/ledger.md, "The pre-copy".
 */
#include "src/ledger/precopy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "src/ledger/precopy_priv.h"

#define CHUNK_BYTES	(1ull << 20)
#define MAX_ROUNDS	16
#define FEW_BYTES	(64ull << 10)	/* copied in no time: no further round */

/* ---- copying --------------------------------------------------------------------------------- */

/* Copy [from, to) as far as it has backing. */
static void copy_range(struct precopy *f, uint64_t from, uint64_t to)
{
	struct precopy_state *s = f->state;
	uint64_t ready = f->map->arena_ready - f->map->arena_off;

	to = to < ready ? to : ready;
	to = to < s->copy_bytes ? to : s->copy_bytes;
	for (uint64_t bytes; from < to; from += bytes) {
		bytes = to - from < CHUNK_BYTES ? to - from : CHUNK_BYTES;
		if (ledger_map_read(f->map, f->map->arena_off + from, s->copy + from, bytes)) {
			s->failed = true;
			return;
		}
	}
}

/* Copy all of it, also what came into use until the word was raised; how much that is. */
static uint64_t copy_all(struct precopy *f)
{
	f->state->failed |= ledger_map_refresh(f->map) != 0;
	copy_range(f, 0, UINT64_MAX);
	return f->map->arena_ready - f->map->arena_off;
}

/*
 * Take back the mark of place `i`; was there one? A store after this shows in a mark or in a copy
 * made afterwards.
 */
static inline bool mark_take(struct precopy_state *s, uint32_t i)
{
	return __atomic_load_n(&s->marks[i], __ATOMIC_RELAXED) &&
	       __atomic_exchange_n(&s->marks[i], 0, __ATOMIC_SEQ_CST);
}

/*
 * Copy what is marked; how much that is. Marks of what has come into use since the map was looked
 * at stay for the next time; with the threads stopped there are none of these.
 */
static uint64_t copy_marked(struct precopy *f, bool stopped)
{
	struct precopy_state *s = f->state;
	uint64_t bytes = 0, ready;
	uint32_t nr;

	s->failed |= ledger_map_refresh(f->map) != 0;
	ready = f->map->arena_ready - f->map->arena_off;
	nr = ready >> s->shift < s->nr_marks && !stopped ? (uint32_t)(ready >> s->shift)
							 : s->nr_marks;
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t first = i;

		if (i % 8 == 0 && nr - i >= 8 &&
		    !__atomic_load_n((uint64_t *)&s->marks[i], __ATOMIC_RELAXED)) {
			i += 7;
			continue;
		}
		while (i < nr && mark_take(s, i))
			i++;
		if (i == first)
			continue;
		copy_range(f, (uint64_t)first << s->shift, (uint64_t)i << s->shift);
		bytes += (uint64_t)(i - first) << s->shift;
	}
	return bytes;
}

static void copy_rounds(struct precopy *f)
{
	uint64_t last = UINT64_MAX, bytes;

	for (unsigned i = 0; i < MAX_ROUNDS; i++) {
		bytes = copy_marked(f, false);
		f->copied_bytes += bytes;
		if (bytes <= FEW_BYTES || bytes > last / 4 * 3)
			return;
		last = bytes;
	}
}

int precopy_begin(struct precopy *f, struct ledger_map *map, struct err *e)
{
	struct precopy_state *s = calloc(1, sizeof(*s));
	int rc;

	*f = (struct precopy){ .map = map, .state = s };
	if (!s)
		return precopy_no_memory(e, strerror(ENOMEM));
	rc = precopy_raise(f, e);
	if (rc) {
		precopy_end(f);
		return rc;
	}
	f->copied_bytes = copy_all(f);
	copy_rounds(f);
	if (s->open.nr) {
		precopy_events_look(f);
		if (!s->open.nr) {		/* too late for the copy just made */
			f->copied_bytes += copy_all(f);
			copy_rounds(f);
		}
	}
	return 0;
}

/* ---- the moment ------------------------------------------------------------------------------ */

/* Copy the arena beyond the last mark, which it has grown over. 0 or -ENOMEM. */
static int copy_beyond(struct precopy *f)
{
	struct precopy_state *s = f->state;
	uint64_t marked = (uint64_t)s->nr_marks << s->shift,
		 ready = f->map->arena_ready - f->map->arena_off;
	void *copy;

	if (ready <= marked)
		return 0;
	if (ready > s->copy_bytes) {
		copy = mremap(s->copy, s->copy_bytes, ready, MREMAP_MAYMOVE);
		if (copy == MAP_FAILED)
			return -ENOMEM;
		s->copy = copy;
		s->copy_bytes = ready;
	}
	copy_range(f, marked, ready);
	f->late_bytes += ready - marked;
	return 0;
}

/*
 * Copy all mids. Others may have used a leaf whose maker was stopped, or left by a jump, before it
 * marked where it hung the leaf; what they stored in the leaf itself they have marked.
 */
static void copy_mids(struct precopy *f)
{
	struct precopy_state *s = f->state;

	for (unsigned t = 0; t < PMM_NR_TABLES; t++) {
		uint64_t bytes = sizeof(struct pmm_mid) +
				 (sizeof(pmm_ref) << (s->header.table[t].mid_bits & 31));
		uint64_t most = (f->map->arena_ready - f->map->arena_off) / bytes;
		struct pmm_mid mid;

		for (pmm_ref ref = s->header.table[t].mids; ref && most--; ref = mid.next) {
			uint64_t off = (uint64_t)ref << PMM_REF_SHIFT;

			if (off < f->map->arena_off ||
			    ledger_map_read(f->map, off, &mid, sizeof(mid)))
				break;
			copy_range(f, off - f->map->arena_off, off - f->map->arena_off + bytes);
			f->late_bytes += bytes;
		}
	}
}

static uint32_t thread_tid(struct precopy *f, uint32_t thread)
{
	const struct pmm_ledger *l = &f->state->header;
	struct pmm_thread t;

	if (thread >= PMM_MAX_THREADS || !l->thread_dir[thread >> PMM_THREAD_SHIFT] ||
	    ledger_map_read_at(f->map, l->thread_dir[thread >> PMM_THREAD_SHIFT],
			       thread & ((1u << PMM_THREAD_SHIFT) - 1), &t, sizeof(t)))
		return 0;
	return t.tid;
}

/* Blocks that are on their way in one context. */
static int moves_add(struct precopy *f, uint64_t ctx_off)
{
	struct pmm_move move[PMM_NR_MOVES];
	struct pmm_ctx c;

	if (ledger_map_read(f->map, ctx_off + offsetof(struct pmm_ctx, move), move, sizeof(move)) ||
	    (!move[PMM_MOVE_HEAP].address && !move[PMM_MOVE_POOL].address) ||
	    ledger_map_read(f->map, ctx_off, &c, sizeof(c)))
		return 0;
	for (unsigned i = 0; i < PMM_NR_MOVES; i++) {
		uint64_t old = move[i].old_bytes, bytes = move[i].new_bytes;
		struct precopy_move to = { .from = move[i].address,
					   .sp = i == PMM_MOVE_HEAP ? c.busy_sp : c.pool_sp };

		if (!to.from || !to.sp || !bytes)
			continue;
		bytes = old && old < bytes ? old : bytes;
		to.bytes = bytes < PMM_SIZE_MAX ? bytes : PMM_SIZE_MAX;
		to.to_bytes = to.bytes + PRECOPY_HEADER_BYTES;
		to.tid = thread_tid(f, c.thread);
		if (vec_push(&f->moves, to))
			return -ENOMEM;
	}
	return 0;
}

static int moves_find(struct precopy *f)
{
	const struct pmm_ledger *l = &f->state->header;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < l->nr_ctx && i < PMM_MAX_CTX; i++)
		if (l->ctx[i])
			rc = moves_add(f, (uint64_t)l->ctx[i] << PMM_REF_SHIFT);
	return rc;
}

/* 0 or -errno. */
static int copy_late(struct precopy *f)
{
	struct precopy_state *s = f->state;
	/* such an event may have stored since, without a mark */
	bool unseen = s->open.nr;
	int rc = ledger_map_refresh(f->map);

	s->open.nr = 0;
	if (!rc)
		rc = precopy_events_note(f);
	if (rc)
		return rc;
	f->late_bytes = unseen ? copy_all(f) : copy_marked(f, true);
	rc = copy_beyond(f);
	if (!rc && (s->open.nr || s->header.cut))
		copy_mids(f);
	if (!rc && s->failed)
		rc = -ENOMEM;
	return rc ? rc : moves_find(f);
}

int precopy_now(struct precopy *f, struct err *e)
{
	struct precopy_state *s = f->state;
	int rc = copy_late(f);

	if (rc == -ENOMEM)
		return precopy_no_memory(e, strerror(ENOMEM));
	if (rc)
		return err_set(e, rc, "the ledger cannot be read");
	s->result = (struct ledger_frozen){
		.arena = s->copy,
		.arena_off = f->map->arena_off,
		.bytes = s->copy_bytes,
		.guard_dir = s->header.guard_dir,
		.tick = ledger_map_tick(f->map),
	};
	memcpy(s->result.table, s->header.table, sizeof(s->result.table));
	s->frozen = true;
	precopy_lower(f);
	return 0;
}

int precopy_still(struct precopy *f, struct ledger_map *map, struct err *e)
{
	struct precopy_state *s = calloc(1, sizeof(*s));
	int rc;

	*f = (struct precopy){ .map = map, .state = s };
	if (!s)
		return precopy_no_memory(e, strerror(ENOMEM));
	rc = ledger_map_refresh(map);
	if (!rc)
		rc = ledger_map_read(map, 0, &s->header, sizeof(s->header));
	if (!rc)
		rc = moves_find(f);
	if (rc)
		precopy_end(f);
	if (rc == -ENOMEM)
		return precopy_no_memory(e, strerror(ENOMEM));
	if (rc)
		return err_set(e, rc, "the ledger cannot be read");
	s->frozen = true;
	return 0;
}

int precopy_heap(struct precopy *f, const struct ledger_options *o, struct heap **out,
		 struct err *e)
{
	struct ledger_options with = *o;

	if (!f->state->frozen)
		return err_set(e, -EINVAL, "the ledger was not copied");
	with.frozen = f->state->result.arena ? &f->state->result : NULL;
	return ledger_read(f->map, &with, out, e);
}

void precopy_end(struct precopy *f)
{
	precopy_state_free(f);
	vec_fini(&f->moves);
}
