/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Languages whose interpreters get large pieces of memory and cut objects from them. Such a piece
 * is one block, or none: an object in it is not searched, and no search speaks of it. They have a
 * setting by which each object is made by malloc.
 */
#ifndef MODEL_POOLS_H
#define MODEL_POOLS_H

#include "src/model/heap.h"

enum pool {
	POOL_PYTHON,	/* CPython: Doc/c-api/memory.rst, PYTHONMALLOC */
	POOL_PHP,	/* the Zend engine: Zend/zend_alloc.c, USE_ZEND_ALLOC */
	POOL_NR,
};

/*
 * By the names of its program and libraries, which may have been unloaded again: bits of
 * 1 << enum pool, 0 = none that is known.
 */
unsigned pools_of(const struct heap *h);

const char *pool_language(enum pool p);

/* "NAME=VALUE", of the environment. */
const char *pool_setting(enum pool p);

#endif
