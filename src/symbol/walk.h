/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stopped thread's stack, frame by frame, by the .eh_frame of the files behind its modules: which
 * function a word of the stack belongs to.
 */
#ifndef SYMBOL_WALK_H
#define SYMBOL_WALK_H

#include "src/base/vec.h"
#include "src/symbol/dwarflocal.h"
#include "src/symbol/symbol.h"

#define WALK_MAX_FRAMES	4096u

struct walk_frame {
	struct dwarf_registers registers;
	/* in the process: inside the call instruction, of the first frame the next one */
	uint64_t pc;
	uint64_t low, high;		/* of the stack: [low, high) is this frame's */
	uint32_t module;
};

struct walk { VEC(struct walk_frame) frames; };		/* the innermost first */

/*
 * `first`: registers as the thread has them; the return address is the instruction pointer. As far
 * as it leads. 0 or -ENOMEM.
 */
int walk_stack(struct symbolizer *sym, const struct dwarf_registers *first,
	       const struct dwarf_memory *m, struct walk *w);
void walk_fini(struct walk *w);

/* The frame that an address of the stack belongs to. NULL = none known. */
const struct walk_frame *walk_find(const struct walk *w, uint64_t address);

#endif
