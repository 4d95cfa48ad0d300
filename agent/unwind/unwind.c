/* SPDX-License-Identifier: MIT */
/*
 * Call stacks: from the caller of a hook to the outermost frame, without frame pointers and usually
 * without a walk.
 *
 * Rules (agent/unwind/rule.h) are kept in caches by pc, so a warm step is one probe, one addition
 * and one or two loads.
 *
 * Most stacks share their outer part with the stack of the thread's previous event. The context
 * keeps that stack as a memo: its frames, and a list of checks, the words of the stack that lead
 * from each of them to the outermost one. As soon as the walk is on a frame that is also in the
 * memo (same pc, same stack pointer, same fp where that matters), the frames further out are
 * determined by these words; the walk then only confirms that they still hold what they held (loads
 * and compares independent of each other). Beyond a word that differs it is walked on. The new
 * frames are numbered by pieces (agent/piece.h). Stacks that come back are kept whole
 * (agent/known.h) and need no step at all. The result is always that of a full walk.
 *
 * Never a wrong frame: where there is no rule, or an address is not readable, the stack ends with a
 * mark.
 */
#include "agent/unwind/unwind.h"

#include "agent/agent.h"
#include "agent/agent_arena.h"
#include "agent/known.h"
#include "agent/node.h"
#include "agent/unwind/module.h"
#include "agent/piece.h"
#include "agent/unwind/rule.h"
#include "agent/site.h"
#include "agent/agent_stack.h"

#define KNOWN_AFTER	2000	/* the context's seqlock: two for each event */
#define PIECES_AFTER	100000	/* ... likewise */

/* ---- the memo -------------------------------------------------------------------------------- */

static inline bool check_holds(const struct check *check)
{
	return arch_word_is((const void *)check->address, check->value);
}

/*
 * How many of the checks [0, nr) are left when the first one that fails, from the last one on, has
 * been met: 0 = all hold. In this order each word that is read belongs to a stack that the checks
 * before have shown to be there.
 */
static inline uint32_t checks_failing(const struct check *checks, uint32_t nr)
{
	const struct check *k = checks + nr, *last = checks + 4;

	for (; k >= last; k -= 4) {		/* deep stacks: this is much of a walk */
		if (unlikely(!check_holds(&k[-1])))
			return (uint32_t)(k - checks);
		if (unlikely(!check_holds(&k[-2])))
			return (uint32_t)(k - checks) - 1;
		if (unlikely(!check_holds(&k[-3])))
			return (uint32_t)(k - checks) - 2;
		if (unlikely(!check_holds(&k[-4])))
			return (uint32_t)(k - checks) - 3;
	}
	while (k > checks && check_holds(&k[-1]))
		k--;
	return (uint32_t)(k - checks);
}

static inline void check_put(struct check *checks, uint32_t *nr, uint64_t address, uint64_t value)
{
	checks[(*nr)++] = (struct check){ address, value };
}

/* A word that is what it is. */
static inline void check_put_word(struct check *checks, uint32_t *nr, uint64_t address)
{
	check_put(checks, nr, address, stack_word(address));
}

/*
 * What has to hold for f to lead to `next` (NULL: to nothing) by `rule` again, the first to look at
 * last. `saved`: the fp that f saved matters.
 */
static inline uint32_t checks_put(struct check *checks, uint32_t nr, const struct fresh_frame *f,
				  struct cfi_rule rule, const struct frame *next, bool saved)
{
	uint64_t pc = next ? PMM_FRAME_PC(next->id) : 0, cfa;

