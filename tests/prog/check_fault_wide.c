/* SPDX-License-Identifier: GPL-2.0-or-later
 * Instructions that access many closed pages at once, in a handler of SIGTRAP, too: registers, masks and flags afterwards are as natively. Prints
 * what does not depend on the bytes that they read. What the processor does not have is passed over, here and natively.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "victim.h"

#define PAGE 4096
static char *volatile freed;
static volatile int traps;
static uint8_t kept[64] __attribute__((aligned(64)));

static void on_trap(int sig) { (void)sig; traps++; freed[9 * PAGE] = 1; }

#define WIDE __attribute__((target("avx512f,avx512bw"), noinline))

/* zmm7 must come through all of it. */
WIDE static void wide(void)
{
	uint32_t index[16], k = 0;

	for (int i = 0; i < 64; i++)
		kept[i] = (uint8_t)(i * 3);
	for (int i = 0; i < 16; i++)
		index[i] = (uint32_t)i * PAGE + (i & 1 ? 2 : 4094);
	__asm__ volatile(
		"vmovdqu64 (%1), %%zmm7\n\t"
		"vmovdqu64 %%zmm7, 4064(%2)\n\t"		/* two pages */
		"vmovdqu64 4064(%2), %%zmm1\n\t"
		"kxorq %%k1, %%k1, %%k1\n\t"
		"vmovdqu8 %%zmm7, 8160(%2)%{%%k1%}\n\t"		/* none */
		"movl $0xff, %%eax\n\tkmovd %%eax, %%k1\n\t"
		"vmovdqu8 8160(%2), %%zmm1%{%%k1%}\n\t"		/* the first only */
		"vmovdqu64 (%3), %%zmm2\n\t"
		"kxnorw %%k2, %%k2, %%k2\n\t"
		"vpgatherdd (%2,%%zmm2,1), %%zmm1%{%%k2%}\n\t"
		"kmovw %%k2, %0\n\t"
		"kxnorw %%k3, %%k3, %%k3\n\t"
		"vpscatterdd %%zmm7, (%2,%%zmm2,1)%{%%k3%}\n\t"
		"kmovw %%k3, %%eax\n\taddl %%eax, %0\n\t"
		"vmovdqu64 %%zmm7, (%1)"
		: "+&r"(k) : "r"(kept), "r"(freed), "r"(index) : "memory", "eax", "xmm1", "xmm2", "xmm7");
	for (int i = 0; i < 64; i++)
		k += kept[i] != (uint8_t)(i * 3);
	printf("wide: %u\n", k);
}

static void many(void)
{
	uint64_t flags, sp, before;

	__asm__ volatile("fxsave64 3840(%0); fxsave64 7936(%0)" : : "r"(freed) : "memory");
	__asm__ volatile("xor %%eax, %%eax; xor %%edx, %%edx; lock cmpxchg16b 16(%1); pushf; pop %0"
			 : "=r"(flags) : "r"(freed), "b"(0L), "c"(0L) : "rax", "rdx", "memory", "cc");
	__asm__ volatile("mov %%rsp, %0; sub $256, %%rsp; pushq 4092(%2); popq 8188(%2); add $256, %%rsp; mov %%rsp, %1"
			 : "=&r"(before), "=&r"(sp) : "r"(freed) : "memory");
	printf("many: trap %d, stack %ld\n", (int)(flags >> 8 & 1), (long)(sp - before));
	signal(SIGTRAP, on_trap);
	__asm__ volatile("int3; movb $1, (%0); int3" : : "r"(freed) : "memory");
	__asm__ volatile("pushf; orl $0x100, (%%rsp); popf\n\tmovb (%0), %%al\n\tmovb 5000(%0), %%al\n\t"
			 "pushf; andl $~0x100, (%%rsp); popf" : : "r"(freed) : "rax", "memory", "cc");
	printf("traps %d\n", traps);
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	freed = malloc(20 * PAGE - 16);
	malloc(100);
	free(freed);
	if (__builtin_cpu_supports("avx512bw"))
		wide();
	many();
	return 0;
}
