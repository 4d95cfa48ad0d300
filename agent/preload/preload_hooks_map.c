/* SPDX-License-Identifier: MIT */
/*
 * Mappings: mmap, munmap, mremap, brk, sbrk as the program and its libraries call them, and
 * dlclose.
 *
 * Counted apart from the heap. The C library's own mappings (arenas, large blocks, thread stacks)
 * do not come by here.
 */
#include "agent/preload/agent_preload.h"
#include "agent/unwind/rule.h"

#define MAP_FAILED ((void *)-1)

static void mapped(void *p, size_t bytes, const struct caller *from)
{
	struct tctx *c = hook_enter_any(from);

	if (!c)
		return;
	hook_mapped(c, p, bytes, from);
	agent_leave(c);
}

EXPORT void *mmap(void *at, size_t bytes, int prot, int flags, int fd, long offset)
{
	struct caller from = CALLER_HERE();
	void *p;

	if (!agent.next.mmap && !resolve())
		return MAP_FAILED;
	p = agent.next.mmap(at, bytes, prot, flags, fd, offset);
	mapped(p, bytes, &from);
	return p;
}

EXPORT void *mmap64(void *at, size_t bytes, int prot, int flags, int fd, long offset)
{
	struct caller from = CALLER_HERE();
	void *p;

	if (!agent.next.mmap && !resolve())
		return MAP_FAILED;
	p = (agent.next.mmap64 ? agent.next.mmap64 : agent.next.mmap)(at, bytes, prot, flags, fd,
								      offset);
	mapped(p, bytes, &from);
	return p;
}

EXPORT int munmap(void *at, size_t bytes)
{
	struct caller from = CALLER_HERE();
	struct tctx *c;
	int ret;

	if (!agent.next.munmap && !resolve())
		return -1;
	/* such a call only fails */
	c = (uint64_t)at % ARCH_PAGE || !bytes ? NULL : hook_enter_any(&from);
	if (c) {
		hook_unmapping(c, at, bytes);
		agent_leave(c);
	}
	ret = agent.next.munmap(at, bytes);
	return ret;
}

EXPORT void *mremap(void *old, size_t old_bytes, size_t bytes, int flags, void *fixed)
{
	struct caller from = CALLER_HERE();
	struct tctx *c;
	void *p;

	if (!agent.next.mremap && !resolve())
		return MAP_FAILED;
	p = agent.next.mremap(old, old_bytes, bytes, flags, fixed);
	c = p == MAP_FAILED ? NULL : hook_enter_any(&from);
	if (!c)
		return p;
	hook_remapped(c, old, old_bytes, p, bytes, &from);
	agent_leave(c);
	return p;
}

static void break_moved(const struct caller *from)
{
	struct tctx *c = hook_enter_any(from);

	if (!c)
		return;
	ADD(agent.ledger->mapping.brk_calls, 1);
	agent_note_break();
	agent_leave(c);
}

EXPORT int brk(void *end)
{
	struct caller from = CALLER_HERE();
	int ret;

	if (!agent.next.brk && !resolve())
		return -1;
	ret = agent.next.brk(end);
	break_moved(&from);
	return ret;
}

EXPORT void *sbrk(long bytes)
{
	struct caller from = CALLER_HERE();
	void *p;

	if (!agent.next.sbrk && !resolve())
		return MAP_FAILED;
	p = agent.next.sbrk(bytes);
	break_moved(&from);
	return p;
}

/* Code goes: afterwards other code may be at the same addresses. */
EXPORT int dlclose(void *handle)
{
	int ret;

	if (!agent.next.dlclose && !resolve())
		return -1;
	ret = agent.next.dlclose(handle);
	if (agent_is_on())
		rule_flush();
	return ret;
}
