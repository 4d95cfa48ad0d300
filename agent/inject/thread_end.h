/* SPDX-License-Identifier: MIT */
/*
 * Releases that glibc's allocator makes at the end of a thread on its own behalf.
 */
#ifndef AGENT_INJECT_THREAD_END_H
#define AGENT_INJECT_THREAD_END_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Was `free` called to empty the thread's cache, given its return address? For blocks that are not
 * known only: these are freed already, or the cache itself. The context is busy, no event is being
 * written.
 */
bool thread_end_releases(uint64_t ra, uint64_t free);

#endif
