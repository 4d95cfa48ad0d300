/* SPDX-License-Identifier: MIT */
/*
 * Unwind rules by pc: what happens on a miss.
 */
#include "agent/unwind/rule.h"

#include "agent/unwind/module.h"

_Static_assert((int)RULE_NEAR_SP + 1 == (int)RULE_NEAR_FP && CFI_SP + 1 == CFI_FP,
	       "kinds of the near cache");

static inline uint64_t rule_pack(struct cfi_rule r)
{
	return r.kind | (uint64_t)(uint16_t)r.fp_off << 16 | (uint64_t)(uint32_t)r.cfa_off << 32;
}

static inline struct cfi_rule rule_unpack(uint64_t w)
{
	return (struct cfi_rule){ .kind = (uint8_t)w,
				  .fp_off = (int16_t)(w >> 16),
				  .cfa_off = (int32_t)(w >> 32) };
}

/* Put a rule into the near cache if it fits there. */
static void near_put(uint64_t pc, uint64_t id, struct cfi_rule r)
{
	uint64_t mixed = rule_mix(pc), module = PMM_FRAME_MODULE(id), cfa = (uint32_t)r.cfa_off / 8,
		 fp = (uint32_t)-r.fp_off;
	uint64_t kind = r.kind == CFI_SP ? RULE_NEAR_SP : RULE_NEAR_FP;

	if ((r.kind != CFI_SP && r.kind != CFI_FP) || r.cfa_off & 7 || cfa >= RULE_CFAS ||
	    fp >= RULE_FPS || module >= RULE_MODULES)
		return;
	if (r.kind == CFI_SP && (!cfa || fp > cfa))
		return;
	STORE(*rule_near_entry(mixed), mixed << RULE_NEAR_BITS | module << RULE_MODULE_AT |
					       fp << RULE_FP_AT | cfa << RULE_CFA_AT | kind);
}

/*
 * Is `pc` the byte before a function that was not called, but that a frame returns to: what makes a
 * coroutine's first frame has put it there (makecontext())? Then what is before it fills up a gap,
 * and is neither a call nor a function without unwind information.
 */
static bool is_outermost(const struct cfi_module *m, uint64_t pc)
{
	uint8_t code[ARCH_GAP_BYTES];

	return !LOAD(agent.confined) && cfi_begins_behind(m, pc) &&
	       module_copy(code, pc + 1 - sizeof(code), sizeof(code)) && arch_fills_gap(code);
}

/* Read the rule from the module's unwind information. */
static struct cfi_rule rule_make(uint64_t pc, struct rule_entry *e, uint64_t *id)
{
	struct cfi_rule rule = { .kind = CFI_NONE };
	struct module_at m;

	*id = pc;
	if (pc >> 47 || !module_find(pc, &m))
		return rule;
	*id = pc | (uint64_t)m.id << 48;
	if (m.cfi.hdr)
		cfi_rule_find(&m.cfi, pc, &rule);
	if (rule.kind == CFI_NONE && m.cfi.hdr && is_outermost(&m.cfi, pc))
		rule.kind = CFI_END;
	STORE(e->check, *id ^ rule_pack(rule));
	STORE(e->rule, rule_pack(rule));
	return rule;
}

__attribute__((noinline)) struct cfi_rule rule_get_far(uint64_t pc, uint64_t *id)
{
	struct rule_entry *e =
		&agent.rules->far[pc * 0x9e3779b97f4a7c15ull >> (64 - RULE_FAR_BITS)];
	uint64_t word = LOAD(e->rule);
	struct cfi_rule rule;

	*id = LOAD(e->check) ^ word;
	rule = likely(PMM_FRAME_PC(*id) == pc) ? rule_unpack(word) : rule_make(pc, e, id);
	if (likely(!(pc >> RULE_PC_BITS)))
		near_put(pc, *id, rule);
	return rule;
}

struct cfi_rule rule_read(uint64_t pc, uint64_t *id)
{
	struct rule_entry unused;

	return rule_make(pc, &unused, id);
}

void rule_flush(void)
{
	ADD(agent.code_gen, 1);
	memset(agent.rules, 0, sizeof(*agent.rules));
}
