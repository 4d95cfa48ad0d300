/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that allocates like minimisers of logic do: very many small blocks, made and released
 * in recursion, by thousands of call paths.
 *
 *     bench_cubes FUNCTIONS
 *
 * Of each of so many random functions of 16 variables, given as lists of cubes, the complement is
 * made by Shannon's expansion, and again of that. A cube is a block, a list of cubes another one.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define VARIABLES	16
#define CUBES		11	/* of each function */
#define LITERALS	4	/* of each cube, at most */

struct cube {
	struct cube *next;
	uint32_t positive, negative;	/* variables that must be 1, 0 */
};

struct cover {
	struct cube *cubes;
	unsigned nr;
};

static uint64_t state = 1;

static uint32_t draw(uint32_t below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(state >> 33) % below;
}

static void *allocate(size_t bytes)
{
	void *p = malloc(bytes);

	if (!p)
		abort();
	return p;
}

static void add(struct cover *c, uint32_t positive, uint32_t negative)
{
	struct cube *cube = allocate(sizeof(*cube));

	*cube = (struct cube){ c->cubes, positive, negative };
	c->cubes = cube;
	c->nr++;
}

static struct cover *cover_new(void)
{
	struct cover *c = allocate(sizeof(*c));

	*c = (struct cover){ 0 };
	return c;
}

static void cover_free(struct cover *c)
{
	while (c->cubes) {
		struct cube *next = c->cubes->next;

		free(c->cubes);
		c->cubes = next;
	}
	free(c);
}

/* Of the function where variable `bit` is 1 or 0. */
static struct cover *cofactor(const struct cover *c, uint32_t bit, int is_one)
{
	struct cover *part = cover_new();

	for (const struct cube *k = c->cubes; k; k = k->next)
		if (!((is_one ? k->negative : k->positive) & bit))
			add(part, k->positive & ~bit, k->negative & ~bit);
	return part;
}

/* The variable that most cubes have, as a bit; 0: a cube has none, the function is always 1. */
static uint32_t busiest(const struct cover *c)
{
	unsigned uses[VARIABLES] = { 0 }, best = 0;

	for (const struct cube *k = c->cubes; k; k = k->next) {
		if (!(k->positive | k->negative))
			return 0;
		for (unsigned v = 0; v < VARIABLES; v++)
			uses[v] += (k->positive | k->negative) >> v & 1;
	}
	for (unsigned v = 1; v < VARIABLES; v++)
		if (uses[v] > uses[best])
			best = v;
	return 1u << best;
}

static void join(struct cover *to, struct cover *part, uint32_t positive, uint32_t negative)
{
	for (const struct cube *k = part->cubes; k; k = k->next)
		add(to, k->positive | positive, k->negative | negative);
	cover_free(part);
}

static struct cover *complement(const struct cover *c)
{
	struct cover *result = cover_new(), *one, *zero;
	uint32_t bit;

	if (!c->nr) {
		add(result, 0, 0);
		return result;
	}
	bit = busiest(c);
	if (!bit)
		return result;
	one = cofactor(c, bit, 1);
	join(result, complement(one), bit, 0);
	cover_free(one);
	zero = cofactor(c, bit, 0);
	join(result, complement(zero), 0, bit);
	cover_free(zero);
	return result;
}

static struct cover *some_function(void)
{
	struct cover *c = cover_new();

	for (unsigned k = 0; k < CUBES; k++) {
		uint32_t positive = 0, negative = 0;

		for (unsigned n = 0; n < LITERALS; n++) {
			uint32_t bit = 1u << draw(VARIABLES);

			*(draw(2) ? &positive : &negative) |= bit;
		}
		add(c, positive & ~negative, negative);
	}
	return c;
}

int main(int argc, char **argv)
{
	unsigned long nr = argc > 1 ? strtoul(argv[1], NULL, 10) : 0, cubes = 0;

	while (nr--) {
		struct cover *c = some_function(), *not = complement(c), *again = complement(not);

		cubes += not->nr + again->nr;
		cover_free(c);
		cover_free(not);
		cover_free(again);
	}
	printf("%lu cubes\n", cubes);
	return 0;
}
