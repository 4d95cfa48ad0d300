/*
 * Call stacks: from the caller of a hook to the outermost frame, without frame pointers and usually without a walk.
 *
 * Rules (agent/cfi.h) are kept in a direct-mapped cache by pc, so a warm step is one probe, one addition and one or two loads.
 *
 * Most stacks share their outer part with the stack of the thread's previous event. The context keeps that stack as a
 * memo: for each frame its pc, stack pointer and rbp, and how its caller was found. As soon as the walk stands on a frame that is
 * also in the memo (same pc, same stack pointer, same rbp where that matters), what lies further out is determined by the
 * contents of the same stack slots; the walk then only confirms that these slots still hold what they held (one load
 * and compare a frame, independent of each other) and takes the rest, with its node numbers, from the memo. A slot that differs is
 * walked from there. Stacks that come back are kept whole as a list of such slots (struct known_stack) and need no
 * step at all. The result is always that of a full walk.
 *
 * Never a wrong frame: where there is no rule, or an address is not readable, the stack ends with a mark.
 */
#include "agent/unwind.h"

#include "agent/agent.h"
#include "agent/arena.h"
#include "agent/known.h"
#include "agent/module.h"
#include "agent/rule.h"
#include "agent/site.h"

#define NODES_AFTER	50000	/* ... likewise */
#define KNOWN_AFTER	1000	/* events of a context */
#define INTERRUPTED_STEPS 10000	/* frames looked at for a signal handler among them */

/* A frame as the walk stands on it. */
struct at {
	uint64_t pc;		/* to look rules up with: inside the call, or exact where interrupted */
	uint64_t sp, rbp;
};

/* ---- reading the stack ---------------------------------------------------------------------------------- */

#define STACK_NEAR	(1ul << 20)
#define STACK_STEP_MAX	(4ul << 20)	/* a frame larger than this is not believed */

static __attribute__((noinline)) bool readable_slow(struct tctx *c, uint64_t address)
{
	if (address & 7 || address >> 47)
		return false;
	if (address >= c->stack_hi && address - c->stack_hi < STACK_STEP_MAX) {
		while (c->stack_hi <= address)
			if (sys_readable(c->stack_hi))
				c->stack_hi += ARCH_PAGE;
			else
				return false;
		return true;
	}
	return sys_readable(address);
}

static inline bool readable(struct tctx *c, uint64_t address)
{
	return likely(address >= c->stack_lo && address < c->stack_hi && !(address & 7)) || readable_slow(c, address);
}

static inline uint64_t word_at(uint64_t address)
{
	return *(volatile uint64_t *)address;
}

/* A part of the stack not seen before: deeper on the one we know, or another one. */
static __attribute__((noinline)) void stack_new(struct tctx *c, uint64_t page)
{
	uint64_t at = c->stack_lo;

	while (at > page && c->stack_lo - page <= STACK_NEAR && sys_readable(at - ARCH_PAGE))
		at -= ARCH_PAGE;
	if (at != page || page > c->stack_lo)
		c->stack_hi = page + ARCH_PAGE;
	c->stack_lo = page;
}

/* The stack we are on: known from `sp` upwards as far as was looked at. */
static inline void stack_note(struct tctx *c, uint64_t sp)
{
	if (unlikely(sp - 8 < c->stack_lo || sp - 8 >= c->stack_hi))
		stack_new(c, (sp - 8) & ~(ARCH_PAGE - 1));
}

/* ---- one step ------------------------------------------------------------------------------------------- */

enum step { STEP_ON, STEP_END, STEP_UNKNOWN, STEP_SLOW };

static __attribute__((noinline)) enum step step_signal(struct tctx *c, struct at *at)
{
	uint64_t frame = at->sp;

	if (!readable(c, frame + ARCH_SIGFRAME_RIP) || !readable(c, frame + ARCH_SIGFRAME_RBP))
		return STEP_UNKNOWN;
	at->pc = word_at(frame + ARCH_SIGFRAME_RIP);
	at->sp = word_at(frame + ARCH_SIGFRAME_RSP);
	at->rbp = word_at(frame + ARCH_SIGFRAME_RBP);
	return at->pc ? STEP_ON : STEP_END;
}

