/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Heap errors of several runs, joined. */
#include "src/analyze/findings_join.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/pmm/check.h"
#include "src/analyze/findings.h"

/* no process has addresses there: for modules whose own ones are taken */
#define ABOVE	(1ull << 50)
#define MARGIN	(1ull << 20)

/* ---- the same place ---- */

static uint32_t stack_of(const struct heap *h, uint32_t site)
{
	return site != HEAP_NO_SITE && site < h->nr_sites ? h->sites[site].node : 0;
}

static bool same_module(const struct heap_module *a, const struct heap_module *b)
{
	if (a->build_id_len && b->build_id_len)
		return a->build_id_len == b->build_id_len &&
		       !memcmp(a->build_id, b->build_id, a->build_id_len);
	return !strcmp(a->path, b->path);
}

/* Code that is in no file (of a JIT compiler) is anywhere: one is as good as another. */
static bool same_frame(const struct heap *a, const struct heap_node *x, const struct heap *b,
		       const struct heap_node *y)
{
	const struct heap_module *m = &a->modules[x->module], *n = &b->modules[y->module];

	if (!x->module || !y->module)
		return x->module == y->module &&
		       (x->pc == y->pc || (x->pc >= 4096 && y->pc >= 4096));
	return x->pc - m->bias == y->pc - n->bias && same_module(m, n);
}

static bool same_stack(const struct heap *a, uint32_t x_site, const struct heap *b, uint32_t y_site)
{
	uint32_t x = stack_of(a, x_site), y = stack_of(b, y_site);

	for (; x && y; x = a->nodes[x].parent, y = b->nodes[y].parent)
		if (!same_frame(a, &a->nodes[x], b, &b->nodes[y]))
			return false;
	return x == y;
}

static bool same_error(const struct heap *a, const struct heap_finding *f, const struct heap *b,
		       const struct heap_finding *g)
{
	return f->type == g->type && f->access == g->access && f->place == g->place &&
	       same_stack(a, f->site, b, g->site) &&
	       same_stack(a, f->alloc_site, b, g->alloc_site) &&
	       same_stack(a, f->free_site, b, g->free_site);
}

static bool same_process(const struct finding_origin *o, const struct heap *h, bool program)
{
	return o->program == program &&
	       (program || !strncmp(o->comm, h->comm, sizeof(o->comm) - 1));
}

/* Better one that this run has not met yet. UINT64_MAX: none. */
static uint64_t find(const struct findings_join *j, const struct heap *from,
		     const struct heap_finding *f, unsigned run, bool program)
{
	uint64_t found = UINT64_MAX;

	for (uint64_t i = 0; i < j->to->nr_findings; i++) {
		if (!same_process(&j->of.v[i], from, program) ||
		    !same_error(j->to, &j->to->findings[i], from, f))
			continue;
		if (!(j->of.v[i].runs & 1u << run))
			return i;
		found = i;
	}
	return found;
}

/* ---- into the other heap ---- */

static bool range_is_free(const struct heap *h, uint64_t start, uint64_t end)
{
	for (uint32_t i = 1; i < h->nr_modules; i++)
		if (start < h->modules[i].end && h->modules[i].start < end)
			return false;
	return true;
}

