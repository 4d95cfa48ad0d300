/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A detour planned: which bytes of a function a jump replaces and what its first instructions
 * become elsewhere. Pure: bytes in, bytes out, nothing is read or written but these.
 */
#ifndef ENTRIES_DETOUR_H
#define ENTRIES_DETOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/pmm/inject.h"
#include "src/base/err.h"
#include "src/entries/undo.h"

#define DETOUR_MOVED_MAX	(PMM_ENTRY_POINTER_OFF - PMM_ENTRY_MOVED_OFF)

struct detour_function {
	uint64_t address;
	/* from address on, without breakpoints and jumps that were put into it */
	const uint8_t *code;
	size_t nr_code;		/* bytes there are, at least up to the function's end */
	uint64_t size;		/* of the function as its symbol has it, 0 = unknown */
	uint64_t breakpoints;	/* bit n: the process has an int3 in the place of code[n] */
	/* the process has this jump of an earlier agent, to which ours leads on; NULL = none */
	const struct pmm_patch *below;
	unsigned keep;		/* argument registers that the hook reads: UNDO_ARG() */
};

struct detour {
	uint64_t address;	/* first byte to overwrite */
	unsigned nr_bytes;	/* to overwrite: 5, a jump, or 4, a displacement */
	unsigned nr_moved;	/* bytes of the whole instructions that these are part of */
	uint8_t original[PMM_PATCH_BYTES];	/* nr_moved bytes as they were */
	uint8_t patch[PMM_PATCH_BYTES];		/* nr_bytes */
	/* for the stub: undoes what ran before the jump */
	uint8_t undo[UNDO_MAX_BYTES];
	unsigned nr_undo;
	/* the function's first instructions, adjusted, and a jump behind them */
	uint8_t moved[DETOUR_MOVED_MAX];
	unsigned nr_moved_out;
	/* offset in `original` -> offset in `moved`, 0xff = no instruction begins there */
	uint8_t boundary[PMM_PATCH_BYTES];
	/* an int3 at the function's first byte, stepped over by the kernel, leads past the hook */
	bool bypassed;
};

/*
 * Plan it for a slot: its stub at `stub`, its moved instructions at `moved_at`, both within 2 GiB.
 * 0, or -ENOTSUP with `e` saying why not: too short, an instruction that cannot be moved or undone,
 * a jump from elsewhere in the function into what would be overwritten, not code.
 */
int detour_plan(const struct detour_function *f, uint64_t stub, uint64_t moved_at, struct detour *d,
		struct err *e);

/* Bytes of code to be read of a function of this size (0 = unknown) to plan a detour of it. */
size_t detour_code_bytes(uint64_t size);

/*
 * Where nothing else may come to: [*low, *high). Only the first instruction is looked at; 0 when it
 * cannot be detoured.
 */
void detour_area(const struct detour_function *f, uint64_t *low, uint64_t *high);

/* Argument registers that the hook of an entry reads. */
unsigned detour_keep(const struct pmm_entry *entry);

/*
 * The stub for a slot: undo what `d` says, load the slot's address into the register that the
 * role asks for and jump to entry.hook. Returns its length.
 */
unsigned detour_stub(enum pmm_role role, const struct detour *d,
		     uint8_t stub[PMM_ENTRY_MOVED_OFF - PMM_ENTRY_STUB_OFF]);

/*
 * Does the function call one of `addresses` itself, directly or through a PLT entry of its own
 * module? `read` reads the process's memory: 0 or -errno.
 */
bool detour_calls(const struct detour_function *f, const uint64_t *addresses, size_t nr,
		  int (*read)(void *arg, uint64_t at, void *to, size_t bytes), void *arg);

/*
 * Where does the function continue, of which the first instruction is a jump to a fixed place? 0 =
 * it is none, or one to a PLT entry of its own module.
 */
uint64_t detour_leads(const struct detour_function *f,
		      int (*read)(void *arg, uint64_t at, void *to, size_t bytes), void *arg);

#endif
