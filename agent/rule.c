/*
 * Unwind rules by pc: what happens on a miss.
 */
#include "agent/rule.h"

#include "agent/module.h"

struct cfi_rule rule_make(uint64_t pc, uint64_t *id)
{
	struct cfi_rule rule = { .kind = CFI_NONE };
	struct rule_entry *e = rule_slot(pc);
	struct agent_module m;

	*id = pc;
	if (pc >> 47 || !module_find(pc, &m))
		return rule;
	*id = pc | (uint64_t)m.id << 48;
	if (m.cfi.hdr)
		cfi_rule_find(&m.cfi, pc, &rule);
	STORE(e->check, *id ^ rule_pack(rule));
	STORE(e->rule, rule_pack(rule));
	return rule;
}

void rule_flush(void)
{
	ADD(A.code_gen, 1);
	memset(A.rules, 0, sizeof(*A.rules) << AGENT_RULE_BITS);
}
