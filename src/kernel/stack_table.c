/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks, each kept once under a number. A hash only says where to compare. */
#include "src/kernel/stack_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"

#define FIRST_SLOTS	1024

void stack_table_init(struct stack_table *t, size_t max_bytes)
{
	*t = (struct stack_table){ .max_bytes = max_bytes ? max_bytes : STACK_TABLE_BYTES };
}

void stack_table_fini(struct stack_table *t)
{
	vec_fini(&t->stacks);
	vec_fini(&t->frames);
	free(t->slots);
	t->slots = NULL;
	t->nr_slots = 0;
}

static bool same(const struct stack_table *t, const struct stack_entry *e, const uint64_t *frames,
		 const struct stack_entry *wanted)
{
	return e->hash == wanted->hash && e->nr == wanted->nr && e->end == wanted->end &&
	       (!e->nr || !memcmp(t->frames.v + e->first, frames, e->nr * sizeof(*frames)));
}

/* Where the stack is, or the free slot where it belongs. */
static uint32_t *slot_of(const struct stack_table *t, const uint64_t *frames,
			 const struct stack_entry *wanted)
{
	size_t i = wanted->hash & (t->nr_slots - 1);

	while (t->slots[i] && !same(t, &t->stacks.v[t->slots[i]], frames, wanted))
		i = (i + 1) & (t->nr_slots - 1);
	return &t->slots[i];
}

static int grow(struct stack_table *t)
{
	size_t nr = t->nr_slots ? 2 * t->nr_slots : FIRST_SLOTS;
	uint32_t *slots = calloc(nr, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (uint32_t k = 1; k < t->stacks.nr; k++) {
		size_t i = t->stacks.v[k].hash & (nr - 1);

		while (slots[i])
			i = (i + 1) & (nr - 1);
		slots[i] = k;
	}
	free(t->slots);
	t->slots = slots;
	t->nr_slots = nr;
	return 0;
}

/* Room for one more, with that many frames? Vectors grow by half. */
static bool fits(const struct stack_table *t, unsigned nr)
{
	size_t bytes = (t->stacks.nr + 1) * sizeof(struct stack_entry) +
		       (t->frames.nr + nr) * sizeof(uint64_t) + t->nr_slots * sizeof(uint32_t);

	return bytes <= t->max_bytes && t->stacks.nr < UINT32_MAX - 1 &&
	       t->frames.nr < UINT32_MAX - nr;
}

static int make_room(struct stack_table *t, unsigned nr)
{
	if (!t->stacks.nr && vec_push(&t->stacks, (struct stack_entry){ 0 }))
		return -ENOMEM;
	if (t->stacks.nr >= t->nr_slots / 4 * 3 && grow(t))
		return -ENOMEM;
	return !fits(t, nr) || vec_reserve(&t->stacks, t->stacks.nr + 1) ||
		       vec_reserve(&t->frames, t->frames.nr + nr)
		       ? -ENOMEM
		       : 0;
}

uint32_t stack_table_add(struct stack_table *t, const uint64_t *frames, unsigned nr, unsigned end)
{
	struct stack_entry e = {
		.hash = hash_bytes(frames, nr * sizeof(*frames)) ^ hash_u64(end),
		.nr = (uint16_t)nr,
		.end = (uint16_t)end,
	};
	uint32_t *slot = t->nr_slots ? slot_of(t, frames, &e) : NULL;

	if (slot && *slot)
		return *slot;
	if (nr > UINT16_MAX || make_room(t, nr)) {
		t->dropped++;
		return 0;
	}
	e.first = (uint32_t)t->frames.nr;
	if (nr)
		memcpy(t->frames.v + t->frames.nr, frames, nr * sizeof(*frames));
	t->frames.nr += nr;
	*slot_of(t, frames, &e) = (uint32_t)t->stacks.nr;
	t->stacks.v[t->stacks.nr++] = e;
	return (uint32_t)t->stacks.nr - 1;
}

const uint64_t *stack_table_find(const struct stack_table *t, uint32_t number, unsigned *nr,
				 unsigned *end)
{
	const struct stack_entry *e = number && number < t->stacks.nr ? &t->stacks.v[number] : NULL;

	*nr = e ? e->nr : 0;
	*end = e ? e->end : 0;
	return e && t->frames.v ? t->frames.v + e->first : NULL;
}
