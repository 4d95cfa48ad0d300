/* SPDX-License-Identifier: MIT */
/*
 * What is reported of an access that the kernel stopped.
 */
#include "agent/guard/guard_access.h"

#include "agent/guard/finding.h"
#include "agent/guard/guarded.h"
#include "agent/agent_core.h"
#include "agent/unwind/module.h"
#include "agent/sys.h"

enum pmm_access access_of(const struct arch_ucontext *uc)
{
	return uc->err & ARCH_FAULT_FETCH   ? PMM_ACCESS_EXEC
	       : uc->err & ARCH_FAULT_WRITE ? PMM_ACCESS_WRITE
					    : PMM_ACCESS_READ;
}

/* The instruction and what follows, as far as it can be read. */
static void code_copy(struct pmm_finding *f, uint64_t pc)
{
	uint64_t page = pc & ~(ARCH_PAGE - 1), end = page + ARCH_PAGE;
	uint32_t bytes = PMM_FINDING_BYTES;

	if (guard_in_pool(pc) || !sys_readable(page))
		return;
	if (end - pc < bytes && !sys_readable(end))
		bytes = (uint32_t)(end - pc);
	memcpy(f->code, (const void *)pc, bytes);
	f->nr_code = bytes;
}

/* The frame to begin with: the interrupted one; where a jump led into nothing, its caller. */
static struct caller interrupted(const struct arch_ucontext *uc)
{
	struct caller from = { .ra = uc->pc + 1, .sp = uc->sp, .fp = uc->fp };
	struct module_at m;
	uint64_t ra;

	if (!(uc->err & ARCH_FAULT_FETCH) || uc->sp & 7 || guard_in_pool(uc->sp) ||
	    !sys_readable(uc->sp))
		return from;
	ra = *(volatile uint64_t *)uc->sp;
	return module_find(ra - 1, &m)
		       ? (struct caller){ .ra = ra, .sp = uc->sp + 8, .fp = uc->fp }
		       : from;
}

struct tctx *access_enter(uint64_t sp)
{
	struct tctx *c = agent_is_on() ? ctx_find() : NULL;

	if (c && c->busy)
		c = ctx_nested(c, sp);
	if (!c)
		return NULL;
	ctx_busy(c, sp);
	return c;
}

void access_describe(struct tctx *c, struct pmm_finding *f, const struct check_block *b,
		     const struct arch_ucontext *uc)
{
	struct caller from;

	finding_block(f, b);
	code_copy(f, uc->pc);
	if (guard_in_pool(uc->sp))
		unwind_forget(c);		/* words of it may be known, and closed by now */
	from = interrupted(uc);
	f->site = unwind_site(c, &from, 0);
}

uint32_t access_note(struct tctx *c, struct pmm_finding *f, const struct check_block *b,
		     const struct arch_ucontext *uc)
{
	f->by = PMM_BY_ACCESS;
	f->access = access_of(uc);
	access_describe(c, f, b, uc);
	return finding_add(c, f);
}

uint32_t access_type(const struct check_block *b, uint64_t address)
{
	return b->freed		      ? PMM_FINDING_AFTER_FREE
	       : address < b->address ? PMM_FINDING_UNDERRUN
				      : PMM_FINDING_OVERRUN;
}
