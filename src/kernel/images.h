/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is mapped where in each traced process, at which time: from a program counter to a module
 * and an address of its file.
 *
 * Mappings come from the kernel's own records where there are such (map_events.h): from exec on,
 * each that follows. Else they are read from /proc/PID/maps at exec, at the first need, and when
 * code was mapped; in any case when a program counter lies in none that is known. After the first
 * few times that is done so seldom that reading takes 5 % of the time at most. A child that has not
 * executed anything has its parent's. What was mapped before stays known, and what an ended process
 * had: events come late.
 *
 * Events are given in the order in which they happened, with their times (CLOCK_MONOTONIC, ns).
 * Processes are numbered as /proc numbers them.
 */
#ifndef KERNEL_IMAGES_H
#define KERNEL_IMAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/hash.h"
#include "src/base/vec.h"
#include "src/kernel/modules.h"

#define IMAGES_MAX_ENDED	2048u	/* ended processes that are kept, the newest */
#define IMAGES_MAX_PROCESSES	16384u	/* in all; more are forgotten and read again */
#define IMAGES_MAX_FORMER	64u	/* mappings of a process that are gone, the newest */

/* Why a program counter is in no module; 0: it is in one. */
enum image_miss {
	IMAGE_FOUND,
	IMAGE_NOTHING,			/* nothing executable is known to be there */
	IMAGE_ANONYMOUS,		/* code made at run time, in no ELF file */
	IMAGE_FILE,			/* of a file that cannot be used (its module's state) */
	IMAGE_ENDED,			/* the process ended before its mappings were read */
	IMAGE_DENIED,			/* its mappings may not be read */
};

struct image_at {
	enum image_miss miss;
	uint32_t module;		/* number, also with IMAGE_FILE; else 0 */
	uint64_t address;		/* of the file; run-time if it is in none */
};

struct image_map {
	uint64_t start, end, offset;
	uint64_t from_ns;		/* it was not there before */
	uint32_t module;		/* 0: anonymous */
};

/* The executable mappings of one process, or of several that have forked. */
struct image_table {
	unsigned refs;
	VEC(struct image_map) maps;	/* by address */
	VEC(struct image_map) former;	/* gone; the newest last */
};

struct image_process {
	pid_t tgid;
	struct image_table *table;	/* NULL: not read */
	enum image_miss why;		/* it is not */
	bool ended, stale;		/* stale: to be read again */
	bool told;			/* what it maps comes by images_mapped() */
	bool begun;			/* by images_begin(), whose images_exec() follows */
	uint64_t ended_ns;
	uint64_t changed_ns;		/* first change since it was read; 0: none */
	uint64_t read_ns;		/* when it was read */
	uint64_t again_ns;		/* not to be read again before */
	unsigned reads;
};

/* All zero is empty. */
struct images {
	struct modules modules;
	VEC(struct image_process *) processes;
	struct hash_map by_tgid;	/* -> index + 1 into processes; 0: none */
	VEC(struct image_process *) ended; /* the oldest at `first_ended` */
	size_t first_ended;
	bool told;			/* images_begin() and images_mapped() are called */
	uint64_t reads;			/* of /proc/PID/maps */
	uint64_t unread;		/* processes that ended before */
};

/* All of them: 0 or -ENOMEM, after which less is known. */
int images_exec(struct images *im, pid_t tgid, uint64_t time_ns);
int images_fork(struct images *im, pid_t parent, pid_t child, uint64_t time_ns);
int images_exit(struct images *im, pid_t tgid, uint64_t time_ns);

/* Code was mapped or unmapped, or made executable. */
int images_changed(struct images *im, pid_t tgid, uint64_t time_ns);

/*
 * By the kernel's records (`told` is set): a program begins, with nothing mapped, before the
 * images_exec() that is its; code was mapped by a process, which is nothing new where its mappings
 * are not known.
 */
int images_begin(struct images *im, pid_t tgid, uint64_t time_ns);
int images_mapped(struct images *im, pid_t tgid, const struct proc_map *map, uint64_t time_ns);

/* Such records were lost: what runs is read again when it is needed. */
void images_doubt(struct images *im);

/* Is anything known of it? */
bool images_knows(const struct images *im, pid_t tgid);

/* A process, for many look-ups at one time. Valid until the next call of another of these. */
struct image_process *images_process(struct images *im, pid_t tgid, uint64_t time_ns);

/* What is at a program counter at that time. `p` NULL: nothing. */
struct image_at images_find(struct images *im, struct image_process *p, uint64_t pc,
			    uint64_t time_ns);

void images_fini(struct images *im);

#endif
