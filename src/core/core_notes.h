/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The notes of a core file: threads, what died of what, which files were mapped where.
 */
#ifndef CORE_CORE_NOTES_H
#define CORE_CORE_NOTES_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/vec.h"
#include "src/core/core.h"

struct core_mapped {
	uint64_t start, end;
	uint64_t offset;	/* in the file, bytes */
	char *path;		/* owned */
};

struct core_notes {
	VEC(struct core_mapped) mapped;	/* by address, disjoint */
	uint64_t on_stack;	/* an address in the first thread's stack, 0 = not known */
	uint64_t vdso;		/* its address, 0 = none */
};

/*
 * Read the notes of one segment; adds to `notes`, and to the core's threads, pid, signal and name.
 * What is damaged ends them. 0 or -ENOMEM.
 */
int core_notes_parse(const void *text, size_t bytes, struct core *c, struct core_notes *notes);

/* The file mapping that an address is in, or NULL. */
const struct core_mapped *core_notes_mapped(const struct core_notes *notes, uint64_t address);

/* Sort; behind the last core_notes_parse(). */
void core_notes_order(struct core_notes *notes);
void core_notes_fini(struct core_notes *notes);

#endif
