/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Heap errors of one process, brought together. */
#include "src/analyze/findings.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "include/pmm/check.h"
#include "src/base/hash.h"

/* The same site in another snapshot. */
static uint32_t site_there(const struct hash_map *by_number, const struct heap *from, uint32_t site)
{
	uint32_t *there;

	if (site == HEAP_NO_SITE || !site)
		return site;
	there = from->sites[site].number ? hash_find(by_number, from->sites[site].number) : NULL;
	return there ? *there : HEAP_NO_SITE;
}

/* The same thread: threads keep their place as long as new ones are appended. */
static uint16_t thread_there(const struct heap *from, uint16_t thread, const struct heap *to)
{
	if (thread == HEAP_NO_THREAD || thread >= to->nr_threads ||
	    to->threads[thread].tid != from->threads[thread].tid)
		return HEAP_NO_THREAD;
	return thread;
}

static int carry(const struct heap_finding *f, const struct hash_map *by_number,
		 const struct heap *from, struct heap *to)
{
	struct heap_finding *out = &to->findings[to->nr_findings];

	*out = *f;
	out->text = strdup(f->text ? f->text : "");
	if (!out->text)
		return -ENOMEM;
	out->site = site_there(by_number, from, f->site);
	out->alloc_site = site_there(by_number, from, f->alloc_site);
	out->free_site = site_there(by_number, from, f->free_site);
	out->thread = thread_there(from, f->thread, to);
	out->alloc_thread = thread_there(from, f->alloc_thread, to);
	out->free_thread = thread_there(from, f->free_thread, to);
	to->nr_findings++;
	return 0;
}

static int by_number_of(const void *a, const void *b)
{
	const struct heap_finding *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

int findings_carry(const struct heap *from, uint64_t first, struct heap *to)
{
	uint64_t nr = from->nr_findings > first ? from->nr_findings - first : 0;
	struct heap_finding *all = realloc(to->findings, (to->nr_findings + nr + 1) * sizeof(*all));
	struct hash_map by_number = { 0 };
	int rc = all ? 0 : -ENOMEM;

	if (all)
		to->findings = all;
	for (uint32_t i = 0; !rc && i < to->nr_sites; i++)
		if (to->sites[i].number)
			rc = hash_put(&by_number, to->sites[i].number, i);
	for (uint64_t i = first; !rc && i < from->nr_findings; i++)
		rc = carry(&from->findings[i], &by_number, from, to);
	hash_fini(&by_number);
	if (all)
		qsort(all, to->nr_findings, sizeof(*all), by_number_of);
	if (!rc && from->check.findings_lost > to->check.findings_lost)
		to->check.findings_lost = from->check.findings_lost;
	if (!rc && from->check.scans > to->check.scans) {
		to->check.scans = from->check.scans;
		to->check.swept_ns = from->check.swept_ns;
	}
	return rc;
}

/*
 * The canary scan's finding that a release's says again: best of the same block, of which only the
 * first is named.
 */
static struct heap_finding *swept_before(struct heap *h, const struct heap_finding *f)
{
	struct heap_finding *best = NULL;

	for (uint64_t i = 0; i < h->nr_findings; i++) {
		struct heap_finding *s = &h->findings[i];

		if (s->by != PMM_BY_SCAN || s->type != f->type || s->alloc_site != f->alloc_site ||
		    s->kind != f->kind)
			continue;
		if (s->block == f->block && s->alloc_ns == f->alloc_ns)
			return s;
		best = best ? best : s;
	}
	return best;
}

static bool fold(struct heap *h, const struct heap_finding *f)
{
	struct heap_finding *s = swept_before(h, f);

	if (!s)
		return false;
	s->count = s->count > f->count ? s->count : f->count;
	if (s->free_site != HEAP_NO_SITE)
		return true;
	s->free_site = f->site;
	s->free_thread = f->thread;
	/* behind the canary scan, though the process's clock may be late */
	s->free_ns = f->first_ns > s->first_ns ? f->first_ns : s->first_ns;
	s->release = f->release;
	return true;
}

void findings_fold(struct heap *h, bool (*again)(const void *ctx, const struct heap_finding *f),
		   const void *ctx)
{
	uint64_t kept = 0;

	for (uint64_t i = 0; i < h->nr_findings; i++)
		if (again(ctx, &h->findings[i]) && fold(h, &h->findings[i]))
			h->findings[i].type = PMM_FINDING_NONE;
	for (uint64_t i = 0; i < h->nr_findings; i++) {
		if (h->findings[i].type == PMM_FINDING_NONE)
			free(h->findings[i].text);
		else
			h->findings[kept++] = h->findings[i];
	}
	h->nr_findings = kept;
}

bool findings_is_crash(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
	       signal == SIGABRT || signal == SIGSYS || signal == SIGTRAP;
}

int findings_note_crash(struct heap *h)
{
	struct heap_finding *all, *f;

	if (h->end != HEAP_KILLED || h->death.known || !findings_is_crash(h->end_status))
		return 0;
	all = realloc(h->findings, (h->nr_findings + 1) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	h->findings = all;
	f = &all[h->nr_findings];
	*f = (struct heap_finding){
		.type = PMM_FINDING_CRASH,
		.by = PMM_BY_SIGNAL,
		.text = strdup(""),
		.number = HEAP_NO_FINDING - 1,
		.count = 1,
		.first_ns = h->taken_ns,
		.last_ns = h->taken_ns,
		.site = HEAP_NO_SITE,
		.alloc_site = HEAP_NO_SITE,
		.free_site = HEAP_NO_SITE,
		.thread = HEAP_NO_THREAD,
		.alloc_thread = HEAP_NO_THREAD,
		.free_thread = HEAP_NO_THREAD,
	};
	if (!f->text)
		return -ENOMEM;
	h->nr_findings++;
	h->death = (struct heap_death){ .known = true,
					.signal = (uint8_t)h->end_status,
					.fault = (uint8_t)h->end_status,
					.finding = f->number };
	return 1;
}

struct heap_death findings_death(const struct heap *h, const struct heap_finding *f)
{
	const bool its = h->death.known &&
			 (f->type == PMM_FINDING_CRASH || h->death.finding == f->number);

	return its ? h->death : (struct heap_death){ 0 };
}
