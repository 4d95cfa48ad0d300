/*
 * A process's list of mappings given to the agent in the tree's file.
 */
#include "src/inject/maps_text.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "include/pmm/ledger.h"
#include "src/target/task.h"

#define MAX_BYTES (4ull << 20)

/* Can the process open it itself? /proc/self there is ours, if it is there for us at all. */
static int is_needed(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root/proc/self/maps", (int)task_proc(pid));
	return access(path, F_OK) != 0;
}

void maps_text_put(pid_t pid, int tree_fd, struct pmm_inject_args *args)
{
	struct pmm_tree t;
	char path[64], text[16384];
	uint64_t nr = 0;
	ssize_t n = 0;
	int fd;

	if (!is_needed(pid) || pread(tree_fd, &t, sizeof(t), 0) != (ssize_t)sizeof(t) || t.slot_bytes < PMM_ARENA_OFF + 2 * MAX_BYTES)
		return;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)task_proc(pid));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	args->maps_off = t.slots_off + t.slot_bytes - MAX_BYTES;
	while (nr < MAX_BYTES - sizeof(text) && (n = read(fd, text, sizeof(text))) > 0) {
		if (pwrite(tree_fd, text, (size_t)n, (off_t)(args->maps_off + nr)) != n)
			break;
		nr += (uint64_t)n;
	}
	close(fd);
	args->maps_bytes = nr;
}

void maps_text_remove(int tree_fd, const struct pmm_inject_args *args)
{
	if (args->maps_off)
		fallocate(tree_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)args->maps_off, (off_t)MAX_BYTES);
}
