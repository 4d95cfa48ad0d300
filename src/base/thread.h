/*
 * Threads beside the main one.
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <stddef.h>

/*
 * Start a thread, to be joined, that gets no signals: those are for the others. stack_bytes: beside what every thread needs; 0: the usual
 * stack. 0 or -errno.
 */
int thread_start(pthread_t *thread, size_t stack_bytes, void *(*run)(void *arg), void *arg);

#endif
