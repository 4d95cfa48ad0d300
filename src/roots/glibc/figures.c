/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The allocator's own figures of a running process, from outside: which process, whose allocator,
 * and why not.
 */
#include "src/roots/glibc/figures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/str.h"
#include "src/ptrace/stop.h"
#include "src/proc/task.h"

#define TRIES		3
#define TRIES_OUTDATED	16		/* ... that maps memory meanwhile, by who has time */

static size_t memory_read(void *arg, uint64_t address, void *to, size_t bytes)
{
	const pid_t *pid = arg;

	return stop_read_some(*pid, -1, address, to, bytes);
}

/* ---- whose allocator ------------------------------------------------------------------------- */

/*
 * Is an address in the object that has the program's malloc? A library's path may lead through
 * links.
 */
static bool in_allocator(const struct roots_find *f, uint64_t address)
{
	const char *path = f->heap->allocator.path;
	bool program = !strcmp(path, f->heap->exe);

	vec_each(&f->objects, o)
		if (o->start <= address && address < o->end)
			return !*path ||
			       (program ? str_starts(o->path, path)
					: str_starts(str_basename(o->path), str_basename(path)));
	return false;
}

/* An arena that has never had memory has its own first bin for a top. */
static bool is_used(const struct roots_find *f, const struct glibc_arena *a)
{
	uint64_t bins = a->state + a->before, top;

	return roots_word(f, bins - 16, &top) && top != bins - 16;
}

/*
 * The main arena, by its number in g->arenas; enum heap_figures where there is not one. Of a C
 * library that is not used it does not count.
 */
static enum heap_figures main_find(const struct roots_find *f, const struct glibc *g, size_t *main)
{
	unsigned nr = 0, nr_unused = 0;

	vec_each(&g->states, s)
		for (size_t i = 0; i < g->arenas.nr; i++) {
			bool used = is_used(f, &g->arenas.v[i]);

			if (g->arenas.v[i].state != s->start || !in_allocator(f, s->start))
				continue;
			if (used || !nr)
				*main = i;
			nr += used;
			nr_unused += !used;
		}
	if (!nr)
		nr = nr_unused;
	return nr == 1 ? HEAP_FIGURES_KNOWN : nr ? HEAP_FIGURES_SEVERAL : HEAP_FIGURES_SHAPE;
}

/* ---- which process --------------------------------------------------------------------------- */

static enum heap_figures refusal(int rc)
{
	return rc == -ESRCH || rc == -ENOENT ? HEAP_FIGURES_GONE : HEAP_FIGURES_DENIED;
}

/* enum heap_figures or -ENOMEM. */
static int arenas_find(struct roots_find *f, unsigned max_chunks, struct heap_allocator *a)
{
	struct glibc g = { 0 };
	size_t main = 0;
	int rc = roots_objects_find(f);

	if (!rc)
		rc = roots_maps_find(f);
	if (!rc)
		rc = glibc_find(f, &g);
	if (!rc)
		rc = main_find(f, &g, &main);
	if (!rc)
		rc = figures_count(f, &g, main, max_chunks, a);
	glibc_fini(&g);
	return rc;
}

/* Has it mapped or unmapped something since its mappings were read? */
static bool is_outdated(pid_t pid, const struct proc_maps *maps)
{
	struct proc_maps now = { 0 };
	bool same = !proc_maps_read(pid, &now, NULL) && now.nr == maps->nr;

	for (size_t i = 0; same && i < now.nr; i++)
		same = now.v[i].start == maps->v[i].start && now.v[i].end == maps->v[i].end;
	proc_maps_fini(&now);
	return !same;
}

/* The same. *outdated: the process's mappings have changed meanwhile. */
static int process_ask(pid_t pid, const struct heap *h, unsigned max_chunks,
		       struct heap_allocator *a, bool *outdated)
{
	struct memory_ops ops = { .read = memory_read };
	pid_t task = task_proc(pid);
	struct memory m = { .ops = &ops, .arg = &task };
	struct proc_maps maps = { 0 };
	struct roots_find f = {
		.memory = &m, .heap = h, .maps = &maps, .names_break = true, .any_arena = true
	};
	struct err e = { 0 };
	unsigned char byte;
	int rc = proc_maps_read(pid, &maps, &e);

	if (!rc && !maps.nr)
		rc = -ESRCH;
	for (size_t i = 0; !rc && i < maps.nr; i++)
		if (maps.v[i].perms & PROC_MAP_READ && maps.v[i].ino) {
			rc = stop_read(pid, maps.v[i].start, &byte, 1);
			break;
		}
	if (rc && rc != -ENOMEM)
		rc = refusal(rc);
	else if (!rc)
		rc = arenas_find(&f, max_chunks, a);
	*outdated = (rc == HEAP_FIGURES_SHAPE || rc == HEAP_FIGURES_SENSELESS) &&
		    is_outdated(pid, &maps);
	roots_find_fini(&f);
	memory_fini(&m);
	proc_maps_fini(&maps);
	return rc;
}

int figures_read(pid_t pid, uint64_t now_ns, unsigned max_chunks, struct heap *h)
{
	struct heap_allocator a = { .path = h->allocator.path,
				    .taken_ns = now_ns,
				    .outside = true };
	const unsigned tries_outdated = max_chunks < FIGURES_MAX_CHUNKS ? TRIES : TRIES_OUTDATED;
	int rc = HEAP_FIGURES_OTHER;
	bool outdated = false;

	if (heap_allocator_is_glibc(h))
		rc = process_ask(pid, h, max_chunks, &a, &outdated);
	/* memory may have been mapped since the mappings were read */
	for (unsigned n = 1; n < (outdated ? tries_outdated : TRIES) &&
			     (rc == HEAP_FIGURES_SHAPE || rc == HEAP_FIGURES_SENSELESS);
	     n++)
		rc = process_ask(pid, h, max_chunks, &a, &outdated);
	if (rc < 0)
		return rc;
	if (a.valid)
		h->allocator = a;
	else if (!h->allocator.valid)
		h->allocator.why = (uint8_t)rc;
	return rc;
}
