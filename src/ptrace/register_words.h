/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread's registers as words that may be pointers.
 */
#ifndef PTRACE_REGISTER_WORDS_H
#define PTRACE_REGISTER_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "src/ptrace/process_copy.h"

/*
 * The general registers and those of an image of its vector registers (0 bytes = none), in place of
 * the words there are; they are to be freed. 0 or -ENOMEM.
 */
int register_words_fill(struct process_copy_thread *t, const void *image, size_t bytes);

#endif
