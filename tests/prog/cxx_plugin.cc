/* SPDX-License-Identifier: GPL-2.0-or-later
 * libcxx_plugin.so, for cxx_host: aligned blocks are aligned, a failing new throws, a failing new
 * that must not throw returns null. Prints a line for each.
 *
 * expect:
 *   site aligned   allocs=15 frees=5 bytes=5760 live=3840 blocks=10
 *   site throwing  failed=3
 *   site quiet     failed=1 live=0
 * (exceptions are blocks as well: the other figures are the library's affair)
 */
#include <cstdio>
#include <new>

#include "victim.h"

struct alignas(64) line {
	char bytes[128];
};

SITE static unsigned long aligned()
{
	line *l = static_cast<line *>(hide(new line[3]));

	memset(static_cast<void *>(l), 1, 3 * sizeof(*l));
	return reinterpret_cast<unsigned long>(l);
}

SITE static void throwing()
{
	try {
		printf("got %p\n", hide(new char[opaque(1UL << 46)]));
	} catch (const std::bad_alloc &) {
		puts("bad_alloc");
	}
}

SITE static void quiet()
{
	void *p = hide(operator new(100, std::nothrow));

	printf("quiet %d", p != nullptr);
	operator delete(p);
	printf(" %d\n", hide(new (std::nothrow) char[opaque(1UL << 46)]) != nullptr);
}

extern "C" void enter(void)
{
	for (int i = 0; i < 15; i++) {
		unsigned long at = aligned();

		printf("aligned %lu\n", at % 64);
		if (i < 5)
			delete[] reinterpret_cast<line *>(at);
	}
	for (int i = 0; i < 3; i++)
		throwing();
	quiet();
}
