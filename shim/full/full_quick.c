/* SPDX-License-Identifier: MIT */
/*
 * The full form's hot path and what of the agent it goes through, as one piece for the compiler.
 */
#include "agent/block.c"
#include "agent/total.c"
#include "agent/site.c"
#include "agent/record.c"
#include "shim/full/full_heap.c"
