/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A user stack from a copy of it.
 *
 * Nearly all frames have a simple rule (agent/unwind/cfi.h), which is kept by module and address;
 * it needs the stack pointer and the frame pointer only. A stack with a frame that needs more is
 * walked anew with all registers, by cfi_step_slow().
 */
#include "src/kernel/user_stack.h"

#include <stdlib.h>
#include <string.h>

#include "agent/unwind/cfi.h"
#include "arch/trace_arch.h"

_Static_assert(ARCH_TRACE_NR_SAVED == TRACE_NR_REGS - 2, "trace_regs");

#define RULE_BITS	16
/*
 * Code without unwind information so close to where its file starts is the start itself, which
 * nothing has called: the loader's, and that of some static programs.
 */
#define ENTRY_BYTES	64
/* A stack is not believed to lead further than this from its pointer: the default limit. */
#define STACK_BYTES	(8u << 20)

struct rule_entry {
	uint64_t frame;			/* stack_frame(); 0: free */
	struct cfi_rule rule;
};

struct user_stacks {
	struct images *images;
	uint64_t ends[USER_STACK_NR_ENDS];
	struct rule_entry rules[1 << RULE_BITS];
};

/* A walk, and the frame that it stands on. */
struct walk {
	struct user_stacks *u;
	const struct user_stack_copy *copy;
	struct image_process *process;
	uint64_t time_ns;
	struct user_stack *out;
	uint64_t pc, sp, fp;		/* pc: to look up, inside the call */
};

struct user_stacks *user_stacks_new(struct images *images)
{
	struct user_stacks *u = calloc(1, sizeof(*u));

	if (u)
		u->images = images;
	return u;
}

void user_stacks_free(struct user_stacks *u)
{
	free(u);
}

