/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The heap errors that the agent's check form has noted in a ledger, and how it looked for them
 * (include/pmm/check.h).
 *
 * A finding's type is set last, and only its count and last tick change afterwards. What has none
 * yet is left out (in a running process all behind it as well, so that each reading begins with
 * what the one before had), and so is what is of no type or way that there is: nothing can be said
 * of it. Other numbers that make no sense become "not known" and count as damage.
 */
#include "src/ledger/ledger_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(HEAP_FINDING_BYTES == PMM_FINDING_BYTES &&
		       sizeof(((struct heap_finding *)0)->function) == PMM_FUNCTION_BYTES + 1,
	       "the heap describes what the ledger holds");
_Static_assert(HEAP_NR_FINDING_TYPES == PMM_NR_FINDING_TYPES &&
		       HEAP_NR_FINDING_BYS == PMM_NR_FINDING_BYS &&
		       HEAP_NR_ACCESSES == PMM_NR_ACCESSES &&
		       HEAP_NR_FINDING_PLACES == PMM_NR_FINDING_PLACES &&
		       HEAP_NR_RELEASES == PMM_NR_RELEASES &&
		       HEAP_NR_CHECK_LEVELS == PMM_NR_CHECK_LEVELS &&
		       HEAP_NR_MECHANISMS == PMM_GUARD_MPROTECT + 1 &&
		       HEAP_NR_REGS == PMM_DEATH_REGS,
	       "and its enums");
_Static_assert(PMM_MAX_THREADS <= HEAP_NO_THREAD && PMM_MAX_SITES <= HEAP_NO_SITE,
	       "numbers that stand for none");

static void read_check(struct ledger_reader *r)
{
	const struct pmm_check *asked = &r->m->tree.check;
	const struct pmm_check_state *s = &r->l->check;
	struct heap_check *c = &r->h->check;

	*c = (struct heap_check){
		.level = (uint8_t)asked->level,
		.flags = (asked->flags & ~(uint32_t)(PMM_CHECK_OPENED | PMM_CHECK_ENDED)) |
			 (s->opened ? PMM_CHECK_OPENED : 0) |
			 (r->l->own_late == PMM_OWN_LATE ? PMM_CHECK_ENDED : 0),
		.guarded = s->guarded,
		.guarded_now = s->guarded_now,
		.guarded_most = s->guarded_most,
		.passed = s->passed,
		.passed_early = s->passed_early,
		.unkept_large = s->unkept_large,
		.unkept_busy = s->unkept_busy,
		.unguarded_limit = s->unguarded_limit,
		.unguarded_large = s->unguarded_large,
		.unguarded_refused = s->unguarded_refused,
		.failed_on_purpose = s->failed_on_purpose,
		.quarantined_bytes = s->quarantined_bytes,
		.findings_lost = s->findings_lost,
		.left_open = s->left_open,
	};
	if (s->mechanism <= PMM_GUARD_MPROTECT)
		c->mechanism = (uint8_t)s->mechanism;
	else
		r->damaged++;
}

/* An enum's value; 0, its "not known", for one that it does not have. */
static uint8_t choice(struct ledger_reader *r, uint32_t value, uint32_t nr)
{
	if (value < nr)
		return (uint8_t)value;
	r->damaged++;
	return 0;
}

static uint8_t at_most(struct ledger_reader *r, uint32_t n, uint8_t most)
{
	if (n <= most)
		return (uint8_t)n;
	r->damaged++;
	return most;
}

/* The number of a thread; whether there is such a one is seen when the threads are known. */
static uint16_t thread_number(struct ledger_reader *r, uint32_t thread)
{
	if (thread < PMM_MAX_THREADS)
		return (uint16_t)thread;
	if (thread != UINT32_MAX)
		r->damaged++;
	return HEAP_NO_THREAD;
}

/*
 * The block it is about: where, when and by whom it was allocated and released, as far as that is
 * known.
 */
static void decode_block(struct ledger_reader *r, const struct pmm_finding *from,
			 struct heap_finding *to)
{
	to->alloc_site = to->free_site = HEAP_NO_SITE;
	to->alloc_thread = to->free_thread = HEAP_NO_THREAD;
	if (from->block >> PMM_ADDRESS_BITS || from->block_bytes > PMM_SIZE_MAX) {
		r->damaged++;
		return;
	}
	to->block = from->block;
	to->block_bytes = from->block_bytes;
	to->kind = choice(r, from->kind, PMM_NR_KINDS);
	to->guarded = from->guarded == 1;
	to->parent_pid = from->parent_pid;
	to->alloc_ns = from->alloc_tick * PMM_TICK_NS;
	to->free_ns = from->free_tick * PMM_TICK_NS;
	if (from->alloc_site)
		to->alloc_site = from->alloc_site;
	if (from->alloc_site || from->alloc_tick)
		to->alloc_thread = thread_number(r, from->alloc_thread);
	if (from->free_site)
		to->free_site = from->free_site;
	if (from->free_site || from->free_tick)
		to->free_thread = thread_number(r, from->free_thread);
}

