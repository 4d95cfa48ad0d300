/* SPDX-License-Identifier: GPL-2.0-or-later */ /* The bugs on show, each as programs have them. */
#ifndef PMMD_BUGS_H
#define PMMD_BUGS_H

#include <stddef.h>

enum { BUGS_WINDOW = 16 };

/* Zero it. */
struct bugs {
	char *unacked[BUGS_WINDOW];	/* replies that a client has not confirmed yet */
	unsigned nr_unacked;
	char *label;			/* the last that was given */
	size_t nr_lost;			/* replies */
	size_t bytes_lost;
};

/*
 * So many replies to a client that is gone: none of them is released. Returns how many could be
 * had.
 */
size_t bugs_leak(struct bugs *bugs, size_t nr, size_t bytes);
/*
 * Gives a label: the byte behind its block is written. Harmless if the name is of odd length:
 * allocators round up. 0 or -ENOMEM.
 */
int bugs_overflow(struct bugs *bugs, const char *name);
/*
 * Cancels a request whose text is then released once more. Most allocators end the program for it.
 * 0 or -ENOMEM.
 */
int bugs_double_free(void);
void bugs_fini(struct bugs *bugs);

#endif
