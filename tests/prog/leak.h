/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the victims of the search for leaks share. Each of their functions listed under "expect:" makes blocks through make() and leaves
 * pointers to them where its name says; the list says what a search must find of these blocks, as [WAY:]CLASS=BLOCKS/BYTES.
 *
 * Orders on standard input: 'g' runs them all, the end of input is exit() from main. While it waits, no pointer is left by chance: neither in
 * a register nor below the stack pointer, as far as 128 KiB.
 */
#ifndef LEAK_H
#define LEAK_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "victim.h"

/* A block, cleared; a pointer that only the caller keeps. */
__attribute__((unused)) SITE static void *make(size_t bytes)
{
	void *p = malloc(bytes);

	if (!p)
		_exit(98);
	return hide(memset(p, 0, bytes));
}

SITE static void scrub(void)
{
	volatile char below[128 << 10];

	for (size_t i = 0; i < sizeof(below); i++)
		below[i] = 0;
}

#define CLEAR_REGISTERS                                                                                                        \
	"xor %%r8d, %%r8d\n xor %%r9d, %%r9d\n xor %%r10d, %%r10d\n"                                                           \
	"pxor %%xmm0, %%xmm0\n pxor %%xmm1, %%xmm1\n pxor %%xmm2, %%xmm2\n pxor %%xmm3, %%xmm3\n pxor %%xmm4, %%xmm4\n"        \
	"pxor %%xmm5, %%xmm5\n pxor %%xmm6, %%xmm6\n pxor %%xmm7, %%xmm7\n pxor %%xmm8, %%xmm8\n pxor %%xmm9, %%xmm9\n"        \
	"pxor %%xmm10, %%xmm10\n pxor %%xmm11, %%xmm11\n pxor %%xmm12, %%xmm12\n pxor %%xmm13, %%xmm13\n"                      \
	"pxor %%xmm14, %%xmm14\n pxor %%xmm15, %%xmm15\n"
#define CLEARED_REGISTERS                                                                                                      \
	"r8", "r9", "r10", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",   \
		"xmm12", "xmm13", "xmm14", "xmm15"

/* Waits for a byte from a descriptor, all registers cleared that a callee may use. 0 = no more. */
SITE static char rest(int fd)
{
	char c = 0;
	long n;

	scrub();
	do
		__asm__ volatile(CLEAR_REGISTERS "syscall"
				 : "=a"(n)
				 : "0"(0l), "D"((long)fd), "S"(&c), "d"(1l)
				 : "rcx", "r11", "memory", CLEARED_REGISTERS);
	while (n == -4 || (n == 1 && c == '\n'));
	return n == 1 ? c : 0;
}

SITE static void say(const char *line)
{
	if (write(1, line, strlen(line)) < 0)
		_exit(99);
}

#ifndef LEAK_THREADS
static void cases(void);

int main(void)
{
	say("ready\n");
	while (rest(0)) {
		cases();
		scrub();
		say("done\n");
	}
	exit(0);
}
#endif

#endif