/* From a frame to its caller. */
static inline __attribute__((always_inline)) enum step step(struct tctx *c, struct at *at, struct cfi_rule rule)
{
	uint64_t cfa, ra;

	switch (rule.kind) {
	case CFI_RSP:
		cfa = at->sp + (uint64_t)(int64_t)rule.cfa_off;
		break;
	case CFI_RBP:
		cfa = at->rbp + (uint64_t)(int64_t)rule.cfa_off;
		break;
	case CFI_RBP_DEREF:
		if (!readable(c, at->rbp + (uint64_t)(int64_t)rule.cfa_off) || !readable(c, at->rbp))
			return STEP_UNKNOWN;
		cfa = word_at(at->rbp + (uint64_t)(int64_t)rule.cfa_off);
		break;
	case CFI_SIGFRAME:
		return step_signal(c, at);
	case CFI_END:
		return STEP_END;
	case CFI_SLOW:
		return STEP_SLOW;
	default:
		return STEP_UNKNOWN;
	}
	if (unlikely(cfa <= at->sp || !readable(c, cfa - 8)))
		return STEP_UNKNOWN;
	ra = word_at(cfa - 8);
	if (unlikely(!ra))
		return STEP_END;
	if (rule.kind == CFI_RBP_DEREF) {
		at->rbp = word_at(at->rbp);
	} else if (rule.rbp_off) {
		uint64_t slot = cfa + 8 * (uint64_t)(int64_t)rule.rbp_off;

		if (unlikely(!readable(c, slot)))
			return STEP_UNKNOWN;
		at->rbp = word_at(slot);
	}
	at->pc = ra - 1;
	at->sp = cfa;
	return STEP_ON;
}

/* ---- the memo ------------------------------------------------------------------------------------------- */

/* Would stepping from f lead to `next` again? */
static inline bool holds(const struct frame *f, const struct frame *next)
{
	uint64_t pc = PMM_FRAME_PC(next->id);

	switch (f->kind) {
	case CFI_RSP:
	case CFI_RBP:
		if (word_at(next->sp - 8) != pc + 1)
			return false;
		return !(f->flags & FRAME_CHECK_RBP) ||
		       word_at(next->sp + 8 * (uint64_t)(int64_t)f->rbp_off) == next->rbp;
	case CFI_RBP_DEREF:
		return word_at(f->rbp + (uint64_t)(int64_t)f->aux) == next->sp && word_at(next->sp - 8) == pc + 1 &&
		       word_at(f->rbp) == next->rbp;
	case CFI_SIGFRAME:
		return word_at(f->sp + ARCH_SIGFRAME_RIP) == pc && word_at(f->sp + ARCH_SIGFRAME_RSP) == next->sp &&
		       word_at(f->sp + ARCH_SIGFRAME_RBP) == next->rbp;
	default:		/* ends here, or a mark follows: decided by the pc alone */
		return true;
	}
}

/* Confirm the memo from frame `j` outwards: index of the first frame that does not lead on as before, or max_frames. */
static inline uint32_t confirm(const struct tctx *c, uint32_t j)
{
	uint32_t end = A.max_frames;

	for (; j + 1 < end; j++)
		if (unlikely(!holds(&c->memo[j], &c->memo[j + 1])))
			return j;
	return end;
}

/*
 * Number the new frames from the outermost inwards and put them in front of memo[join..]. Also finds out
 * where rbp matters: from a frame whose CFA hangs on rbp inwards to the frame that saved it.
 */
static uint32_t memo_put(struct tctx *c, uint32_t nr_fresh, uint32_t join)
{
	uint32_t max = A.max_frames;
	uint32_t node = join < max ? c->memo[join].node : 0;
	bool needed = join < max && c->memo[join].flags & FRAME_NEEDS_RBP;
	uint32_t at = join;

	for (uint32_t i = nr_fresh; i-- > 0; ) {
		struct frame *f = &c->memo[--at];

		*f = c->fresh[i];
		node = c->nodes ? node_get_cached(node_entry_at(c->nodes, f->id, f->sp), node, f->id) :
				  node_get(node, f->id);
		if (unlikely(!node)) {
			c->memo_valid = 0;
			return 0;
		}
		f->node = node;
		f->flags = 0;
		if (f->rbp_off && needed) {
			f->flags |= FRAME_CHECK_RBP;
			needed = false;
		}
		if (f->kind == CFI_RBP || f->kind == CFI_RBP_DEREF)
			needed = true;
		else if (f->kind == CFI_SIGFRAME)
			needed = false;
		if (needed)
			f->flags |= FRAME_NEEDS_RBP;
	}
	c->memo_first = at;
	c->memo_valid = 1;
	return node;
}

