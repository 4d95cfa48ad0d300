/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of a process without what was put into it: breakpoints, and jumps of pmm's own.
 */
#ifndef ENTRIES_FILECODE_H
#define ENTRIES_FILECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "include/pmm/inject.h"
#include "src/base/vec.h"
#include "src/proc/proc.h"

struct filecode {
	pid_t pid;
	struct proc_maps maps;		/* read when first needed */
	size_t open;			/* number of the mapping that `fd` is the file of */
	int fd;				/* -1 = none */
};

void filecode_init(struct filecode *f, pid_t pid);
void filecode_fini(struct filecode *f);

/* Open a regular file; nothing else is touched. A descriptor or -errno. */
int filecode_open(const char *path, struct stat *st);

/*
 * What the file has for `address`. Number of bytes, at most `nr`; 0 when there is no file, it
 * cannot be read or it is not mapped there as code.
 */
size_t filecode_read(struct filecode *f, uint64_t address, uint8_t *code, size_t nr);

/*
 * Put the file's bytes in the place of each breakpoint that memory has and the file has not, and of
 * calls that the kernel has put in the place of a nop. Bit n of the result: of code[n], n < 64.
 * `file`: nr_file bytes that filecode_read() delivered for the same address.
 */
uint64_t filecode_mend(uint8_t *code, size_t nr, const uint8_t *file, size_t nr_file);

struct jump {
	struct pmm_patch patch;
	/* of the agent whose it is: it is on top of those of lower ones */
	uint64_t generation;
};

struct jumps {
	VEC(struct jump) v;		/* the highest generation first */
};

/*
 * What pmm's agents in the process have noted. 0 or -errno with `e`. Release with jumps_fini() in
 * any case.
 */
int jumps_read(pid_t pid, struct jumps *j, struct err *e);
void jumps_fini(struct jumps *j);

/*
 * Put back what was there before a jump: `now`, nr bytes at a patch, which `patched` and `original`
 * are for. Is there one, or a part of one that could not be written to its end? Breakpoints that
 * were set in it since, one at most, stay.
 */
bool jump_lift(const uint8_t *now, const uint8_t *patched, const uint8_t *original, size_t nr,
	       uint8_t *back);

/*
 * Take the jumps out of a copy of the code at `address`, as read from memory. The first of them,
 * where several are on top of each other the topmost; NULL when none is there. Before
 * filecode_mend(), for a byte of a jump may look like a breakpoint.
 */
const struct pmm_patch *jumps_lift(const struct jumps *j, uint64_t address, uint8_t *code,
				   size_t nr);

#endif
