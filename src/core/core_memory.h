/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory in a core file: segments by address, each with what the core has of it and the file it
 * was mapped from.
 */
#ifndef CORE_CORE_MEMORY_H
#define CORE_CORE_MEMORY_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "src/base/vec.h"
#include "src/core/core_notes.h"

#define CORE_NO_FILE	UINT32_MAX

struct core_segment {
	uint64_t start, end;
	uint64_t bytes;			/* that the core has, from `start` on */
	uint64_t offset;		/* of these, in the core */
	uint64_t file_offset;
	uint32_t file;			/* index, CORE_NO_FILE */
	uint32_t perms;			/* enum proc_map_perms */
	bool unwritten;			/* the core has no segment of it, only its name */
};

struct core_file {
	const char *path;		/* core_notes' */
	int fd;				/* -1 = not there any more, or another one */
	bool wanted;			/* something of it is not in the core */
	size_t head;			/* segment, plus 1, that has its beginning; 0 = none */
	uint64_t size_bytes;		/* where it is open */
	uint64_t ino;
	dev_t dev;
};

struct core_state {
	int fd;
	uint64_t size_bytes;
	struct timespec mtime;
	struct core_notes notes;
	VEC(struct core_segment) segments;	/* by address, disjoint */
	VEC(struct core_file) files;
};

/* Up to `bytes` at a place in a file, whatever interrupts. How many. */
size_t core_read_at(int fd, uint64_t offset, void *to, size_t bytes);

/* A segment of type PT_LOAD. 0 or -ENOMEM. */
int core_memory_add(struct core_state *state, const Elf64_Phdr *ph);

/* Behind the last one, with all notes read: join both, open files, list mappings. 0 or -ENOMEM. */
int core_memory_finish(struct core *c);

void core_memory_fini(struct core_state *state);

#endif
