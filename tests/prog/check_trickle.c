/* SPDX-License-Identifier: GPL-2.0-or-later
 * 20 heap errors, one each 50 ms: f0() to f19() write one byte behind a block of 20 and release it. More than a page of a report.
 */
#include <stdlib.h>
#include <unistd.h>

#include "victim.h"

#define F(n)                                             \
	SITE static void f##n(void)                      \
	{                                                \
		volatile char *volatile p = malloc(20); \
                                                         \
		p[20] = 1;                               \
		free((void *)p);                         \
		usleep(50000);                           \
	}

F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9)
F(10) F(11) F(12) F(13) F(14) F(15) F(16) F(17) F(18) F(19)

int main(void)
{
	static void (*const all[])(void) = { f0,  f1,  f2,  f3,	 f4,  f5,  f6,	f7,  f8,  f9,
					     f10, f11, f12, f13, f14, f15, f16, f17, f18, f19 };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		all[i]();
	return 0;
}
