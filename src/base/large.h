/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for tables of which all is used: in large pages where the kernel has them, as with small
 * ones a table of many megabytes costs more faults than it takes to fill it.
 */
#ifndef BASE_LARGE_H
#define BASE_LARGE_H

#include <stddef.h>

/* As calloc(): zeros, to be released by free(). */
void *large_calloc(size_t nr, size_t size);

#endif
