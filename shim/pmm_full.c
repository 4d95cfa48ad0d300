/* SPDX-License-Identifier: MIT */
/*
 * The full form of pmm.h (doc/shim.md), beside the agent's core in libpmm_shim.a: what is not the
 * quick way of a call (full_heap.c). Blocks are in the ledger, where `pmm report PID` and all of
 * pmm finds them; here is what both forms share, over that.
 */
#pragma GCC visibility push(default)
#include <pmm.h>
#pragma GCC visibility pop
#include "full_state.h"

#include <sys/mman.h>

/*
 * The library may be linked with a C library that has these not, though it was compiled with
 * glibc's headers.
 */
#ifdef __GLIBC__
#include <malloc.h>
#include <sys/single_threaded.h>
#pragma weak mallinfo2
#pragma weak __libc_single_threaded
#define ALONE		(&__libc_single_threaded && __libc_single_threaded)
#define HEAP_UNKNOWN	(!&mallinfo2)
#endif

static struct state_of_all S;
#include "lock.c"
#include "text.c"
#include "shim_guard.c"
#include "admit.c"
#include "full_table.c"
#include "full_memory.c"
#include "full_lists.c"
#include "full_guard.c"
#include "full_options.c"
#include "full_get.c"
#include "full_put.c"
#include "pool.c"
#include "full_pool.c"
#include "row.c"
#include "full_report.c"
#include "shim_report.c"
#include "full_mark.c"
#include "misc.c"
