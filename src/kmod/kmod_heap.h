/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log that the kernel module keeps of a process, as a heap: one more capture source.
 *
 * The log has what is outstanding. Each record is a block; records of the same place in the source
 * and the same caller are a site, whose stack is that place below the caller. Of what was released
 * only number and bytes are known: site 0 has them (struct heap_kmod). Times count from the begin
 * of monitoring, blocks from before have time 0.
 */
#ifndef KMOD_KMOD_HEAP_H
#define KMOD_KMOD_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "include/pmm/kmod.h"
#include "src/base/err.h"
#include "src/kmod/kmod_device.h"
#include "src/model/heap.h"

/* The losses that the module counted, without `logged` and `sums`. */
void kmod_heap_losses(const struct pmm_kmod_process *p, struct heap_kmod *out);

/*
 * Make the heap of a process and its records, as of `now_ns` (CLOCK_REALTIME). *out is the
 * caller's. 0, -ENOMEM, or -EBADMSG with `e`.
 */
int kmod_heap_make(const struct pmm_kmod_process *p, const struct pmm_kmod_record *records,
		   size_t nr, uint64_t now_ns, struct heap **out, struct err *e);

/*
 * Read it from the device, with the modules of a process that still runs. `max_bytes` as
 * kmod_device_log(). 0 or -errno with `e`.
 */
int kmod_heap_read(struct kmod_device *d, pid_t pid, uint64_t max_bytes, struct heap **out,
		   struct err *e);

#endif
