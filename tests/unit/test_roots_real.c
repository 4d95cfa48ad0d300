/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/roots/roots.c, glibc_chunk_map.c, roots_ask.c, glibc_cached.c, glibc_chunks.c, roots_core.c,
 * glibc_arenas.c, roots_libc.c, roots_maps.c, roots_pages.c, roots_join.c, roots_memory.c,
 * roots_spans.c, roots_threads.c, leaving.c, src/analyze/reach/reach.c, reach_bag.c, reach_build.c,
 * reach_index.c, reach_lose.c, reach_mark.c, reach_resolve.c, reach_scan.c, reach_space.c,
 * leaks_collect.c, src/core/core.c, core_memory.c, core_notes.c, leaks_search.c, run_leaks.c:
 * victims of which it is known to the byte what they lose. The session is
 * tests/unit/sessions/roots_real.t. Runs: pmm, libpmm.so.
 * Also of roots_look.c, glibc_usable.c.
 */
#include "tests/unit/cmd_session.h"

int main(void)
{
	return session_run("roots_real");
}
