/*
 * Unwind rules by pc: a direct-mapped cache over agent/cfi.h.
 */
#ifndef AGENT_RULE_H
#define AGENT_RULE_H

#include <stdint.h>

#include "agent/agent.h"
#include "agent/cfi.h"
#include "agent/sys.h"

#define AGENT_RULE_BITS	15

/* check = id ^ rule, so that an entry torn by two writers never matches. */
struct rule_entry {
	uint64_t check;
	uint64_t rule;
};

static inline uint64_t rule_pack(struct cfi_rule r)
{
	return r.kind | (uint64_t)(uint16_t)r.rbp_off << 16 | (uint64_t)(uint32_t)r.cfa_off << 32;
}

static inline struct cfi_rule rule_unpack(uint64_t w)
{
	return (struct cfi_rule){ .kind = (uint8_t)w, .rbp_off = (int16_t)(w >> 16), .cfa_off = (int32_t)(w >> 32) };
}

static inline struct rule_entry *rule_slot(uint64_t pc)
{
	return &A.rules[pc * 0x9e3779b97f4a7c15ull >> (64 - AGENT_RULE_BITS)];
}

/* Read the rule from the module's unwind information. *id gets module:16 | pc:48. */
struct cfi_rule rule_make(uint64_t pc, uint64_t *id);

/* Code came or went: throw away all rules. */
void rule_flush(void);

/* The rule for a pc, through the cache. */
static inline __attribute__((always_inline)) struct cfi_rule rule_get(uint64_t pc, uint64_t *id)
{
	struct rule_entry *e = rule_slot(pc);
	uint64_t rule = LOAD(e->rule);

	*id = LOAD(e->check) ^ rule;
	if (likely(PMM_FRAME_PC(*id) == pc))
		return rule_unpack(rule);
	return rule_make(pc, id);
}

#endif
