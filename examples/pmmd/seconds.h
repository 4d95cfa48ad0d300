/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Time that no clock change moves. */
#ifndef PMMD_SECONDS_H
#define PMMD_SECONDS_H

#include <time.h>

static inline time_t seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

#endif
