/*
 * Stacks that come back: making the list of slots from the memo.
 */
#include "agent/known.h"

#include "agent/cfi.h"

/* Note that the word at `address` must be `value`. False when it does not fit. */
static inline bool known_put(struct known_stack *k, uint32_t *nr, uint64_t address, uint64_t value)
{
	uint64_t words = (address - k->sp) / 8;

	if (*nr >= KNOWN_SLOTS || words > UINT16_MAX)
		return false;
	k->slot[*nr] = (uint16_t)words;
	k->value[(*nr)++] = value;
	return true;
}

static bool known_put_frame(struct known_stack *k, uint32_t *nr, const struct frame *f, const struct frame *next)
{
	uint64_t pc = PMM_FRAME_PC(next->id);

	switch (f->kind) {
	case CFI_RSP:
	case CFI_RBP:
		return known_put(k, nr, next->sp - 8, pc + 1) &&
		       (!(f->flags & FRAME_CHECK_RBP) ||
			known_put(k, nr, next->sp + 8 * (uint64_t)(int64_t)f->rbp_off, next->rbp));
	case CFI_RBP_DEREF:
		return known_put(k, nr, f->rbp + (uint64_t)(int64_t)f->aux, next->sp) &&
		       known_put(k, nr, next->sp - 8, pc + 1) && known_put(k, nr, f->rbp, next->rbp);
	case CFI_SIGFRAME:
		return known_put(k, nr, f->sp + ARCH_SIGFRAME_RIP, pc) &&
		       known_put(k, nr, f->sp + ARCH_SIGFRAME_RSP, next->sp) &&
		       known_put(k, nr, f->sp + ARCH_SIGFRAME_RBP, next->rbp);
	default:
		return true;
	}
}

void known_note(const struct tctx *c, struct known_stack *k, const struct caller *from)
{
	uint32_t nr = 0;

	if (k->ra != from->ra || k->sp != from->sp) {
		k->ra = from->ra;
		k->sp = from->sp;
		k->nr_slots = 0;
		return;
	}
	k->nr_slots = 0;
	for (uint32_t i = c->memo_first; i + 1 < A.max_frames; i++)
		if (!known_put_frame(k, &nr, &c->memo[i], &c->memo[i + 1]))
			return;
	k->rbp = from->rbp;
	k->needs_rbp = c->memo[c->memo_first].flags & FRAME_NEEDS_RBP;
	k->site = c->last_site;
	k->nr_slots = (uint16_t)nr;
}
