/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/roots/roots.c, scene_allocator.c, scene_ask.c, scene_cached.c, scene_chunks.c, scene_core.c, scene_glibc.c,
 * scene_libc.c, scene_maps.c, scene_pages.c, scene_roots.c, scene_spans.c, scene_threads.c, leaving.c,
 * src/analyze/reach/reach.c, reach_bag.c, reach_build.c, reach_index.c, reach_lose.c, reach_mark.c, reach_resolve.c,
 * reach_scan.c, reach_space.c, leaks_collect.c, src/core/core.c, core_memory.c, core_notes.c,
 * src/cmd/leaks_search.c, run_leaks.c: victims of which it is known to the byte what they lose.
 * The session is tests/unit/sessions/scene_real.t. Runs: pmm, libpmm.so.
 */
#include "tests/unit/cmd_session.h"

int main(void)
{
	return session_run("scene_real");
}
