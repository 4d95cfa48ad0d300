/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heap errors in a recipe: verbs `check` and `finding`, see fake.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "include/pmm/check.h"
#include "tests/fake/fake_heap.h"

void fake_check(struct fake_heap *f, struct recipe_line *l)
{
	static const char *const levels[] = { NULL, "light", "guard", "sampled" };
	static const char *const mechanisms[] = { "none", "madvise", "mprotect" };
	struct heap_check *c = &f->h->check;

	for (uint8_t i = 1; i < PMM_NR_CHECK_LEVELS; i++)
		if (recipe_flag(l, levels[i]))
			c->level = i;
	c->mechanism = (uint8_t)recipe_choice(l, "mechanism", mechanisms, PMM_GUARD_MPROTECT + 1,
					      PMM_GUARD_MADVISE);
	c->flags = (uint32_t)recipe_count(l, "flags", 0);
	c->guarded = recipe_count(l, "guarded", 0);
	c->guarded_now = recipe_count(l, "guarded-now", 0);
	c->guarded_most = recipe_count(l, "guarded-most", 0);
	c->canaried = recipe_count(l, "canaried", 0);
	c->passed = recipe_count(l, "passed", 0);
	c->passed_early = recipe_count(l, "early", 0);
	c->unkept_large = recipe_count(l, "unkept-large", 0);
	c->unkept_busy = recipe_count(l, "unkept-busy", 0);
	c->unguarded_limit = recipe_count(l, "limit", 0);
	c->unguarded_budget = recipe_count(l, "budget", 0);
	c->unguarded_large = recipe_count(l, "large", 0);
	c->unguarded_refused = recipe_count(l, "refused", 0);
	c->failed_on_purpose = recipe_count(l, "failed", 0);
	c->quarantined_bytes = recipe_size(l, "quarantined", 0);
	c->findings_lost = recipe_count(l, "lost", 0);
	c->left_open = recipe_count(l, "left-open", 0);
	c->scans = recipe_count(l, "sweeps", 0);
	c->swept_ns = recipe_time(l, "swept", 0);
}

void fake_death(struct fake_heap *f, struct recipe_line *l)
{
	struct heap_death *d = &f->h->death;

	*d = (struct heap_death){ .known = true, .by_choice = recipe_flag(l, "by-choice") };
	d->signal = (uint8_t)recipe_count(l, "signal", 0);
	d->fault = (uint8_t)recipe_count(l, "fault", 0);
	d->map_access = (uint8_t)recipe_count(l, "map-access", 0);
	d->code = (int32_t)recipe_count(l, "code", 0);
	d->sender = (uint32_t)recipe_count(l, "sender", 0);
	d->status = (uint32_t)recipe_count(l, "status", 0);
	d->finding = (uint32_t)recipe_count(l, "finding", HEAP_NO_FINDING);
	d->map_start = recipe_address(l, "map-start", 0);
	d->map_end = recipe_address(l, "map-end", 0);
}

