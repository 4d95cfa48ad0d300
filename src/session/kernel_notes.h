/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel did about the memory of a traced heap, as notes of a session. */
#ifndef SESSION_KERNEL_NOTES_H
#define SESSION_KERNEL_NOTES_H

#include "src/model/heap.h"

struct session_sink;

/* Page faults, reclaim and OOM kills, as far as there is something: two lines at most. */
void kernel_notes(const struct session_sink *to, const struct heap *h);

/* What was lost or could not be seen, in one line; nothing where nothing is missing. */
void kernel_notes_losses(const struct session_sink *to, const struct heap *h);

#endif
