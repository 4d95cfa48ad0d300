/* SPDX-License-Identifier: GPL-2.0-or-later
 * operator new that fails: bad_alloc thrown and caught a thousand times, nothrow answers NULL, a
 * new_handler is called three times and then gives up. Prints what happened.
 *
 * expect:
 *   site throwing  allocs=1000 frees=1000 failed=1000 live=0
 *   site quiet     failed=1 live=0
 *   site handled   failed=4 live=0
 * (allocs are the exceptions; with a handler, each attempt fails)
 */
#include <cstdint>
#include <cstdio>
#include <new>

#include "victim.h"

static int called;

static void handler()
{
	if (++called == 3)
		std::set_new_handler(nullptr);
}

SITE static int throwing()
{
	try {
		hide(operator new(opaque(PTRDIFF_MAX)));
	} catch (const std::bad_alloc &) {
		return 1;
	}
	return 0;
}

SITE static bool quiet() { return !operator new[](opaque(PTRDIFF_MAX), std::nothrow); }

SITE static bool handled()
{
	std::set_new_handler(handler);
	return !operator new(opaque(PTRDIFF_MAX), std::align_val_t(64), std::nothrow);
}

int main()
{
	int caught = 0;

	for (int i = 0; i < 1000; i++)
		caught += throwing();
	int q = quiet(), h = handled();
	std::printf("%d caught, nothrow %d, handler %d %d\n", caught, q, h, called);
}