/* ---- the walk ------------------------------------------------------------------------------------------- */

static inline void fresh_put(struct tctx *c, uint32_t n, uint64_t id, const struct at *at, struct cfi_rule rule)
{
	struct frame *f = &c->fresh[n];

	f->id = id;
	f->sp = at->sp;
	f->rbp = at->rbp;
	f->kind = rule.kind;
	f->rbp_off = rule.rbp_off;
	f->aux = rule.cfa_off;
	if (c->nodes)
		__builtin_prefetch(node_entry_at(c->nodes, id, at->sp));
}

static void fresh_mark(struct tctx *c, uint32_t n, enum pmm_frame_mark mark, uint64_t sp)
{
	struct at at = { 0, sp, 0 };

	fresh_put(c, n, mark, &at, (struct cfi_rule){ .kind = CFI_END });
}

/*
 * Walk from `from` outwards into c->fresh until a memo frame is confirmed or the stack ends. Returns the number of new frames and
 * sets *join to the memo frame that follows (max_frames: none), *why to how it ended.
 */
static inline uint32_t walk(struct tctx *c, const struct caller *from, bool use_memo, uint32_t *join, enum step *why)
{
	struct at at = { from->ra - 1, from->sp, from->rbp };
	uint32_t max = A.max_frames, j = use_memo ? c->memo_first : max, tried = 0, n = 0;

	*join = max;
	for (;;) {
		struct cfi_rule rule;
		uint64_t id;

		while (j < max && c->memo[j].sp < at.sp)
			j++;
		if (j < max && j >= tried && c->memo[j].sp == at.sp && PMM_FRAME_PC(c->memo[j].id) == at.pc &&
		    (!(c->memo[j].flags & FRAME_NEEDS_RBP) || c->memo[j].rbp == at.rbp)) {
			uint32_t good = confirm(c, j);

			if (likely(good == max)) {
				*join = j;
				*why = STEP_ON;
				return n;
			}
			tried = good + 1;	/* up to there it is the same stack, but not worth a copy */
		}
		if (n >= max - 1) {
			fresh_mark(c, n, PMM_FRAME_TRUNCATED, at.sp);
			*why = STEP_ON;
			return n + 1;
		}
		rule = rule_get(at.pc, &id);
		fresh_put(c, n, id, &at, rule);
		*why = step(c, &at, rule);
		if (unlikely(*why != STEP_ON)) {
			c->fresh[n].kind = CFI_END;
			n++;
			if (*why == STEP_UNKNOWN && n < max)
				fresh_mark(c, n++, PMM_FRAME_NO_UNWIND, at.sp);
			return n;
		}
		n++;
	}
}

static int slow_read(void *ctx, uint64_t address, uint64_t *value)
{
	if (!readable(ctx, address))
		return -1;
	*value = word_at(address);
	return 0;
}

/*
 * The walk for stacks with a frame that only full interpretation of its unwind information can leave. Starts in our own code, whose
 * registers we know, and keeps what lies outside the hook.
 */
