/* SPDX-License-Identifier: MIT */
/*
 * What is where the fault was: which block, which mapping, or nothing at all.
 */
#include "agent/fault/crash.h"

#include "agent/guard/guard.h"
#include "agent/check/maps.h"
#include "agent/check/quarantine.h"
#include "agent/check/checker.h"
#include "agent/preload/reserved_signals.h"
#include "agent/preload/link.h"
#include "agent/sys.h"

#define SIGABRT		6
#define BUS_ADRERR	2
#define NULL_BYTES	0x10000ull	/* nothing can be mapped there: vm.mmap_min_addr */
/* that the kernel leaves free below the first thread's stack: stack_guard_gap */
#define STACK_GAP	(1ull << 20)
/* a block that ends at most so far before the address is reported beside it */
#define BESIDE_MOST	(1ull << 20)
#define REACH		(1ull << 32)	/* ... and may be that large */
#define HELD		8u		/* pmm_death.map_access: there is a mapping */

struct around {
	uint64_t address;
	struct mapping at;		/* of the address; path "" and access 0: there is none */
	bool held;
	uint64_t above;			/* where the next one begins; 0 = none */
	bool above_stack;
};

static bool note_mapping(void *arg, const struct mapping *m)
{
	struct around *a = arg;

	if (a->address >= m->start && a->address < m->end) {
		a->held = true;
		a->at = *m;
	} else if (m->start > a->address) {
		a->above = m->start;
		a->above_stack = m->stack || maps_is_threads_stack(m, m->start);
		return false;
	}
	return true;
}

static bool is_stack_guard(const struct around *a)
{
	if (!a->above_stack)
		return false;
	return a->held ? !a->at.access && a->at.end == a->above
		       : a->above - a->address <= STACK_GAP;
}

/* Where pages belong to no known owner. */
static bool is_heap_like(const struct around *a)
{
	return !a->held || a->at.heap || !a->at.path[0];
}

/* The block that it is in or most likely belongs to. */
static bool block_around(const struct around *a, struct check_block *b)
{
	if (check_find(a->address, CHECK_REACH_ALL, b))
		return true;
	if (guard_in_pool(a->address) || !is_heap_like(a))
		return false;
	if (check_below(a->address, REACH, b) && a->address - b->address < b->size + BESIDE_MOST)
		return true;
	return !a->held && check_gone(a->address, b);
}

static enum pmm_finding_place place(const struct crash *k, const struct around *a)
{
	if (a->address < NULL_BYTES)
		return PMM_PLACE_NULL;
	if (is_stack_guard(a))
		return PMM_PLACE_STACK_GUARD;
	if (k->signal == SIGBUS)
		return k->code == BUS_ADRERR && a->held && a->at.path[0] == '/'
			       ? PMM_PLACE_PAST_FILE
			       : PMM_PLACE_UNKNOWN;
	return a->held ? PMM_PLACE_FORBIDDEN : PMM_PLACE_UNMAPPED;
}

static void text_set(struct crash *k, const char *s, size_t n)
{
	if (n > sizeof(k->death.text) - 1)
		n = sizeof(k->death.text) - 1;
	memcpy(k->death.text, s, n);
	k->death.text[n] = '\0';
}

/*
 * What glibc, or a failed assert(), said before abort(): kept for debuggers in a variable,
 * <assert.h> and malloc() being its users.
 */
static void abort_message(struct crash *k)
{
	struct message { unsigned bytes; char text[]; } *const *where, *m;
	size_t n = 0;

	where = link_symbol_from(link_first(), "__abort_msg", NULL);
	if (!where || LOAD(agent.confined) || !sys_readable((uint64_t)where & ~7ull))
		return;
	m = *where;
	if (!m || (uint64_t)m & 3 || !sys_readable((uint64_t)m & ~7ull))
		return;
	while (n < m->bytes && n < sizeof(k->death.text) &&
	       sys_readable((uint64_t)&m->text[n] & ~7ull) && m->text[n] && m->text[n] != '\n')
		n++;
	text_set(k, m->text, n);
}

void crash_place(struct crash *k, struct pmm_finding *f, struct check_block *b, bool *known)
{
	struct around a = { .address = k->address };

	*known = false;
	if (k->signal == SIGABRT)
		abort_message(k);
	if (k->forced && !k->paged && (k->signal == SIGSEGV || k->signal == SIGBUS))
		f->place = PMM_PLACE_NO_ADDRESS;
	if (!k->paged)
		return;
	if (!maps_each(note_mapping, &a) && a.address >= NULL_BYTES) {
		*known = check_find(a.address, CHECK_REACH_ALL, b);
		return;
	}
	f->place = place(k, &a);
	if (a.held) {
		k->death.map_access = a.at.access | HELD;
		k->death.map_start = a.at.start;
		k->death.map_end = a.at.end;
		text_set(k, a.at.path, str_length(a.at.path));
	}
	if (f->place != PMM_PLACE_NULL && f->place != PMM_PLACE_STACK_GUARD)
		*known = block_around(&a, b);
}
