/*
 * A detour planned: which bytes of a function a jump replaces and what its first instructions become elsewhere. Pure: bytes in, bytes
 * out, nothing is read or written but these.
 */
#ifndef INJECT_DETOUR_H
#define INJECT_DETOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/pmm/inject.h"
#include "src/base/err.h"

#define DETOUR_MOVED_MAX	(PMM_ENTRY_SLOT_BYTES - PMM_ENTRY_MOVED_OFF)

struct detour_function {
	uint64_t address;
	const uint8_t *code;	/* from address on */
	size_t nr_code;		/* bytes there are, at least up to the function's end */
	uint64_t size;		/* of the function as its symbol has it, 0 = unknown */
};

struct detour {
	uint64_t address;	/* first byte to overwrite: behind endbr64 */
	unsigned nr_bytes;	/* to overwrite: 5 */
	unsigned nr_moved;	/* bytes of the whole instructions that these are part of */
	uint8_t original[PMM_PATCH_BYTES];	/* nr_moved bytes as they were */
	uint8_t patch[PMM_PATCH_BYTES];		/* nr_bytes: jmp to the stub */
	uint8_t moved[DETOUR_MOVED_MAX];	/* the instructions, adjusted, and a jump behind them */
	unsigned nr_moved_out;
	uint8_t boundary[PMM_PATCH_BYTES];	/* offset in `original` -> offset in `moved`, 0xff = no instruction begins there */
};

/*
 * Plan it for a stub at `stub` and moved instructions at `moved_at`, both within 2 GiB. 0, or -ENOTSUP with `e` saying why not: too
 * short, an instruction that cannot be moved, a jump from elsewhere in the function into what would be overwritten, not code.
 */
int detour_plan(const struct detour_function *f, uint64_t stub, uint64_t moved_at, struct detour *d, struct err *e);

/* The stub for a slot at `slot`: load its address into the register that the role asks for and jump to entry.hook. Returns its length. */
unsigned detour_stub(enum pmm_role role, uint8_t stub[PMM_ENTRY_MOVED_OFF - PMM_ENTRY_STUB_OFF]);

/*
 * Does the function call one of `addresses` itself, directly or through a PLT entry of its own module? `read` reads the process's
 * memory: 0 or -errno.
 */
bool detour_calls(const struct detour_function *f, const uint64_t *addresses, size_t nr,
		  int (*read)(void *arg, uint64_t at, void *to, size_t bytes), void *arg);

#endif
