/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memcheck's kinds of errors and its sentences on addresses, as it has them in every version since
 * 3.5.
 */
#ifndef STORE_VALGRIND_TEXT_H
#define STORE_VALGRIND_TEXT_H

#include "include/pmm/ledger.h"
#include "src/model/heap.h"

/* type, access and size of a finding, from <kind> and <what>. */
void valgrind_classify(struct heap_finding *f, const char *kind, const char *what);

/* What a stack after a note is. */
enum valgrind_stack { VALGRIND_NOTHING, VALGRIND_ERROR, VALGRIND_ALLOCATED, VALGRIND_FREED };

/*
 * "Address 0x4a42068 is 0 bytes after a block of size 40 alloc'd": address and block of a finding,
 * which makes an invalid access an overrun, an underrun or a use after free. The stack that follows
 * it.
 */
enum valgrind_stack valgrind_note(struct heap_finding *f, const char *note);

/*
 * Valgrind puts functions of its own in the place of the program's malloc, free, memcpy and their
 * like. The name of one that a stack begins with, demangled, into a finding: what allocated the
 * block, what was called to release it, what made the access.
 */
void valgrind_function(struct heap_finding *f, enum valgrind_stack stack, const char *function);

#endif
