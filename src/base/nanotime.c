/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a clock of this machine shows, in nanoseconds. */
#include "src/base/nanotime.h"

#define SECOND_NS 1000000000ull

uint64_t nanotime_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

uint64_t nanotime(void)
{
	return nanotime_of(CLOCK_MONOTONIC);
}
