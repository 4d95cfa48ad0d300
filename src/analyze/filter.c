/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Filters: one pass over the call tree (a node passes when it or its parent does) and one over the
 * blocks.
 */
#include "src/analyze/filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "src/analyze/estimate.h"
#include "src/base/str.h"

bool filter_by_stack(const struct filter *f)
{
	return f && (f->function || f->file || f->module);
}

bool filter_by_block(const struct filter *f)
{
	return f && (f->thread || f->by_size || f->by_age);
}

bool filter_match(const char *pattern, const char *text)
{
	if (!text)
		return false;
	if (strpbrk(pattern, "*?["))
		return fnmatch(pattern, text, 0) == 0;
	return strstr(text, pattern) != NULL;
}

/* A pattern of a path is met by the file's name, too: 'libxml2*'. */
static bool match_path(const char *pattern, const char *path)
{
	return filter_match(pattern, path) || (path && filter_match(pattern, str_basename(path)));
}

static bool frame_passes(const struct filter *f, const struct frame_name *frame)
{
	if (frame->role == FRAME_MARK)
		return false;
	return (!f->function || filter_match(f->function, frame->function)) &&
	       (!f->file || match_path(f->file, frame->file)) &&
	       (!f->module || match_path(f->module, frame->module));
}

static bool node_passes(const struct filter *f, struct names *n, uint32_t node)
{
	unsigned nr;
	const struct frame_name *frame;

	/* the module's path is known without symbols; ask for those only where it passes */
	if (f->module) {
		const struct heap *h = n->heap;

		if (!match_path(f->module, h->modules[h->nodes[node].module].path))
			return false;
	}
	frame = names_find(n, node, &nr);
	for (unsigned i = 0; i < nr; i++)
		if (frame_passes(f, &frame[i]))
			return true;
	return false;
}

static int select_sites(struct selection *s, struct names *n)
{
	const struct heap *h = s->heap;
	uint8_t *node = calloc(h->nr_nodes + 1, 1);

	s->site = calloc(h->nr_sites + 1, 1);
	if (!node || !s->site) {
		free(node);
		return -ENOMEM;
	}
	for (uint32_t i = 1; i < h->nr_nodes; i++)
		node[i] = node[h->nodes[i].parent] || node_passes(s->filter, n, i);
	for (uint32_t i = 0; i < h->nr_sites; i++)
		s->site[i] = node[h->sites[i].node];
	free(node);
	return 0;
}

static int select_threads(struct selection *s, struct err *e)
{
	const struct heap *h = s->heap;
	const char *pattern = s->filter->thread;
	char *end;
	unsigned long tid = strtoul(pattern, &end, 10);
	bool number = *pattern && !*end;
	bool any = false;

	s->thread = calloc(h->nr_threads + 1, 1);
	if (!s->thread)
		return -ENOMEM;
	for (uint32_t i = 0; i < h->nr_threads; i++) {
		const struct heap_thread *t = &h->threads[i];

		s->thread[i] = (number && t->tid == tid) || filter_match(pattern, t->name);
		any |= s->thread[i];
	}
	if (any)
		return 0;
	err_set(e, -ENOENT, "no thread matches '%s'", pattern);
	err_hint(e, "the report without --thread lists the threads");
	return -ENOENT;
}

bool selection_has_block(const struct selection *s, const struct heap_block *b)
{
	const struct filter *f = s->filter;
	const struct heap *h = s->heap;
	uint64_t age_ns = h->taken_ns > b->birth_ns ? h->taken_ns - b->birth_ns : 0;

	if (s->site && !s->site[b->site])
		return false;
	if (s->thread && !s->thread[b->thread])
		return false;
	if (f && f->by_size &&
	    (b->size_bytes < f->size_bytes.min || b->size_bytes > f->size_bytes.max))
		return false;
	return !f || !f->by_age || (age_ns >= f->age_ns.min && age_ns <= f->age_ns.max);
}

static int select_blocks(struct selection *s)
{
	const struct heap *h = s->heap;
	double *bytes = calloc(h->nr_sites + 1, sizeof(*bytes)),
	       *blocks = calloc(h->nr_sites + 1, sizeof(*blocks));

	s->live_bytes = calloc(h->nr_sites + 1, sizeof(*s->live_bytes));
	s->live_blocks = calloc(h->nr_sites + 1, sizeof(*s->live_blocks));
	if (!bytes || !blocks || !s->live_bytes || !s->live_blocks) {
		free(bytes);
		free(blocks);
		return -ENOMEM;
	}
	for (uint64_t i = 0; i < h->nr_blocks; i++) {
		const struct heap_block *b = &h->blocks[i];
		double weight;

		if (!selection_has_block(s, b))
			continue;
		weight = estimate_weight(h, b->size_bytes);
		bytes[b->site] += weight * (double)b->size_bytes;
		blocks[b->site] += weight;
		s->nr_blocks++;
	}
	for (uint32_t i = 0; i < h->nr_sites; i++) {
		s->live_bytes[i] = (int64_t)estimate_round(bytes[i]);
		s->live_blocks[i] = (int64_t)estimate_round(blocks[i]);
	}
	free(bytes);
	free(blocks);
	return 0;
}

int selection_init(struct selection *s, const struct heap *h, struct names *n,
		   const struct filter *f, struct err *e)
{
	int rc = 0;

	memset(s, 0, sizeof(*s));
	s->heap = h;
	s->filter = f;
	s->from_blocks = filter_by_block(f);
	s->nr_blocks = h->nr_blocks;
	if (h->import.tool && filter_by_block(f)) {
		err_set(e, -ENOTSUP, "the profile has no single blocks, which --thread, --size and "
				     "--age select");
		err_hint(e, "select stacks, with --function, --file or --module");
		return -ENOTSUP;
	}
	if (filter_by_stack(f))
		rc = select_sites(s, n);
	if (!rc && f && f->thread)
		rc = select_threads(s, e);
	if (!rc && (filter_by_stack(f) || filter_by_block(f))) {
		s->nr_blocks = 0;
		rc = select_blocks(s);
	}
	if (!rc && !s->from_blocks) {
		/*
		 * on the stack alone, sites keep their own figures: they are exact where
		 * blocks were dropped
		 */
		free(s->live_bytes);
		free(s->live_blocks);
		s->live_bytes = s->live_blocks = NULL;
	}
	if (rc)
		selection_fini(s);
	return rc == -ENOMEM ? err_set(e, rc, "out of memory") : rc;
}

void selection_fini(struct selection *s)
{
	free(s->site);
	free(s->thread);
	free(s->live_bytes);
	free(s->live_blocks);
	memset(s, 0, sizeof(*s));
}
