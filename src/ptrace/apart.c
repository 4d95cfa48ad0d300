/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of a process's memory its copy has not as of the moment of the copy. */
#include "src/ptrace/apart.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "include/pmm/ledger.h"
#include "src/base/str.h"
#include "src/proc/smaps.h"

#define PAGE	4096u

/* Can a mapping be read? Not one of a device, nor one that the process may not read itself. */
static bool is_readable(const struct proc_map *m)
{
	bool device = str_starts(m->path, "/dev/") && !str_starts(m->path, "/dev/shm/") &&
		      !str_starts(m->path, "/dev/zero");

	return m->perms & PROC_MAP_READ && !device && m->path[0] != '[';
}

/*
 * pmm's own record in the process: none of the program's memory, and read by who wants it in its
 * own way.
 */
static bool is_ledger(const struct proc_map *m)
{
	return m->perms & PROC_MAP_SHARED && str_starts(m->path, "/memfd:" PMM_MEMFD_NAME);
}

/* Shared memory that the program may change. */
static bool is_shared(const struct proc_map *m)
{
	const unsigned wanted = PROC_MAP_SHARED | PROC_MAP_READ | PROC_MAP_WRITE;
	bool anonymous = str_starts(m->path, "[anon_shmem:");

	return (m->perms & wanted) == wanted && !is_ledger(m) && (anonymous || is_readable(m));
}

/* ---- before ---------------------------------------------------------------------------------- */

int apart_before(struct apart *x, pid_t pid)
{
	struct proc_maps maps = { 0 };
	uint64_t bytes = 0;
	int rc = smaps_flagged(pid, "wf", &x->wiped);

	if (!rc && proc_maps_read(pid, &maps, NULL))
		maps.nr = 0;
	for (size_t i = 0; i < maps.nr; i++)
		if (is_shared(&maps.v[i]))
			bytes += maps.v[i].end - maps.v[i].start;
	vec_each(&x->wiped, at)
		bytes += at->end - at->start;
	proc_maps_fini(&maps);
	if (!rc)
		withheld_begin(&x->held, pid, bytes < APART_BYTES ? bytes : APART_BYTES);
	return rc;
}

/* ---- while all are stopped ------------------------------------------------------------------- */

static int add_span(struct apart *x, struct apart_span at)
{
	struct apart_span *last = x->spans.nr ? vec_last(&x->spans) : NULL;

	if (last && last->end == at.start && last->held == at.held) {
		last->end = at.end;
		return 0;
	}
	return vec_push(&x->spans, at);
}

static bool size_pages(pid_t pid, uint64_t *pages)
{
	char path[64];
	bool found;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	f = fopen(path, "re");
	found = f && fscanf(f, "%" SCNu64, pages) == 1;
	if (f)
		fclose(f);
	return found;
}

/*
 * Does a process have memory, besides its ledger, that its copy has not? By the sizes of both:
 * cheap. When in doubt true.
 */
static bool is_larger(pid_t pid, pid_t copy, const struct proc_maps *maps)
{
	uint64_t all, copied, ledger = 0;

	for (size_t i = 0; i < maps->nr; i++)
		if (is_ledger(&maps->v[i]))
			ledger += (maps->v[i].end - maps->v[i].start) / PAGE;
	return !size_pages(pid, &all) || !size_pages(copy, &copied) || all != copied + ledger;
}

/* All pages of a mapping that there are. Is what is not among them zero? */
static bool take_all(struct apart *x, const struct proc_map *m)
{
	enum withheld_rest rest;

	if (m->perms & PROC_MAP_SHARED)
		return withheld_add_shared(&x->held, m, 0, &rest) >= 0 &&
		       rest == WITHHELD_REST_ZERO;
	/* what a private mapping of a file lacks is in the file */
	return withheld_add(&x->held, m->start, m->end, 0) >= 0 && !m->ino;
}

/*
 * Mappings that the process keeps from its copies; those of devices are not read at all. Both lists
 * are by address.
 */
static int take_kept(struct apart *x, pid_t pid, pid_t copy, const struct proc_maps *all)
{
	struct proc_maps maps = { 0 };
	size_t k = 0;
	int rc;

	if (!is_larger(pid, copy, all))
		return 0;
	rc = proc_maps_read(copy, &maps, NULL);
	for (size_t i = 0; !rc && i < all->nr; i++) {
		const struct proc_map *m = &all->v[i];
		bool held;

		while (k < maps.nr && maps.v[k].end <= m->start)
			k++;
		if ((k < maps.nr && maps.v[k].start < m->end) || is_ledger(m))
			continue;
		held = is_readable(m) && take_all(x, m);
		x->late |= is_readable(m) && !held;
		rc = add_span(x, (struct apart_span){ m->start, m->end, held });
	}
	proc_maps_fini(&maps);
	return rc;
}

/*
 * A mapping, as far as there are pages left to be taken. 1 all of it, what is not held is zero; 0
 * not; -ENOMEM. What a file on a disk has beside the pages that the process has mapped is not
 * looked for and does not count as read late: the process has written nothing there, or it is on
 * the disk.
 */
