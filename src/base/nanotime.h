/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a clock of this machine shows, in nanoseconds.
 */
#ifndef BASE_NANOTIME_H
#define BASE_NANOTIME_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC: for deadlines, and for how long something took. */
uint64_t nanotime(void);

/* Another clock: CLOCK_REALTIME, a coarse one, one of CPU time. */
uint64_t nanotime_of(clockid_t clock);

#endif