const uint64_t *user_stacks_ends(const struct user_stacks *u)
{
	return u->ends;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static uint64_t begin(const struct user_stack_copy *c)
{
	return c->regs.sp + c->regs.skipped;
}

static bool page_missing(const struct user_stack_copy *c, uint64_t address)
{
	uint64_t page = address / ARCH_PAGE - begin(c) / ARCH_PAGE;

	return page >= 64 || c->missing >> page & 1;
}

static bool read_word(const struct user_stack_copy *c, uint64_t address, uint64_t *value)
{
	uint64_t at = address - begin(c);

	if (c->nr_bytes < sizeof(*value) || at > c->nr_bytes - sizeof(*value) ||
	    page_missing(c, address) || page_missing(c, address + sizeof(*value) - 1))
		return false;
	memcpy(value, (const char *)c->bytes + at, sizeof(*value));
	return true;
}

/* Why the word could not be read. */
static enum user_stack_end unread(const struct user_stack_copy *c, uint64_t address)
{
	uint64_t at = address - begin(c);

	if (c->no_room)
		return USER_STACK_NO_ROOM;
	return c->cut && at < STACK_BYTES && at + sizeof(uint64_t) > c->nr_bytes
		       ? USER_STACK_SHORT
		       : USER_STACK_ELSEWHERE;
}

/* For cfi_step_slow(): remembers why it could not go on. */
struct slow_memory {
	const struct user_stack_copy *copy;
	bool lenient;			/* what cannot be read is 1 */
	bool failed;
	uint64_t failed_at;
};

static int slow_read(void *arg, uint64_t address, uint64_t *value)
{
	struct slow_memory *m = arg;

	if (read_word(m->copy, address, value))
		return 0;
	m->failed = true;
	m->failed_at = address;
	*value = 1;
	return m->lenient ? 0 : -1;
}

/* ---- code ------------------------------------------------------------------------------------ */

static enum user_stack_end end_of(enum image_miss miss)
{
	switch (miss) {
	case IMAGE_FOUND:
		break;
	case IMAGE_NOTHING:
		return USER_STACK_NO_MODULE;
	case IMAGE_ANONYMOUS:
		return USER_STACK_ANONYMOUS;
	case IMAGE_FILE:
		return USER_STACK_FILE;
	case IMAGE_ENDED:
		return USER_STACK_ENDED;
	case IMAGE_DENIED:
		return USER_STACK_DENIED;
	}
	return USER_STACK_COMPLETE;
}

static const struct unwind_file *file_of(const struct walk *w, const struct image_at *at)
{
	return &modules_at(&w->u->images->modules, at->module)->file;
}

static enum user_stack_end no_rule(const struct walk *w, const struct image_at *at)
{
	uint64_t entry = file_of(w, at)->entry;

	return entry && at->address - entry < ENTRY_BYTES ? USER_STACK_COMPLETE
							  : USER_STACK_NO_RULE;
}

/*
 * The C library's start and end functions of each file have no unwind information. They are often
 * the first to touch their page, at their first instruction: nothing is on the stack then but the
 * return address.
 */
static bool at_begin(const struct walk *w, const struct image_at *at)
{
	const struct unwind_file *f = file_of(w, at);

	return (f->init && at->address == f->init) || (f->fini && at->address == f->fini);
}

static struct cfi_rule rule_of(const struct walk *w, const struct image_at *at)
{
	uint64_t frame = stack_frame(at->module, at->address);
	struct rule_entry *e = &w->u->rules[frame * 0x9e3779b97f4a7c15ull >> (64 - RULE_BITS)];
	const struct unwind_file *f = file_of(w, at);

	if (e->frame == frame && !(at->address >> STACK_ADDRESS_BITS))
		return e->rule;
	e->frame = frame;
	e->rule = (struct cfi_rule){ .kind = CFI_NONE };
	if (f->cfi.start)
		cfi_rule_find(&f->cfi, unwind_file_pc(f, at->address), &e->rule);
	else if (f->bytes)
		e->frame = 0;		/* it may be there again the next time */
	return e->rule;
}

/* The frame at pc. False: it is the last one. */
static bool frame_add(struct walk *w, struct image_at *at)
{
	struct user_stack *out = w->out;

	if (out->nr == USER_STACK_MAX_FRAMES) {
		out->end = USER_STACK_DEEP;
		return false;
	}
	*at = images_find(w->u->images, w->process, w->pc, w->time_ns);
	out->frame_end[out->nr] = 0;
	out->frame[out->nr++] = stack_frame(at->miss ? 0 : at->module,
					    at->miss ? w->pc : at->address);
	out->end = end_of(at->miss);
	return !at->miss;
}

/* ---- by rules -------------------------------------------------------------------------------- */

enum step { STEP_ON, STEP_END, STEP_SLOW };

static enum step end(struct walk *w, enum user_stack_end why)
{
	w->out->end = why;
	return STEP_END;
}

static enum step step_signal(struct walk *w)
{
	uint64_t frame = w->sp, pc, sp, fp;

	if (!read_word(w->copy, frame + ARCH_SIGFRAME_PC, &pc) ||
	    !read_word(w->copy, frame + ARCH_SIGFRAME_SP, &sp) ||
	    !read_word(w->copy, frame + ARCH_SIGFRAME_FP, &fp))
		return end(w, unread(w->copy, frame + ARCH_SIGFRAME_PC));
	w->pc = pc;
	w->sp = sp;
	w->fp = fp;
	return pc ? STEP_ON : end(w, USER_STACK_COMPLETE);
}

/* The caller of a frame whose canonical frame address is known, and where its fp was saved. */
static enum step step_call(struct walk *w, uint64_t cfa, uint64_t saved)
{
	uint64_t ra, fp = w->fp;

	if (cfa <= w->sp)
		return end(w, USER_STACK_NO_RULE);
	w->out->frame_end[w->out->nr - 1] = cfa;
	if (!read_word(w->copy, cfa - 8, &ra))
		return end(w, unread(w->copy, cfa - 8));
	if (!ra)
		return end(w, USER_STACK_COMPLETE);
	if (saved && !read_word(w->copy, saved, &fp))
		return end(w, unread(w->copy, saved));
	w->pc = ra - 1;
	w->sp = cfa;
	w->fp = fp;
	return STEP_ON;
}

static enum step step(struct walk *w, const struct image_at *at)
{
	struct cfi_rule rule = rule_of(w, at);
	uint64_t base = rule.kind == CFI_SP ? w->sp : w->fp, cfa;

	cfa = base + (uint64_t)(int64_t)rule.cfa_off;
	switch (rule.kind) {
	case CFI_SP:
	case CFI_FP:
		return step_call(w, cfa,
				 rule.fp_off ? cfa + 8 * (uint64_t)(int64_t)rule.fp_off : 0);
	case CFI_FP_DEREF:
		if (!read_word(w->copy, cfa, &base))
			return end(w, unread(w->copy, cfa));
		return step_call(w, base, w->fp);
	case CFI_SIGFRAME:
		return step_signal(w);
	case CFI_END:
		return end(w, USER_STACK_COMPLETE);
	case CFI_SLOW:
		return STEP_SLOW;
	}
	return at_begin(w, at) ? step_call(w, w->sp + 8, 0) : end(w, no_rule(w, at));
}

/* False: there is a frame that needs more than rules. */
static bool walk_rules(struct walk *w)
{
	enum step s = STEP_ON;
	struct image_at at;

	while (s == STEP_ON && frame_add(w, &at))
		s = step(w, &at);
	return s != STEP_SLOW;
}

/* ---- with all registers ---------------------------------------------------------------------- */

static struct cfi_regs registers(const struct trace_regs *from)
{
	struct cfi_regs regs = { .known = 1u << ARCH_DWARF_SP | 1u << ARCH_DWARF_RA };

	regs.r[ARCH_DWARF_SP] = from->sp;
	regs.r[ARCH_DWARF_RA] = from->ip;
	for (unsigned i = 0; i < ARCH_TRACE_NR_SAVED; i++) {
		regs.r[arch_trace_saved[i]] = from->saved[i];
		regs.known |= 1u << arch_trace_saved[i];
	}
	return regs;
}

/* The end of a frame whose return address is not in the copy. */
static void find_end(const struct walk *w, const struct unwind_file *f, uint64_t pc,
		     const struct cfi_regs *regs)
{
	struct slow_memory memory = { .copy = w->copy, .lenient = true };
	struct cfi_regs caller = *regs;

	if (cfi_step_slow(&f->cfi, pc, &caller, slow_read, &memory) > 0 &&
	    caller.r[ARCH_DWARF_SP] > regs->r[ARCH_DWARF_SP])
		w->out->frame_end[0] = caller.r[ARCH_DWARF_SP];
}

/*
 * gcc's loop that touches a large frame page by page (-fstack-clash-protection) finds its caller's
 * frame by a register that has the address where it will end.
 */
static void look_ahead(const struct walk *w, const struct unwind_file *f, uint64_t pc,
		       const struct cfi_regs *regs)
{
	struct slow_memory memory = { .copy = w->copy, .lenient = true };
	struct cfi_regs without = *regs;
	unsigned probe = arch_trace_saved[ARCH_TRACE_PROBE];

	without.known &= ~(1u << probe);
	if (regs->r[probe] < w->out->lowest &&
	    cfi_step_slow(&f->cfi, pc, &without, slow_read, &memory) < 0)
		w->out->lowest = regs->r[probe];
}

static void walk_slow(struct walk *w, uint64_t first_pc)
{
	struct slow_memory memory = { .copy = w->copy };
	struct cfi_regs regs = registers(&w->copy->regs), first = regs;
	struct image_at at;
	int got = 1;

	w->out->nr = 0;
	w->pc = first_pc;
	while (frame_add(w, &at)) {
		const struct unwind_file *f = file_of(w, &at);

		got = f->cfi.start ? cfi_step_slow(&f->cfi, unwind_file_pc(f, at.address), &regs,
						   slow_read, &memory)
				   : -1;
		if (got > 0)
			w->out->frame_end[w->out->nr - 1] = regs.r[ARCH_DWARF_SP];
		else if (memory.failed && w->out->nr == 1)
			find_end(w, f, unwind_file_pc(f, at.address), &first);
		if (w->out->nr == 1 && w->out->frame_end[0])
			look_ahead(w, f, unwind_file_pc(f, at.address), &first);
		if (got > 0 && regs.r[ARCH_DWARF_RA]) {
			w->pc = regs.r[ARCH_DWARF_RA] - (got != 2);
			continue;
		}
		if (got >= 0)
			w->out->end = USER_STACK_COMPLETE;
		else if (memory.failed)
			w->out->end = unread(w->copy, memory.failed_at);
		else
			w->out->end = no_rule(w, &at);
		return;
	}
}

void user_stack_walk(struct user_stacks *u, pid_t tgid, uint64_t time_ns,
		     const struct user_stack_copy *copy, struct user_stack *out)
{
	uint64_t pc = copy->regs.ip - (copy->at == USER_STACK_AFTER_CALL);
	struct walk w = {
		.u = u,
		.copy = copy,
		.process = images_process(u->images, tgid, time_ns),
		.time_ns = time_ns,
		.out = out,
		.pc = pc,
		.sp = copy->regs.sp,
		.fp = copy->regs.saved[ARCH_TRACE_FP],
	};

	out->nr = 0;
	out->end = USER_STACK_COMPLETE;
	out->lowest = copy->regs.sp;
	if (!walk_rules(&w))
		walk_slow(&w, pc);
	u->ends[out->end]++;
}

/* ---- words ----------------------------------------------------------------------------------- */

const char *user_stack_end_name(enum user_stack_end end)
{
	static const char *const name[USER_STACK_NR_ENDS] = {
		[USER_STACK_COMPLETE] = "complete",
		[USER_STACK_SHORT] = "copy_too_short",
		[USER_STACK_ELSEWHERE] = "outside_copy",
		[USER_STACK_NO_RULE] = "no_unwind_information",
		[USER_STACK_NO_MODULE] = "unknown_code",
		[USER_STACK_ANONYMOUS] = "anonymous_code",
		[USER_STACK_FILE] = "file_unusable",
		[USER_STACK_ENDED] = "process_ended",
		[USER_STACK_DENIED] = "mappings_denied",
		[USER_STACK_DEEP] = "too_deep",
		[USER_STACK_NO_ROOM] = "ring_was_filling",
	};

	return name[end];
}

const char *user_stack_end_text(enum user_stack_end end)
{
	static const char *const text[USER_STACK_NR_ENDS] = {
		[USER_STACK_COMPLETE] = "complete",
		[USER_STACK_SHORT] = "the copy of the stack is too short",
		[USER_STACK_ELSEWHERE] = "the stack continues outside the copy",
		[USER_STACK_NO_RULE] = "code without unwind information",
		[USER_STACK_NO_MODULE] = "no code is known to be there",
		[USER_STACK_ANONYMOUS] = "code made at run time",
		[USER_STACK_FILE] = "its file is gone, replaced, damaged or out of reach",
		[USER_STACK_ENDED] = "the process ended before its mappings were read",
		[USER_STACK_DENIED] = "the process's mappings may not be read",
		[USER_STACK_DEEP] = "more than 128 frames",
		[USER_STACK_NO_ROOM] = "the ring was filling, so none was copied",
	};

	return text[end];
}
