/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The injected agent's file as it will be in a process: libpmm_inject.so's segments laid out and
 * relocated.
 */
#ifndef INJECT_IMAGE_H
#define INJECT_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/pmm/inject.h"
#include "src/base/err.h"

#define IMAGE_MAX_PARTS 8
/* mapped behind it: struct pmm_inject_args, and strings behind that */
#define IMAGE_ARGS_BYTES (4ull << 10)
#define IMAGE_STACK_BYTES (64ull << 10)	/* ... and a stack for inject_start() */
#define IMAGE_ROOM_BYTES (IMAGE_ARGS_BYTES + IMAGE_STACK_BYTES)

/* A run of whole pages with the same access. */
struct image_part {
	uint64_t offset, bytes;
	int prot;			/* PROT_* */
};

struct image {
	uint8_t *bytes;			/* as for address 0 until image_place() */
	size_t nr_bytes;		/* whole pages */
	struct image_part part[IMAGE_MAX_PARTS];
	unsigned nr_parts;
	uint64_t start;			/* offset of inject_start */
	uint64_t hooks;			/* offset of inject_hooks */
	/* offset of arch_call_code, in a page of its own behind the file's */
	uint64_t call;
	uint64_t rela, relasz;		/* its relocations */
	uint64_t base;
};

/* Read and lay out. 0 or -errno with `e`: -EBADMSG when it is not what pmm was built with. */
int image_load(const char *path, struct image *im, struct err *e);

/*
 * Lay bytes behind it, readable, before image_place(); the arguments come behind those. Their
 * offset, 0 = out of memory.
 */
uint64_t image_append(struct image *im, const void *bytes, size_t nr);

/* Relocate for the address where it will be. Once. */
void image_place(struct image *im, uint64_t base);

/* Address of the hook for a role, after image_place(); 0 = there is none. */
uint64_t image_hook(const struct image *im, enum pmm_role role);

void image_fini(struct image *im);

#endif
