/* SPDX-License-Identifier: MIT */
/*
 * Small blocks of the real allocator that have left quarantine.
 *
 * The lists are in private memory, taken one by one by contexts. A forked child has copies of its
 * parent's, lists and blocks alike: its contexts take them over as they come.
 */
#include "agent/check/recycle.h"

#include "agent/guard/own.h"
#include "agent/sys.h"

#define LISTS	64u

static struct recycle *list;
static uint32_t nr_taken;

void recycle_start(void)
{
	list = sys_mmap(LISTS * sizeof(*list), SYS_PROT_READ | SYS_PROT_WRITE,
			SYS_MAP_PRIVATE | SYS_MAP_ANONYMOUS | SYS_MAP_NORESERVE, -1);
	if (list)
		own_note(PMM_OWN_TABLES, list, LISTS * sizeof(*list));
}

void recycle_forked(void)
{
	STORE(nr_taken, 0);
}

struct recycle *recycle_new(struct tctx *c)
{
	uint32_t i = LOAD(nr_taken);

	do
		if (!list || i == LISTS)
			return NULL;
	while (!CAS(nr_taken, i, i + 1));
	return c->recycle = &list[i];
}
