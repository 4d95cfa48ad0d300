/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What DWARF says of a function's own variables and arguments: which of them is at an address of
 * the stack, or in a register.
 */
#ifndef SYMBOL_DWARFLOCAL_H
#define SYMBOL_DWARFLOCAL_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "arch/regs_arch.h"

/* A frame: values of registers, by DWARF's numbers, while its function runs. */
struct dwarf_registers {
	uint64_t value[ARCH_DWARF_REGISTERS];
	uint32_t known;			/* bit by register */
	uint64_t cfa;			/* 0 = not known */
};

struct dwarf_memory {
	size_t (*read)(void *arg, uint64_t address, void *to, size_t bytes);
	void *arg;
};

/*
 * Evaluate an expression over registers and memory. false: it needs something that is not known.
 * `start`: NULL, or a first value on its stack.
 */
bool dwarf_evaluate(const Dwarf_Op *op, size_t nr, const struct dwarf_registers *r,
		    const struct dwarf_memory *m, const uint64_t *frame_base, uint64_t *value);

/*
 * The variable or argument of a function, with its blocks and what is inlined in it, that is around
 * `address`, or (reg not below 0) in a register, when execution is at `pc` (as the file counts).
 * *start is where it begins. false = none.
 */
bool dwarf_local_find(Dwarf_Die *function, uint64_t pc, const struct dwarf_registers *r,
		      const struct dwarf_memory *m, uint64_t address, int reg, Dwarf_Die *variable,
		      uint64_t *start);

#endif