/* False: it makes no sense. */
static bool decode(struct ledger_reader *r, const struct pmm_finding *from, struct heap_finding *to)
{
	if (from->type >= PMM_NR_FINDING_TYPES || from->by >= PMM_NR_FINDING_BYS)
		return false;
	to->type = (uint8_t)from->type;
	to->by = (uint8_t)from->by;
	to->access = choice(r, from->access, PMM_NR_ACCESSES);
	to->place = choice(r, from->place, PMM_NR_FINDING_PLACES);
	to->release = choice(r, from->release, PMM_NR_RELEASES);
	to->nr_code = at_most(r, from->nr_code, PMM_FINDING_BYTES);
	to->nr_bytes = at_most(r, from->nr_bytes, PMM_FINDING_BYTES);
	memcpy(to->code, from->code, to->nr_code);
	memcpy(to->bytes, from->bytes, to->nr_bytes);
	ledger_reader_name(to->function, from->function, PMM_FUNCTION_BYTES);
	to->count = from->count ? from->count : 1;	/* the agent may be about to count it */
	to->first_ns = from->first_tick * PMM_TICK_NS;
	to->last_ns = (from->last_tick > from->first_tick ? from->last_tick : from->first_tick) *
		      PMM_TICK_NS;
	to->since_ns = from->since_tick * PMM_TICK_NS;
	to->address = from->address;
	to->size_bytes = from->size_bytes;
	to->other = from->other;
	to->site = from->site;
	to->thread = thread_number(r, from->thread);
	decode_block(r, from, to);
	return true;
}

/* Copy number `nr` once it is complete. 0, -EAGAIN it is not, -EBADMSG. */
static int finding_read(struct ledger_reader *r, uint32_t nr, struct pmm_finding *to)
{
	uint32_t index, type;
	pmm_ref chunk;
	uint64_t off;

	if (!ledger_reader_entry(r->l->finding_dir, nr, PMM_FINDING_SHIFT, &chunk, &index))
		return r->o->running ? -EAGAIN : -EBADMSG;
	off = ((uint64_t)chunk << PMM_REF_SHIFT) + index * sizeof(*to);
	if (ledger_map_read(r->m, off + offsetof(struct pmm_finding, type), &type, sizeof(type)))
		return -EBADMSG;
	if (type == PMM_FINDING_NONE)
		return -EAGAIN;
	/* its type was stored last, and is read first */
	return ledger_map_read(r->m, off, to, sizeof(*to)) ? -EBADMSG : 0;
}

static uint8_t signal_number(struct ledger_reader *r, uint32_t signal)
{
	if (signal <= 64)
		return (uint8_t)signal;
	r->damaged++;
	return 0;
}

/* The finding of a crash has the rest in its text. */
static void read_death(struct ledger_reader *r)
{
	const struct pmm_death *from = &r->l->death;
	struct heap_death *to = &r->h->death;

	if (from->state != 1)
		return;
	*to = (struct heap_death){
		.known = true,
		.by_choice = from->by_choice == 1,
		.signal = signal_number(r, from->signal),
		.fault = signal_number(r, from->fault),
		.map_access = at_most(r, from->map_access, 15),
		.code = from->code,
		.sender = from->sender,
		.status = from->status & 255,
		.finding = from->finding && from->finding <= PMM_MAX_FINDINGS ? from->finding - 1
									      : HEAP_NO_FINDING,
		.map_start = from->map_start,
		.map_end = from->map_end,
	};
	memcpy(to->regs, from->regs, sizeof(to->regs));
	if (to->map_end >= to->map_start)
		return;
	to->map_start = to->map_end = 0;
	r->damaged++;
}

static char *text_of(struct ledger_reader *r, const struct pmm_finding *f)
{
	char text[PMM_DEATH_TEXT + 1] = "";

	if (f->type == PMM_FINDING_CRASH && r->h->death.known)
		ledger_reader_name(text, r->l->death.text, PMM_DEATH_TEXT);
	return strdup(text);
}

/* Number `nr` to the findings, if it can be had. 0, -EAGAIN when it is not complete, -ENOMEM. */
static int finding_add(struct ledger_reader *r, uint32_t nr)
{
	struct heap_finding *to = &r->h->findings[r->h->nr_findings];
	struct pmm_finding from;
	int rc = finding_read(r, nr, &from);

	if (rc == -EAGAIN)
		return rc;
	if (!rc && decode(r, &from, to)) {
		to->number = nr;
		to->text = text_of(r, &from);
		if (!to->text)
			return -ENOMEM;
		r->h->nr_findings++;
		return 0;
	}
	memset(to, 0, sizeof(*to));
	r->damaged++;
	return 0;
}

int ledger_read_findings(struct ledger_reader *r)
{
	uint32_t level = r->m->tree.check.level, nr = r->l->check.nr_findings;
	int rc = 0;

	if (level >= PMM_NR_CHECK_LEVELS)
		r->damaged++;
	if (level == PMM_CHECK_NONE || level >= PMM_NR_CHECK_LEVELS)
		return 0;
	read_check(r);
	read_death(r);
	if (nr > PMM_MAX_FINDINGS) {
		r->damaged++;
		nr = PMM_MAX_FINDINGS;
	}
	if (nr)
		r->h->findings = calloc(nr, sizeof(*r->h->findings));
	if (nr && !r->h->findings)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		rc = finding_add(r, i);
		if (rc == -ENOMEM || (rc && r->o->running))
			break;
	}
	return rc == -ENOMEM ? rc : 0;
}
