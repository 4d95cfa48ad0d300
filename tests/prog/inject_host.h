/* SPDX-License-Identifier: GPL-2.0-or-later
 * The injected agent in the program's own process, put there by the program itself: what pmm does from outside, without patching.
 */
#ifndef TESTS_PROG_INJECT_HOST_H
#define TESTS_PROG_INJECT_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "include/pmm/inject.h"
#include "src/ledger/ledger_tree.h"
#include "src/model/heap.h"

struct host {
	struct pmm_inject_args args;	/* may be set before host_start() */
	struct ledger_tree tree;
	uint8_t *image, *slots;
	uint64_t hook[PMM_NR_ROLES];
	size_t image_bytes;
	unsigned nr_slots;
	bool no_tree;			/* no file is mapped */
	int file;			/* the one that is, in place of the tree's; 0 = that */
	bool take_slot;			/* the file holds a ledger already */
	bool may_go;			/* the agent is to miss its monitor, which never ticks by itself, in time: else after a minute more */
};

/* Load the agent from `file` and start it on a tree of these options. Returns inject_start()'s result; ends the program on anything else. */
long host_start(struct host *h, const char *file, struct ledger_tree_options o);

/* Unmap all of it. */
void host_end(struct host *h);

/* A slot as next to a patched function `next`: returns the address of its stub, to be called with the function's own type. */
void *host_entry(struct host *h, enum pmm_role role, uint32_t kind, const void *next, struct pmm_entry **entry);

/* The ledger as it is now. */
struct heap *host_read(struct host *h);

/* Say what is not as it should be; host_failed() is how often that was. */
#define EXPECT(got, want) host_expect(#got, (uint64_t)(got), (uint64_t)(want), __func__, __LINE__)
#define EXPECT_NEAR(got, want, percent) host_expect_near(#got, (double)(got), (double)(want), percent, __func__, __LINE__)
void host_expect(const char *what, uint64_t got, uint64_t want, const char *where, int line);
void host_expect_near(const char *what, double got, double want, double percent, const char *where, int line);
int host_failed(void);

#endif
