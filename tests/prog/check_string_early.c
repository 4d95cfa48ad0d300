/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Prints 9, which a resolver of a library found out with string functions; nothing is wrong. */
#include <stdio.h>

extern int (*early_pointer)(void);

int main(void)
{
	printf("%d\n", early_pointer());
	return 0;
}
