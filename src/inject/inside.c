/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where threads are and will be: registers, the kernel's signal frames on their stacks, and the
 * contexts of the ledger.
 *
 * Not seen: a signal handler that has left its stack by swapcontext() and will come back to it
 * later.
 */
#include "src/inject/inside.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "arch/regs_arch.h"
#include "include/pmm/ledger.h"
#include "src/base/vec.h"

#define PAGE		4096ull
#define CHUNK		4096u	/* read at once */
#define STACK_BYTES	(16ull << 20)	/* the largest stack */
#define NEAR_BYTES	(64ull << 10)	/* of a stack */
/* a handler on a stack of its own, interrupted by another, ... */
#define MAX_STACKS	4
/* of the agent, below the stack pointer of a hook's caller */
#define HOOK_FRAME_BYTES 1024

/* ---- signal frames -------------------------------------------------------------------------- */

struct scan {
	bool (*seen)(void *arg, uint64_t pc, uint64_t sp);
	void *arg;
	/* where interrupted stacks continue, apart from the one looked at */
	uint64_t stack[MAX_STACKS];
	unsigned nr_stacks;
	uint64_t depth_bytes;		/* looked at of one stack */
	const struct proc_maps *maps;
};

static bool look_at(struct scan *scan, const uint64_t *words, size_t nr, uint64_t from,
		    uint64_t end)
{
	for (size_t i = 0; i + ARCH_SIGNAL_WORDS <= nr; i++) {
		uint64_t sp;

		if (!arch_is_signal_frame(&words[i]))
			continue;
		sp = words[i + ARCH_SIGNAL_SP];
		if (scan->seen(scan->arg, words[i + ARCH_SIGNAL_PC], sp))
			return true;
		if ((sp < from || sp >= end) && scan->nr_stacks < MAX_STACKS)
			scan->stack[scan->nr_stacks++] = sp;
	}
	return false;
}

/* Where the mapping ends that a stack pointer is in; itself when there is none. */
static uint64_t stack_end(const struct proc_maps *maps, uint64_t sp)
{
	for (size_t i = 0; i < maps->nr; i++)
		if (sp >= maps->v[i].start && sp < maps->v[i].end)
			return maps->v[i].end;
	return sp;
}

/* From a stack pointer upwards as far as the mapping goes. */
static bool look_through(struct scan *scan, pid_t pid, uint64_t sp)
{
	uint64_t from = (sp - ARCH_RED_ZONE) & ~7ull, end = stack_end(scan->maps, sp),
		 words[CHUNK / 8 + ARCH_SIGNAL_WORDS - 1];

	if (end > from + scan->depth_bytes)
		end = from + scan->depth_bytes;

	for (uint64_t at = from, bytes; at < end; at += bytes) {
		size_t more = 8 * (ARCH_SIGNAL_WORDS - 1);	/* a frame across the border */

		bytes = CHUNK - at % CHUNK;
		if (stop_read(pid, at, words, bytes + more)) {
			bytes = PAGE - at % PAGE;
			if (stop_read(pid, at, words, bytes + more)) {
				more = 0;
				if (stop_read(pid, at, words, bytes))
					return false;
			}
		}
		if (look_at(scan, words, (bytes + more) / 8, from, end))
			return true;
	}
	return false;
}

static bool each(const struct stopped *s, const struct stop_thread *t, const struct proc_maps *maps,
		 uint64_t depth_bytes, bool (*seen)(void *arg, uint64_t pc, uint64_t sp),
		 void *arg)
{
	struct scan scan = { .seen = seen, .arg = arg, .depth_bytes = depth_bytes, .maps = maps };

	if (t->ended)
		return false;
	if (seen(arg, arch_pc(&t->regs), arch_sp(&t->regs)) ||
	    look_through(&scan, s->pid, arch_sp(&t->regs)))
		return true;
	for (unsigned i = 0; i < scan.nr_stacks; i++)
		if (look_through(&scan, s->pid, scan.stack[i]))
			return true;
	return false;
}

