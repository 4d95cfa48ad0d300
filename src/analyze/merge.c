/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks of many processes as those of one heap. */
#include "src/analyze/merge.h"

#include <stdlib.h>
#include <string.h>

#include "include/pmm/ledger.h"
#include "src/base/fmt.h"

#define BEYOND		(1ull << 47)	/* no process has such addresses; below HEAP_SRCLOC_PC */
#define MAX_MODULES	(1u << 16)
#define PAGE_MASK	4095ull

/*
 * Room for one more element of an array of *room elements, `nr` of which are used; new ones are
 * zero. 0 or -ENOMEM.
 */
static int make_room(void *array, uint32_t nr, uint32_t *room, size_t size)
{
	uint32_t wanted = nr < 32 ? 64 : nr * 2;
	void **at = array, *grown;

	if (nr < *room)
		return 0;
	grown = realloc(*at, wanted * size);
	if (!grown)
		return -ENOMEM;
	memset((char *)grown + nr * size, 0, (wanted - nr) * size);
	*at = grown;
	*room = wanted;
	return 0;
}

/* ---- modules ---- */

static bool overlaps(const struct heap *h, uint64_t start, uint64_t end)
{
	for (uint32_t i = 1; i < h->nr_modules; i++)
		if (start < h->modules[i].end && h->modules[i].start < end)
			return true;
	return false;
}

/* What distinguishes it from other modules, whatever its addresses. */
static int64_t module_number(struct merge *m, const struct heap_module *module)
{
	struct str key = STR_INIT;
	int64_t number;

	str_addf(&key, "%s\n%llx\n", module->path,
		 (unsigned long long)(module->end - module->start));
	for (unsigned i = 0; i < module->build_id_len; i++)
		str_addf(&key, "%02x", module->build_id[i]);
	str_addf(&key, "\n%llx", (unsigned long long)(module->start - module->bias));
	number = str_error(&key) ? -ENOMEM : intern_add(&m->modules, str_text(&key));
	str_fini(&key);
	return number;
}

static int add_module(struct merge *m, const struct heap_module *module)
{
	struct heap *h = m->heap;
	struct heap_module new = *module;

	if (make_room(&h->modules, h->nr_modules, &m->room_modules, sizeof(*h->modules)))
		return -ENOMEM;
	new.path = strdup(module->path);
	if (!new.path)
		return -ENOMEM;
	new.load_ns = new.unload_ns = 0;
	if (overlaps(h, new.start, new.end)) {
		uint64_t by = (m->beyond & ~PAGE_MASK) + (new.start & PAGE_MASK) - new.start;

		new.start += by;
		new.end += by;
		new.bias += by;
		m->beyond = (new.end + PAGE_MASK) & ~PAGE_MASK;
	}
	h->modules[h->nr_modules++] = new;
	return 0;
}

/* Its index here; 0: no memory, or too many. */
static uint32_t module_of(struct merge *m, uint32_t module)
{
	int64_t number = m->modules.nr < MAX_MODULES ? module_number(m, &m->from->modules[module])
						     : -ENOMEM;

	if (number < 0 || (uint64_t)number + 1 > m->heap->nr_modules)
		return 0;
	if ((uint64_t)number + 1 == m->heap->nr_modules && add_module(m, &m->from->modules[module]))
		return 0;
	return (uint32_t)number + 1;
}

/* ---- lines that the program named itself ---- */

static int add_srcloc(struct merge *m, const char *file, const char *function, uint32_t line)
{
	struct heap *h = m->heap;
	struct heap_srcloc new = { .file = strdup(file),
				   .function = strdup(function),
				   .line = line };

	if (!new.file || !new.function ||
	    make_room(&h->srclocs, h->nr_srclocs, &m->room_srclocs, sizeof(*h->srclocs))) {
		free(new.file);
		free(new.function);
		return -ENOMEM;
	}
	h->srclocs[h->nr_srclocs++] = new;
	return 0;
}

static uint64_t srcloc_pc(struct merge *m, const struct heap_srcloc *srcloc)
{
	struct heap *h = m->heap;
	struct str key = STR_INIT;
	int64_t number;

	str_addf(&key, "%s\n%s\n%u", srcloc->file, srcloc->function, srcloc->line);
	number = str_error(&key) ? -ENOMEM : intern_add(&m->srclocs, str_text(&key));
	str_fini(&key);
	if (number < 0 || number + 1 >= HEAP_MAX_SRCLOCS)
		return PMM_FRAME_NONE;
	if (!h->nr_srclocs && add_srcloc(m, "", "", 0))
		return PMM_FRAME_NONE;
	if ((uint64_t)number + 1 == h->nr_srclocs)
		(void)add_srcloc(m, srcloc->file, srcloc->function,
				 srcloc->line); /* without it the frame is not known */
	return (uint64_t)number + 1 < h->nr_srclocs ? HEAP_SRCLOC_PC + (uint64_t)number + 1
						    : PMM_FRAME_NONE;
}

