/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes under watch: in no order, found by pid.
 */
#ifndef TRACK_ROLL_H
#define TRACK_ROLL_H

#include <stddef.h>
#include <sys/types.h>

#include "src/base/vec.h"
#include "src/track/watched.h"

/* All zero is empty. */
struct roll {
	VEC(struct watched *) all;
	struct watched **chain;	/* heads of the lists by pid */
	size_t nr_chains;	/* a power of two, or 0 */
};

/* Enter w, which is the roll's from now on. 0 or -ENOMEM. */
int roll_add(struct roll *r, struct watched *w);

/* Strike out and free; in its place all.v[w->at] there is another one then. */
void roll_del(struct roll *r, struct watched *w);

/*
 * The process of that number that is thought to live; without one the last entered that has ended.
 * NULL: none.
 */
struct watched *roll_find(const struct roll *r, pid_t pid);

/* The next one with the same number, live or not; from NULL the first one. */
struct watched *roll_same(const struct roll *r, pid_t pid, const struct watched *after);

void roll_fini(struct roll *r);

#endif