	switch (rule.kind) {
	case CFI_SP:
	case CFI_FP:
		if (unlikely(!next)) {		/* ends where the return address is 0 */
			cfa = (rule.kind == CFI_SP ? f->sp : f->fp) +
			      (uint64_t)(int64_t)rule.cfa_off;
			check_put(checks, &nr, cfa - 8, 0);
			break;
		}
		if (saved)
			check_put(checks, &nr, next->sp + 8 * (uint64_t)(int64_t)rule.fp_off,
				  next->fp);
		check_put(checks, &nr, next->sp - 8, pc + 1);
		break;
	case CFI_FP_DEREF:
		if (unlikely(!next))		/* ends, and is not kept */
			break;
		check_put_word(checks, &nr, f->fp);
		check_put(checks, &nr, next->sp - 8, pc + 1);
		check_put(checks, &nr, f->fp + (uint64_t)(int64_t)rule.cfa_off, next->sp);
		break;
	case CFI_SIGFRAME:
		if (unlikely(!next))
			break;
		check_put_word(checks, &nr, f->sp + ARCH_SIGFRAME_FP);
		check_put(checks, &nr, f->sp + ARCH_SIGFRAME_SP, next->sp);
		check_put(checks, &nr, f->sp + ARCH_SIGFRAME_PC, pc);
		break;
	default:		/* ends here, or a mark follows: decided by the pc alone */
		break;
	}
	return nr;
}

/*
 * Put the new frames on top of memo[0 .. join), from the outermost inwards, where the usual holds:
 * they hang on nothing but return addresses.
 */
static inline void memo_put_near(struct tctx *c, uint32_t join, uint32_t nr_fresh)
{
	struct frame *f = &c->memo[join];
	uint32_t nr_checks = f[-1].nr_checks;
	uint64_t sp = f[-1].sp, ra = PMM_FRAME_PC(f[-1].id) + 1;	/* of the frame outside */
	struct check *check = &c->checks[nr_checks];
	uint64_t *hash = &c->stack_hash[join], stack = *hash;

	for (const struct fresh_frame *w = &c->fresh[nr_fresh]; w-- > c->fresh; f++) {
		*check++ = (struct check){ sp - 8, ra };
		sp = w->sp;
		ra = PMM_FRAME_PC(w->id) + 1;
		stack = node_hash(stack, w->id);
		*++hash = stack;
		f->id = w->id;
		f->sp = sp;
		f->node = 0;
		f->nr_checks = (uint16_t)++nr_checks;
		f->needs_fp = false;
	}
}

/*
 * ... whatever they hang on. Also finds out where fp matters: from a frame whose CFA hangs on fp
 * inwards to the frame that saved it. Only there the memo's frames have it.
 */
