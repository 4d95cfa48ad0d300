/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which pages of its address space a process has: so that what was only reserved, terabytes
 * perhaps, is neither read nor, by being read, filled. By PAGEMAP_SCAN (Linux 6.7,
 * Documentation/admin-guide/mm/pagemap.rst), before that entry by entry.
 */
#ifndef PROC_PAGES_H
#define PROC_PAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/vec.h"
#include "src/proc/proc.h"

struct page_run {
	uint64_t start, end;
};

struct page_runs { struct page_run *v; size_t nr, room; };	/* release: vec_fini() */

/* A descriptor for pages_find(), to be closed; or -errno. */
int pages_open(pid_t pid);

/*
 * Append what there is of [start, end), at most `max_pages` (0 = all); but for pages that are only
 * read and all zero, and guard pages (MADV_GUARD_INSTALL), where the kernel reports them.
 * `changed`: only what the process has written to since it mapped a file. 0; -EOPNOTSUPP it would
 * take too long, other -errno.
 */
int pages_find(int fd, uint64_t start, uint64_t end, bool changed, uint64_t max_pages,
	       struct page_runs *to);

/*
 * The file of a shared mapping, to be read and closed; or -errno. -EPERM: not without CAP_SYS_ADMIN
 * or CAP_CHECKPOINT_RESTORE.
 */
int pages_open_shared(pid_t pid, const struct proc_map *m);

/*
 * Is it a file on a disk or of a server? By its device or its name, as far as they tell; when in
 * doubt false.
 */
bool pages_on_disk(pid_t pid, const struct proc_map *m);

/*
 * As pages_find(), of such a file: also those that this process does not have mapped, because
 * another one wrote them, or because the kernel took them out of its page table (reclaim does, also
 * where there is nothing to swap to). `in_memory`: -EOPNOTSUPP of a file that is not in memory
 * only. -EAGAIN: others cut the file just now.
 */
int pages_find_shared(int fd, const struct proc_map *m, bool in_memory, uint64_t max_pages,
		      struct page_runs *to);

#endif
