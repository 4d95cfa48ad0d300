/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many lookups in the cheapest order: file by file and, in each, by address.
 *
 * What libdw builds up for one file can take more memory than all answers together, so each file is
 * closed when done.
 */
#include <errno.h>

#include "src/symbol/symbolizer.h"

struct job {
	struct symbol_object *object;
	uint64_t elf_address;
	struct symbol_address at;
};

static int by_object(const void *a, const void *b)
{
	const struct job *x = a, *y = b;

	if (x->object != y->object)
		return (uintptr_t)x->object < (uintptr_t)y->object ? -1 : 1;
	return (x->elf_address > y->elf_address) - (x->elf_address < y->elf_address);
}

int symbol_prefetch(struct symbolizer *sym, const struct symbol_address *list, size_t nr)
{
	VEC(struct job) jobs = { 0 };
	struct symbol_frame frame;

	if (vec_reserve(&jobs, nr))
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		const struct symbol_slot *m = list[i].module < sym->modules.nr
						      ? &sym->modules.v[list[i].module]
						      : NULL;

		if (m && m->object)
			jobs.v[jobs.nr++] = (struct job){ m->object, list[i].address - m->bias,
							  list[i] };
	}
	vec_sort(&jobs, by_object);
	vec_each(&jobs, j) {
		if (j > jobs.v && j->object != j[-1].object)
			object_close(&j[-1].object->object, &sym->options);
		symbol_lookup(sym, j->at.module, j->at.address, &frame, 1);
	}
	if (jobs.nr)
		object_close(&vec_last(&jobs)->object->object, &sym->options);
	vec_fini(&jobs);
	return 0;
}
