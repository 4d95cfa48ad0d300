/* SPDX-License-Identifier: GPL-2.0-or-later
 * Scenario of inject_self: exceptions that leave the function which a hook has called.
 */
#include <cstddef>
#include <new>
#include <stdexcept>

extern "C" {
void *thrower(size_t bytes);
int throw_through(void *(*hooked)(size_t), int rounds);
}

static char place[4096];

/* Gives a block or throws. */
__attribute__((noipa)) void *thrower(size_t bytes)
{
	if (bytes > sizeof(place))
		throw std::bad_alloc();
	return place;
}

struct counted {
	int *n;
	~counted() { ++*n; }
};

/* How often an exception came through whole: destructors run, variables kept in registers. */
__attribute__((noipa)) int throw_through(void *(*hooked)(size_t), int rounds)
{
	int caught = 0, destroyed = 0;
	volatile long seed = 1;
	long a = seed + 1, b = seed + 2, c = seed + 3, d = seed + 4, e = seed + 5;

	for (int i = 0; i < rounds; i++) {
		try {
			counted k{&destroyed};

			if (hooked(16) == place)
				hooked(100000);
		} catch (const std::bad_alloc &) {
			caught++;
		}
		a += i, b ^= a, c += b, d ^= c, e += d;
	}
	for (int i = rounds; i-- > 0; )
		e -= d, d ^= c, c -= b, b ^= a, a -= i;
	return a == 2 && b == 3 && c == 4 && d == 5 && e == 6 && destroyed == rounds ? caught : -1;
}
