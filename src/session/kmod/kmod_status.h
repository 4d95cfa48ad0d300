/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel module says of itself and of the processes that it monitors. */
#ifndef SESSION_KMOD_KMOD_STATUS_H
#define SESSION_KMOD_KMOD_STATUS_H

#include "src/kmod/kmod_device.h"
#include "src/session/session.h"

/* Ask an open device, and give it to the sink as one document. 0 or -errno with `e`. */
int kmod_status(struct kmod_device *d, const struct session_sink *to, struct err *e);

#endif
