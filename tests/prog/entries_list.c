/* SPDX-License-Identifier: GPL-2.0-or-later
 * Prints where the C library's allocation functions are, "+ NAME ADDRESS" for those that pmm must find and "? NAME ADDRESS" for those that it
 * may find, then "end", and waits for its standard input to end. Arguments: libraries to look into as well.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifdef DYNAMIC
#include <dlfcn.h>
#endif

#define SHOW(SIGN, NAME) printf(SIGN " " #NAME " %p\n", (void *)NAME)

/* Allocators of its own, each seen under one more name only in the symbol table. */
static char pool[65536];
static size_t used;

void *namesake(unsigned long n);	/* entries_namesake.c */
void *pool_get(size_t bytes);
void pool_put(void *block);
static void *pool_fixed(void);

__attribute__((noinline)) void *pool_get(size_t bytes)
{
	used += bytes;
	return used <= sizeof(pool) ? pool + used - bytes : NULL;
}

__attribute__((noinline)) void pool_put(void *block)
{
	memset(block, 0, 1);
}

static __attribute__((noinline)) void *pool_fixed(void)
{
	return pool_get(16);
}

/* A function into whose first bytes another one jumps, and one where such bytes are only data of an instruction. */
void entered(void *);
void not_entered(void *);
__asm__(".text\n.p2align 4\n.globl entered, not_entered\n.type entered, @function\n.type not_entered, @function\n"
	"entered: mov %rdi, %rax\n	nop\n	nop\n	ret\n.size entered, . - entered\n.p2align 4\n"
	"not_entered: mov %rdi, %rax\n	nop\n	nop\n	ret\n.size not_entered, . - not_entered\n.skip 256, 0x90\n"
	"elsewhere: mov %rdi, %rax\n	.byte 0xe9\n	.long entered + 3 - . - 4\n"
	"	.byte 0x48, 0xb8, 0xe9\n	.long not_entered + 3 - . - 4\n	.byte 0, 0, 0\n	ret\n");

/* Two functions too close to each other, and one that is chosen when the program starts. */
void close_first(void *);
void close_second(void *);
__asm__(".text\n.p2align 4\n.globl close_first, close_second\n.type close_first, @function\n.type close_second, @function\n"
	"close_first: mov %rdi, %rax\n	nop\nclose_second: mov %rdi, %rax\n	ret\n.size close_first, 8\n.size close_second, 4\n.p2align 4\n");

#ifdef __GLIBC__
static void nothing(void *block)
{
	(void)block;
}

static void (*choose(void))(void *)
{
	return nothing;
}

void chosen(void *block) __attribute__((ifunc("choose")));
#else
#define chosen pool_put
#endif

static void show_library(const char *name)
{
#ifdef DYNAMIC
	static const char *const names[] = {
		"malloc", "calloc", "realloc", "free", "memalign", "aligned_alloc", "posix_memalign", "valloc", "pvalloc", "cfree",
		"mallocx", "rallocx", "xallocx", "dallocx", "sdallocx", "_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm",
		"_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t", "_ZnwmSt11align_val_t", "_ZnamSt11align_val_t",
	};
	void *library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);

	for (size_t i = 0; library && i < sizeof(names) / sizeof(names[0]); i++) {
		void *at = dlsym(library, names[i]);

		if (at)
			printf("%c %s %p\n", i < 4 ? '+' : '?', names[i], at);
	}
#else
	(void)name;
#endif
}

int main(int argc, char **argv)
{
	SHOW("+", malloc);
	SHOW("+", calloc);
	SHOW("+", realloc);
	SHOW("+", free);
	SHOW("+", aligned_alloc);
	SHOW("+", mmap);
	SHOW("+", munmap);
	SHOW("+", mremap);
	SHOW("?", prctl);
	SHOW("?", syscall);
	SHOW("+", reallocarray);
	SHOW("+", posix_memalign);
	SHOW("+", memalign);
	SHOW("+", valloc);
#ifdef __GLIBC__
	SHOW("+", pvalloc);
#endif
	SHOW(".", pool_get);
	SHOW(".", pool_put);
	SHOW(".", pool_fixed);
	SHOW(".", entered);
	SHOW(".", not_entered);
	SHOW(".", close_first);
	SHOW(".", close_second);
	for (int i = 1; i < argc; i++)
		show_library(argv[i]);
	namesake(1);
	chosen(pool_fixed());
	close_first(NULL);
	close_second(NULL);
	printf("end\n");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
