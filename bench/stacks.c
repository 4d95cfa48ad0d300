/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program with so many distinct stacks, for bench/page: each has one block that stays.
 *
 *     stacks NUMBER
 *
 * Ten functions call one another; the decimal digits of a stack's number say which, seven deep.
 */
#include <stdlib.h>

#define DIGITS	7

static void *volatile kept;

typedef void step(unsigned long number, int digits);

static step *const steps[10];

static void go(unsigned long number, int digits)
{
	if (digits)
		steps[number % 10](number / 10, digits - 1);
	else
		kept = malloc(16 + number % 7);
}

#define STEP(NAME) \
	__attribute__((noinline)) static void NAME(unsigned long number, int digits) \
	{ \
		go(number, digits); \
		__asm__ volatile("");	/* no tail call */ \
	}

STEP(parse) STEP(read_header) STEP(append) STEP(resolve) STEP(copy_node)
STEP(visit) STEP(expand) STEP(merge) STEP(intern) STEP(build)

static step *const steps[10] = {
	parse, read_header, append, resolve, copy_node, visit, expand, merge, intern, build
};

int main(int argc, char **argv)
{
	unsigned long nr = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;

	for (unsigned long i = 0; i < nr; i++)
		go(i, DIGITS);
	return 0;
}
