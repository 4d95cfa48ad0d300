/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Live events of the kernel module: of all monitored processes, or of some, which it starts to
 * monitor.
 */
#ifndef SESSION_KMOD_KMOD_WATCH_H
#define SESSION_KMOD_KMOD_WATCH_H

#include <sys/types.h>

#include "src/base/loop.h"
#include "src/kmod/kmod_device.h"
#include "src/session/session.h"

struct kmod_watch;

struct kmod_watch_options {
	const pid_t *pids;		/* to be monitored and watched; none: all that are */
	size_t nr_pids;
};

/*
 * Add an open device to a loop; events go to the sink. The loop is stopped when all processes that
 * were named have ended, when the sink wants no more events, or when the device fails. Device, loop
 * and sink must outlive it. 0 or -errno with `e`: processes that were named before the one that
 * cannot be monitored are, then.
 */
int kmod_watch_new(struct kmod_watch **out, struct kmod_device *d, struct loop *l,
		   const struct kmod_watch_options *o, const struct session_sink *to,
		   struct err *e);

/* After the loop: how it went. 0 or -errno with `e`. */
int kmod_watch_result(const struct kmod_watch *w, struct err *e);

/* Monitoring goes on. NULL is fine. */
void kmod_watch_free(struct kmod_watch *w);

#endif
