/* SPDX-License-Identifier: GPL-2.0-or-later
 * Linked into entries_list: a function of its own named calloc, which is not the C library's.
 */
void *namesake(unsigned long n);

static __attribute__((noinline, used)) void *calloc(unsigned long n)
{
	__asm__ volatile("" : "+r"(n));
	return (void *)(n + 1);
}

void *namesake(unsigned long n)
{
	return calloc(n);
}
