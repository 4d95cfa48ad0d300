/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What words in a recipe stand for, see fake_heap.h.
 */
#include "tests/fake/fake_heap.h"

#include "include/pmm/ledger.h"

uint32_t fake_stack(struct fake_heap *f, struct recipe_line *l, const char *stack)
{
	int64_t node = stack && !l->rc ? fake_heap_stack(f, stack, &l->why) : 0;

	if (node < 0)
		l->rc = (int)node;
	return node < 0 ? 0 : (uint32_t)node;
}

uint32_t fake_site(struct fake_heap *f, struct recipe_line *l, const char *stack)
{
	uint32_t node = fake_stack(f, l, stack);
	int64_t site = l->rc ? 0 : fake_heap_site(f, node, false);

	if (site < 0)
		recipe_fail(l, (int)site, "no room for the stack '%s'", stack);
	return site < 0 ? 0 : (uint32_t)site;
}

uint16_t fake_thread(struct fake_heap *f, struct recipe_line *l, const char *name)
{
	int64_t number = fake_heap_thread(f, name);

	if (number < 0)
		recipe_fail(l, (int)number, "no room for thread '%s'", name);
	return number < 0 ? 0 : (uint16_t)number;
}

uint8_t fake_kind(struct recipe_line *l, uint8_t otherwise)
{
	static const char *const kinds[PMM_NR_KINDS] = {
		NULL,		"malloc",	  "calloc",	   "realloc",
		"reallocarray", "posix_memalign", "aligned_alloc", "memalign",
		"valloc",	"pvalloc",	  "new",	   "new[]",
		"new-aligned",	"new[]-aligned",  "mmap",	   "other",
	};

	return (uint8_t)recipe_choice(l, "kind", kinds, PMM_NR_KINDS, otherwise);
}