static int hold_pages(struct apart *x, const struct proc_map *m, uint64_t *left_pages)
{
	enum withheld_rest rest = WITHHELD_REST_ZERO;
	int64_t bytes = 0;
	bool all;

	if (*left_pages && is_shared(m))
		bytes = withheld_add_shared(&x->held, m, *left_pages, &rest);
	else if (*left_pages)
		bytes = withheld_add(&x->held, m->start, m->end, *left_pages);
	all = bytes >= 0 && (uint64_t)bytes < *left_pages * PAGE;

	if (bytes > 0)
		*left_pages -= (uint64_t)bytes / PAGE;
	x->late |= !all || rest == WITHHELD_REST_UNKNOWN;
	return bytes == -ENOMEM ? -ENOMEM : all && rest == WITHHELD_REST_ZERO;
}

/*
 * Is a mapping one that a copy gets empty? It was so before; if it became one since, it is found
 * later, by the copy.
 */
static bool is_wiped(const struct apart *x, const struct proc_map *m)
{
	size_t i = vec_while(&x->wiped, p, p->end <= m->start);

	return i < x->wiped.nr && x->wiped.v[i].start < m->end && is_readable(m);
}

static bool is_kept(const struct apart *x, const struct proc_map *m)
{
	size_t i = vec_while(&x->spans, p, p->end <= m->start);

	return i < x->spans.nr && x->spans.v[i].start < m->end;
}

static int by_size(const void *a, const void *b)
{
	const struct proc_map *const *x = a, *const *y = b;
	uint64_t m = (*x)->end - (*x)->start, n = (*y)->end - (*y)->start;

	return m != n ? (m < n ? -1 : 1) : (*x)->start < (*y)->start ? -1 : 1;
}

/*
 * Small ones first: of the large ones most are buffers. What a shared one lacks is zero: in the
 * copy it would be what the process has written there since.
 */
static int take_shared_and_wiped(struct apart *x, const struct proc_maps *maps)
{
	VEC(const struct proc_map *) some = { 0 };
	uint64_t left_pages = APART_BYTES / PAGE;
	int rc = 0;

	for (size_t i = 0; !rc && i < maps->nr; i++)
		if ((is_shared(&maps->v[i]) || is_wiped(x, &maps->v[i])) &&
		    !is_kept(x, &maps->v[i]))
			rc = vec_push(&some, &maps->v[i]);
	vec_sort(&some, by_size);
	for (size_t i = 0; rc >= 0 && i < some.nr; i++) {
		const struct proc_map *m = some.v[i];

		rc = hold_pages(x, m, &left_pages);
		if (rc > 0 && is_shared(m))
			rc = add_span(x, (struct apart_span){ m->start, m->end, true });
		else if (rc > 0)
			rc = vec_push(&x->whole, (struct page_run){ m->start, m->end });
	}
	vec_fini(&some);
	return rc < 0 ? rc : 0;
}

int apart_stopped(struct apart *x, pid_t pid, pid_t copy, const struct proc_maps *maps)
{
	int rc;

	/* the thread by which it was looked at before may have ended */
	x->held.pid = pid;
	rc = take_kept(x, pid, copy, maps);
	return rc ? rc : take_shared_and_wiped(x, maps);
}

/* ---- after ----------------------------------------------------------------------------------- */

static int span_by_address(const void *a, const void *b)
{
	const struct apart_span *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static bool is_whole(const struct apart *x, const struct page_run *at)
{
	vec_each(&x->whole, w)
		if (w->start <= at->start && w->end >= at->end)
			return true;
	return false;
}

int apart_after(struct apart *x, pid_t copy)
{
	struct page_runs wiped = { 0 };
	int rc = smaps_flagged(copy, "wf", &wiped);

	withheld_order(&x->held);
	for (size_t i = 0; !rc && i < wiped.nr; i++) {
		const struct page_run *at = &wiped.v[i];
		bool held = is_whole(x, at);

		x->late |= !held;
		rc = vec_push(&x->spans, (struct apart_span){ at->start, at->end, held });
	}
	vec_sort(&x->spans, span_by_address);
	vec_fini(&wiped);
	return rc;
}

/* ---- finding --------------------------------------------------------------------------------- */

static void shorten(size_t *bytes, uint64_t to)
{
	if (to < *bytes)
		*bytes = to;
}

enum apart_where apart_find(const struct apart *x, uint64_t address, size_t *bytes,
			    const uint8_t **held)
{
	const struct apart_span *s;
	size_t i;

	*held = withheld_find(&x->held, address, bytes);
	if (*held)
		return APART_HELD;
	i = vec_while(&x->spans, p, p->end <= address);
	if (i == x->spans.nr)
		return APART_IN_COPY;
	s = &x->spans.v[i];
	if (s->start > address) {
		shorten(bytes, s->start - address);
		return APART_IN_COPY;
	}
	shorten(bytes, s->end - address);
	return s->held ? APART_ZERO : APART_IN_PROCESS;
}

void apart_fini(struct apart *x)
{
	withheld_fini(&x->held);
	vec_fini(&x->spans);
	vec_fini(&x->wiped);
	vec_fini(&x->whole);
}
