/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reachability: the passes in their order.
 */
#include "src/analyze/reach/reach.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "src/analyze/reach/reach_mark.h"
#include "src/base/nanotime.h"

#define MAX_THREADS	64
/* of edges for each block: with the index, classes, parents and stacks 40 in all */
#define EDGE_BYTES	22
#define EDGE_FLOOR	(32 << 20)

struct run {
	struct reach_space space;
	struct reach_index index;
	struct reach_graph graph;
};

static unsigned threads_for(const struct reach_options *o, const struct heap *h,
			    const struct memory *m)
{
	long nr = o->nr_threads ? (long)o->nr_threads : sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t bytes = h->nr_blocks * 64;

	vec_each(&m->roots, range)
		bytes += range->end - range->start;
	/* A thread costs more than reading a megabyte. */
	if (!o->nr_threads && (uint64_t)nr > bytes >> 20)
		nr = (long)(bytes >> 20);
	return nr < 1 ? 1 : nr > MAX_THREADS ? MAX_THREADS : (unsigned)nr;
}

static int take_results(struct run *run, const struct heap *h, struct reach *r)
{
	r->nr = h->nr_blocks;
	r->class = reach_take(&run->space, r->nr);
	r->parent = reach_take(&run->space, r->nr * sizeof(*r->parent));
	if (!r->class || !r->parent)
		return -ENOMEM;
	memset(r->class, REACH_DEFINITE, r->nr);
	memset(r->parent, 0xff, r->nr * sizeof(*r->parent));
	return 0;
}

static int classify(struct run *run, const struct heap *h, const struct memory *m,
		    const struct reach_options *o, struct reach *r)
{
	unsigned nr_threads = threads_for(o, h, m);
	struct reach_plan plan = { m, o->tag_mask, nr_threads, o->max_edges };
	uint64_t start = nanotime(), built;
	int rc;

	if (!plan.max_edges)
		plan.max_edges = (h->nr_blocks * EDGE_BYTES + EDGE_FLOOR) / 4;
	rc = reach_index_init(&run->index, h, &run->space, nr_threads);
	if (!rc)
		rc = reach_graph_init(&run->graph, &run->index, &plan, &run->space);
	if (rc)
		return rc;
	r->stats.read_bytes = run->graph.read_bytes;
	r->stats.unread_bytes = run->graph.unread_bytes;
	r->stats.pointers = run->graph.pointers;
	built = nanotime();
	rc = reach_mark(&run->graph, m, o, nr_threads, r);
	if (!rc)
		rc = reach_lose(&run->graph, m, o->tag_mask, r);
	r->stats.build_ns = built - start;
	r->stats.mark_ns = nanotime() - built;
	return rc;
}

int reach_run(const struct heap *h, const struct memory *m, const struct reach_options *o,
	      struct reach *r, struct err *e)
{
	struct run run = { 0 };
	int rc;

	memset(r, 0, sizeof(*r));
	if (h->nr_blocks > REACH_MAX_BLOCKS)
		return err_set(e, -E2BIG,
			       "%" PRIu64
			       " live blocks are more than a search for leaks can take (%u)",
			       h->nr_blocks, REACH_MAX_BLOCKS);
	rc = take_results(&run, h, r);
	if (!rc)
		rc = classify(&run, h, m, o, r);
	r->stats.extra_bytes = run.space.peak;
	reach_graph_fini(&run.graph);
	reach_index_fini(&run.index);
	if (rc)
		reach_fini(r);
	if (rc == -EINTR) {
		err_set(e, rc, "the search was interrupted");
	} else if (rc) {
		err_set(e, rc, "out of memory for a search for leaks among %" PRIu64 " blocks",
			h->nr_blocks);
		err_hint(e,
			 "it needs about 40 bytes for each block, %" PRIu64 " MiB here, and 64 MiB",
			 h->nr_blocks * 40 >> 20);
	}
	return rc;
}

void reach_fini(struct reach *r)
{
	reach_unreserve(r->class, r->nr);
	reach_unreserve(r->parent, r->nr * sizeof(*r->parent));
	vec_fini(&r->habits);
	r->class = NULL;
	r->parent = NULL;
	r->nr = 0;
}