/* ---- frames ---- */

/* The frame of a node here: its module and address in terms of the merged heap. */
static struct heap_node frame_of(struct merge *m, const struct heap_node *node)
{
	const struct heap_srcloc *srcloc = heap_srcloc(m->from, node);
	struct heap_node to = { .pc = node->pc };
	const struct heap_module *theirs = &m->from->modules[node->module];

	if (srcloc) {
		to.pc = srcloc_pc(m, srcloc);
	} else if (node->module) {
		to.module = module_of(m, node->module);
		if (to.module)
			to.pc += m->heap->modules[to.module].bias - theirs->bias;
	}
	return to;
}

static uint64_t node_key(const struct heap_node *n)
{
	return hash_u64(hash_u64(n->pc) ^ ((uint64_t)n->parent << 32 | n->module));
}

static bool same_frame(const struct heap_node *a, const struct heap_node *b)
{
	return a->pc == b->pc && a->parent == b->parent && a->module == b->module;
}

static uint32_t add_node(struct merge *m, const struct heap_node *n, uint32_t limit)
{
	struct heap *h = m->heap;
	uint64_t key = node_key(n);
	uint32_t *first = hash_find(&m->nodes, key), at;

	for (at = first ? *first : 0; at; at = m->next_node.v[at])
		if (same_frame(&h->nodes[at], n))
			return at;
	if (h->nr_nodes >= limit ||
	    make_room(&h->nodes, h->nr_nodes, &m->room_nodes, sizeof(*h->nodes)) ||
	    vec_resize(&m->next_node, h->nr_nodes + 1))
		return 0;
	m->next_node.v[h->nr_nodes] = first ? *first : 0;
	if (hash_put(&m->nodes, key, h->nr_nodes))
		return 0;
	h->nodes[h->nr_nodes] = *n;
	return h->nr_nodes++;
}

/* Callers before those they called: parents have lower numbers, so the way up is finite. */
static uint32_t node_of(struct merge *m, uint32_t node, uint32_t limit)
{
	uint32_t stack[PMM_MAX_FRAMES + 8], depth = 0, here = 0;
	struct heap_node n;

	while (node && !m->node_of[node] && depth < sizeof(stack) / sizeof(*stack)) {
		stack[depth++] = node;
		node = m->from->nodes[node].parent;
	}
	if (node)
		here = m->node_of[node];
	while (depth) {
		node = stack[--depth];
		n = frame_of(m, &m->from->nodes[node]);
		n.parent = here;
		here = add_node(m, &n, limit);
		if (!here)
			return 0;
		m->node_of[node] = here;
	}
	return here;
}

/* ---- sites ---- */

static int add_site(struct merge *m, uint32_t node, uint8_t kind)
{
	struct heap *h = m->heap;

	if (make_room(&h->sites, h->nr_sites, &m->room_sites, sizeof(*h->sites)) ||
	    make_room(&h->blocks, (uint32_t)h->nr_blocks, &m->room_blocks, sizeof(*h->blocks)))
		return -ENOMEM;
	h->sites[h->nr_sites] = (struct heap_site){ .node = node };
	if (kind)
		h->blocks[h->nr_blocks++] = (struct heap_block){ .address = BEYOND + h->nr_sites,
								 .site = h->nr_sites,
								 .kind = kind };
	h->nr_sites++;
	return 0;
}

uint32_t merge_site(struct merge *m, uint32_t site, bool minor)
{
	uint32_t theirs = m->from->sites[site].node, node, *known;
	uint32_t limit = MERGE_MAX_NODES >> minor;

	if (!theirs)
		return 0;
	node = node_of(m, theirs, limit);
	known = node ? hash_find(&m->sites, (uint64_t)m->program << 32 | node) : NULL;
	if (known)
		return *known;
	if (!node || m->heap->nr_sites >= MERGE_MAX_SITES >> minor ||
	    add_site(m, node, m->kind_of[site]) ||
	    hash_put(&m->sites, (uint64_t)m->program << 32 | node, m->heap->nr_sites - 1)) {
		m->nr_unkept++;
		return 0;
	}
	return m->heap->nr_sites - 1;
}

