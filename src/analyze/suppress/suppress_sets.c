/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets of steps, each kept once: equal sets have equal numbers, so that a number is all a state of
 * matching is.
 */
#include "src/analyze/suppress/suppressions.h"

#include <string.h>

int64_t suppress_set_add(struct suppress_sets *sets, const uint32_t *members, uint32_t nr)
{
	uint64_t key = nr ? hash_bytes(members, nr * sizeof(*members)) : 0;
	struct suppress_set set = { .first = (uint32_t)sets->members.nr, .nr = nr };
	uint32_t *found;

	if (!sets->list.nr && vec_push(&sets->list, (struct suppress_set){ 0 }))
		return -ENOMEM;
	if (!nr)
		return 0;
	for (; (found = hash_find(&sets->by_hash, key)); key++) {
		const struct suppress_set *other = &sets->list.v[*found];

		if (other->nr == nr &&
		    !memcmp(sets->members.v + other->first, members, nr * sizeof(*members)))
			return *found;
	}
	if (sets->members.nr + nr > UINT32_MAX ||
	    vec_reserve(&sets->members, sets->members.nr + nr) || vec_push(&sets->list, set))
		return -ENOMEM;
	memcpy(sets->members.v + sets->members.nr, members, nr * sizeof(*members));
	sets->members.nr += nr;
	if (hash_put(&sets->by_hash, key, (uint32_t)sets->list.nr - 1)) {
		sets->list.nr--;
		return -ENOMEM;
	}
	return (int64_t)sets->list.nr - 1;
}
