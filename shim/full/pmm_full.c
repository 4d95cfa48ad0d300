/* SPDX-License-Identifier: MIT */
/*
 * The full form of pmm.h (doc/shim.md), beside the agent's core in libpmm_shim.a: what is not the
 * quick way of a call (full_heap.c). Blocks are in the ledger, where `pmm report PID` and all of
 * pmm finds them; here is what both forms share, over that.
 */
#pragma GCC visibility push(default)
#include <pmm.h>
#pragma GCC visibility pop
#include "shim/full/full_priv.h"

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

static struct monitor monitor;
#include "shim/lock.c"
#include "shim/text.c"
#include "shim/kmod_open.c"
#include "shim/kmod_places.c"
#include "shim/kmod.c"
#include "shim/full/full_kmod.c"
#include "shim/shim_canary.c"
#include "shim/admit.c"
#include "shim/full/full_table.c"
#include "shim/full/full_memory.c"
#include "shim/full/full_lists.c"
#include "shim/full/full_canary.c"
#include "shim/full/full_options.c"
#include "shim/full/full_get.c"
#include "shim/full/full_put.c"
#include "shim/pool.c"
#include "shim/full/full_pool.c"
#include "shim/row.c"
#include "shim/full/full_report.c"
#include "shim/shim_report.c"
#include "shim/full/full_mark.c"
#include "shim/misc.c"
