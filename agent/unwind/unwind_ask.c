/* SPDX-License-Identifier: MIT */
/* Questions about a stack that is not recorded: where it comes from, whether a signal is on it. */
#include "agent/unwind/unwind.h"

#include "agent/agent.h"
#include "agent/unwind/module.h"
#include "agent/unwind/rule.h"
#include "agent/agent_stack.h"

#define INTERRUPTED_STEPS 10000	/* frames looked at for a signal handler among them */
#define ONCE_STEPS	32	/* ... the first, asked for at the program's end only */
#define INSIDE_STEPS	200	/* ... between one hook and another below it */
#define INSIDE_BYTES	(64ull << 10)

bool unwind_interrupted(struct tctx *c, const struct caller *from)
{
	struct stack_at at = { from->ra - 1, from->sp, from->fp };

	stack_note(c, from->sp);
	for (unsigned steps = 0; steps < INTERRUPTED_STEPS; steps++) {
		uint64_t id;
		struct cfi_rule rule = steps < ONCE_STEPS ? rule_read(at.pc, &id)
							  : rule_get(at.pc, &id);
		enum step why = rule.kind == CFI_SIGFRAME ? STEP_UNKNOWN : stack_step(c, &at, rule);

		if (why != STEP_ON)
			return why != STEP_END;
	}
	return true;
}

/*
 * The same without unwind information, as in musl: is there a signal frame between the two stack
 * pointers? It is recognised by the segment registers it holds, and by a stack pointer that leads
 * on to the hook's frame.
 */
static bool signal_frame_between(struct tctx *c, uint64_t sp, uint64_t outer)
{
	for (uint64_t at = sp; at < outer && at - sp < INSIDE_BYTES; at += 8) {
		uint64_t frame = at - ARCH_SIGFRAME_SEGMENTS, interrupted;

		if (!stack_readable(c, at))
			return true;		/* another stack */
		if (stack_word(at) != ARCH_SEGMENTS || frame < sp)
			continue;
		interrupted = stack_word(frame + ARCH_SIGFRAME_SP);
		if (interrupted <= outer && outer - interrupted < INSIDE_BYTES)
			return true;
	}
	return outer - sp >= INSIDE_BYTES;
}

bool unwind_inside(struct tctx *c, const struct caller *from, uint64_t outer)
{
	struct stack_at at = { from->ra - 1, from->sp, from->fp };

	if (from->sp >= outer)
		return false;
	stack_note(c, from->sp);
	for (unsigned steps = 0; steps < INSIDE_STEPS && at.sp < outer; steps++) {
		struct cfi_rule rule;
		enum step why;
		uint64_t id;
		bool hook = at.pc - agent.code_start < agent.code_end - agent.code_start;

		if (module_own(at.pc) || at.pc + 1 == agent.borrowed)
			return true;
		rule = rule_get(at.pc, &id);
		if (rule.kind == CFI_SIGFRAME)
			return false;
		why = stack_step(c, &at, rule);
		if (why != STEP_ON)
			return why != STEP_END && !signal_frame_between(c, from->sp, outer);
		if (hook && at.sp == outer)
			return true;
	}
	return false;
}

uint64_t unwind_outermost(struct tctx *c, const struct caller *from, uint64_t start, uint64_t end)
{
	struct stack_at at = { from->ra - 1, from->sp, from->fp };

	stack_note(c, from->sp);
	for (unsigned steps = 0; steps < INSIDE_STEPS; steps++) {
		uint64_t id, pc = at.pc, sp = at.sp;
		enum step why = stack_step(c, &at, rule_get(pc, &id));

		if (why == STEP_END)
			return sp;
		if (why != STEP_ON || pc < start || pc >= end)
			return 0;
	}
	return 0;
}
