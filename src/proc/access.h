/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a machine instruction does to memory.
 */
#ifndef PROC_ACCESS_H
#define PROC_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Bytes that the instruction at the beginning of `code` reads or writes at a time (of a string
 * instruction one element); 0: it accesses no memory, or that is not known.
 */
unsigned access_bytes(const uint8_t *code, unsigned bytes);

/*
 * general registers by their numbers, then the program counter (include/pmm/check.h,
 * PMM_DEATH_REGS)
 */
#define ACCESS_NR_REGS	17

/*
 * The address that the instruction accesses and that the processor does not have: its upper bits
 * are not all the same. False: none of its operands has one, or that is not known. *writes: the
 * instruction writes there.
 */
bool access_odd_address(const uint8_t *code, unsigned bytes, const uint64_t regs[ACCESS_NR_REGS],
			uint64_t *address, bool *writes);

#endif
