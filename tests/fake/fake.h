/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heaps from recipes, short texts whose lines are described in fake.c: tests of what reads heaps
 * need no traced process.
 */
#ifndef TESTS_FAKE_FAKE_H
#define TESTS_FAKE_FAKE_H

#include "src/base/err.h"
#include "src/model/heap.h"

/*
 * The heap of a recipe, owned by the caller (heap_free()). 0 or -errno with `e` set: -EINVAL names
 * the line with the mistake.
 */
int fake_make(const char *recipe, struct heap **out, struct err *e);

/* The same of a recipe in a file. */
int fake_load(const char *path, struct heap **out, struct err *e);

#endif
