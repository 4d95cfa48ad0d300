/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words that a program has entrusted to the kernel, which hands them back one day: the data of
 * epoll's entries, the values of POSIX timers. They may be the only pointers to blocks.
 *
 * They are read while all threads are stopped, as the memory is. An epoll with so many entries that
 * this would take long is read before and after instead.
 */
#ifndef PROC_ENTRUSTED_H
#define PROC_ENTRUSTED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/vec.h"

struct entrusted_epoll {
	int fd;				/* in the process */
	bool slow;			/* too many entries to be read while it is stopped */
};

/* All zero is empty. */
struct entrusted {
	VEC(uint64_t) words;
	VEC(struct entrusted_epoll) epolls;
};

/*
 * In this order: while the process runs; while it is stopped; while it runs again. `pid` as
 * task_proc(). 0 or -ENOMEM.
 */
int entrusted_before(struct entrusted *x, pid_t pid);
int entrusted_stopped(struct entrusted *x, pid_t pid);
int entrusted_after(struct entrusted *x, pid_t pid);
void entrusted_fini(struct entrusted *x);

/*
 * The word in a line of an epoll's fdinfo, or of /proc/PID/timers (proc_pid_timers(5)). False:
 * there is none in it.
 */
bool entrusted_epoll_line(const char *line, uint64_t *word);
bool entrusted_timer_line(const char *line, uint64_t *word);

#endif
