/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads (tasks) of a process as /proc has them: who there is, their state.
 */
#ifndef PROC_TASK_H
#define PROC_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"
#include "src/base/vec.h"

struct task_list {
	VEC(pid_t) tids;	/* rising */
};

/*
 * The threads there are, dead ones included; into `list`, whose room is used again. 0, -ESRCH, or
 * -errno when they cannot be listed. Release: vec_fini(&list->tids).
 */
int task_list(pid_t pid, struct task_list *list);

/* A thread that has not ended, the first one if it lives. -ESRCH = none. */
pid_t task_live(pid_t pid);

/*
 * The number under which /proc has what all threads share, as maps, mem, exe, root and fd: a first
 * thread that has ended has none of it. `pid`, or a thread that lives.
 */
pid_t task_proc(pid_t pid);

/* Has it ended, or is it just about to (states Z and X)? True also when it is not there. */
bool task_ended(pid_t pid, pid_t tid);

/* Say that no thread of it lives any more, and who has yet to ask for its status. -ESRCH. */
int task_say_ended(pid_t pid, struct err *e);

/*
 * The number behind "NAME:" in a thread's status, in base 10 or 16; tid 0 = the process's own. 0,
 * -ESRCH, -ENODATA no such line, or -errno.
 */
int task_status(pid_t pid, pid_t tid, const char *name, int base, uint64_t *value);

/* The process that traces a thread, 0 = none. */
pid_t task_tracer(pid_t pid, pid_t tid);

/*
 * Is a tracer another pmm, by its name, or has it ended? Neither holds threads for long: worth
 * waiting for.
 */
bool task_is_pmm(pid_t pid);

#define TASK_WATCHDOG_NAME	"pmm-watchdog"	/* of watchdog.h */

/* Field 4 or later of a thread's stat (proc(5)). 0, -ESRCH, or -errno when it cannot be known. */
int task_stat(pid_t pid, pid_t tid, unsigned field, uint64_t *value);

/* What a thread sleeps in, "" = not known; and its state's letter. */
char task_sleeps_in(pid_t pid, pid_t tid, char *where, size_t room);

/* By a signal (SIGSTOP, the terminal), until SIGCONT. */
bool task_stopped(pid_t pid);

/*
 * The system call a thread sleeps in: its number and arguments, and the stack pointer. -1 = none,
 * running; -2 = not known.
 */
long task_syscall(pid_t pid, pid_t tid, uint64_t args[6], uint64_t *sp);

#endif
