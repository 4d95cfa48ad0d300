/* SPDX-License-Identifier: GPL-2.0-or-later
 * Frames that are hard to walk: alloca, variable arrays, a realigned stack, a frame of 1 MiB, a
 * call through a pointer in the middle of them.
 *
 * expect:
 *   total  allocs=7 live=77 blocks=7
 *   site leaf allocs=7 bytes=77 live=77 blocks=7
 * stacks, innermost first:
 *   leaf by_alloca main
 *   leaf by_vla main
 *   leaf by_realigned main
 *   leaf by_large main
 *   leaf by_vla by_realigned_too main
 *   leaf by_saving main
 *   leaf main
 */
#include <alloca.h>
#include <stdint.h>
#include <stdlib.h>

#include "victim.h"

SITE static void leaf(volatile char *p)
{
	p[0] = 1;
	hide(malloc(11));
}

SITE static void by_alloca(size_t n) { leaf(hide(alloca(n))); hide(&n); }

SITE static void by_vla(size_t n)
{
	char v[n];

	leaf(hide(v));
	hide(v);
}

SITE static void by_realigned(size_t n)
{
	char v[100] __attribute__((aligned(64)));

	v[0] = (char)n;
	leaf(hide(v));
	hide(v);
}

SITE static void by_realigned_too(size_t n)
{
	char v[100] __attribute__((aligned(128)));

	v[0] = (char)n;
	by_vla((uintptr_t)hide(v) % 128 + n);
	hide(v);
}

SITE static void by_large(void)
{
	char v[1 << 20];

	leaf(hide(v));
	hide(v);
}

SITE static void by_saving(void)
{
	char v;

	__asm__ volatile("xor %%ebp, %%ebp\n\tmov %%rbp, %%rbx" : : :
			 "rbx", "rbp", "r12", "r13", "r14", "r15");
	leaf(&v);
	hide(&v);
}

int main(void)
{
	void (*volatile large)(void) = by_large;
	char v;

	by_alloca(opaque(1000));
	by_vla(opaque(5000));
	by_realigned(opaque(3));
	large();
	by_realigned_too(opaque(4));
	by_saving();
	leaf(&v);
	return 0;
}
