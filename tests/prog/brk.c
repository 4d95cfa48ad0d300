/* SPDX-License-Identifier: GPL-2.0-or-later
 * The break: up by 64 KiB, up by 32 KiB, down by 48 KiB, without the heap.
 *
 * expect:
 *   total   allocs=0 live=0
 *   mapping brk_calls=3 brk_growth=49152 brk_peak=98304
 */
#include <unistd.h>

#include "victim.h"

int main(void)
{
	return sbrk(64 << 10) == (void *)-1 || sbrk(32 << 10) == (void *)-1 ||
	       sbrk(-(48 << 10)) == (void *)-1;
}
