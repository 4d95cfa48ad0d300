/*
 * A core file (ELF ET_CORE, core(5)) as a process's memory: mappings, threads' registers, contents.
 *
 * Hostile input: every offset and count is checked. What the kernel left out (file-backed pages, coredump_filter) is read from the mapped
 * files where they are still the ones named (build id or, without, size), else is not there.
 */
#ifndef TARGET_CORE_H
#define TARGET_CORE_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/base/vec.h"
#include "src/target/proc.h"
#include "src/target/snapshot.h"

struct core {
	pid_t pid;			/* NT_PRPSINFO or the first thread's, as in its pid namespace */
	int signal;			/* it died of, 0 = not known */
	char comm[PROC_COMM_BYTES];
	VEC(struct snapshot_thread) threads;
	struct proc_maps maps;		/* PT_LOAD and NT_FILE joined */
	struct core_state *state;
};

/* 0 or -errno with `e`: -ENOENT, -EBADMSG no core or damaged, -EPROTO of another machine, -ENOMEM. */
int core_open(const char *path, struct core *c, struct err *e);
size_t core_read(const struct core *c, uint64_t address, void *to, size_t bytes);
void core_close(struct core *c);

#endif
