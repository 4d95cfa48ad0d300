/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is a pointer into a block's middle as good as one to its start?
 *
 * What is tested is what memcheck 3.19 tests (memcheck/mc_leakcheck.c), with one difference: memory
 * does not say which mappings are files', so a vtable may be anywhere but in a block or on a
 * stack.
 */
#include "src/analyze/reach/reach_guess.h"

#include "src/analyze/reach/reach.h"

#define STRING_HEAD	24	/* length, capacity, reference count: then the characters */
#define COUNT_HEAD	8	/* a number of bytes or of elements */
/* of which two must point into code, and the ones before them be null */
#define VTABLE_WORDS	21
#define FIRST_PAGE	4096

static size_t read_at(const struct reach_guess *g, uint64_t address, void *to, size_t bytes)
{
	return g->memory->ops->read(g->memory->arg, address, to, bytes);
}

static bool is_code(const struct memory *m, uint64_t address)
{
	size_t i = vec_while(&m->code, p, p->end <= address);

	return i < m->code.nr && m->code.v[i].start <= address;
}

static bool on_stack(const struct memory *m, uint64_t address)
{
	size_t i = vec_while(&m->roots, p, p->end <= address);

	return i < m->roots.nr && m->roots.v[i].start <= address &&
	       m->roots.v[i].kind == MEMORY_STACK;
}

static bool look_at_vtable(const struct reach_guess *g, uint64_t address)
{
	uint64_t word[VTABLE_WORDS];
	unsigned functions = 0;
	size_t nr;

	if (reach_find(g->ix, address).block != REACH_NONE || on_stack(g->memory, address))
		return false;
	nr = read_at(g, address, word, sizeof(word)) / 8;
	for (size_t i = 0; i < nr && i < VTABLE_WORDS; i++) {
		if (!word[i])
			continue;
		if (!is_code(g->memory, word[i]))
			return false;
		if (++functions == 2)
			return true;
	}
	return false;
}

static bool is_vtable(struct reach_guess *g, uint64_t address)
{
	size_t slot = (address >> 3) * 0x9e3779b97f4a7c15ull >> 56;

	if (address & 7 || address < FIRST_PAGE)
		return false;
	if (g->vtables[slot].address != address) {
		g->vtables[slot].address = address;
		g->vtables[slot].is = look_at_vtable(g, address);
	}
	return g->vtables[slot].is;
}

static bool is_string(const uint64_t *head, uint64_t size)
{
	return head[0] <= head[1] && head[1] == size - STRING_HEAD - 1;
}

static bool two_vtables(struct reach_guess *g, uint64_t address, uint64_t first, uint32_t offset)
{
	uint64_t inner;

	return is_vtable(g, first) &&
	       read_at(g, address + offset, &inner, sizeof(inner)) == sizeof(inner) &&
	       is_vtable(g, inner);
}

/* Thousands of pointers lead into the middle of a pool's block: its start is read once for many. */
static size_t read_head(struct reach_guess *g, uint32_t block, uint64_t head[2])
{
	const struct heap_block *b = &g->ix->blocks[block];
	struct reach_head *kept = &g->heads[block % REACH_GUESS_HEADS];

	if (!kept->held || kept->block != block) {
		kept->block = block;
		kept->word[1] = 0;
		kept->held = read_at(g, b->address, kept->word,
				     b->size_bytes < sizeof(kept->word) ? COUNT_HEAD
									: sizeof(kept->word));
	}
	head[0] = kept->word[0];
	head[1] = kept->word[1];
	return kept->held;
}

bool reach_guess_worth(const struct reach_guess *g, uint32_t block, uint32_t offset)
{
	unsigned any = g->heuristics;
	const struct heap_block *b = &g->ix->blocks[block];

	if (b->address & 7 || b->size_bytes < COUNT_HEAD)
		return false;
	return (any & REACH_STDSTRING && offset == STRING_HEAD) ||
	       (any & (REACH_LENGTH64 | REACH_NEWARRAY) && offset == COUNT_HEAD) ||
	       (any & REACH_MULTIPLE_INHERITANCE && !(offset & 7) && b->size_bytes - offset >= 8 &&
		offset != UINT32_MAX);
}

bool reach_guess(struct reach_guess *g, uint32_t block, uint32_t offset)
{
	const struct heap_block *b = &g->ix->blocks[block];
	uint64_t head[2];
	size_t held;

	if (!reach_guess_worth(g, block, offset))
		return false;
	held = read_head(g, block, head);
	if (g->heuristics & REACH_STDSTRING && offset == STRING_HEAD && held == sizeof(head) &&
	    is_string(head, b->size_bytes))
		return true;
	if (held < COUNT_HEAD)
		return false;
	if (g->heuristics & REACH_LENGTH64 && offset == COUNT_HEAD && head[0] &&
	    head[0] == b->size_bytes - COUNT_HEAD)
		return true;
	if (g->heuristics & REACH_NEWARRAY && offset == COUNT_HEAD && head[0] &&
	    !((b->size_bytes - COUNT_HEAD) % head[0]))
		return true;
	return g->heuristics & REACH_MULTIPLE_INHERITANCE && !(offset & 7) &&
	       b->size_bytes - offset >= 8 && two_vtables(g, b->address, head[0], offset);
}
