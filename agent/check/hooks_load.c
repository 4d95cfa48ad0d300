/* SPDX-License-Identifier: MIT */
/*
 * dlopen() without RTLD_DEEPBIND. A library that is loaded so has its malloc and free straight from
 * the C library, whose other functions (strdup) have ours: it would give the real allocator what is
 * inside of a block of the real allocator's, which ends the program.
 *
 * The same does a library that calls functions of the allocator's own: with one of these checking
 * ends, at the next dlsym() (agent/preload/own_late.h).
 *
 * The real functions look at their return address to know who calls, so they are jumped to.
 */
#include "agent/check/agent_check.h"
#include "agent/preload/agent_preload.h"
#include "agent/preload/exec_elf.h"
#include "agent/preload/own_late.h"
#include "agent/strings/bounds.h"

const bool own_late_looks = true;
const bool exec_elf_bypasses = true;

void own_late_met(void)
{
	check_end();
	bounds_end();
}

__attribute__((used)) static void *load_dlopen(const char *path, int flags)
{
	if (!agent.next.dlopen)
		resolve();
	own_late_look(NULL);
	own_late_open(path, flags);
	return agent.next.dlopen;
}

__attribute__((used)) static void *load_dlsym(const void *handle)
{
	if (!agent.next.dlsym)
		resolve();
	own_late_look(handle);
	return agent.next.dlsym;
}

__attribute__((used)) static void *load_dlvsym(const void *handle)
{
	if (!agent.next.dlvsym)
		resolve();
	own_late_look(handle);
	return agent.next.dlvsym;
}

ARCH_HOOK_WITHOUT_FLAG("dlopen", 8, "load_dlopen")	/* RTLD_DEEPBIND of glibc; musl has none */
ARCH_HOOK_JUMP("dlsym", "load_dlsym")
ARCH_HOOK_JUMP("dlvsym", "load_dlvsym")