bool inside_each(const struct stopped *s, const struct stop_thread *t, const struct proc_maps *maps,
		 bool (*seen)(void *arg, uint64_t pc, uint64_t sp), void *arg)
{
	return each(s, t, maps, STACK_BYTES, seen, arg);
}

/* ---- the agent ------------------------------------------------------------------------------ */

struct places {
	const struct attached *a;
	VEC(uint64_t) sp;		/* all stack pointers, also interrupted ones */
	bool no_memory;
};

static bool in_agent(const struct attached *a, uint64_t pc)
{
	for (uint32_t i = 0; i < a->record.nr_ranges; i++) {
		const struct pmm_range *r = &a->record.range[i];

		if ((r->use == PMM_RANGE_BLOB || r->use == PMM_RANGE_SLOTS) &&
		    pc - r->start < r->bytes)
			return true;
	}
	return false;
}

static bool note_place(void *arg, uint64_t pc, uint64_t sp)
{
	struct places *p = arg;

	if (in_agent(p->a, pc))
		return true;
	p->no_memory |= vec_push(&p->sp, sp) != 0;
	return p->no_memory;
}

/*
 * Does a hook run whose caller's stack pointer is this? Its frame is below; it was left by
 * longjmp if no thread is further down that stack, or if it has been written over.
 */
static bool hook_runs(const struct places *p, uint64_t caller_sp)
{
	uint64_t words[HOOK_FRAME_BYTES / 8];
	bool below = false;

	for (size_t i = 0; i < p->sp.nr && caller_sp && !below; i++)
		below = p->sp.v[i] < caller_sp && caller_sp - p->sp.v[i] < STACK_BYTES;
	if (!below || stop_read(p->a->pid, caller_sp - HOOK_FRAME_BYTES, words, sizeof(words)))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (in_agent(p->a, words[i]))
			return true;
	return false;
}

/*
 * Does any thread run a function that it entered through a hook? In a forked child the others'
 * hooks are not its own.
 */
static bool hooks_run(const struct places *p)
{
	const struct attached *a = p->a;
	uint32_t nr = 0, passing = 0;

	if (!a->ledger)
		return false;
	if (a->record.passing_at &&
	    !stop_read(a->pid, a->record.passing_at, &passing, sizeof(passing)) && passing)
		return true;
	if (stop_read(a->pid, a->ledger + offsetof(struct pmm_ledger, nr_ctx), &nr, sizeof(nr)))
		return false;
	for (uint32_t i = 0; i < nr && i < PMM_MAX_CTX; i++) {
		uint64_t at = a->ledger + offsetof(struct pmm_ledger, ctx) + i * sizeof(pmm_ref);
		struct pmm_ctx ctx;
		pmm_ref ref;

		if (!stop_read(a->pid, at, &ref, sizeof(ref)) && ref &&
		    !stop_read(a->pid, a->ledger + ((uint64_t)ref << PMM_REF_SHIFT), &ctx,
			       sizeof(ctx)) &&
		    (hook_runs(p, ctx.busy_sp) || hook_runs(p, ctx.pool_sp)))
			return true;
	}
	return false;
}

/*
 * Only the near part of stacks: further up are large arrays that are not initialised yet, with
 * signal frames of long ago in them, and in a program whose handlers interrupt the agent all the
 * time some of them point to it.
 */
bool inside_agent(const struct stopped *s, const struct attached *a)
{
	struct places places = { .a = a };
	struct proc_maps maps = { 0 };
	/* not known: better to wait */
	bool inside = proc_maps_read(s->pid, &maps, NULL) != 0;

	for (size_t i = 0; i < s->nr && !inside; i++)
		inside = each(s, &s->v[i], &maps, NEAR_BYTES, note_place, &places);
	inside = inside || hooks_run(&places);
	vec_fini(&places.sp);
	proc_maps_fini(&maps);
	return inside;
}
