/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library with malloc's probes (SystemTap's notes, provider "libc"), which its one function
 * passes: `times` each, with arguments that count up.
 */
#include <stddef.h>

#define NOTE(name, arguments)                                                                      \
	"990: nop\n"                                                                               \
	"	.pushsection .note.stapsdt, \"\", \"note\"\n"                                      \
	"	.balign 4\n"                                                                       \
	"	.4byte 992f - 991f, 994f - 993f, 3\n"                                              \
	"991:	.asciz \"stapsdt\"\n"                                                              \
	"992:	.balign 4\n"                                                                       \
	"993:	.8byte 990b, 0, 0\n"                                                               \
	"	.asciz \"libc\"\n"                                                                 \
	"	.asciz \"" name "\"\n"                                                             \
	"	.asciz \"" arguments "\"\n"                                                        \
	"994:	.balign 4\n"                                                                       \
	"	.popsection\n"

#define PROBE2(name, a, b) __asm__ volatile(NOTE(name, "8@%0 8@%1") : : "r"(a), "r"(b))
#define PROBE1(name, a) __asm__ volatile(NOTE(name, "8@%0") : : "r"(a))

void pass_probes(long times);

void pass_probes(long times)
{
	for (long i = 1; i <= times; i++) {
		PROBE2("memory_sbrk_more", 0x10000 * i, 4096 * i);
		PROBE2("memory_sbrk_less", 0x20000 * i, 100 * i);
		PROBE2("memory_heap_new", 0x4000000 * i, 135168l);
		PROBE2("memory_heap_more", 0x4000000 * i, 8192l);
		PROBE2("memory_heap_less", 0x4000000 * i, 4096l);
		PROBE2("memory_heap_free", 0x4000000 * i, 0x4000000l);
		PROBE2("memory_arena_new", 0x30000 * i, 135168l);
		PROBE2("memory_arena_reuse", 0x30000 * i, 0l);
		PROBE1("memory_arena_reuse_free_list", 0x30000 * i);
		__asm__ volatile(NOTE("memory_arena_reuse_wait", "8@%0 8@%1 -4@$7")
				 : : "r"(0x31000 * i), "r"(0x30000 * i));
		PROBE2("memory_arena_retry", 500 * i, 0x30000 * i);
		PROBE1("memory_malloc_retry", 1000 * i);
		PROBE1("memory_calloc_retry", 2000 * i);
		PROBE2("memory_realloc_retry", 3000 * i, 0x50000 * i);
		PROBE2("memory_memalign_retry", 4000 * i, 64l);
		__asm__ volatile(NOTE("memory_mallopt", "-4@$-8 -4@%0") : : "r"((int)i));
		PROBE2("memory_mallopt_arena_max", i, i - 1);
		PROBE2("memory_tunable_tcache_count", 7 + i, 7l);
		PROBE2("memory_tcache_double_free", 0x60000 * i, 3l);
		PROBE1("memory_that_nobody_knows", i);
	}
}
