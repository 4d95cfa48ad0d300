/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pieces of mappings by address, each of one mapping and with one protection. */
#include "src/kernel/perf/areas.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "src/base/str.h"

#define HEAP_DISTANCE	(1ull << 30)	/* arch_randomize_brk(): the heap begins that close */
#define GUARD_BYTES	(256u << 12)	/* stack_guard_gap */

struct areas *areas_new(void)
{
	struct areas *a = calloc(1, sizeof(*a));

	if (a)
		a->refs = 1;
	return a;
}

void areas_drop(struct areas *a)
{
	if (!a || --a->refs)
		return;
	vec_fini(&a->v);
	free(a);
}

struct areas *areas_own(struct areas *a)
{
	struct areas *own;

	if (a->refs == 1)
		return a;
	own = calloc(1, sizeof(*own));
	if (!own)
		return NULL;
	*own = *a;
	own->refs = 1;
	own->v.v = NULL;
	own->v.nr = own->v.room = 0;
	if (vec_reserve(&own->v, a->v.nr)) {
		free(own);
		return NULL;
	}
	if (a->v.nr)
		memcpy(own->v.v, a->v.v, a->v.nr * sizeof(*a->v.v));
	own->v.nr = a->v.nr;
	a->refs--;
	return own;
}

/* ---- what a mapping is ---- */

static bool is_shared_memory(const char *path)
{
	return str_starts(path, "/dev/zero") || str_starts(path, "/memfd:") ||
	       str_starts(path, "/SYSV") || str_starts(path, "/dev/shm/");
}

static enum fault_area area_of(const struct perf_mapping *m)
{
	const char *path = m->map.path;

	if (m->flags & MAP_HUGETLB || str_starts(path, "/anon_hugepage"))
		return FAULT_HUGETLB;
	if (m->map.ino)
		return !(m->map.perms & PROC_MAP_SHARED) ? FAULT_FILE_PRIVATE
		       : is_shared_memory(path)		 ? FAULT_SHMEM
							 : FAULT_FILE_SHARED;
	if (!strcmp(path, "[stack]"))
		return FAULT_STACK;
	if (!strcmp(path, "[heap]"))
		return FAULT_HEAP;
	if (*path == '[' && !str_starts(path, "[anon"))
		return FAULT_SPECIAL;
	return FAULT_ANONYMOUS;
}

struct area_piece areas_piece(const struct perf_mapping *m)
{
	return (struct area_piece){
		.start = m->map.start,
		.end = m->map.end,
		.made_start = m->map.start,
		.made_end = m->map.end,
		.offset = m->map.ino ? m->map.offset : 0,
		.ino = m->map.ino,
		.device = m->map.dev_major << 20 | m->map.dev_minor,
		.prot = m->prot,
		.made_prot = m->prot,
		.area = area_of(m),
	};
}

/* The same memory, as far as one can see: the same place of the same file, or none. */
static bool same_memory(const struct area_piece *a, const struct area_piece *b)
{
	return a->area == b->area && a->ino == b->ino && a->device == b->device &&
	       (!a->ino || a->start - a->offset == b->start - b->offset);
}

/* ---- the list ---- */

static struct area_piece part(const struct area_piece *p, uint64_t start, uint64_t end)
{
	struct area_piece q = *p;

	q.start = start;
	q.end = end;
	if (q.ino)
		q.offset += start - p->start;
	return q;
}

/* No piece lies across that address. */
static int split(struct areas *a, uint64_t address)
{
	size_t i = vec_while(&a->v, p, p->end <= address);
	struct area_piece upper;

	if (i == a->v.nr || a->v.v[i].start >= address)
		return 0;
	upper = part(&a->v.v[i], address, a->v.v[i].end);
	if (vec_reserve(&a->v, a->v.nr + 1))
		return -ENOMEM;
	a->v.v[i].end = address;
	memmove(a->v.v + i + 2, a->v.v + i + 1, (a->v.nr - i - 1) * sizeof(upper));
	a->v.v[i + 1] = upper;
	a->v.nr++;
	return 0;
}

