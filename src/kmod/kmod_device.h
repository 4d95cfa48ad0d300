/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel module's device (/dev/pmm, include/pmm/kmod.h): its calls, with what went wrong in
 * words.
 *
 * What the module gives is checked no less than other outside data: counts are bounded, names get
 * an end.
 */
#ifndef KMOD_KMOD_DEVICE_H
#define KMOD_KMOD_DEVICE_H

#include <stdint.h>
#include <sys/types.h>

#include "include/pmm/kmod.h"
#include "src/base/err.h"
#include "src/base/vec.h"

#define KMOD_DEVICE_PATH	"/dev/pmm"
#define KMOD_MAX_PROCESSES	(1u << 20)
#define KMOD_MAX_RECORDS	(1u << 24)	/* the most entries that a process can have */

/* How the device is reached; both return 0 or more, or -errno. */
struct kmod_ops {
	int (*ioctl)(void *ctx, unsigned long request, void *arg);
	ssize_t (*read)(void *ctx, void *to, size_t bytes);
};

struct kmod_device {
	int fd;				/* -1: not open; events: readable when there are some */
	const struct kmod_ops *ops;
	/* for ops: of an open device itself, which must not be moved */
	void *ctx;
};

struct kmod_processes {
	VEC(struct pmm_kmod_process) v;
};

struct kmod_records {
	VEC(struct pmm_kmod_record) v;
	/* entries of a piece that came whole while it was read, which is not in it */
	uint64_t later;
};

/*
 * Open the device and see that it is of this version. `path`: KMOD_DEVICE_PATH. 0 or -errno with
 * `e`: -ENOENT the module is not loaded, -EACCES, -EPERM not allowed, -EPROTONOSUPPORT another
 * version. Close it with kmod_device_close() if it succeeded.
 */
int kmod_device_open(struct kmod_device *d, const char *path, struct err *e);

/* All zero or closed is fine. */
void kmod_device_close(struct kmod_device *d);

int kmod_device_config(struct kmod_device *d, struct pmm_kmod_config *out, struct err *e);

/* Start, stop monitoring a process. 0 or -errno with `e`: -ESRCH, -EPERM, -EUSERS, ... */
int kmod_device_start(struct kmod_device *d, pid_t pid, struct err *e);
int kmod_device_stop(struct kmod_device *d, pid_t pid, struct err *e);

/* All monitored processes. `out` is empty at first; kmod_processes_fini() in any case. */
int kmod_device_processes(struct kmod_device *d, struct kmod_processes *out, struct err *e);
void kmod_processes_fini(struct kmod_processes *p);

/*
 * The monitored process of that number, the newest if there are several; *out and 0, or -ESRCH,
 * ... with `e`.
 */
int kmod_device_process(struct kmod_device *d, pid_t pid, struct pmm_kmod_process *out,
			struct err *e);

/*
 * The outstanding entries of a process, oldest first, until there are no more or a piece of them is
 * from after `now_ns` (CLOCK_REALTIME): a process that logs all the time would keep it reading. At
 * most `max_bytes` of them (0: no limit), else -EFBIG. `out` as above.
 */
int kmod_device_log(struct kmod_device *d, pid_t pid, uint64_t now_ns, uint64_t max_bytes,
		    struct kmod_records *out, struct err *e);
void kmod_records_fini(struct kmod_records *r);

/*
 * Events that have come, at most `max`, without waiting. How many, or -errno with `e`: -EBADMSG
 * they make no sense.
 */
ssize_t kmod_device_events(struct kmod_device *d, struct pmm_kmod_event *to, size_t max,
			   struct err *e);

#endif
