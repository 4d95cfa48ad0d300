/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel module as shim/kmod.c calls it, played by a thread: for benchmarks, where no module
 * can be loaded. Included before pmm_static.c (-include).
 */
#ifndef BENCH_RING_HOST_H
#define BENCH_RING_HOST_H

#include <stddef.h>

int ring_host_open(void);
int ring_host_ioctl(int fd, unsigned long call, void *arg);
void *ring_host_map(int fd, size_t bytes);

#define KMOD_OPEN()			ring_host_open()
#define KMOD_IOCTL(fd, call, arg)	ring_host_ioctl(fd, call, arg)
#define KMOD_MAP(fd, bytes)		ring_host_map(fd, bytes)

#endif
