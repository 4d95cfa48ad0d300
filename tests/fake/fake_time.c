/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's figures over time and marks in recipes: lines "usage", "usage-point", "mark". */
#include <errno.h>
#include <string.h>

#include "src/base/fmt.h"
#include "tests/fake/fake_heap.h"

static uint64_t when(struct recipe_line *l)
{
	const char *text = recipe_bare(l);
	uint64_t ns = 0;

	if (text && !l->rc)
		l->rc = fmt_parse_duration(text, &ns, &l->why);
	return ns;
}

void fake_usage(struct fake_heap *f, struct recipe_line *l)
{
	static const char *const whys[HEAP_NR_USAGE_WHYS] = { "known", "none", "denied", "dear",
							      "failed" };
	struct heap_usage *u = &f->h->usage;

	u->sampled = true;
	u->why = (uint8_t)recipe_choice(l, "why", whys, HEAP_NR_USAGE_WHYS, 0);
	u->pss_why = (uint8_t)recipe_choice(l, "pss-why", whys, HEAP_NR_USAGE_WHYS, 0);
	u->took_ns = recipe_time(l, "took", 0);
	u->pss_took_ns = recipe_time(l, "pss-took", 0);
}

/* Is one of the keys said? Then what they belong to is known. */
static uint8_t known(struct recipe_line *l, const char *const *keys, uint8_t what)
{
	for (; *keys; keys++)
		if (recipe_text(l, *keys))
			return what;
	return 0;
}

void fake_usage_point(struct fake_heap *f, struct recipe_line *l)
{
	static const char *const times[] = { "threads", "minor", "major", "user", "system", NULL };
	static const char *const sizes[] = { "anon", "file", "shmem", "swap", NULL };
	static const char *const pss[] = { "pss", NULL };
	struct heap_usage_point p = { .time_ns = when(l) };

	f->h->usage.sampled = true;
	p.known = known(l, times, HEAP_USAGE_TIMES) | known(l, sizes, HEAP_USAGE_SIZES) |
		  known(l, pss, HEAP_USAGE_PSS);
	p.threads = (uint32_t)recipe_count(l, "threads", 0);
	p.minor_faults = recipe_count(l, "minor", 0);
	p.major_faults = recipe_count(l, "major", 0);
	p.user_ns = recipe_time(l, "user", 0);
	p.system_ns = recipe_time(l, "system", 0);
	p.anon_bytes = recipe_size(l, "anon", 0);
	p.file_bytes = recipe_size(l, "file", 0);
	p.shmem_bytes = recipe_size(l, "shmem", 0);
	p.swap_bytes = recipe_size(l, "swap", 0);
	p.pss_bytes = recipe_size(l, "pss", 0);
	if (!l->rc && vec_push(&f->usage_points, p))
		recipe_fail(l, -ENOMEM, "out of memory");
}

void fake_mark(struct fake_heap *f, struct recipe_line *l)
{
	static const char *const kinds[HEAP_NR_MARKS] = { "fork", "child-exec" };
	struct heap_mark m = { .time_ns = when(l) };
	const char *name = recipe_text(l, "name");

	m.kind = (uint8_t)recipe_choice(l, "kind", kinds, HEAP_NR_MARKS, HEAP_MARK_FORK);
	m.last_ns = recipe_time(l, "last", m.time_ns);
	m.count = recipe_count(l, "count", 1);
	m.pid = (uint32_t)recipe_count(l, "pid", 0);
	if (name)
		strncpy(m.name, name, sizeof(m.name) - 1);
	if (!l->rc && vec_push(&f->marks, m))
		recipe_fail(l, -ENOMEM, "out of memory");
}
