/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The programs whose kernel events are summed up, one after the other in each process: a fork
 * begins one, and so does an exec, after which the one before waits for its heap.
 *
 * Bounded: at most TRACE_IMAGES_MAX, of one process the newest TRACE_IMAGES_EACH.
 */
#ifndef SESSION_TRACE_TRACE_IMAGES_H
#define SESSION_TRACE_TRACE_IMAGES_H

#include <sys/types.h>

#include "src/analyze/trace/kernel_sums.h"

#define TRACE_IMAGES_MAX	65536u
#define TRACE_IMAGES_EACH	16u
#define TRACE_IMAGE_DELAYED	16384u	/* records of one program */

/* A record of which it is not known yet what it is about. */
struct trace_delayed {
	struct trace_record record;
	uint32_t stack;
};

struct trace_image {
	pid_t pid;
	uint64_t from_ns;		/* time of its record; 0: it was there before the trace */
	uint64_t ended_ns;		/* when we read that the process has ended; 0: it has not */
	struct trace_image *older;	/* of the same process */
	struct kernel_sums sums;
	VEC(struct trace_delayed) delayed;
};

/* All zero is empty. */
struct trace_images {
	/* called with each that is dropped; NULL: nobody asks */
	void (*gone)(void *arg, const struct trace_image *image);
	void *arg;
	VEC(struct trace_image *) all;	/* the newest of each process */
	struct hash_map at;		/* pid -> index in `all`, plus 1; 0: gone */
};

/* A program begins in a process. 0 or -ENOMEM. */
int trace_images_begin(struct trace_images *im, pid_t pid, uint64_t time_ns);

/* Records of forks and execs in known processes begin one, exits end them. 0 or -ENOMEM. */
int trace_images_note(struct trace_images *im, const struct trace_record *r);

/* The newest of a process; NULL: its events are not summed up. */
struct trace_image *trace_images_find(const struct trace_images *im, pid_t pid);

/*
 * The one that a heap of that process belongs to: its newest, or where since then (not 0) others,
 * which have no heap, were in its place, the one before them. NULL: none.
 */
struct trace_image *trace_images_of(const struct trace_images *im, pid_t pid, uint64_t replaced_ns);

/* It and those before it of the same process are not needed any more. NULL is fine. */
void trace_images_drop(struct trace_images *im, struct trace_image *image);

/* Of processes that had ended by then, and have no ledger, no heap will come: drop them. */
void trace_images_sweep(struct trace_images *im, uint64_t until_ns,
			bool (*has_ledger)(void *arg, pid_t pid), void *arg);

/* Keep a record for later. 0, or -ENOMEM, -E2BIG: there are too many. */
int trace_image_delay(struct trace_image *image, const struct trace_record *r, uint32_t stack);

/* The first `nr` of them are dealt with. */
void trace_image_drop_delayed(struct trace_image *image, size_t nr);

void trace_images_fini(struct trace_images *im);

#endif
