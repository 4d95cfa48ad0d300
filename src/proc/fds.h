/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptors of our own: how many there may be, and some kept for later. */
#ifndef PROC_FDS_H
#define PROC_FDS_H

#define FDS_MOST	16

struct fds {
	int v[FDS_MOST];
	unsigned nr;
};

/*
 * As many as the hard limit allows. Not in who starts a program that is to have its own limit: see
 * src/track/child.h.
 */
void fds_raise(void);

/* Take `nr` more, up to FDS_MOST in all, which mean nothing. 0, or -errno and none is taken. */
int fds_reserve(struct fds *f, unsigned nr);

/* Give them back, so that as many others can be opened. */
void fds_release(struct fds *f);

#endif
