/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks that are made up in an array, of functions whose rules are put into the rule cache, and
 * what a full walk has to find.
 */
#ifndef TESTS_UNIT_UNWOUND_STACK_H
#define TESTS_UNIT_UNWOUND_STACK_H

#include "tests/unit/agent_host.h"

#include "agent/node.h"

#include "tests/unit/unit.h"

#include "agent/record.h"
#include "agent/unwind/rule.h"
#include "agent/unwind/unwind.h"

#define MODULE		7ull
#define FUNCTIONS	64
#define WORDS		2048

static uint64_t words[WORDS] __attribute__((aligned(4096)));
static struct cfi_rule rules[FUNCTIONS];
static struct tctx *ctx;

static inline uint64_t pc_of(unsigned f)
{
	return 0x401000 + f * 0x40ull;
}

static inline uint64_t id_of(unsigned f)
{
	return pc_of(f) | MODULE << 48;
}

static inline void rule_put(unsigned f, uint64_t module, struct cfi_rule r)
{
	uint64_t packed = r.kind | (uint64_t)(uint16_t)r.fp_off << 16 |
			  (uint64_t)(uint32_t)r.cfa_off << 32;

	agent.rules->far[pc_of(f) * 0x9e3779b97f4a7c15ull >> (64 - RULE_FAR_BITS)] =
		(struct rule_entry){ packed ^ (pc_of(f) | module << 48), packed };
	*rule_near_entry(rule_mix(pc_of(f))) = 0;
	rules[f] = r;
}

/* From here on a walk that steps out of function f finds no way. */
static inline void forbid(unsigned f)
{
	struct cfi_rule was = rules[f];

	rule_put(f, MODULE, (struct cfi_rule){ .kind = CFI_NONE });
	rules[f] = was;			/* its frames look the same */
}

/*
 * Functions: 0 outermost, 1..31 two words, 32..47 four words and fp saved, 48..55 found through
 * fp, 56..63 realigned.
 */
static inline void start(bool long_used)
{
	agent_host_init(64 << 20);
	agent.rules = calloc(1, sizeof(*agent.rules));
	ctx = arena_get(sizeof(*ctx), 64);
	unwind_init(ctx, arena_get(unwind_bytes(), 64));
	ctx->pub.seq = long_used ? 200000 : 0;
	memset(words, 0, sizeof(words));
	rule_put(0, MODULE, (struct cfi_rule){ .kind = CFI_END });
	for (unsigned f = 1; f < 32; f++)
		rule_put(f, MODULE, (struct cfi_rule){ .kind = CFI_SP, .cfa_off = 16 });
	for (unsigned f = 32; f < 48; f++)
		rule_put(f, MODULE,
			 (struct cfi_rule){ .kind = CFI_SP, .cfa_off = 32, .fp_off = -2 });
	for (unsigned f = 48; f < 56; f++)
		rule_put(f, MODULE,
			 (struct cfi_rule){ .kind = CFI_FP, .cfa_off = 16, .fp_off = -2 });
	for (unsigned f = 56; f < 64; f++)
		rule_put(f, MODULE, (struct cfi_rule){ .kind = CFI_FP_DEREF, .cfa_off = -8 });
}

static inline void stop(void)
{
	free(agent.rules);
	agent_host_fini();
}

/* A stack under construction, outermost function first, growing down from the end of `words`. */
struct stack {
	struct caller at;	/* its innermost frame */
	unsigned nr;
	unsigned f[64];
};

static inline uint64_t *push(struct stack *s, uint64_t word)
{
	s->at.sp -= 8;
	*(uint64_t *)s->at.sp = word;
	return (uint64_t *)s->at.sp;
}

/* Function f, called from the innermost one. */
static inline void call(struct stack *s, unsigned f)
{
	if (s->nr)
		push(s, s->at.ra);
	switch (rules[f].kind) {
	case CFI_SP:
		push(s, s->at.fp);
		for (int32_t k = 16; k < rules[f].cfa_off; k += 8)
			push(s, 0xabad1dea);
		if (rules[f].fp_off)
			s->at.fp = 0xdeadbeef;
		break;
	case CFI_FP:
		push(s, s->at.fp);
		s->at.fp = s->at.sp;
		push(s, 0xabad1dea);
		break;
	case CFI_FP_DEREF: {
		uint64_t cfa = s->at.sp + 8;

		push(s, 0xabad1dea);
		push(s, s->at.fp);
		s->at.fp = s->at.sp;
		push(s, cfa);
		push(s, 0xabad1dea);
		break;
	}
	default:
		break;
	}
	s->at.ra = pc_of(f) + 1;
	s->f[s->nr++] = f;
}

static inline struct stack stack_of(unsigned nr, const unsigned *f)
{
	struct stack s = { .at = { .sp = (uint64_t)&words[WORDS - 64], .fp = 0x5555 } };

	for (unsigned i = 0; i < nr; i++)
		call(&s, f[i]);
	return s;
}

#define STACK(...)                                                                                 \
	stack_of(sizeof((unsigned[]){ __VA_ARGS__ }) / sizeof(unsigned),                           \
		 (unsigned[]){ __VA_ARGS__ })
#define SITE(...)                                                                                  \
	site_of(sizeof((unsigned[]){ __VA_ARGS__ }) / sizeof(unsigned), (unsigned[]){ __VA_ARGS__ })

/* What a full walk has to find, outermost function first. */
static inline uint32_t site_of(unsigned nr, const unsigned *f)
{
	uint32_t node = 0;

	for (unsigned i = 0; i < nr; i++)
		node = node_get(node, id_of(f[i]));
	return site_get(node, 0);
}

/* As an event asks, or as other hooks do; they take turns. */
static bool by_event;

static inline uint32_t site_at(const struct stack *s)
{
	by_event = !by_event;
	return by_event ? record_site(ctx, &s->at) : unwind_site(ctx, &s->at, 0);
}

#endif
