/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory of another process. */
#include "src/ptrace/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#include "src/base/io.h"
#include "src/proc/task.h"

#define PAGE	4096u

/* Opened through a thread that lives: of one that has ended the kernel knows no memory any more. */
static int memory_open(pid_t pid, int flags)
{
	pid_t live = task_live(pid);
	char path[64];
	int fd;

	if (live < 0)
		return live;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/mem", (int)pid, (int)live);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? (errno == ENOENT ? -ESRCH : -errno) : fd;
}

/* Of /proc/PID/mem: what is not mapped cannot be read or written. */
static int memory_error(int rc)
{
	return rc == -EIO || rc == -ENODATA ? -EFAULT : rc;
}

int stop_read(pid_t pid, uint64_t address, void *to, size_t bytes)
{
	struct iovec here = { to, bytes }, there = { (void *)(uintptr_t)address, bytes };
	int fd, rc;

	if (process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)bytes)
		return 0;
	fd = memory_open(pid, O_RDONLY);	/* also reads what the program itself may not */
	if (fd < 0)
		return fd;
	rc = io_pread(fd, to, bytes, address);
	close(fd);
	return memory_error(rc);
}

size_t stop_read_some(pid_t pid, int mem, uint64_t address, void *to, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		struct iovec here = { (char *)to + done, bytes - done },
			     there = { (void *)(uintptr_t)(address + done), bytes - done };
		ssize_t n = process_vm_readv(pid, &here, 1, &there, 1, 0);	/* 2 GiB at most */

		if (n <= 0) {
			size_t to_page_end = PAGE - (address + done) % PAGE, left = bytes - done;

			n = mem < 0 ? 0
				    : pread(mem, (char *)to + done,
					    left < to_page_end ? left : to_page_end,
					    (off_t)(address + done));
		}
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

int stop_write(pid_t pid, uint64_t address, const void *from, size_t bytes)
{
	int fd = memory_open(pid, O_RDWR), rc;

	if (fd < 0)
		return fd;
	rc = io_pwrite(fd, from, bytes, address);
	close(fd);
	return memory_error(rc);
}
