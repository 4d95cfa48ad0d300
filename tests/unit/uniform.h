/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random numbers in [0, 1), the same again for the same seed. */
#ifndef TESTS_UNIT_UNIFORM_H
#define TESTS_UNIT_UNIFORM_H

#include <stdint.h>

static uint64_t seed;

static inline double uniform(void)
{
	uint64_t x;

	seed = seed * 6364136223846793005u + 1442695040888963407u;
	x = seed ^ seed >> 33;
	x *= 0xff51afd7ed558ccdu;
	x ^= x >> 33;
	return (double)(x >> 11) / 9007199254740992.0;
}

#endif
