/* SPDX-License-Identifier: MIT */
/*
 * The static form of pmm.h (doc/shim.md), to be compiled into the program:
 *
 *     cc -DPMM_STATIC_SLOTS=1000 -c pmm_static.c
 *
 * Two tables of fixed size, blocks and statistics, nothing else: no mmap, no threads library, no
 * files. Of the C library it needs malloc, calloc, realloc, aligned_alloc and free, memcpy, memset
 * and strlen; unless PMM_BARE is defined also what reads the clock, writes to a descriptor, and is
 * called at exit and by signals.
 *
 *     PMM_STATIC_SLOTS   rows of the block table: blocks live at the same time
 *     PMM_STATIC_SITES   rows of the statistics table: call sites; 64
 *     PMM_NO_THREADS     one thread only (signal handlers may still call)
 *     PMM_BARE           no operating system: no time of day, no output, no report at exit or by
 *                        signal but what the following add
 *     PMM_TIME()         seconds since 1970
 *     PMM_YIELD()        called while another thread is in here
 *     PMM_KMOD           requests are logged to the kernel module as well (doc/kmod.md); Linux
 *     PMM_ALIGNED_ALLOC(align, size)
 *                        where the C library has no aligned_alloc(); NULL if it has nothing of the
 *                        kind
 *
 * One translation unit: all but the interface is static, and the compiler drops what the
 * configuration leaves out.
 */
#ifndef PMM_STATIC_SLOTS
#error "say how many blocks the table has room for: -DPMM_STATIC_SLOTS=1000"
#endif

#include "static.h"
static struct monitor monitor;
#include "lock.c"
#include "text.c"
#ifdef SHIM_KMOD
#include "kmod_open.c"
#include "kmod_places.c"
#include "kmod.c"
#endif
#include "shim_canary.c"
#include "admit.c"
#include "static_table.c"
#include "static_canary.c"
#include "static_heap.c"
#include "static_resize.c"
#include "pool.c"
#include "static_pool.c"
#include "row.c"
#include "static_report.c"
#include "shim_report.c"
#include "static_mark.c"
#include "misc.c"
