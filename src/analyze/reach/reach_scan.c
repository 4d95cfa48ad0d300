/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading a process's memory in large pieces.
 */
#include "src/analyze/reach/reach_scan.h"

#include <errno.h>
#include <time.h>

#include "src/base/nanotime.h"

#define PAGE 4096
#define STOP_NS 10000000ull	/* between two questions whether to stop */
#define STEP 64	/* words looked at before those found get on */
/* words on their way from one step to the next: about as many as memory serves at once */
#define LAG 32
/*
 * Reads in vain, page by page; from then on a mapping claims terabytes that are not there, and
 * large blocks are passed in steps that double from LARGE_STEP on.
 */
#define MAX_FAILURES (128 << 10)
#define LARGE_STEP (64ull << 10)
#define MAX_DOUBLINGS 40

int reach_scanner_init(struct reach_scanner *s, const struct reach_index *ix,
		       const struct memory *m, uint64_t tag_mask, struct reach_space *space)
{
	s->ix = ix;
	s->memory = m;
	s->tag_mask = tag_mask;
	s->space = space;
	s->window = reach_take(space, REACH_WINDOW);
	return s->window ? 0 : -ENOMEM;
}

void reach_scanner_fini(struct reach_scanner *s)
{
	reach_give(s->space, s->window, REACH_WINDOW);
	s->window = NULL;
}

bool reach_stopped(struct reach_scanner *s)
{
	uint64_t now_ns;

	if (s->stopped || !s->memory->stop.asked)
		return s->stopped;
	now_ns = nanotime_of(CLOCK_MONOTONIC_COARSE);
	if (now_ns < s->next_ns)
		return false;
	s->next_ns = now_ns + STOP_NS;
	return s->stopped = stop_asked(&s->memory->stop);
}

static const uint64_t *missing(struct reach_scanner *s, uint64_t from, uint64_t to, uint64_t *bytes)
{
	uint64_t step = PAGE;

	if (++s->failures > MAX_FAILURES && to - from >= LARGE_STEP) {
		s->doublings = from != s->missed	      ? 0
			       : s->doublings < MAX_DOUBLINGS ? s->doublings + 1
							      : MAX_DOUBLINGS;
		step = LARGE_STEP << s->doublings;
	}
	step -= from & (step - 1);
	*bytes = step < to - from ? step : to - from;
	s->missed = from + *bytes;
	s->unread_bytes += *bytes;
	return NULL;
}

uint64_t reach_untouched(const struct memory *m, uint64_t from, uint64_t to)
{
	uint64_t bytes = to - from >= REACH_ASK && m->ops->untouched
				 ? m->ops->untouched(m->arg, from, to - from) & ~7ull
				 : 0;

	return bytes < to - from ? bytes : to - from;
}

const uint64_t *reach_window(struct reach_scanner *s, uint64_t from, uint64_t to, uint64_t ahead,
			     uint64_t *bytes)
{
	if (from < s->at || from - s->at >= s->held) {
		uint64_t want = ahead > to ? ahead - from : to - from;

		want = want < REACH_WINDOW ? want : REACH_WINDOW;
		s->at = from;
		s->held = 0;
		*bytes = reach_untouched(s->memory, from, to);
		if (*bytes)
			return NULL;
		s->held = s->memory->ops->read(s->memory->arg, from, s->window, want);
		s->read_bytes += s->held;
		s->held = s->held > want ? 0 : s->held & ~(size_t)7;
		if (!s->held)
			return missing(s, from, to, bytes);
	}
	*bytes = s->held - (from - s->at);
	if (*bytes > to - from)
		*bytes = to - from;
	return (const uint64_t *)(s->window + (from - s->at));
}

/* Take those of the words that may point into a block. */
static inline void sieve(struct reach_scanner *s, const uint64_t *words, size_t nr, uint64_t at)
{
	uint64_t keep = ~s->tag_mask, low = s->ix->low, span = s->ix->span;
	unsigned n = s->batch.nr;

	/* No branch depends on what is in memory: which word is a pointer cannot be predicted. */
	for (size_t i = 0; i < nr; i++) {
		uint64_t value = words[i] & keep;

		s->batch.address[n] = value;
		s->place[n] = at + i * 8;
		n += value - low <= span;
	}
	s->batch.nr = n;
}

static void hand_out(struct reach_scanner *s, unsigned lag, reach_hits_fn *fn, void *arg)
{
	reach_resolve(s->ix, &s->batch, lag);
	fn(arg, s);
	s->given = s->batch.found;
}

void reach_scan_end(struct reach_scanner *s, reach_hits_fn *fn, void *arg)
{
	hand_out(s, 0, fn, arg);
	s->batch.nr = s->batch.asked = s->batch.read = s->batch.found = s->given = 0;
}

void reach_scan_words(struct reach_scanner *s, uint64_t from, uint64_t to, uint64_t ahead,
		      reach_hits_fn *fn, void *arg)
{
	while (from < to) {
		uint64_t bytes;
		const uint64_t *words = reach_window(s, from, to, ahead, &bytes);
		size_t nr = words ? bytes / 8 : 0;

		for (size_t done = 0, step; done < nr; done += step) {
			step = nr - done < STEP ? nr - done : STEP;
			sieve(s, words + done, step, from + done * 8);
			if (s->batch.nr > REACH_BATCH - STEP)
				reach_scan_end(s, fn, arg);
			else
				hand_out(s, LAG, fn, arg);
		}
		from += bytes;
	}
}

void reach_scan(struct reach_scanner *s, uint64_t from, uint64_t to, reach_hits_fn *fn, void *arg)
{
	reach_scan_words(s, reach_word_up(from), to & ~7ull, 0, fn, arg);
	reach_scan_end(s, fn, arg);
}

/*
 * The words between the blocks in a block, from one to the next; what is in those is passed with
 * them. Where the last ends.
 */
static uint64_t scan_between(struct reach_scanner *s, uint32_t block, uint64_t from, uint64_t end,
			     reach_hits_fn *fn, void *arg)
{
	const struct reach_index *ix = s->ix;
	uint32_t i = block + 1;

	while (i < ix->nr && ix->blocks[i].address < end) {
		const struct heap_block *inner = &ix->blocks[i];

		i++;
		if (!inner->size_bytes)
			continue;
		reach_scan_words(s, reach_word_up(from), inner->address & ~7ull, end & ~7ull, fn,
				 arg);
		if (reach_block_end(inner) > from)
			from = reach_block_end(inner);
		i = reach_first_from(ix, i, from);
	}
	return from;
}

void reach_scan_block(struct reach_scanner *s, uint32_t block, reach_hits_fn *fn, void *arg)
{
	const struct reach_index *ix = s->ix;
	uint64_t from = ix->blocks[block].address, end = reach_block_end(&ix->blocks[block]);

	if (reach_has_inner(ix, block))
		from = scan_between(s, block, from, end, fn, arg);
	if (from < end)
		reach_scan_words(s, reach_word_up(from), end & ~7ull, 0, fn, arg);
	reach_scan_end(s, fn, arg);
}
