/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directory that a daemon works in: its pid file, which is locked as long as it lives, and its
 * socket.
 *
 * The lock, not the file, says whether a daemon is there: the kernel takes it away however the
 * process ends. Files are removed only if they are still the ones that were made here.
 */
#ifndef PMMD_PLACE_H
#define PMMD_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct place_file {
	char path[PATH_MAX + 16];
	dev_t dev;
	ino_t ino;		/* 0: not made */
};

struct place {
	struct place_file pid;
	struct place_file socket;
	char log[PATH_MAX + 16];
	int lock;		/* descriptor of the pid file */
	int listener;
};

/* Finds out the absolute names. False: `why`, of `room` bytes, says what is wrong. */
bool place_init(struct place *place, const char *directory, char *why, size_t room);
/*
 * Locks the pid file, writes this process into it and listens at the socket. False as above;
 * nothing is left then.
 */
bool place_take(struct place *place, char *why, size_t room);
/* Removes socket and pid file. */
void place_leave(struct place *place);

#endif
