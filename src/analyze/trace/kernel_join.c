/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the trace's numbers to the heap's. A frame of a traced stack is an address of a file; the
 * heap has addresses of the process, and files by where they were mapped: a file that it does not
 * have (the loader before the agent was there, the kernel's own library) is added with a bias of 0.
 */
#include "src/analyze/trace/kernel_join.h"

#include <stdlib.h>
#include <string.h>

#include "include/pmm/ledger.h"
#include "src/base/str.h"
#include "src/kernel/user_stack.h"

struct join {
	struct heap *h;
	const struct stack_table *stacks;
	const struct modules *modules;
	struct hash_map module_at;	/* the trace's number -> the heap's */
	struct hash_map node_at;	/* parent and place of the frame in `frames` -> node */
	struct hash_map frame_at;	/* frame -> number */
	struct hash_map stack_at;	/* the trace's number -> node */
	struct hash_map site_at, map_site_at;	/* the ledger's number -> index */
	VEC(struct heap_node) nodes;	/* the heap's, as they grow */
	VEC(struct heap_module) files;
};

bool kernel_is_agent(const char *path)
{
	return !strncmp(str_basename(path), "libpmm", 6) || !strncmp(path, "/memfd:pmm", 10);
}

/* ---- modules ---- */

static bool same_file(const struct heap_module *a, const struct module *b)
{
	const struct unwind_file *f = &b->file;

	if (strcmp(a->path, b->path) != 0)
		return false;
	return !a->build_id_len || b->state != MODULE_OK || !f->build_id_len ||
	       (a->build_id_len == f->build_id_len &&
		!memcmp(a->build_id, f->build_id, f->build_id_len));
}

static int add_file(struct join *j, const struct module *m)
{
	struct heap_module file = { .path = strdup(m->path) };

	if (!file.path)
		return -ENOMEM;
	if (m->state == MODULE_OK && m->file.build_id_len <= HEAP_BUILD_ID_MAX) {
		memcpy(file.build_id, m->file.build_id, m->file.build_id_len);
		file.build_id_len = (uint8_t)m->file.build_id_len;
	}
	if (vec_push(&j->files, file)) {
		free(file.path);
		return -ENOMEM;
	}
	return 0;
}

/* The heap's number of a module of the trace; -ENOMEM. */
static int64_t module_of(struct join *j, uint32_t number)
{
	const struct module *m = modules_at(j->modules, number);
	uint32_t *known = hash_find(&j->module_at, number);
	uint32_t i = 1;

	if (known)
		return *known;
	while (i < j->files.nr && !same_file(&j->files.v[i], m))
		i++;
	if (i == j->files.nr && add_file(j, m))
		return -ENOMEM;
	return hash_put(&j->module_at, number, i) ? -ENOMEM : (int64_t)i;
}

/* ---- nodes ---- */

static int64_t node_of(struct join *j, uint32_t parent, uint64_t pc, uint32_t module)
{
	uint64_t frame = pc ^ (uint64_t)module << 48;
	uint32_t *number, *node;
	bool added;

	number = hash_add(&j->frame_at, frame, j->frame_at.nr, NULL);
	if (!number)
		return -ENOMEM;
	node = hash_add(&j->node_at, (uint64_t)parent << 32 | *number, j->nodes.nr, &added);
	if (!node)
		return -ENOMEM;
	if (!added)
		return *node;
	if (vec_push(&j->nodes, (struct heap_node){ .pc = pc, .parent = parent, .module = module }))
		return -ENOMEM;
	return j->nodes.nr - 1;
}

/* The node of one more frame; frames of the agent, which stands between, are left out. */
static int64_t add_frame(struct join *j, uint32_t parent, uint64_t frame)
{
	uint32_t number = stack_frame_module(frame);
	uint64_t pc = stack_frame_address(frame);
	int64_t module = 0;

	if (number == STACK_KERNEL)
		return parent;
	if (number) {
		if (kernel_is_agent(modules_at(j->modules, number)->path))
			return parent;
		module = module_of(j, number);
		if (module < 0)
			return module;
		pc += j->files.v[module].bias;
	}
	if (pc <= HEAP_FRAME_MARK_MAX || pc >> STACK_ADDRESS_BITS)
		return parent;
	return node_of(j, parent, pc, (uint32_t)module);
}

/* What stands for the frames that are missing. */
static uint64_t mark_of(unsigned end)
{
	switch (end) {
	case USER_STACK_COMPLETE:
		return 0;
	case USER_STACK_SHORT:
	case USER_STACK_DEEP:
	case USER_STACK_NO_ROOM:
		return PMM_FRAME_TRUNCATED;
	default:
		return PMM_FRAME_NO_UNWIND;
	}
}

static int64_t add_stack(struct join *j, uint32_t number)
{
	unsigned nr, end;
	const uint64_t *frame = stack_table_find(j->stacks, number, &nr, &end);
	uint32_t *known = hash_find(&j->stack_at, number);
	int64_t node = 0;

	if (known)
		return *known;
	if (nr && mark_of(end))
		node = node_of(j, 0, mark_of(end), 0);
	while (nr-- && node >= 0)
		node = add_frame(j, (uint32_t)node, frame[nr]);
	if (node < 0 || hash_put(&j->stack_at, number, (uint32_t)node))
		return -ENOMEM;
	return node;
}

/* ---- sites ---- */

static int number_sites(struct hash_map *at, const struct heap_site *sites, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (sites[i].number && hash_put(at, sites[i].number, i))
			return -ENOMEM;
	return 0;
}

/* A site that is not in the heap, as one of a call that was cut off, is not known. */
static void place_site(const struct join *j, struct heap_kernel_row *row)
{
	const struct hash_map *at = row->of == HEAP_KERNEL_OF_MAPPING ? &j->map_site_at
								       : &j->site_at;
	const uint32_t *site;

	if (row->of != HEAP_KERNEL_OF_BLOCK && row->of != HEAP_KERNEL_OF_MAPPING)
		return;
	site = row->site ? hash_find(at, row->site) : NULL;
	if (site) {
		row->site = *site;
	} else if (row->site) {		/* 0: of blocks whose stack had no room */
		row->of = HEAP_KERNEL_OF_UNKNOWN;
		row->site = HEAP_NO_SITE;
	}
}

/* ---- */

static int place_rows(struct join *j, struct kernel_sums *s)
{
	vec_each(&s->rows, row) {
		int64_t node = row->node ? add_stack(j, row->node) : 0;

		if (node < 0)
			return (int)node;
		row->node = (uint32_t)node;
		place_site(j, row);
	}
	return 0;
}

static int by_what(const void *a, const void *b)
{
	const struct heap_kernel_row *x = a, *y = b;
	const uint64_t of[2][5] = { { x->kind, x->detail, x->of, x->site, x->node },
				    { y->kind, y->detail, y->of, y->site, y->node } };

	for (unsigned i = 0; i < 5; i++)
		if (of[0][i] != of[1][i])
			return of[0][i] < of[1][i] ? -1 : 1;
	return 0;
}

static void merge(struct heap_kernel_row *to, const struct heap_kernel_row *from)
{
	to->events += from->events;
	to->records += from->records;
	to->failed += from->failed;
	to->bytes += from->bytes;
	to->ns += from->ns;
	to->max_ns = from->max_ns > to->max_ns ? from->max_ns : to->max_ns;
	to->first_ns = from->first_ns < to->first_ns ? from->first_ns : to->first_ns;
	to->last_ns = from->last_ns > to->last_ns ? from->last_ns : to->last_ns;
}

/* Stacks that differed in frames of the agent alone are the same now. */
static void merge_rows(struct kernel_sums *s)
{
	size_t kept = 0;

	vec_sort(&s->rows, by_what);
	for (size_t i = 0; i < s->rows.nr; i++) {
		if (kept && !by_what(&s->rows.v[kept - 1], &s->rows.v[i]))
			merge(&s->rows.v[kept - 1], &s->rows.v[i]);
		else
			s->rows.v[kept++] = s->rows.v[i];
	}
	s->rows.nr = kept;
}

static void count_kinds(struct heap *h)
{
	for (uint32_t i = 0; i < h->nr_kernel_rows; i++)
		for (uint32_t k = 0; k < h->nr_kernel_kinds; k++)
			if (h->kernel_kinds[k].kind == h->kernel_rows[i].kind)
				h->kernel_kinds[k].events += h->kernel_rows[i].events;
	for (uint32_t k = 0; h->kernel.faults_counted && k < h->nr_kernel_kinds; k++)
		if (h->kernel_kinds[k].kind == TRACE_FAULT)
			h->kernel_kinds[k].events = h->kernel.faults;
}

/* The heap's arrays are in vectors while they grow, which may have moved them. */
static int begin(struct join *j)
{
	struct heap *h = j->h;
	int rc = number_sites(&j->site_at, h->sites, h->nr_sites);

	if (!rc)
		rc = number_sites(&j->map_site_at, h->map_sites, h->nr_map_sites);
	j->nodes.v = h->nodes;
	j->nodes.nr = j->nodes.room = h->nr_nodes;
	j->files.v = h->modules;
	j->files.nr = j->files.room = h->nr_modules;
	return rc;
}

static void end(struct join *j)
{
	j->h->nodes = j->nodes.v;
	j->h->nr_nodes = (uint32_t)j->nodes.nr;
	j->h->modules = j->files.v;
	j->h->nr_modules = (uint32_t)j->files.nr;
	hash_fini(&j->module_at);
	hash_fini(&j->node_at);
	hash_fini(&j->frame_at);
	hash_fini(&j->stack_at);
	hash_fini(&j->site_at);
	hash_fini(&j->map_site_at);
}

int kernel_join(struct heap *h, struct kernel_sums *s, const struct stack_table *stacks,
		const struct modules *modules)
{
	struct join j = { .h = h, .stacks = stacks, .modules = modules };
	int rc = begin(&j);

	if (!rc)
		rc = place_rows(&j, s);
	end(&j);
	if (rc)
		return rc;
	merge_rows(s);
	kernel_sums_sort_bins(s);
	h->kernel_rows = s->rows.v;
	h->nr_kernel_rows = (uint32_t)s->rows.nr;
	h->kernel_bins = s->bins.v;
	h->nr_kernel_bins = (uint32_t)s->bins.nr;
	h->kernel.bin_ns = s->bin_ns ? s->bin_ns : KERNEL_BIN_NS;
	h->kernel.rows_lost += s->rows_lost;
	h->kernel.bins_lost += s->bins_lost;
	memset(&s->rows, 0, sizeof(s->rows));
	memset(&s->bins, 0, sizeof(s->bins));
	kernel_sums_fini(s);
	count_kinds(h);
	return 0;
}
