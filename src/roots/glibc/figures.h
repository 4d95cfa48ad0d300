/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The allocator's own figures of a running process, read out of its memory: what glibc's
 * mallinfo2() would say there, without calling it.
 *
 * The process is not stopped and nothing runs in it. Its arenas are found by their shape
 * (glibc_arenas.h), and their lists of free chunks are followed. Nothing there is believed
 * unchecked: a list that does not lead back to where it began, or that holds more than there is,
 * says nothing.
 */
#ifndef ROOTS_GLIBC_FIGURES_H
#define ROOTS_GLIBC_FIGURES_H

#include <sys/types.h>

#include "src/roots/glibc/glibc_arenas.h"
#include "src/model/heap.h"

/* free chunks that are counted, where pmm has nothing else to do: a second */
#define FIGURES_MAX_CHUNKS	(1u << 20)

/*
 * Ask process `pid`, whose heap `h` is, at `now_ns` of its time; free chunks are counted up to
 * `max_chunks`; with fewer than FIGURES_MAX_CHUNKS it is not asked often, either, that maps memory
 * meanwhile. Fills h->allocator; where the figures cannot be had those that are in it stay, and
 * if there are none, h->allocator.why says why. Returns enum heap_figures; or -ENOMEM, then nothing
 * has changed.
 */
int figures_read(pid_t pid, uint64_t now_ns, unsigned max_chunks, struct heap *h);

/*
 * The part that knows glibc. Sums over the arenas of one C library, whose main one is
 * g->arenas.v[main], into all of `a` but path, taken_ns and outside. Returns enum heap_figures or
 * -ENOMEM: with HEAP_FIGURES_KNOWN and HEAP_FIGURES_CHANGED all are set, with ..._BUSY and ..._MANY
 * none that lists free chunks.
 */
int figures_count(const struct roots_find *f, const struct glibc *g, size_t main,
		  unsigned max_chunks, struct heap_allocator *a);

#endif
