/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The monitor's sign of life: a word on the board that the kernel marks when this thread dies,
 * however it comes (robust futexes, Documentation/locking/robust-futex-ABI.rst in the kernel's
 * tree).
 *
 * The list that leads the kernel to the word is private memory: the board holds no pointers. A
 * thread has one such list; the C library's, for robust mutexes, which pmm has none of, is put back
 * by pulse_drop().
 */
#ifndef TRACK_PULSE_H
#define TRACK_PULSE_H

#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>

#include "include/pmm/ledger.h"

/* Must not move while it is in use. All zero: no word is taken. */
struct pulse {
	struct robust_list_head head;
	struct robust_list node;
	struct robust_list_head *before;
	size_t before_bytes;
	uint32_t *word;
};

/* The calling thread is the monitor from now on: board->life[i] is its word. 0 or -errno. */
int pulse_take(struct pulse *l, struct pmm_tree *board, unsigned i);

/* An orderly end, by the thread that took it: the word is 0. */
void pulse_drop(struct pulse *l);

#endif
