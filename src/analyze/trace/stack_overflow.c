/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where an access was, of a stack whose bounds the kernel's program has found. */
#include "src/analyze/trace/stack_overflow.h"

#include <signal.h>

/*
 * Functions touch their frames from the stack pointer upwards; calls, and functions that call
 * nothing, just below it. gcc's stack probes touch a page below it.
 */
#define BELOW_BYTES	(64u << 10)
#define ABOVE_BYTES	(1u << 20)	/* of a frame whose size is not known */

#define PAGE_BYTES	4096u

/* A stack repeats if so many frames at most do, so many times at least. */
#define MAX_PERIOD	16u
#define MIN_TIMES	3u

struct place {
	uint64_t address, sp;
	uint64_t low, top;		/* of the stack */
	uint64_t frame_low, frame_end;	/* frame_end 0: not known */
};

static bool is_near(const struct place *p)
{
	uint64_t end = p->frame_end ? p->frame_end : p->sp + ABOVE_BYTES;
	uint64_t low = p->frame_low > BELOW_BYTES ? p->frame_low - BELOW_BYTES : 0;

	return p->address >= low && p->address < end;
}

/* Is the innermost frame of this stack? It may have left it with all but its caller's end. */
static bool is_of_stack(const struct place *p)
{
	if (p->sp >= p->low && p->sp < p->top)
		return true;
	return p->sp < p->low && p->frame_end > p->low && p->frame_end <= p->top;
}

static enum overflow_cause cause_of(const struct stack_overflow *o, const struct place *p)
{
	bool mapped = o->code == SEGV_ACCERR;

	if (o->signal != SIGSEGV || (o->code != SEGV_MAPERR && !mapped) || !o->near)
		return OVERFLOW_NONE;
	if (o->sort == STACK_UNKNOWN)
		return o->flags & STACK_NO_AREAS && mapped && p->frame_end ? OVERFLOW_PROTECTED
									    : OVERFLOW_NONE;
	if (!is_of_stack(p))
		return OVERFLOW_NONE;
	if (o->sort == STACK_MAIN) {
		if (p->address / PAGE_BYTES < p->low / PAGE_BYTES)
			return OVERFLOW_LIMIT;
		if (mapped)
			return OVERFLOW_NONE;
		return o->flags & STACK_NEIGHBOUR ? OVERFLOW_NEIGHBOUR : OVERFLOW_REFUSED;
	}
	if (p->address >= p->low)
		return OVERFLOW_NONE;
	return o->in_guard ? OVERFLOW_GUARD : OVERFLOW_BEYOND;
}

/* ---- recursion ---- */

/* Frames from `first` on that are the same as those `period` frames further on. */
static unsigned same_from(const struct user_stack *w, unsigned first, unsigned period)
{
	unsigned i = first;

	while (i + period < w->nr && w->frame[i] == w->frame[i + period])
		i++;
	return i - first;
}

/*
 * The smallest number of frames that come again and again. The innermost ones may be others: the
 * function is elsewhere than at the call, or what it calls is.
 */
static void find_repeat(struct stack_overflow *o, const struct user_stack *w, uint64_t top)
{
	for (unsigned first = 0; first <= MAX_PERIOD && first < w->nr; first++)
		for (unsigned period = 1; period <= MAX_PERIOD; period++) {
			unsigned same = same_from(w, first, period), times = same / period;
			uint64_t from = w->frame_end[first], to, each;

			if (times < MIN_TIMES)
				continue;
			o->repeated = first;
			o->repeats = times + 1;
			o->exact = first + same + period < w->nr;
			to = w->frame_end[first + times * period];
			each = to > from && from ? (to - from) / times : 0;
			o->computed = !o->exact && each && top > from;
			if (o->computed)
				o->repeats = (top - from) / each + 1;
			return;
		}
}

/* ---- */

static void take_bits(struct stack_overflow *o, const struct trace_record *r)
{
	o->signal = (int)(r->a[2] & STACK_SIGNAL_MASK);
	o->sort = r->a[2] >> STACK_SORT_SHIFT & STACK_SORT_MASK;
	if (o->sort >= STACK_NR_SORTS)
		o->sort = STACK_UNKNOWN;
	o->flags = (uint32_t)r->a[2];
	o->code = (int32_t)(r->a[2] >> STACK_CODE_SHIFT);
	o->in_guard = o->flags & STACK_HIT_GUARD;
	o->limit_bytes = o->sort ? r->a[4] : 0;
	if (o->flags & STACK_NEIGHBOUR)
		o->neighbour_bytes = r->a[0] - r->a[5];
	else if (o->sort != STACK_MAIN)
		o->guard_bytes = r->a[5];
}

void stack_overflow_judge(struct stack_overflow *o, const struct trace_record *r,
			  const struct user_stack *walked)
{
	struct place p = { .address = r->a[0], .sp = r->a[1], .top = r->a[3],
			   .frame_low = r->a[1] };

	*o = (struct stack_overflow){ 0 };
	take_bits(o, r);
	p.low = p.top - (o->limit_bytes && o->limit_bytes < p.top ? o->limit_bytes : p.top);
	if (walked && walked->nr) {
		p.frame_end = walked->frame_end[0];
		p.frame_low = walked->lowest;
	}
	o->near = o->code > 0 && is_near(&p);
	o->cause = cause_of(o, &p);
	if (p.frame_end > p.frame_low)
		o->frame_bytes = p.frame_end - p.frame_low;
	if (o->sort && is_of_stack(&p))
		o->used_bytes = p.top - (p.frame_end ? p.frame_end : p.sp);
	if (o->cause && walked)
		find_repeat(o, walked, p.top);
}
