/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that code of traced processes comes from, one entry for each, whoever has it mapped.
 *
 * A file is opened when a mapping of it is first seen and stays open, so that it can be unwound and
 * named after the process has ended or the file was deleted. It is looked into when the first stack
 * needs it. At most MODULES_MAX_OPEN files are open; the one used longest ago is closed, and opened
 * again by its next mapping.
 *
 * Numbers of modules are final: a file that changes becomes a new module.
 */
#ifndef KERNEL_MODULES_H
#define KERNEL_MODULES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/hash.h"
#include "src/base/vec.h"
#include "src/kernel/unwind_file.h"
#include "src/proc/proc.h"

#define MODULES_MAX_OPEN	256u
#define MODULES_MAX		65000u	/* 16 bits of a frame, less a few (stack_table.h) */
/* Of call frame information in memory, of all files together. */
#define MODULES_MAX_BYTES	(256ull << 20)

enum module_state {
	MODULE_UNSEEN,			/* not looked into yet */
	MODULE_OK,
	MODULE_GONE,			/* no file is at its path any more */
	MODULE_REPLACED,		/* another file is there */
	MODULE_DENIED,			/* it may not be opened */
	MODULE_NOT_ELF,			/* no ELF file of this processor, or a damaged one */
	MODULE_UNREADABLE,		/* no memory, no descriptors, a failing disk */
};

struct module {
	uint32_t dev_major, dev_minor;	/* as /proc/PID/maps has them */
	uint64_t ino;			/* 0: the kernel's own library */
	char *path;			/* as the process sees it */
	enum module_state state;
	int fd;				/* -1: not open */
	int64_t mtime_ns;
	uint64_t size_bytes;
	uint64_t used;			/* when, counted in uses */
	uint32_t older;			/* another module of the same number of a file; 0: none */
	struct unwind_file file;	/* once the state is MODULE_OK */
};

/* All zero is empty. */
struct modules {
	VEC(struct module *) v;		/* by number; v[0] is NULL */
	struct hash_map by_file;	/* device and inode -> number of the newest module */
	uint64_t uses, cfi_bytes;
	unsigned nr_open;
	uint32_t vdso;			/* its number; 0: not met yet */
	bool no_map_files;		/* the kernel does not let us open /proc/PID/map_files */
};

/*
 * The number of the module that is mapped there by process `pid` (as task_proc()). 0: out of memory
 * or of numbers.
 *
 * mapped_ns: 0: it is mapped now. Else (CLOCK_MONOTONIC) it was mapped then, and the process may
 * have ended or execute another program: the file is opened if it is there with that number and
 * has not changed since; of an ended process by its path as pmm sees it.
 */
uint32_t modules_add(struct modules *ms, pid_t pid, const struct proc_map *map,
		     uint64_t mapped_ns);

/* The module of the kernel's own library. 0: out of memory. */
uint32_t modules_vdso(struct modules *ms);

/* A number that one of these gave. */
static inline struct module *modules_at(const struct modules *ms, uint32_t number)
{
	return ms->v.v[number];
}

/*
 * Open a module again that was closed for want of descriptors: process `pid` has it mapped at
 * [start, end). False: its file is not to be had any more.
 */
bool modules_reopen(struct modules *ms, uint32_t number, pid_t pid, uint64_t start, uint64_t end);

/*
 * Look into the file, if that was not done, and have its call frame information in memory, if there
 * is any. Its state afterwards.
 */
enum module_state modules_load(struct modules *ms, uint32_t number);

void modules_fini(struct modules *ms);

#endif
