/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads beside the main one.
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* unless stated otherwise; whatever the limit on stacks is */
#define THREAD_STACK_BYTES ((size_t)1 << 20)

/*
 * Start a thread, to be joined, that gets no signals: those are for the others. stack_bytes: beside
 * what every thread needs; 0: THREAD_STACK_BYTES. 0 or -errno.
 */
int thread_start(pthread_t *thread, size_t stack_bytes, void *(*run)(void *arg), void *arg);

/* CPU time of the calling thread: what something costs is not what the machine made it wait. */
uint64_t thread_cpu_ns(void);

#endif
