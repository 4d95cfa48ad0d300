/*
 * What a machine instruction does to memory.
 */
#ifndef TARGET_ACCESS_H
#define TARGET_ACCESS_H

#include <stdint.h>

/*
 * Bytes that the instruction at the beginning of `code` reads or writes at a time (of a string instruction one element); 0: it accesses no
 * memory, or that cannot be told.
 */
unsigned access_bytes(const uint8_t *code, unsigned bytes);

#endif
