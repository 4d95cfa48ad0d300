/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which pages a process has.
 *
 * Private memory is asked for (src/proc/pages.h) of the copy and of the process itself: a copy
 * lacks what is not inherited (MADV_DONTFORK), and the process may have given back some since.
 * Shared memory is asked of its file (lseek(2), SEEK_DATA). Where the kernel does not answer the
 * whole mapping counts.
 */
#include "src/roots/roots_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/proc/pages.h"

/* ---- private memory -------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct page_run *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int pages_there(void *arg, uint64_t start, uint64_t end, bool changed,
		       struct roots_spans *to)
{
	struct roots_pagemaps *p = arg;
	struct page_runs found = { 0 };
	int rc = pages_find(p->process, start, end, changed, 0, &found);

	if (!rc && p->has_copy)
		rc = pages_find(p->copy, start, end, changed, 0, &found);
	vec_sort(&found, by_start);
	for (size_t i = 0; !rc && i < found.nr; i++)
		rc = roots_span_add(to, found.v[i].start > start ? found.v[i].start : start,
				    found.v[i].end < end ? found.v[i].end : end);
	vec_fini(&found);
	return rc;
}

/* ---- shared memory --------------------------------------------------------------------------- */

static int pages_shared(void *arg, const struct proc_map *m, struct roots_spans *to)
{
	const struct roots_pagemaps *p = arg;
	struct page_runs found = { 0 };
	int fd = pages_open_shared(p->pid, m),
	    rc = fd < 0 ? fd : pages_find_shared(fd, m, false, 0, &found);

	if (fd >= 0)
		close(fd);
	for (size_t i = 0; !rc && i < found.nr; i++)
		rc = roots_span_add(to, found.v[i].start, found.v[i].end);
	vec_fini(&found);
	return rc;
}

/* ---- core files ------------------------------------------------------------------------------ */

static int span_add(void *to, uint64_t start, uint64_t end)
{
	return roots_span_add(to, start, end);
}

static int core_pages_there(void *arg, uint64_t start, uint64_t end, bool changed,
			    struct roots_spans *to)
{
	struct roots_core_pages *p = arg;

	return changed ? -EOPNOTSUPP
		       : core_there(p->core, start, end, span_add, to, p->unread_bytes);
}

static int core_pages_shared(void *arg, const struct proc_map *m, struct roots_spans *to)
{
	(void)arg;
	(void)m;
	(void)to;
	return -EOPNOTSUPP;		/* no mapping is known to be shared */
}

void roots_core_pages_open(struct roots_core_pages *p, const struct core *core,
			   uint64_t *unread_bytes)
{
	*p = (struct roots_core_pages){
		.pages = { .there = core_pages_there, .shared = core_pages_shared, .arg = p },
		.core = core,
		.unread_bytes = unread_bytes,
	};
}

/* ---- all ------------------------------------------------------------------------------------- */

void roots_pagemaps_open(struct roots_pagemaps *p, pid_t pid, pid_t copy)
{
	*p = (struct roots_pagemaps){
		.pages = { .there = pages_there, .shared = pages_shared, .arg = p },
		.pid = pid,
		.has_copy = copy != 0,
		.process = pages_open(pid),
		.copy = copy ? pages_open(copy) : -1,
	};
}

void roots_pagemaps_close(struct roots_pagemaps *p)
{
	if (p->process >= 0)
		close(p->process);
	if (p->copy >= 0)
		close(p->copy);
	p->process = p->copy = -1;
}

/* The pool of guarded blocks has pages that cannot be read everywhere. */
static bool may_trim(const struct roots_find *f, const struct memory_range *r)
{
	bool in_pool = r->start < f->pool.end && r->end > f->pool.start;

	return r->kind != MEMORY_SHARED && (in_pool || r->end - r->start >= ROOTS_TRIM_BYTES);
}

int roots_pages_trim(struct roots_find *f)
{
	struct roots_ranges to = { 0 };
	int rc = 0;

	if (!f->pages)
		return 0;
	for (size_t i = 0; !rc && i < f->ranges.nr; i++) {
		struct memory_range r = f->ranges.v[i];
		struct roots_spans there = { 0 };

		if (!may_trim(f, &r) || f->pages->there(f->pages->arg, roots_page_down(r.start),
							roots_page_up(r.end), false, &there)) {
			rc = vec_push(&to, r);
			vec_fini(&there);
			continue;
		}
		for (size_t k = 0; !rc && k < there.nr; k++) {
			struct memory_range one = r;

			one.start = there.v[k].start > r.start ? there.v[k].start : r.start;
			one.end = there.v[k].end < r.end ? there.v[k].end : r.end;
			rc = vec_push(&to, one);
		}
		vec_fini(&there);
	}
	if (rc) {
		vec_fini(&to);
		return rc;
	}
	vec_fini(&f->ranges);
	f->ranges = to;
	return 0;
}
