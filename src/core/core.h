/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A core file (ELF ET_CORE, core(5)) as a process's memory: mappings, threads' registers, contents.
 *
 * Hostile input: every offset and count is checked, the file is read and not mapped (it may shrink
 * meanwhile). What the kernel left out (file-backed pages, coredump_filter) is read from the mapped
 * files where they are still the same: where the core has the file's first page, which identifies
 * ELF files, that page says so; else the file must not have been changed since the core was
 * written. Else it is not there.
 */
#ifndef CORE_CORE_H
#define CORE_CORE_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/base/vec.h"
#include "src/proc/proc.h"
#include "src/ptrace/process_copy.h"

struct core {
	/* NT_PRPSINFO or the first thread's, as in its pid namespace; 0 = not known */
	pid_t pid;
	int signal;			/* it died of, 0 = not known */
	char comm[PROC_COMM_BYTES];	/* "" = not known */
	/* the one that died first; as in the kernel's order */
	VEC(struct process_copy_thread) threads;
	/*
	 * PT_LOAD and NT_FILE joined; "[stack]" and "[vdso]" are named, no mapping is known to be
	 * shared
	 */
	struct proc_maps maps;
	struct core_state *state;
};

/*
 * 0 or -errno with `e`: -ENOENT, -EACCES, -EBADMSG no core or damaged, -EPROTO of another machine,
 * -ENOMEM.
 */
int core_open(const char *path, struct core *c, struct err *e);

/* How many bytes could be read from `address` on. From several threads at once. */
size_t core_read(const struct core *c, uint64_t address, void *to, size_t bytes);

/*
 * Where memory of [start, end) can be read and is not zero throughout, in order of address: add()
 * for each piece, which ends it by not returning 0. Headers state sizes of any amount; this goes by
 * what the files have. *absent grows by what cannot be read at all. 0 or what add() has returned.
 */
int core_there(const struct core *c, uint64_t start, uint64_t end,
	       int (*add)(void *arg, uint64_t start, uint64_t end), void *arg, uint64_t *absent);

/*
 * How many of the bytes from `address` on, at most `bytes`, are holes of the core or of a mapped
 * file, and so zero. From several threads at once.
 */
uint64_t core_untouched(const struct core *c, uint64_t address, uint64_t bytes);

/* All zero or closed is fine. */
void core_close(struct core *c);

#endif
