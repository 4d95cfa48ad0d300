/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resident memory in words, for the report and for `pmm run`'s summary.
 */
#ifndef VIEW_RESIDENT_H
#define VIEW_RESIDENT_H

#include "src/base/str.h"
#include "src/model/heap.h"

/*
 * "302 MiB when last seen, at most 311 MiB after 650 ms (then 108 MiB live)"; trouble stays in `s`.
 */
void resident_text(const struct heap *h, const struct heap_resident *r, struct str *s);

/*
 * What it is made of when last seen: "1.56 MiB live heap, 63.8 MiB pmm's ledger, 237 MiB other:
 * ...". Live blocks need not be resident: of a heap that is larger than what is resident, that is
 * said instead.
 */
void resident_parts_text(const struct heap *h, const struct heap_resident *r, struct str *s);

/* Swapped bytes; nothing where none were ever seen. */
void resident_swap_text(const struct heap *h, struct str *s);

/* PSS, where it is notably less than what is resident; else nothing. */
void resident_pss_text(const struct heap *h, struct str *s);

#endif
