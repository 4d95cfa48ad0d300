/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process's list of mappings given to the agent in the tree's file.
 */
#include "src/inject/maps_text.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "include/pmm/ledger.h"
#include "src/base/io.h"
#include "src/proc/task.h"

#define MAX_BYTES (4ull << 20)

/* Can the process open it itself? /proc/self there is ours, if it is there for us at all. */
static int is_needed(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root/proc/self/maps", (int)task_proc(pid));
	return access(path, F_OK) != 0;
}

static bool read_number(int fd, size_t offset, uint64_t *number)
{
	return pread(fd, number, sizeof(*number), (off_t)offset) == (ssize_t)sizeof(*number);
}

void maps_text_put(pid_t pid, int tree_fd, struct pmm_inject_args *args)
{
	uint64_t nr = 0, slots_off, slot_bytes;
	char path[64], text[4096];
	ssize_t n = 0;
	int fd;

	if (!is_needed(pid) ||
	    !read_number(tree_fd, offsetof(struct pmm_tree, slots_off), &slots_off) ||
	    !read_number(tree_fd, offsetof(struct pmm_tree, slot_bytes), &slot_bytes) ||
	    slot_bytes < PMM_ARENA_OFF + 2 * MAX_BYTES)
		return;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)task_proc(pid));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	args->maps_off = slots_off + slot_bytes - MAX_BYTES;
	while (nr < MAX_BYTES - sizeof(text) && (n = read(fd, text, sizeof(text))) > 0) {
		if (io_pwrite(tree_fd, text, (size_t)n, args->maps_off + nr))
			break;
		nr += (uint64_t)n;
	}
	close(fd);
	args->maps_bytes = nr;
}

void maps_text_remove(int tree_fd, const struct pmm_inject_args *args)
{
	if (args->maps_off)
		fallocate(tree_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			  (off_t)args->maps_off, (off_t)MAX_BYTES);
}
