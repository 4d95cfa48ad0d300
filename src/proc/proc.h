/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process seen from outside, through /proc: names, mappings, threads, times.
 *
 * Everything read is outside data: counts are bounded, names are as the process set them (any bytes
 * but NUL). A process may end between two calls: -ESRCH.
 */
#ifndef PROC_PROC_H
#define PROC_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"

#define PROC_COMM_BYTES		17	/* 16 and a NUL */
#define PROC_MAX_MAPS		262144	/* mappings read of one process */

enum proc_map_perms {
	PROC_MAP_READ = 1,
	PROC_MAP_WRITE = 2,
	PROC_MAP_EXEC = 4,
	PROC_MAP_SHARED = 8
};

struct proc_map {
	uint64_t start, end;		/* addresses */
	uint64_t offset;		/* in the file, bytes */
	uint64_t ino;			/* 0 = no file */
	uint32_t dev_major, dev_minor;
	uint32_t perms;			/* enum proc_map_perms */
	char *path;			/* "" = anonymous; as in /proc, with " (deleted)" */
};

struct proc_maps {
	struct proc_map *v;		/* by address */
	size_t nr;
};

struct proc_thread {
	pid_t tid;			/* as we see it */
	pid_t ns_tid;			/* as the thread itself sees it */
	char comm[PROC_COMM_BYTES];
};

/* The number of a process or thread, decimal digits and nothing else; 0: the text is none. */
pid_t proc_parse_pid(const char *text);

/* Does it exist and run? A zombie does not; a process whose first thread alone has ended does. */
bool proc_alive(pid_t pid);

/* The short name of a process, or of a thread (tid as we see it), without newline. 0 or -ESRCH. */
int proc_comm(pid_t pid, char comm[PROC_COMM_BYTES]);
int proc_thread_comm(pid_t pid, pid_t tid, char comm[PROC_COMM_BYTES]);

/* Start time in clock ticks since boot: with the pid it names a process for good. 0 or -ESRCH. */
int proc_start_time(pid_t pid, uint64_t *ticks);

/*
 * What the kernel adds to CLOCK_MONOTONIC for children that a process makes, and, as a rule, for
 * itself (time_namespaces(7)), in ns and modulo 2^64; 0 also when it cannot be known.
 */
uint64_t proc_clock_offset(pid_t pid);

/*
 * Resident memory in bytes. *fd is -1 at first; it stays open for the next call and is the caller's
 * to close. 0 or -ESRCH.
 */
int proc_rss(pid_t pid, int *fd, uint64_t *bytes);

/*
 * The most that ever was resident of what the process executes now, in bytes (VmHWM); 0: not known.
 * *fd as of proc_rss(), but -1 again where it is a high one: it is kept for few processes.
 */
uint64_t proc_peak_rss(pid_t pid, int *fd);

/*
 * The pid as the process itself sees it, in the innermost pid namespace; -ESRCH, or -errno when it
 * cannot be known.
 */
pid_t proc_ns_pid(pid_t pid);

/* The auxiliary vector (/proc/PID/auxv) as far as it fits; how many bytes, 0: not known. */
size_t proc_auxv(pid_t pid, void *to, size_t bytes);

/* The hint where another process may not be read: what would help the user. */
void proc_denied_hint(struct err *e);

/* Mappings; release with proc_maps_fini(). 0, -ESRCH, -EACCES, -ENOMEM, with `e` set. */
int proc_maps_read(pid_t pid, struct proc_maps *maps, struct err *e);
/* The same of text as /proc/PID/maps has it, which is changed; other lines are skipped. */
int proc_maps_parse(char *text, struct proc_maps *maps);
void proc_maps_fini(struct proc_maps *maps);

/* Threads in *threads (caller frees); their number or -ESRCH, -ENOMEM. */
ssize_t proc_threads(pid_t pid, struct proc_thread **threads);

#endif
