/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Roots that only the program's threads can be asked for: their alternate signal stacks. Asking
 * disturbs each of them, so it is done only when something is lost that could be one.
 */
#include <errno.h>

#include "src/roots/roots_state_priv.h"
#include "src/ptrace/altstack.h"

#define MIN_STACK	2048u	/* the least that the kernel takes for one: MINSIGSTKSZ */

static bool may_be_stack(const struct heap *h, const uint8_t *class)
{
	for (uint64_t i = 0; i < h->nr_blocks; i++)
		if (class[i] && h->blocks[i].size_bytes >= MIN_STACK)
			return true;
	return false;
}

int roots_ask(struct roots *s, const uint8_t *class)
{
	struct altstacks stacks = { 0 };
	int found = 0, rc;

	if (!s->state || !s->state->copied.state || !may_be_stack(s->heap, class))
		return 0;
	rc = process_copy_ask(&s->state->copied, &stacks);
	s->pause_ns = s->state->copied.pause_ns;
	for (size_t i = 0; !rc && i < stacks.v.nr; i++) {
		uint64_t block = roots_block_at(s->heap, stacks.v.v[i].start);

		if (block == s->heap->nr_blocks || !class[block])
			continue;
		rc = vec_push(&s->memory.owned, stacks.v.v[i].start);
		found++;
	}
	vec_fini(&stacks.v);
	return rc == -ENOMEM ? rc : found;
}
