/* SPDX-License-Identifier: MIT */
/*
 * Unwind rules by pc: two caches over agent/unwind/cfi.h. The near one has only the simple rules,
 * in one word each, so that the rules of thousands of pcs stay in the processor's caches; the far
 * one has all.
 */
#ifndef AGENT_UNWIND_RULE_H
#define AGENT_UNWIND_RULE_H

#include <stdint.h>

#include "agent/agent.h"
#include "agent/unwind/cfi.h"
#include "agent/sys.h"

#define RULE_NEAR_BITS	14
#define RULE_FAR_BITS	15

/* check = id ^ rule, so that an entry torn by two writers never matches. */
struct rule_entry {
	uint64_t check;
	uint64_t rule;
};

/*
 * A near entry, from the top: tag:33 | module:10 | -fp_off:5 | CFA offset in words:14 | kind:2. The
 * entry's index and the tag are the 47 bits of a pc multiplied by an odd number, so together they
 * are the pc. 0: unused.
 *
 * What a walk need not ask again: the CFA of RULE_NEAR_SP is above the stack pointer, and the fp is
 * saved in between.
 */
struct rules {
	uint64_t near[1 << RULE_NEAR_BITS];
	struct rule_entry far[1 << RULE_FAR_BITS];
};

#define RULE_PC_BITS	47
#define RULE_TAG_SHIFT	(64 - (RULE_PC_BITS - RULE_NEAR_BITS))
#define RULE_MODULE_AT	21
#define RULE_MODULES	(1u << (RULE_TAG_SHIFT - RULE_MODULE_AT))
#define RULE_FP_AT	16
#define RULE_FPS	(1u << (RULE_MODULE_AT - RULE_FP_AT))
#define RULE_CFA_AT	2
#define RULE_CFAS	(1u << (RULE_FP_AT - RULE_CFA_AT))

enum rule_near_kind { RULE_NEAR_NONE, RULE_NEAR_SP, RULE_NEAR_FP };

/*
 * A pc below 1 << RULE_PC_BITS with its bits mixed: the entry's index in the highest bits, the tag
 * below.
 */
static inline uint64_t rule_mix(uint64_t pc)
{
	return pc * (0x9e3779b97f4a7c15ull << (64 - RULE_PC_BITS));
}

static inline uint64_t *rule_near_entry(uint64_t mixed)
{
	return &agent.rules->near[mixed >> (64 - RULE_NEAR_BITS)];
}

/* The near cache's entry for a pc, 0 when there is none. */
static inline uint64_t rule_near(uint64_t pc)
{
	uint64_t mixed = rule_mix(pc), w = LOAD(*rule_near_entry(mixed));

	return likely(!((w ^ mixed << RULE_NEAR_BITS) >> RULE_TAG_SHIFT) && !(pc >> RULE_PC_BITS))
		       ? w
		       : 0;
}

static inline uint64_t rule_near_id(uint64_t w, uint64_t pc)
{
	return pc | (w >> RULE_MODULE_AT & (RULE_MODULES - 1)) << 48;
}

/* The CFA's offset in bytes. */
static inline uint64_t rule_near_cfa(uint64_t w)
{
	return (w & (RULE_CFAS - 1) << RULE_CFA_AT) * (8 >> RULE_CFA_AT);
}

/* How many words below the CFA the fp is saved, 0 = it is not. */
static inline uint64_t rule_near_saved(uint64_t w)
{
	return w >> RULE_FP_AT & (RULE_FPS - 1);
}

/* The rule of a near entry that is not 0. */
static inline struct cfi_rule rule_near_rule(uint64_t w)
{
	return (struct cfi_rule){ .kind = (uint8_t)(CFI_SP - RULE_NEAR_SP + (w & 3)),
				  .fp_off = (int16_t)-(int)rule_near_saved(w),
				  .cfa_off = (int32_t)rule_near_cfa(w) };
}

/* The rule for a pc that the near cache does not have. *id gets module:16 | pc:48. */
struct cfi_rule rule_get_far(uint64_t pc, uint64_t *id);

/* The rule for a pc. */
static inline struct cfi_rule rule_get(uint64_t pc, uint64_t *id)
{
	uint64_t w = rule_near(pc);

	if (unlikely(!w))
		return rule_get_far(pc, id);
	*id = rule_near_id(w, pc);
	return rule_near_rule(w);
}

/*
 * The same without the caches. For what is asked once: an entry is memory that is not there yet,
 * and to get it takes longer than to read the rule.
 */
struct cfi_rule rule_read(uint64_t pc, uint64_t *id);

/* Code came or went: throw away all rules. */
void rule_flush(void);

#endif
