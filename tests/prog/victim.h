/* SPDX-License-Identifier: GPL-2.0-or-later */ /* What the victims share: functions that stay functions, pointers the compiler cannot follow. */
#ifndef VICTIM_H
#define VICTIM_H

#include <stddef.h>
#include <string.h>

/* A call site: never inlined, cloned or merged, so that its name is in the stacks. */
#ifdef __clang__
#define SITE __attribute__((noinline, optnone))
#else
#define SITE __attribute__((noipa))
#endif

/* The same pointer, of which the compiler knows nothing. */
static inline void *hide(void *p)
{
	__asm__ volatile("" : "+r"(p) : : "memory");
	return p;
}

/* The same number, which the compiler cannot check against limits. */
static inline size_t opaque(size_t n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

#endif