/* What it is, in the words of the enums of include/pmm/check.h. */
static void read_what(struct recipe_line *l, struct heap_finding *to)
{
	static const char *const types[PMM_NR_FINDING_TYPES] = {
		NULL,	       "overrun",  "underrun",	     "after-free",
		"double-free", "bad-free", "mismatch",	     "realloc-freed",
		"overlap",     "size",	   "stack-overflow", "uninitialised",
		"wild",	       "other",	   "crash",
	};
	static const char *const bys[PMM_NR_FINDING_BYS] = { "access",	   "function", "release",
							     "quarantine", "sweep",    "valgrind",
							     "signal" };
	static const char *const accesses[PMM_NR_ACCESSES] = { NULL, "read", "write", "exec" };
	static const char *const places[PMM_NR_FINDING_PLACES] = {
		NULL,	"inside",    "stack",	    "static",	 "unmapped",
		"null", "forbidden", "stack-guard", "past-file", "no-address",
	};
	static const char *const releases[PMM_NR_RELEASES] = {
		NULL,
		"free",
		"realloc",
		"delete",
		"delete[]",
		"delete-sized",
		"delete[]-sized",
		"delete-aligned",
		"delete[]-aligned",
		"delete-sized-aligned",
		"delete[]-sized-aligned",
	};

	to->type = (uint8_t)recipe_choice(l, "type", types, PMM_NR_FINDING_TYPES, PMM_FINDING_NONE);
	to->by = (uint8_t)recipe_choice(l, "by", bys, PMM_NR_FINDING_BYS, PMM_BY_ACCESS);
	to->access = (uint8_t)recipe_choice(l, "access", accesses, PMM_NR_ACCESSES,
					    PMM_ACCESS_UNKNOWN);
	to->place = (uint8_t)recipe_choice(l, "place", places, PMM_NR_FINDING_PLACES,
					   PMM_PLACE_UNKNOWN);
	to->release = (uint8_t)recipe_choice(l, "release", releases, PMM_NR_RELEASES,
					     PMM_RELEASE_NONE);
	to->kind = fake_kind(l, 0);
	if (!to->type)
		recipe_fail(l, -EINVAL, "'finding' lacks a type, such as type=overrun");
}

static void read_figures(struct recipe_line *l, struct heap_finding *to)
{
	to->guarded = recipe_flag(l, "guarded");
	to->count = recipe_count(l, "count", 1);
	to->first_ns = recipe_time(l, "first", 1000000000);
	to->last_ns = recipe_time(l, "last", to->first_ns);
	to->since_ns = recipe_time(l, "since", 0);
	to->address = recipe_address(l, "address", 0);
	to->size_bytes = recipe_size(l, "size", 0);
	to->block = recipe_address(l, "block", 0);
	to->block_bytes = recipe_size(l, "block-size", 0);
	to->other = recipe_address(l, "other", 0);
	to->alloc_ns = recipe_time(l, "alloc-at", 0);
	to->free_ns = recipe_time(l, "free-at", 0);
	to->parent_pid = (uint32_t)recipe_count(l, "parent", 0);
	to->nr_code = recipe_hex(l, "code", to->code, sizeof(to->code));
	to->nr_bytes = recipe_hex(l, "bytes", to->bytes, sizeof(to->bytes));
}

static uint32_t site(struct fake_heap *f, struct recipe_line *l, const char *key)
{
	const char *stack = recipe_text(l, key);

	return stack ? fake_site(f, l, stack) : HEAP_NO_SITE;
}

static uint16_t thread(struct fake_heap *f, struct recipe_line *l, const char *key)
{
	const char *name = recipe_text(l, key);

	return name ? fake_thread(f, l, name) : HEAP_NO_THREAD;
}

static void read_texts(struct recipe_line *l, struct heap_finding *to)
{
	const char *function = recipe_text(l, "function"), *text = recipe_text(l, "text");

	if (function && strlen(function) >= sizeof(to->function))
		recipe_fail(l, -EINVAL, "the name '%s' is too long", function);
	else if (function)
		strcpy(to->function, function);
	if (l->rc)
		return;
	to->text = strdup(text ? text : "");
	if (!to->text)
		recipe_fail(l, -ENOMEM, "out of memory");
}

void fake_finding(struct fake_heap *f, struct recipe_line *l)
{
	struct heap_finding to = { .site = site(f, l, "site"),
				   .alloc_site = site(f, l, "alloc"),
				   .free_site = site(f, l, "free") };

	to.thread = thread(f, l, "thread");
	to.alloc_thread = thread(f, l, "alloc-thread");
	to.free_thread = thread(f, l, "free-thread");
	to.number = (uint32_t)recipe_count(
		l, "number", f->findings.nr ? vec_last(&f->findings)->number + 1ull : 0);
	read_what(l, &to);
	read_figures(l, &to);
	read_texts(l, &to);
	if (!l->rc && vec_push(&f->findings, to))
		recipe_fail(l, -ENOMEM, "out of memory");
	if (l->rc)
		free(to.text);
}
