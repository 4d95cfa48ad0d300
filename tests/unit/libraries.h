/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Libraries that allocate, where they are installed. */
#ifndef TESTS_UNIT_LIBRARIES_H
#define TESTS_UNIT_LIBRARIES_H

#define LIB	"/usr/lib/x86_64-linux-gnu/"

struct library {
	const char *path;
	unsigned least;			/* functions found */
};

static const struct library libraries[] = {
	{ LIB "libc.so.6", 12 },
	{ LIB "libjemalloc.so.2", 20 },
	{ LIB "libtcmalloc_minimal.so.4", 20 },
	{ LIB "libmimalloc.so.2", 30 },
	{ "/usr/lib/x86_64-linux-musl/libc.so", 11 },
	{ LIB "libstdc++.so.6", 18 },
};

#endif