static int put(struct areas *a, const struct area_piece *p)
{
	size_t first, behind;
	int rc = split(a, p->start);

	if (!rc)
		rc = split(a, p->end);
	if (!rc)
		rc = vec_reserve(&a->v, a->v.nr + 1);
	if (rc)
		return rc;
	first = vec_while(&a->v, q, q->end <= p->start);
	behind = vec_while(&a->v, q, q->start < p->end);
	memmove(a->v.v + first + 1, a->v.v + behind, (a->v.nr - behind) * sizeof(*p));
	a->v.nr = a->v.nr - (behind - first) + 1;
	a->v.v[first] = *p;
	return 0;
}

static int protect(struct areas *a, uint64_t start, uint64_t end, uint32_t prot)
{
	int rc = split(a, start);

	if (!rc)
		rc = split(a, end);
	for (size_t i = vec_while(&a->v, q, q->end <= start);
	     !rc && i < a->v.nr && a->v.v[i].start < end; i++)
		a->v.v[i].prot = prot;
	return rc;
}

/* ---- what has happened ---- */

/* Of a range that is mapped: what was not known of it, and what had another protection. */
struct comparison {
	uint64_t new_start, new_end;		/* new_end 0: nothing */
	uint64_t other_start, other_end;
	const struct area_piece *first_other;	/* the piece that begins it */
	uint32_t lost_prot;			/* of the others what it had and has no more */
	uint32_t won_prot;
};

static void grow(uint64_t *start, uint64_t *end, uint64_t from, uint64_t to)
{
	if (!*end)
		*start = from;
	*end = to;
}

static struct comparison compare(const struct areas *a, const struct area_piece *p)
{
	struct comparison c = { 0 };
	uint64_t at = p->start;

	for (size_t i = vec_while(&a->v, q, q->end <= p->start);
	     i < a->v.nr && a->v.v[i].start < p->end; i++) {
		const struct area_piece *q = &a->v.v[i];
		uint64_t from = q->start > p->start ? q->start : p->start;
		uint64_t to = q->end < p->end ? q->end : p->end;

		if (at < from)
			grow(&c.new_start, &c.new_end, at, from);
		at = to;
		if (!same_memory(q, p)) {
			grow(&c.new_start, &c.new_end, from, to);
		} else if (q->prot != p->prot) {
			if (!c.other_end)
				c.first_other = q;
			grow(&c.other_start, &c.other_end, from, to);
			c.lost_prot |= q->prot & ~p->prot;
			c.won_prot |= p->prot & ~q->prot;
		}
	}
	if (at < p->end)
		grow(&c.new_start, &c.new_end, at, p->end);
	return c;
}

/*
 * A mapping with another protection than was known: it was changed; or the same was mapped there
 * once more, after it had been removed. Loaders map segments of a file over the whole of it.
 */
static bool made_again(const struct area_piece *p, const struct comparison *c)
{
	const struct area_piece *q = c->first_other;

	if (p->ino && c->won_prot)
		return true;
	return c->other_start == q->made_start && c->other_end == q->made_end &&
	       p->prot == q->made_prot;
}

static int made(struct areas *a, struct area_piece *p, uint64_t start, uint64_t end,
		struct area_news *news)
{
	struct area_piece fresh = part(p, start, end);

	fresh.made_start = start;
	fresh.made_end = end;
	*news = (struct area_news){ .change = AREA_MADE, .start = start, .end = end };
	return put(a, &fresh);
}

static int map_memory(struct areas *a, struct area_piece *p, struct area_news *news)
{
	struct comparison c = compare(a, p);
	const struct area_piece *lowest;

	if (c.new_end)
		return made(a, p, c.new_start, c.new_end, news);
	if (c.other_end && made_again(p, &c))
		return made(a, p, c.other_start, c.other_end, news);
	if (c.other_end) {
		*news = (struct area_news){ .change = AREA_PROTECTED, .start = c.other_start,
					    .end = c.other_end };
		return protect(a, c.other_start, c.other_end, p->prot);
	}
	/* nothing is different: a part was removed and mapped anew; the lowest is the newest */
	lowest = areas_find(a, p->start);
	return made(a, p, p->start, lowest->end < p->end ? lowest->end : p->end, news);
}