/* ---- processes ---- */

static int begin(struct merge *m)
{
	if (m->heap)
		return 0;
	m->heap = heap_new();
	m->beyond = BEYOND;
	if (!m->heap || vec_resize(&m->next_node, 1))
		return -ENOMEM;
	m->heap->threads = calloc(1, sizeof(*m->heap->threads));	/* whose the blocks are */
	if (!m->heap->threads)
		return -ENOMEM;
	m->heap->nr_threads = 1;
	m->room_modules = m->room_nodes = m->room_sites = 1;	/* the placeholders */
	return 0;
}

int merge_open(struct merge *m, const struct heap *from)
{
	int64_t program;

	if (begin(m))
		return -ENOMEM;
	m->from = from;
	program = m->programs.nr < MERGE_MAX_PROGRAMS
			  ? intern_add(&m->programs, from->exe[0] ? from->exe : from->comm)
			  : 0;
	m->node_of = calloc(from->nr_nodes, sizeof(*m->node_of));
	m->kind_of = calloc(from->nr_sites, sizeof(*m->kind_of));
	if (program < 0 || !m->node_of || !m->kind_of)
		return -ENOMEM;
	m->program = (uint32_t)program;
	for (uint64_t i = 0; i < from->nr_blocks; i++)
		m->kind_of[from->blocks[i].site] = from->blocks[i].kind;
	return 0;
}

void merge_drops(struct merge *m)
{
	const struct heap *from = m->from;
	struct heap *to = m->heap;
	bool any = false, first = true;

	for (unsigned i = 0; i < HEAP_NR_DROPS; i++) {
		any |= from->dropped[i] != 0;
		first &= !to->dropped[i];
		to->dropped[i] += from->dropped[i];
	}
	if (!any || !first)
		return;
	to->off_reason = from->off_reason;
	to->ledger_bytes = from->ledger_bytes;
	to->ledger_limit_bytes = from->ledger_limit_bytes;
}

void merge_close(struct merge *m)
{
	free(m->node_of);
	free(m->kind_of);
	m->node_of = NULL;
	m->kind_of = NULL;
	m->from = NULL;
}

static int set_text(char **to, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	free(*to);
	*to = copy;
	return 0;
}

int merge_name(struct merge *m, const struct heap *root)
{
	struct heap *h = m->heap;

	h->pid = root->pid;
	h->ppid = root->ppid;
	h->start_realtime_ns = root->start_realtime_ns;
	h->attach_ns = root->attach_ns;
	h->taken_ns = root->taken_ns;
	h->began = root->began;
	h->end = root->end;
	h->end_status = root->end_status;
	h->tick_ns = root->tick_ns;
	return set_text(&h->comm, root->comm) || set_text(&h->exe, root->exe) ||
			       set_text(&h->cmdline, root->cmdline) ||
			       set_text(&h->host, root->host)
		       ? -ENOMEM
		       : 0;
}

void merge_group_add(struct merge_group *g, uint64_t serial, uint32_t pid)
{
	if (g->last == serial)
		return;
	g->last = serial;
	g->processes++;
	if (g->pids[0] < MERGE_PIDS)
		g->pids[++g->pids[0]] = pid;
}

void merge_group_text(struct str *s, const struct merge *m, const struct merge_group *g)
{
	const char *program = merge_program(m, g->program), *slash = strrchr(program, '/');

	program = slash && slash[1] ? slash + 1 : program;
	if (g->processes > 1)
		str_addf(s, "in %s processes of %s: pid ", fmt_count(g->processes).s, program);
	else
		str_addf(s, "in %s, pid ", program);
	for (uint64_t i = 1; i <= g->pids[0]; i++)
		str_addf(s, "%s%llu", i > 1 ? ", " : "", (unsigned long long)g->pids[i]);
	if (g->processes > g->pids[0])
		str_addf(s, " and %s more", fmt_count(g->processes - g->pids[0]).s);
}

const char *merge_program(const struct merge *m, uint32_t program)
{
	return intern_text(&m->programs, program);
}

void merge_fini(struct merge *m)
{
	heap_free(m->heap);
	intern_fini(&m->programs);
	intern_fini(&m->modules);
	intern_fini(&m->srclocs);
	hash_fini(&m->nodes);
	hash_fini(&m->sites);
	vec_fini(&m->next_node);
	*m = (struct merge){ 0 };
}
