/* SPDX-License-Identifier: MIT */
/*
 * dlopen() without RTLD_DEEPBIND. A library that is loaded so has its malloc and free straight from
 * the C library, whose other functions (strdup) have ours: it would give the real allocator what is
 * inside of a block of the real allocator's, which ends the program.
 *
 * The real function looks at its return address to know who loads, so it is jumped to.
 */
#include "agent/preload/agent_preload.h"

__attribute__((used)) static void *dlopen_next(void)
{
	if (!agent.next.dlopen)
		resolve();
	return agent.next.dlopen;
}

ARCH_HOOK_WITHOUT_FLAG("dlopen", 8, "dlopen_next")	/* RTLD_DEEPBIND of glibc; musl has none */
