/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Made-up stacks deeper than any that pmm records: one chain of calls, and what leaves it. */
#include <errno.h>

#include "include/pmm/ledger.h"
#include "tests/fake/fake_heap.h"

#define FUNCTIONS	1000u		/* of the module, one after the other, over and over */
#define FUNCTION_BYTES	0x10u

struct deep {
	uint64_t depth, sites, share;
	uint32_t module;
};

/* The number of a node below another one; -ENOMEM. */
static int64_t add_node(struct fake_heap *f, const struct deep *d, uint32_t parent, uint64_t level)
{
	struct heap_node n = { .parent = parent, .module = d->module };

	n.pc = f->modules.v[d->module].start + 0x1000 + level % FUNCTIONS * FUNCTION_BYTES + 5;
	if (vec_push(&f->nodes, n))
		return -ENOMEM;
	return (int64_t)f->nodes.nr - 1;
}

static int64_t add_chain(struct fake_heap *f, const struct deep *d, uint32_t parent, uint64_t from,
			 uint64_t to)
{
	int64_t node = parent;

	for (uint64_t level = from; level < to && node >= 0; level++)
		node = add_node(f, d, (uint32_t)node, level);
	return node;
}

static int add_site(struct fake_heap *f, int64_t node)
{
	struct fake_record r = { .size_bytes = 16, .max_bytes = 16, .allocs = 1, .bytes_in = 16,
				 .peak_blocks = 1, .peak_bytes = 16, .blocks = 1,
				 .kind = PMM_KIND_MALLOC, .node = (uint32_t)node };

	if (node < 0 || vec_push(&f->sites, (struct heap_site){ .node = (uint32_t)node }))
		return -ENOMEM;
	r.first_ns = r.last_ns = 1000000000;
	return fake_heap_record_at(f, &r, (uint32_t)f->sites.nr - 1);
}

static int make(struct fake_heap *f, const struct deep *d)
{
	int64_t last = add_chain(f, d, 0, 0, d->share);
	int rc = last < 0 ? -ENOMEM : 0;

	for (uint64_t i = 0; i < d->sites && !rc; i++)
		if (d->share == d->depth)
			rc = add_site(f, last - (int64_t)i);
		else
			rc = add_site(f, add_chain(f, d, (uint32_t)last, d->share + i,
						   d->depth + i));
	return rc;
}

void fake_deep(struct fake_heap *f, struct recipe_line *l)
{
	struct deep d;
	int64_t module = fake_heap_module(f, "/usr/lib/fake/libdeep.so");
	int64_t thread = fake_heap_thread(f, "main");

	d.depth = recipe_count(l, "depth", 1000);
	d.sites = recipe_count(l, "sites", 1);
	d.share = recipe_count(l, "share", d.depth);
	d.module = (uint32_t)module;
	if (l->rc)
		return;
	if (!d.depth || d.depth > PMM_MAX_NODES / 2 || d.share > d.depth || d.sites > d.depth ||
	    d.sites >= PMM_MAX_SITES || (d.depth - d.share) * d.sites > PMM_MAX_NODES / 2)
		recipe_fail(l, -EINVAL, "a number of 'deep' is out of range");
	else if (module < 0 || thread < 0 || make(f, &d))
		recipe_fail(l, -ENOMEM, "out of memory");
}
