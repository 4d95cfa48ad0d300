/*
 * Accesses of string and memory functions against the bounds of blocks, before they are made.
 */
#ifndef AGENT_CHECK_BOUNDS_H
#define AGENT_CHECK_BOUNDS_H

#include <stddef.h>
#include <stdint.h>

#include "include/pmm/check.h"

/*
 * `function` is about to read or write [at, at + bytes). A finding when that begins in a live block and leaves it, or begins in a
 * released one; pointers into no known block are nothing. Returns how many bytes may be accessed without harm (all, unless a finding was
 * made).
 */
size_t bounds_check(const void *at, size_t bytes, enum pmm_access access, const char *function, const void *frame);

/* Bytes from `at` to the end of the block it lies in; SIZE_MAX: none known, 0: released. */
size_t bounds_left(const void *at);

#endif
