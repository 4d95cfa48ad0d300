/* SPDX-License-Identifier: GPL-2.0-or-later */ /* A program without C library and allocator that waits for ever; also for 32 bits. Linked with -nostdlib -static. */
void _start(void);

void _start(void)
{
	for (;;)
#ifdef __i386__
		__asm__ volatile("int $0x80" : : "a"(29) : "memory");		/* pause */
#else
		__asm__ volatile("syscall" : : "a"(34) : "rcx", "r11", "memory");
#endif
}
