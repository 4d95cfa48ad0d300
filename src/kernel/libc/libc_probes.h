/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * C libraries (glibc) and the probes of malloc in them: notes of SystemTap's (.note.stapsdt,
 * provider "libc"), which a library has that was built with --enable-systemtap.
 *
 *	libc_files_of(&files, pid);
 *	for (i = 0; i < files.v.nr; i++)
 *		if (files.v.v[i].state == LIBC_HAS_PROBES)
 *			...
 *	libc_files_fini(&files);
 */
#ifndef KERNEL_LIBC_LIBC_PROBES_H
#define KERNEL_LIBC_LIBC_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/vec.h"

struct libc_probe {
	const char *name;		/* "memory_sbrk_more" */
	uint32_t kind;			/* of the record that it makes */
};

#define LIBC_NR_PROBES	30

/* A record's a[5] is the number of its probe here, and 1. */
extern const struct libc_probe libc_probes[LIBC_NR_PROBES];

enum libc_state {
	LIBC_HAS_PROBES,
	LIBC_HAS_NONE,
	LIBC_IS_32BIT,
	LIBC_UNREADABLE,		/* gone, or out of reach */
	LIBC_NR_STATES
};

struct libc_file {
	char *path;			/* to open it by */
	char *name;			/* as its process has it */
	uint64_t device, inode;
	enum libc_state state;
	unsigned nr_probes;		/* those of libc_probes[] */
};

#define LIBC_MAX_FILES	16u

/* All zero is empty. */
struct libc_files {
	VEC(struct libc_file) v;
	unsigned without;		/* processes that map no such file */
	unsigned left_out;		/* files beyond LIBC_MAX_FILES */
};

/* Add those that a process maps; one that is gone adds nothing. 0 or -ENOMEM. */
int libc_files_of(struct libc_files *f, pid_t pid);

/* Add those of all processes. 0 or -ENOMEM. */
int libc_files_all(struct libc_files *f);

/* Add one file by its path. 0 or -ENOMEM. */
int libc_files_add(struct libc_files *f, const char *path, const char *name);

/* Is it the path of a glibc? */
bool libc_is_name(const char *path);

/* What keeps pmm from seeing the probes of a file in that state. */
const char *libc_state_text(enum libc_state state);

/* Why no file has probes: a sentence without its full stop. `f` NULL: none is known. */
void libc_files_why_none(const struct libc_files *f, char *text, size_t bytes);

/* The files that have probes. */
unsigned libc_files_probed(const struct libc_files *f);

void libc_files_fini(struct libc_files *f);

#endif