/* The first growth of the program break has no name yet. */
static bool begins_heap(const struct areas *a, const struct area_piece *p)
{
	return !a->heap_end && p->area == FAULT_ANONYMOUS && a->program_end &&
	       p->prot == (PROT_READ | PROT_WRITE) && p->start >= a->program_end &&
	       p->start - a->program_end <= HEAP_DISTANCE;
}

static int map_heap(struct areas *a, struct area_piece *p, struct area_news *news)
{
	uint64_t before = a->heap_end ? a->heap_end : p->start;

	p->area = FAULT_HEAP;
	/* it was smaller meanwhile, which nothing has told */
	if (before >= p->end)
		before = 0;
	*news = (struct area_news){ .change = AREA_BREAK, .start = p->start, .end = p->end,
				    .before = before };
	a->heap_start = p->start;
	a->heap_end = p->end;
	return put(a, p);
}

/* What exec maps comes before the vdso, which every program has: no call has made it. */
static int map_at_exec(struct areas *a, const struct area_piece *p)
{
	if (p->area == FAULT_FILE_PRIVATE && !a->program_end)
		a->program_ino = p->ino;
	if (p->area == FAULT_FILE_PRIVATE && p->ino == a->program_ino && p->end > a->program_end)
		a->program_end = p->end;
	if (p->area == FAULT_SPECIAL)
		a->beginning = false;
	return put(a, p);
}

int areas_map(struct areas *a, const struct perf_mapping *m, struct area_news *news)
{
	struct area_piece p = areas_piece(m);

	*news = (struct area_news){ .change = AREA_NOTHING };
	if (a->beginning)
		return map_at_exec(a, &p);
	if (p.area == FAULT_STACK || p.area == FAULT_SPECIAL)
		return put(a, &p);
	if (p.area == FAULT_HEAP || begins_heap(a, &p))
		return map_heap(a, &p, news);
	return map_memory(a, &p, news);
}

const struct area_piece *areas_find(const struct areas *a, uint64_t address)
{
	size_t i = vec_while(&a->v, p, p->end <= address);

	return i < a->v.nr && a->v.v[i].start <= address ? &a->v.v[i] : NULL;
}

bool areas_stack_grows(const struct areas *a, uint64_t address)
{
	size_t i = vec_while(&a->v, p, p->end <= address);

	return i < a->v.nr && a->v.v[i].area == FAULT_STACK &&
	       (!i || a->v.v[i - 1].end + GUARD_BYTES <= address);
}

/* ---- /proc/PID/maps ---- */

/* Where nothing is known. */
static int fill(struct areas *a, const struct area_piece *p)
{
	uint64_t at = p->start;
	int rc = 0;

	while (!rc && at < p->end) {
		size_t i = vec_while(&a->v, q, q->end <= at);
		uint64_t until = i < a->v.nr && a->v.v[i].start < p->end ? a->v.v[i].start : p->end;

		if (at < until) {
			struct area_piece fresh = part(p, at, until);

			rc = put(a, &fresh);
			at = until;
		} else {
			at = a->v.v[i].end;
		}
	}
	return rc;
}

int areas_read(struct areas *a, pid_t pid, areas_file *file, void *arg)
{
	struct proc_maps maps;
	int rc = proc_maps_read(pid, &maps, NULL);

	if (rc)
		return rc;
	for (size_t i = 0; !rc && i < maps.nr; i++) {
		const struct proc_map *map = &maps.v[i];
		struct perf_mapping m = {
			.map = *map,
			.prot = (map->perms & PROC_MAP_READ ? PROT_READ : 0u) |
				(map->perms & PROC_MAP_WRITE ? PROT_WRITE : 0u) |
				(map->perms & PROC_MAP_EXEC ? PROT_EXEC : 0u),
		};
		struct area_piece p = areas_piece(&m);

		if (p.area == FAULT_HEAP && !a->heap_end) {
			a->heap_start = p.start;
			a->heap_end = p.end;
		}
		rc = fill(a, &p);
		if (!rc && p.ino)
			file(arg, &p, map->path);
	}
	proc_maps_fini(&maps);
	return rc;
}