static __attribute__((noinline)) void memo_put(struct tctx *c, uint32_t join, uint32_t nr_fresh)
{
	const struct frame *next = join ? &c->memo[join - 1] : NULL;
	uint32_t nr_checks = next ? next->nr_checks : 0;
	bool needed = next && next->needs_fp;
	struct frame *f = &c->memo[join];
	uint64_t *hash = &c->stack_hash[join];

	for (const struct fresh_frame *w = &c->fresh[nr_fresh]; w-- > c->fresh; next = f++) {
		struct cfi_rule rule = w->near ? rule_near_rule(w->near) : w->rule;
		bool saved = rule.fp_off && needed;

		nr_checks = checks_put(c->checks, nr_checks, w, rule, next, saved);
		needed &= !saved && rule.kind != CFI_SIGFRAME;
		needed |= rule.kind == CFI_FP || rule.kind == CFI_FP_DEREF;
		hash[1] = node_hash(hash[0], w->id);
		hash++;
		f->id = w->id;
		f->sp = w->sp;
		/* where it matters, RULE_NEAR_SP has not saved it */
		f->fp = w->near & RULE_NEAR_SP ? next->fp : w->fp;
		f->node = 0;
		f->nr_checks = (uint16_t)nr_checks;
		f->needs_fp = needed;
	}
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* How a walk ended. */
struct walked {
	uint32_t nr;		/* new frames, innermost first in the context's `fresh` */
	uint32_t join;		/* memo frames that follow, 0 = none */
	enum step why;		/* STEP_ON: joined, or deeper than a stack may be */
	bool keep;		/* checks can tell whether it would end the same way again */
	bool near;		/* all new frames by RULE_NEAR_SP */
};

static void fresh_put(struct tctx *c, uint32_t n, uint64_t id, const struct stack_at *at,
		      struct cfi_rule rule)
{
	c->fresh[n] = (struct fresh_frame){ .id = id, .sp = at->sp, .fp = at->fp, .rule = rule };
}

static void fresh_mark(struct tctx *c, uint32_t n, enum pmm_frame_mark mark, uint64_t sp)
{
	struct stack_at at = { 0, sp, 0 };

	fresh_put(c, n, mark, &at, (struct cfi_rule){ .kind = CFI_END });
}

/* The fp that frame n has its caller have; its rule is a near one, and its caller's sp is noted. */
static inline uint64_t fresh_saved(const struct fresh_frame *f, uint64_t fp)
{
	uint64_t saved = rule_near_saved(f->near);

	return saved ? stack_word(f[1].sp - 8 * saved) : fp;
}

/*
 * fp in frame f, to which the walk came from the frames further in. It is noted of the innermost
 * frame and of each whose callee has another than a near rule.
 */
static inline uint64_t fresh_fp(const struct tctx *c, const struct fresh_frame *f)
{
	const struct fresh_frame *k = f;

	while (k > c->fresh && k[-1].near && !rule_near_saved(k[-1].near))
		k--;
	return k > c->fresh && k[-1].near ? fresh_saved(k - 1, 0) : k->fp;
}

/* The walk came to frame n and cannot step from there. */
static __attribute__((noinline)) void walk_end(struct tctx *c, struct walked *w,
					       const struct stack_at *at)
{
	uint8_t kind = c->fresh[w->nr++].rule.kind;

	if (w->why == STEP_END) {
		w->keep = kind == CFI_END || kind == CFI_SP || kind == CFI_FP;
		return;
	}
	w->keep = kind == CFI_NONE;
	if (w->why == STEP_UNKNOWN && w->nr < agent.max_frames)
		fresh_mark(c, w->nr++, PMM_FRAME_NO_UNWIND, at->sp);
}

/* A step of any kind, from frame w->nr. False: it was the last; *w says so. */
static __attribute__((noinline)) bool walk_step(struct tctx *c, struct walked *w,
						struct stack_at *at)
{
	uint64_t id;
	struct cfi_rule rule = rule_get(at->pc, &id);

	w->near = false;
	at->fp = fresh_fp(c, &c->fresh[w->nr]);
	fresh_put(c, w->nr, id, at, rule);
	w->why = stack_step(c, at, rule);
	if (w->why != STEP_ON) {
		walk_end(c, w, at);
		return false;
	}
	c->fresh[++w->nr].fp = at->fp;
	return true;
}

/*
 * The step by a near rule from frame w->nr whose CFA hangs on fp, on the part of the stack that may
 * be read up to `end`. False: nothing was done.
 */
static inline bool walk_step_fp(struct tctx *c, struct walked *w, uint64_t rule, uint64_t pc,
				uint64_t sp, uint64_t end)
{
	struct fresh_frame *f = &c->fresh[w->nr];
	uint64_t cfa, slot;

	f->fp = fresh_fp(c, f);
	cfa = f->fp + rule_near_cfa(rule);
	slot = cfa - 8 * rule_near_saved(rule);
	if (cfa <= sp || cfa - 8 >= end || cfa & 7 || slot < c->stack_lo || !stack_word(cfa - 8))
		return false;
	f->id = rule_near_id(rule, pc);
	f->near = rule;
	w->near = false;
	return true;
}

/* Up to where the stack may be read from `sp` on, which is aligned; 0 where that is not known. */
static inline uint64_t walk_end_of(const struct tctx *c, uint64_t sp)
{
	return likely(sp >= c->stack_lo && sp < c->stack_hi && !(sp & 7)) ? c->stack_hi : 0;
}

/*
 * Walk from `from` outwards into c->fresh until one of the memo's first `nr_memo` frames is
 * confirmed or the stack ends.
 */
static inline __attribute__((always_inline)) void
walk(struct tctx *c, const struct caller *from, uint32_t nr_memo, struct walked *w)
{
	uint64_t pc = from->ra - 1, sp = from->sp;
	/* memo[-1] is outside everything */
	const struct frame *m = c->memo + nr_memo - 1;
	struct fresh_frame *f = c->fresh, *last = f + agent.max_frames - 1;
	uint64_t end = walk_end_of(c, sp);
	uint32_t failing = UINT32_MAX;

	*w = (struct walked){ .why = STEP_ON, .keep = true, .near = true };
	f->fp = from->fp;
	for (;; f++) {
		uint64_t rule, cfa, ra;
		struct stack_at at;

		f->sp = sp;
		while (m->sp < sp)
			m--;
		if (m->sp == sp && PMM_FRAME_PC(m->id) == pc && m->nr_checks < failing &&
		    (!m->needs_fp || m->fp == fresh_fp(c, f))) {
			failing = checks_failing(c->checks, m->nr_checks);
			if (likely(!failing)) {
				w->join = (uint32_t)(m - c->memo) + 1;
				w->near &= !m->needs_fp;
				break;
			}
			/*
			 * inside the frame that this check is of it is the same stack, but not
			 * worth a copy
			 */
		}
		if (unlikely(f >= last)) {
			fresh_mark(c, (uint32_t)(f++ - c->fresh), PMM_FRAME_TRUNCATED, sp);
			w->keep = false;
			break;
		}
		/* the usual step, on the part of the stack that is known to be readable */
		rule = rule_near(pc);
		cfa = sp + rule_near_cfa(rule);
		if (likely(rule & RULE_NEAR_SP) && likely(cfa - 8 < end) &&
		    likely((ra = stack_word(cfa - 8)) != 0)) {
			f->id = rule_near_id(rule, pc);
			f->near = rule;
			pc = ra - 1;
			sp = cfa;
			continue;
		}
		w->nr = (uint32_t)(f - c->fresh);
		if (likely(rule & RULE_NEAR_FP) && walk_step_fp(c, w, rule, pc, sp, end)) {
			sp = f->fp + rule_near_cfa(rule);
			pc = stack_word(sp - 8) - 1;
			continue;
		}
		at = (struct stack_at){ pc, sp, 0 };
		if (!walk_step(c, w, &at))
			return;
		pc = at.pc;
		sp = at.sp;
		end = walk_end_of(c, sp);
	}
	w->nr = (uint32_t)(f - c->fresh);
	w->near &= w->join != 0;
}

static int slow_read(void *ctx, uint64_t address, uint64_t *value)
{
	if (!stack_readable(ctx, address))
		return -1;
	*value = stack_word(address);
	return 0;
}

/*
 * The walk for stacks with a frame that only full interpretation of its unwind information can
 * leave. Starts in our own code, whose registers we know, and keeps what is outside the hook.
 */
static __attribute__((noinline)) uint32_t walk_slow(struct tctx *c, const struct caller *from)
{
	struct cfi_regs regs = { .known = 1u << 3 | 1u << 6 | 1u << 7 | 0xfu << 12 | 1u << 16 };
	uint32_t n = 0, max = agent.max_frames;
	bool outside = false, exact = false;

	ARCH_CAPTURE_REGS(regs.r);
	for (unsigned steps = 0; n < max - 1 && steps < max + 16; steps++) {
		uint64_t pc = regs.r[ARCH_DWARF_RA] - !exact;
		struct module_at m;
		int ret;

		outside |= regs.r[ARCH_DWARF_SP] == from->sp;
		if (!module_find(pc, &m)) {
			m.id = 0;
			m.cfi = (struct cfi_module){ 0 };
		}
		if (outside) {
			struct stack_at at = { pc, regs.r[ARCH_DWARF_SP], 0 };

			fresh_put(c, n++, pc | (uint64_t)m.id << 48, &at,
				  (struct cfi_rule){ .kind = CFI_SLOW });
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

/* ---- a hook's stack -------------------------------------------------------------------------- */

/* Two before the memo's, of which one is used, and those behind it that piece_site() clears. */
#define MORE_FRAMES	(2 + PIECE_FRAMES)

size_t unwind_bytes(void)
{
	return (agent.max_frames + MORE_FRAMES) *
	       (sizeof(struct frame) + sizeof(struct fresh_frame) +
		CHECKS_PER_FRAME * sizeof(struct check) + sizeof(uint64_t));
}

void unwind_init(struct tctx *c, void *memory)
{
	c->memo = (struct frame *)memory + 2;
	c->memo[-1].sp = UINT64_MAX;
	c->checks = (struct check *)(c->memo + agent.max_frames + PIECE_FRAMES);
	c->fresh = (struct fresh_frame *)(c->checks + CHECKS_PER_FRAME * agent.max_frames);
	c->stack_hash = (uint64_t *)(c->fresh + agent.max_frames + 1);
}

void unwind_forget(struct tctx *c)
{
	uint32_t code_gen = LOAD(agent.code_gen);

	if (c->pieces && c->code_gen != code_gen)
		piece_forget(c->pieces);
	c->code_gen = code_gen;
	c->stack_gen = LOAD(agent.stack_gen);
	c->memo_nr = 0;
	c->stack_lo = c->stack_hi = 0;
	c->seen_lo = c->seen_hi = 0;
	if (c->known)
		known_forget(c->known);
}

void unwind_recover(struct tctx *c)
{
	unwind_forget(c);
	if (c->known)
		known_clear(c->known);
	if (c->pieces)
		piece_forget(c->pieces);
}

void unwind_changed(struct tctx *c)
{
	uint32_t epoch = LOAD(agent.tree->code_epoch);

	if (epoch != LOAD(agent.code_epoch_seen)) {
		STORE(agent.code_epoch_seen, epoch);
		rule_flush();
	}
	unwind_forget(c);
}

/* What pays only for contexts that are used for long. */
static __attribute__((noinline)) void settle(struct tctx *c)
{
	if (!c->known && !c->known_resting && arena_for_cache(sizeof(*c->known)))
		c->known = arena_get(sizeof(*c->known), ARCH_PAGE);
	if (!c->pieces && c->pub.seq > PIECES_AFTER)
		c->pieces = piece_cache_new(PIECE_BITS);
}

static __attribute__((noinline)) uint32_t walk_site(struct tctx *c, const struct caller *from,
						    uint32_t site_flags)
{
	uint32_t nr_memo = c->memo_nr;
	struct walked w;

	stack_note(c, from->sp);
	for (;; nr_memo = 0) {
		walk(c, from, nr_memo, &w);
		if (likely(w.join + w.nr <= agent.max_frames))
			break;				/* not deeper than a stack may be */
	}
	if (unlikely(w.why == STEP_SLOW))
		w = (struct walked){ .nr = walk_slow(c, from) };
	if (w.nr || w.join != c->memo_nr) {
		c->memo_nr = w.join + w.nr;
		if (c->known)
			known_memo_changed(c->known, c->memo[(int64_t)w.join - 1].nr_checks);
		if (likely(w.near)) {
			memo_put_near(c, w.join, w.nr);
		} else {
			memo_put(c, w.join, w.nr);
		}
		c->last_site = piece_site(c, site_flags);
		site_fetch_record(c, c->last_site);
	}
	if (unlikely(!w.keep || !c->last_site))
		c->memo_nr = 0;
	if (unlikely(!c->pieces && c->pub.seq > KNOWN_AFTER))
		settle(c);
	if (likely(c->memo_nr && c->known))
		known_note(c, from);
	known_weigh(c);
	return c->last_site;
}

/* The memo's site if the caller's stack is that one again, else 0. */
static inline uint32_t memo_again(const struct tctx *c, const struct caller *from)
{
	const struct frame *m = &c->memo[(int64_t)c->memo_nr - 1];

	return m->sp == from->sp && PMM_FRAME_PC(m->id) == from->ra - 1 &&
			       (!m->needs_fp || m->fp == from->fp) &&
			       !checks_failing(c->checks, m->nr_checks)
		       ? c->last_site
		       : 0;
}

uint32_t unwind_site_other(struct tctx *c, const struct caller *from, uint32_t site_flags)
{
	uint32_t site = memo_again(c, from);

	return site ? site : walk_site(c, from, site_flags);
}

uint32_t unwind_site(struct tctx *c, const struct caller *from, uint32_t site_flags)
{
	uint32_t site;

	if (unlikely(unwind_void(c)))
		unwind_changed(c);
	site = c->known ? known_site(c->known, from) : 0;
	return likely(site) ? site : unwind_site_other(c, from, site_flags);
}