static __attribute__((noinline)) uint32_t walk_slow(struct tctx *c, const struct caller *from)
{
	struct cfi_regs regs = { .known = 1u << 3 | 1u << 6 | 1u << 7 | 0xfu << 12 | 1u << 16 };
	uint32_t n = 0, max = A.max_frames;
	bool outside = false, exact = false;

	ARCH_CAPTURE_REGS(regs.r);
	for (unsigned steps = 0; n < max - 1 && steps < max + 16; steps++) {
		uint64_t pc = regs.r[ARCH_DWARF_RA] - !exact;
		struct agent_module m;
		int ret;

		outside |= regs.r[ARCH_DWARF_RSP] == from->sp;
		if (!module_find(pc, &m)) {
			m.id = 0;
			m.cfi = (struct cfi_module){ 0 };
		}
		if (outside) {
			struct at at = { pc, regs.r[ARCH_DWARF_RSP], 0 };

			fresh_put(c, n++, pc | (uint64_t)m.id << 48, &at, (struct cfi_rule){ .kind = CFI_SLOW });
		}
		ret = m.cfi.hdr ? cfi_step_slow(&m.cfi, pc, &regs, slow_read, c) : -1;
		if (ret < 0 || (ret > 0 && regs.r[ARCH_DWARF_RA] >> 47))
			break;
		if (!ret || !regs.r[ARCH_DWARF_RA])
			return n;
		exact = ret == 2;
	}
	fresh_mark(c, n, n == max - 1 ? PMM_FRAME_TRUNCATED : PMM_FRAME_NO_UNWIND, 0);
	return n + 1;
}

/* ---- a hook's stack ------------------------------------------------------------------------------------- */

void unwind_forget(struct tctx *c)
{
	c->code_gen = LOAD(A.code_gen);
	c->stack_gen = LOAD(A.stack_gen);
	c->memo_valid = 0;
	c->last_site = 0;
	c->stack_lo = c->stack_hi = 0;
	for (uint32_t i = 0; c->known && i < KNOWN_STACKS; i++)
		c->known[i].ra = 0;
}

static __attribute__((noinline)) void changed(struct tctx *c)
{
	uint32_t epoch = LOAD(A.tree->code_epoch);

	if (epoch != LOAD(A.code_epoch_seen)) {
		STORE(A.code_epoch_seen, epoch);
		rule_flush();
	}
	unwind_forget(c);
}

static __attribute__((noinline)) uint32_t walk_site(struct tctx *c, const struct caller *from, uint32_t site_flags)
{
	uint32_t n, join;
	enum step why;

	stack_note(c, from->sp);
	n = walk(c, from, c->memo_valid, &join, &why);
	if (unlikely(join < A.max_frames && n > join))	/* deeper than a stack may be */
		n = walk(c, from, false, &join, &why);
	if (unlikely(why == STEP_SLOW))
		n = walk_slow(c, from), join = A.max_frames;
	if (n || !c->last_site) {
		c->last_site = site_get(memo_put(c, n, join), site_flags);
	} else if (join != c->memo_first) {
		c->memo_first = join;
		c->last_site = site_get(c->memo[join].node, site_flags);
	}
	if (unlikely(why == STEP_SLOW || (n && c->fresh[n - 1].id == PMM_FRAME_TRUNCATED)))
		c->memo_valid = 0;
	if (unlikely(!c->nodes && c->events > NODES_AFTER))
		c->nodes = arena_get(sizeof(*c->nodes), ARCH_PAGE);
	if (!c->known && c->events > KNOWN_AFTER)
		c->known = arena_get(KNOWN_STACKS * sizeof(*c->known), 64);
	if (likely(c->memo_valid && c->known))
		known_note(c, known_at(c, from), from);
	return c->last_site;
}

bool unwind_interrupted(struct tctx *c, const struct caller *from)
{
	struct at at = { from->ra - 1, from->sp, from->rbp };

	stack_note(c, from->sp);
	for (unsigned steps = 0; steps < INTERRUPTED_STEPS; steps++) {
		uint64_t id;
		struct cfi_rule rule = rule_get(at.pc, &id);
		enum step why = rule.kind == CFI_SIGFRAME ? STEP_UNKNOWN : step(c, &at, rule);

		if (why != STEP_ON)
			return why != STEP_END;
	}
	return true;
}

uint32_t unwind_site(struct tctx *c, const struct caller *from, uint32_t site_flags)
{
	const struct known_stack *known;

	if (unlikely(c->code_gen != LOAD(A.code_gen) || c->stack_gen != LOAD(A.stack_gen) ||
		     LOAD(A.tree->code_epoch) != LOAD(A.code_epoch_seen)))
		changed(c);
	if (likely(c->known)) {
		known = known_at(c, from);
		if (likely(known_holds(known, from)))
			return known->site;
	}
	return walk_site(c, from, site_flags);
}
