/* SPDX-License-Identifier: GPL-2.0-or-later */ /* libunseen.so: releases what it is given, and loses a block of its own. */
#include <stdlib.h>
#include <string.h>

void take(void *p);
void lose(void);

void take(void *p)
{
	free(p);
}

void lose(void)
{
	memset(malloc(500), 2, 500);
}
