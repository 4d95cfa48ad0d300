/* SPDX-License-Identifier: MIT */
/*
 * Words that the loader has bound to functions, and what of them may be changed.
 */
#include "agent/preload/bind.h"

#include <elf.h>

#include "agent/agent.h"
#include "agent/sys.h"

#define EFAULT		14

void bind_bounds(struct bind_object *b, const struct link_object *o)
{
	const Elf64_Phdr *ph = o->headers;

	b->o = o;
	b->start = UINT64_MAX;
	b->end = b->relro_start = b->relro_end = 0;
	for (unsigned i = 0; i < o->nr_headers; i++) {
		uint64_t start = o->map.l_addr + ph[i].p_vaddr, end = start + ph[i].p_memsz;

		if (ph[i].p_type == PT_LOAD) {
			b->start = start < b->start ? start : b->start;
			b->end = end > b->end ? end : b->end;
		} else if (ph[i].p_type == PT_GNU_RELRO) {
			b->relro_start = start & ~(uint64_t)(ARCH_PAGE - 1);
			b->relro_end = end & ~(uint64_t)(ARCH_PAGE - 1);
		}
	}
}

bool bind_apart(const struct bind_object *b)
{
	uint64_t allocator = (uint64_t)agent.next.malloc, loader = link_aux(AT_BASE);

	return (allocator >= b->start && allocator < b->end) ||
	       (loader >= b->start && loader < b->end);
}

bool bind_inside(const struct bind_object *b, const uint64_t *at)
{
	return (uint64_t)at >= b->start && (uint64_t)at <= b->end - sizeof(*at) &&
	       !((uint64_t)at & (sizeof(*at) - 1));
}

/* Is memory read-only? Asked of the kernel, which writes what is there. */
static bool is_read_only(uint64_t *at)
{
	uint64_t same = LOAD(*at);
	struct {
		void *base;
		size_t bytes;
	} local = { &same, sizeof(same) }, remote = { at, sizeof(same) };

	return arch_syscall(ARCH_SYS_process_vm_writev, sys0(gettid), (long)&local, 1,
			    (long)&remote, 1, 0) == -EFAULT;
}

bool bind_word(const struct bind_object *b, uint64_t *at, uint64_t value, bool settled)
{
	uint64_t page = (uint64_t)at & ~(uint64_t)(ARCH_PAGE - 1);

	if (page < b->relro_start || page >= b->relro_end) {
		STORE(*at, value);
		return true;
	}
	if ((!settled && !is_read_only(at)) ||
	    sys_failed(sys3(mprotect, page, ARCH_PAGE, SYS_PROT_READ | SYS_PROT_WRITE)))
		return false;
	STORE(*at, value);
	sys3(mprotect, page, ARCH_PAGE, SYS_PROT_READ);
	return true;
}
