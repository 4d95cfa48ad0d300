/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every unit test starts with: cmocka and the headers it wants before it. */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* AddressSanitizer brings an allocator of its own. */
static inline void needs_glibc(void)
{
#ifdef SANITIZED
	print_message("malloc is not glibc's here\n");
	skip();
#endif
}

#endif
