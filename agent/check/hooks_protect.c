/* SPDX-License-Identifier: MIT */
/*
 * mprotect() on the program's own blocks: write barriers, guard pages of stacks. What is protected
 * when a block is released must not be so for the next one.
 */
#include "agent/guard/guard.h"
#include "agent/check/checker.h"
#include "agent/preload/link.h"
#include "agent/preload/agent_preload.h"

typedef int protect_function(void *at, size_t bytes, int prot);
typedef int protect_with_key(void *at, size_t bytes, int prot, int key);

EXPORT int mprotect(void *at, size_t bytes, int prot);
EXPORT int pkey_mprotect(void *at, size_t bytes, int prot, int key);

static void note_protection(const void *at)
{
	if (guard_in_pool((uint64_t)at))
		guard_protects();
	else if (agent_is_on() && (!agent_begun() || block_near((uint64_t)at)))
		STORE(checker.protects, true);
}

int mprotect(void *at, size_t bytes, int prot)
{
	static void *known;
	protect_function *real = (protect_function *)link_next(&known, "mprotect");

	note_protection(at);
	return real ? real(at, bytes, prot) : -1;
}

int pkey_mprotect(void *at, size_t bytes, int prot, int key)
{
	static void *known;
	protect_with_key *real = (protect_with_key *)link_next(&known, "pkey_mprotect");

	note_protection(at);
	return real ? real(at, bytes, prot, key) : -1;
}
