/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which block lies at an address, without reading the whole heap: the program runs on meanwhile.
 *
 * Blocks are found by where they begin, so that the nearest word before the address is looked for.
 * A look-up in a small block takes under a microsecond, one far inside a large block 0.1 ms; the
 * block found last is tried first.
 */
#ifndef LEDGER_LEDGER_AT_H
#define LEDGER_LEDGER_AT_H

#include <stdbool.h>
#include <stdint.h>

#include "src/ledger/ledger_map.h"

struct ledger_at;

struct ledger_at_block {
	uint64_t address, size_bytes;
	uint32_t site;			/* the ledger's number */
	bool mapping;			/* made through mmap; else a block of the heap */
};

/* Of one ledger, which must outlive it. NULL: out of memory. */
struct ledger_at *ledger_at_new(struct ledger_map *m);
void ledger_at_free(struct ledger_at *a);

/*
 * The live block that has this address, an inner one (of a custom allocator) before the outer one,
 * a mapping where there is no block. 1 found, 0 none, -errno: not known.
 */
int ledger_at_find(struct ledger_at *a, uint64_t address, struct ledger_at_block *out);

#endif