/* The module there, entered if it is new, elsewhere where its place is taken. 0 or -ENOMEM. */
static int take_module(struct findings_join *j, const struct heap_module *m, uint32_t *number)
{
	struct heap *to = j->to;
	struct heap_module *all, new = *m;

	for (uint32_t i = 1; i < to->nr_modules; i++)
		if (same_module(&to->modules[i], m)) {
			*number = i;
			return 0;
		}
	if (!range_is_free(to, m->start, m->end)) {
		new.start = j->room;
		new.end = new.start + (m->end - m->start);
		new.bias += new.start - m->start;
	}
	all = realloc(to->modules, (to->nr_modules + 1) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	to->modules = all;
	new.path = strdup(m->path);
	if (!new.path)
		return -ENOMEM;
	if (new.start == j->room)
		j->room = (new.end + MARGIN) & ~(MARGIN - 1);
	*number = to->nr_modules;
	all[to->nr_modules++] = new;
	return 0;
}

static int take_frame(struct findings_join *j, const struct heap *from, const struct heap_node *n,
		      struct heap_node *out)
{
	uint32_t module = 0;
	int rc = n->module ? take_module(j, &from->modules[n->module], &module) : 0;

	if (rc)
		return rc;
	*out = *n;
	out->module = module;
	if (module)
		out->pc = n->pc - from->modules[n->module].bias + j->to->modules[module].bias;
	return 0;
}

/* The stack as a new one: outermost frame first, so that parents come before their children. */
static int take_stack(struct findings_join *j, const struct heap *from, uint32_t node,
		      uint32_t *out)
{
	struct heap *to = j->to;
	struct heap_node *nodes;
	uint32_t depth = 0, at;

	for (uint32_t n = node; n; n = from->nodes[n].parent)
		depth++;
	nodes = realloc(to->nodes, ((size_t)to->nr_nodes + depth) * sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	to->nodes = nodes;
	at = to->nr_nodes + depth - 1;
	*out = at;
	for (uint32_t n = node; n; n = from->nodes[n].parent, at--) {
		if (take_frame(j, from, &from->nodes[n], &nodes[at]))
			return -ENOMEM;
		nodes[at].parent = at == to->nr_nodes ? 0 : at - 1;
	}
	to->nr_nodes += depth;
	return 0;
}

static int take_site(struct findings_join *j, const struct heap *from, uint32_t *site)
{
	struct heap *to = j->to;
	struct heap_site *sites;
	uint32_t node = stack_of(from, *site);
	int rc;

	if (!node) {
		*site = *site == HEAP_NO_SITE ? HEAP_NO_SITE : 0;
		return 0;
	}
	rc = take_stack(j, from, node, &node);
	sites = rc ? NULL : realloc(to->sites, ((size_t)to->nr_sites + 1) * sizeof(*sites));
	if (!sites)
		return -ENOMEM;
	to->sites = sites;
	sites[to->nr_sites] = (struct heap_site){ .node = node };
	*site = to->nr_sites++;
	return 0;
}

static int take_thread(struct findings_join *j, const struct heap *from, uint16_t *thread)
{
	const struct heap_thread *t = *thread != HEAP_NO_THREAD && *thread < from->nr_threads
					      ? &from->threads[*thread]
					      : NULL;
	struct heap *to = j->to;
	struct heap_thread *threads;

	for (uint32_t i = 0; t && i < to->nr_threads; i++)
		if (to->threads[i].tid == t->tid && !strcmp(to->threads[i].name, t->name)) {
			*thread = (uint16_t)i;
			return 0;
		}
	if (!t || to->nr_threads >= HEAP_NO_THREAD) {
		*thread = HEAP_NO_THREAD;
		return 0;
	}
	threads = realloc(to->threads, (to->nr_threads + 1) * sizeof(*threads));
	if (!threads)
		return -ENOMEM;
	to->threads = threads;
	threads[to->nr_threads] = (struct heap_thread){ .tid = t->tid };
	memcpy(threads[to->nr_threads].name, t->name, sizeof(t->name));
	*thread = (uint16_t)to->nr_threads++;
	return 0;
}

/* Times count from each process's own beginning. */
static void shift(uint64_t *ns, const struct heap *from, const struct heap *to)
{
	if (*ns)
		*ns = to->attach_ns + (*ns > from->attach_ns ? *ns - from->attach_ns : 0);
}

static struct finding_origin origin(const struct heap *h, const struct heap_finding *f,
				    unsigned run, bool program)
{
	struct finding_origin o = { .runs = 1u << run,
				    .run = run,
				    .pid = h->pid,
				    .program = program,
				    .death = findings_death(h, f) };

	snprintf(o.comm, sizeof(o.comm), "%s", h->comm);
	return o;
}

static int join_finding(struct findings_join *j, const struct heap *from,
			const struct heap_finding *f, unsigned run, bool program)
{
	struct heap *to = j->to;
	struct heap_finding new = *f,
			    *all = realloc(to->findings, (to->nr_findings + 1) * sizeof(*all));
	int rc = all ? 0 : -ENOMEM;

	if (all)
		to->findings = all;
	rc = rc ? rc : take_site(j, from, &new.site);
	rc = rc ? rc : take_site(j, from, &new.alloc_site);
	rc = rc ? rc : take_site(j, from, &new.free_site);
	rc = rc ? rc : take_thread(j, from, &new.thread);
	rc = rc ? rc : take_thread(j, from, &new.alloc_thread);
	rc = rc ? rc : take_thread(j, from, &new.free_thread);
	new.text = rc ? NULL : strdup(f->text ? f->text : "");
	if (!new.text)
		return -ENOMEM;
	if (vec_push(&j->of, origin(from, f, run, program))) {
		free(new.text);
		return -ENOMEM;
	}
	shift(&new.first_ns, from, to);
	shift(&new.last_ns, from, to);
	shift(&new.since_ns, from, to);
	shift(&new.alloc_ns, from, to);
	shift(&new.free_ns, from, to);
	new.number = to->nr_findings ? to->findings[to->nr_findings - 1].number + 1 : 0;
	to->findings[to->nr_findings++] = new;
	return 0;
}

/* ---- the join ---- */

int findings_join_init(struct findings_join *j, struct heap *to)
{
	*j = (struct findings_join){ .to = to, .room = ABOVE };
	for (uint64_t i = 0; i < to->nr_findings; i++)
		if (vec_push(&j->of, origin(to, &to->findings[i], 0, true)))
			return -ENOMEM;
	return 0;
}

void findings_join_fini(struct findings_join *j)
{
	vec_fini(&j->of);
}

int findings_join_add(struct findings_join *j, const struct heap *from, unsigned run, bool program,
		      bool (*counts)(const struct heap_finding *f), uint64_t *left_out)
{
	int rc = 0;

	for (uint64_t i = 0; !rc && i < from->nr_findings; i++) {
		uint64_t same = find(j, from, &from->findings[i], run, program);

		if (same != UINT64_MAX)
			j->of.v[same].runs |= 1u << run;
		else if (counts && !counts(&from->findings[i]))
			++*left_out;
		else
			rc = join_finding(j, from, &from->findings[i], run, program);
	}
	j->to->check.findings_lost += from->check.findings_lost;
	return rc;
}

static bool is_late(const struct heap_finding *f)
{
	return f->by == PMM_BY_RELEASE || f->by == PMM_BY_QUARANTINE || f->by == PMM_BY_SCAN;
}

/* The access in the act that did the damage `late`; UINT64_MAX: none. */
static uint64_t culprit(const struct findings_join *j, uint64_t late)
{
	const struct heap *h = j->to;
	const struct heap_finding *f = &h->findings[late];

	for (uint64_t i = 0; i < h->nr_findings; i++) {
		const struct heap_finding *g = &h->findings[i];

		if (!is_late(g) && g->type == f->type && g->access == PMM_ACCESS_WRITE &&
		    g->block_bytes == f->block_bytes && g->kind == f->kind &&
		    same_stack(h, g->alloc_site, h, f->alloc_site) &&
		    j->of.v[i].runs & ~j->of.v[late].runs &&
		    j->of.v[i].program == j->of.v[late].program)
			return i;
	}
	return UINT64_MAX;
}

void findings_join_turn(void *join, uint64_t i)
{
	struct findings_join *j = join;

	j->to->death = j->of.v[i].death;
	j->to->death.finding = j->to->findings[i].number;
}

void findings_join_fold(struct findings_join *j)
{
	struct heap *h = j->to;
	uint64_t kept = 0;

	for (uint64_t i = 0; i < h->nr_findings; i++) {
		uint64_t by = is_late(&h->findings[i]) ? culprit(j, i) : UINT64_MAX;

		if (by == UINT64_MAX)
			continue;
		j->of.v[by].runs |= j->of.v[i].runs;
		h->findings[i].type = PMM_FINDING_NONE;
	}
	for (uint64_t i = 0; i < h->nr_findings; i++) {
		if (h->findings[i].type == PMM_FINDING_NONE) {
			free(h->findings[i].text);
			continue;
		}
		h->findings[kept] = h->findings[i];
		j->of.v[kept++] = j->of.v[i];
	}
	h->nr_findings = kept;
	j->of.nr = kept;
}
