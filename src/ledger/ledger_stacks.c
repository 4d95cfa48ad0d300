/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The call tree of a ledger and the modules its frames are in. */
#include "src/ledger/ledger_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/ledger/preload.h"

#define CHUNK_NODES	(1u << PMM_NODE_SHIFT)
#define MAX_PATH	8192

static void node_decode(struct ledger_reader *r, const struct pmm_node *from, uint32_t nr,
			struct heap_node *to)
{
	to->pc = PMM_FRAME_PC(from->frame);
	to->module = to->pc > PMM_FRAME_MARK_MAX ? PMM_FRAME_MODULE(from->frame) : 0;
	if (PMM_FRAME_MODULE(from->frame) == PMM_SRCLOC_MODULE && to->pc < HEAP_MAX_SRCLOCS) {
		to->pc = from->frame;
		to->module = 0;
	}
	to->parent = from->parent;
	if (to->parent >= nr) {
		to->parent = 0;
		ledger_reader_odd(r);
	}
}

/* A hook's own frame, between a custom allocator and its caller: as if it were not there. */
static void skip_hook(const struct ledger_reader *r, struct heap_node *nodes, uint32_t nr)
{
	uint32_t parent = nodes[nr].parent;

	if (parent && nodes[parent].pc == r->l->hook_pc)
		nodes[nr].parent = nodes[parent].parent;
}

/* Site's innermost frames that are beyond the nodes read. */
static void check_sites(struct ledger_reader *r, struct heap_site *sites, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (sites[i].node >= r->h->nr_nodes) {
			sites[i].node = 0;
			ledger_reader_odd(r);
		}
}

/* Where the chunk of nodes from number `first` on is, 0 = nowhere. */
static pmm_ref chunk_of(struct ledger_reader *r, uint32_t first)
{
	uint32_t nr = first >> PMM_NODE_SHIFT, index;
	pmm_ref dir, chunk;

	if (!ledger_reader_entry(r->l->node_dir, nr, PMM_NODE_DIR_SHIFT, &dir, &index) ||
	    ledger_map_read_at(r->m, dir, index, &chunk, sizeof(chunk)))
		return 0;
	return chunk;
}

int ledger_read_nodes(struct ledger_reader *r)
{
	uint64_t most = ledger_reader_arena(r) / sizeof(struct pmm_node) + 1;
	uint32_t nr = r->l->nr_nodes < most ? r->l->nr_nodes : (uint32_t)most;
	int rc = ledger_reader_take(r, nr * sizeof(struct heap_node));
	struct pmm_node *chunk = rc ? NULL : calloc(CHUNK_NODES, sizeof(*chunk));
	struct heap_node *nodes = rc ? NULL : calloc(nr ? nr : 1, sizeof(*nodes));

	if (!chunk || !nodes) {
		free(chunk);
		free(nodes);
		return rc ? rc : -ENOMEM;
	}
	if (nr < r->l->nr_nodes)
		r->damaged++;
	for (uint32_t first = 0; first < nr; first += CHUNK_NODES) {
		pmm_ref ref = chunk_of(r, first);

		if (!ref || ledger_map_read_at(r->m, ref, 0, chunk, CHUNK_NODES * sizeof(*chunk))) {
			if (nr > 1)	/* number 0 is in use without a chunk */
				ledger_reader_odd(r);
			continue;
		}
		for (uint32_t i = first ? 0 : 1; i < CHUNK_NODES && first + i < nr; i++) {
			node_decode(r, &chunk[i], first + i, &nodes[first + i]);
			skip_hook(r, nodes, first + i);
		}
	}
	free(chunk);
	free(r->h->nodes);
	r->h->nodes = nodes;
	r->h->nr_nodes = nr ? nr : 1;
	check_sites(r, r->h->sites, r->h->nr_sites);
	check_sites(r, r->h->map_sites, r->h->nr_map_sites);
	return 0;
}

/* ---- modules --------------------------------------------------------------------------------- */

static int module_read(struct ledger_reader *r, uint32_t nr, struct heap_module *to)
{
	struct pmm_module m = { 0 };
	uint32_t index;
	pmm_ref chunk;

	if (!ledger_reader_entry(r->l->module_dir, nr, PMM_MODULE_SHIFT, &chunk, &index) ||
	    ledger_map_read_at(r->m, chunk, index, &m, sizeof(m)))
		ledger_reader_odd(r);
	if (m.end < m.start || m.build_id_len > PMM_BUILD_ID_MAX || m.path_len > MAX_PATH) {
		ledger_reader_odd(r);
		m = (struct pmm_module){ 0 };
	}
	*to = (struct heap_module){
		.start = m.start, .end = m.end, .bias = m.bias, .build_id_len = m.build_id_len,
		.load_ns = m.load_tick * PMM_TICK_NS, .unload_ns = m.unload_tick * PMM_TICK_NS,
		.path = ledger_reader_string(r, m.path, m.path_len),
	};
	memcpy(to->build_id, m.build_id, m.build_id_len);
	return to->path ? 0 : -ENOMEM;
}

/*
 * The agent's own frames: none of the program's calls, so as if they were not there. A hook that
 * calls the real function has one between this and the program, where the real function was stopped
 * in the act.
 */
static int skip_agent(struct heap *h)
{
	bool *own = calloc(h->nr_modules, sizeof(*own));

	if (!own)
		return -ENOMEM;
	for (uint32_t i = 1; i < h->nr_modules; i++)
		own[i] = preload_is_agent(h->modules[i].path);
#define PAST(node) (own[h->nodes[node].module] ? h->nodes[node].parent : (node))
	/* parents come first: theirs is none of the agent's */
	for (uint32_t i = 1; i < h->nr_nodes; i++)
		h->nodes[i].parent = PAST(h->nodes[i].parent);
	for (uint32_t i = 0; i < h->nr_sites; i++)
		h->sites[i].node = PAST(h->sites[i].node);
	for (uint32_t i = 0; i < h->nr_map_sites; i++)
		h->map_sites[i].node = PAST(h->map_sites[i].node);
#undef PAST
	free(own);
	return 0;
}

int ledger_read_modules(struct ledger_reader *r)
{
	uint32_t nr = r->l->nr_modules > 1 ? r->l->nr_modules : 1;
	struct heap_module *modules = realloc(r->h->modules, nr * sizeof(*modules));
	struct heap *h = r->h;

	if (!modules)
		return -ENOMEM;
	h->modules = modules;
	for (uint32_t i = 1; i < nr; i++) {
		int rc = module_read(r, i, &modules[i]);

		if (rc)
			return rc;
		h->nr_modules = i + 1;
	}
	for (uint32_t i = 1; i < h->nr_nodes; i++)
		if (h->nodes[i].module >= h->nr_modules) {
			h->nodes[i].module = 0;
			ledger_reader_odd(r);
		}
	return skip_agent(h);
}
