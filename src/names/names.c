/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of frames: a hash from address to what it resolved to, filled on demand.
 */
#include "src/names/names.h"

#include <stdlib.h>
#include <string.h>

#include "include/pmm/ledger.h"
#include "src/base/hash.h"

#define NAMES_MAX_INLINE 32
#define MONITOR_DEPTH	 6	/* functions of pmm.h's own inside one that the program calls */

struct names_entry {
	uint64_t pc;
	uint32_t module;
	uint32_t nr; /* 0: slot not in use */
	struct frame_name *frame;
};

void names_init(struct names *n, const struct heap *h, names_resolve *resolve, void *ctx)
{
	static const struct frame_name lost = { .role = FRAME_PROGRAM };

	memset(n, 0, sizeof(*n));
	n->heap = h;
	n->resolve = resolve;
	n->ctx = ctx;
	n->lost = &lost;
}

void names_fini(struct names *n)
{
	for (uint32_t i = 0; i < n->nr_slots; i++)
		free(n->entry[i].frame);
	free(n->entry);
	free(n->unnamed);
	free(n->of_program);
	free(n->of_runtime);
	n->of_program = n->of_runtime = NULL;
	n->entry = NULL;
	n->unnamed = NULL;
	n->nr_entries = n->nr_slots = 0;
}

static struct names_entry *slot_of(struct names_entry *table, uint32_t nr_slots, uint64_t pc,
				   uint32_t module)
{
	uint64_t x = (pc ^ (uint64_t)module << 48) * 0x9e3779b97f4a7c15ull;
	uint32_t i = (uint32_t)(x >> 32) & (nr_slots - 1);

	while (table[i].nr && (table[i].pc != pc || table[i].module != module))
		i = (i + 1) & (nr_slots - 1);
	return &table[i];
}

static bool grow(struct names *n)
{
	uint32_t nr_slots = n->nr_slots ? n->nr_slots * 2 : 1024;
	struct names_entry *table;

	if (n->nr_entries * 2 < n->nr_slots)
		return true;
	table = calloc(nr_slots, sizeof(*table));
	if (!table)
		return false;
	for (uint32_t i = 0; i < n->nr_slots; i++)
		if (n->entry[i].nr)
			*slot_of(table, nr_slots, n->entry[i].pc, n->entry[i].module) = n->entry[i];
	free(n->entry);
	n->entry = table;
	n->nr_slots = nr_slots;
	return true;
}

static const char *mark_text(uint64_t pc)
{
	switch (pc) {
	case PMM_FRAME_NONE:
		return "[stack unknown]";
	case PMM_FRAME_TRUNCATED:
		return "[stack cut here: --frames reached]";
	case PMM_FRAME_NO_UNWIND:
		return "[stack lost here: code without unwind information]";
	case PMM_FRAME_FULL:
		return "[stack not kept: ledger full]";
	}
	return "[stack ends here]";
}

static void note_unnamed(struct names *n, uint32_t module)
{
	if (!n->unnamed)
		n->unnamed = calloc((size_t)n->heap->nr_modules + 1, 1);
	n->failed |= !n->unnamed;
	if (n->unnamed)
		n->unnamed[module] = 1;
}

bool names_unnamed(const struct names *n, uint32_t module)
{
	return n->unnamed && n->unnamed[module];
}

/* Needs no symbols: the program said it itself, or the tool whose profile it is. */
static void name_srcloc(const struct heap_srcloc *p, struct frame_name *out)
{
	out->function = p->function[0] ? p->function : NULL;
	out->linkage = out->function;
	out->file = p->file[0] ? p->file : NULL;
	out->line = p->line;
}

void names_skip(struct names *n, const char *const *pattern, unsigned nr)
{
	n->skip = pattern;
	n->nr_skip = nr;
}

static enum frame_role role_in(const struct names *n, const struct frame_name *f)
{
	enum frame_role role = role_of(f->module, f->function);

	for (unsigned i = 0; f->function && i < n->nr_skip; i++)
		if (role_matches(n->skip[i], f->function))
			return FRAME_ALLOCATOR;
	return role == FRAME_PROGRAM && f->file && role_runtime_source(f->file) ? FRAME_RUNTIME
										: role;
}

static unsigned resolve_node(struct names *n, uint32_t node, struct frame_name *out)
{
	const struct heap_node *at = &n->heap->nodes[node];
	const struct heap_module *m = &n->heap->modules[at->module];
	unsigned nr = 0;

	memset(out, 0, NAMES_MAX_INLINE * sizeof(*out));
	if (at->pc <= PMM_FRAME_MARK_MAX || node == 0) {
		out[0].function = mark_text(node ? at->pc : PMM_FRAME_NONE);
		out[0].role = FRAME_MARK;
		return 1;
	}
	if (heap_srcloc(n->heap, at)) {
		name_srcloc(heap_srcloc(n->heap, at), out);
		if (at->module)
			out[0].module = m->path[0] ? m->path : NULL;
		out[0].role = role_in(n, &out[0]);
		return 1;
	}
	if (n->resolve)
		nr = n->resolve(n->ctx, n->heap, node, out, NAMES_MAX_INLINE);
	if (nr == 0 || nr > NAMES_MAX_INLINE) {
		memset(out, 0, sizeof(*out));
		nr = 1;
	}
	if (!out[nr - 1].function && at->module)
		note_unnamed(n, at->module);
	for (unsigned i = 0; i < nr; i++) {
		out[i].address = at->pc;
		out[i].offset = at->module ? at->pc - m->bias : 0;
		if (at->module)
			out[i].module = m->path[0] ? m->path : NULL;
		out[i].inlined = i + 1 < nr;
		out[i].role = role_in(n, &out[i]);
	}
	return nr;
}

const struct frame_name *names_find(struct names *n, uint32_t node, unsigned *nr)
{
	struct frame_name frame[NAMES_MAX_INLINE];
	const struct heap_node *at = &n->heap->nodes[node];
	struct names_entry *e;

	*nr = 1;
	if (!grow(n)) {
		n->failed = true;
		return n->lost;
	}
	e = slot_of(n->entry, n->nr_slots, node ? at->pc : 0, at->module);
	if (!e->nr) {
		unsigned found = resolve_node(n, node, frame);

		e->frame = malloc(found * sizeof(*frame));
		if (!e->frame) {
			n->failed = true;
			return n->lost;
		}
		memcpy(e->frame, frame, found * sizeof(*frame));
		e->pc = node ? at->pc : 0;
		e->module = at->module;
		e->nr = found;
		n->nr_entries++;
	}
	*nr = e->nr;
	return e->frame;
}

/*
 * Is frame i of this node pmm.h's own code, in the program? Then it hands memory on, as the
 * function does that the program called.
 */
static bool in_monitor(struct names *n, uint32_t node, unsigned i)
{
	unsigned nr, left = MONITOR_DEPTH;
	const struct frame_name *f = names_find(n, node, &nr);

	if (!role_in_monitor(f[i].function))
		return false;
	for (; node && left; node = n->heap->nodes[node].parent, i = 0) {
		f = names_find(n, node, &nr);
		for (; i < nr && left; i++, left--)
			if (f[i].role == FRAME_ALLOCATOR)
				return true;
	}
	return false;
}

const struct frame_name *names_of_program(struct names *n, uint32_t node)
{
	unsigned nr;
	const struct frame_name *f = names_find(n, node, &nr);

	for (unsigned i = 0; i < nr; i++)
		if (f[i].role == FRAME_PROGRAM && !in_monitor(n, node, i))
			return &f[i];
	return NULL;
}

static bool is_of_program(struct names *n, uint32_t node)
{
	return names_of_program(n, node) != NULL;
}

static const struct frame_name *runtime_frame(struct names *n, uint32_t node)
{
	unsigned nr;
	const struct frame_name *f = names_find(n, node, &nr);

	for (unsigned i = 0; i < nr; i++)
		if (f[i].role == FRAME_RUNTIME)
			return &f[i];
	return NULL;
}

static bool is_of_runtime(struct names *n, uint32_t node)
{
	return runtime_frame(n, node) != NULL;
}

#define NOT_KNOWN	0u
#define NOWHERE		1u	/* else the node, + 1: it is never the root */

/*
 * The nearest node of a stack that is such a one; 0: none. Each node is looked at once, however
 * many stacks it is part of: those that were passed have the answer, too.
 */
static uint32_t nearest(struct names *n, uint32_t **known, uint32_t stack,
			bool (*is)(struct names *n, uint32_t node))
{
	const struct heap_node *nodes = n->heap->nodes;
	uint32_t answer = NOWHERE, end = stack;

	if (!*known)
		*known = calloc((size_t)n->heap->nr_nodes + 1, sizeof(**known));
	n->failed |= !*known;
	for (; end; end = nodes[end].parent) {
		if (*known && (*known)[end] != NOT_KNOWN) {
			answer = (*known)[end];
			break;
		}
		if (is(n, end)) {
			answer = end + 1;
			break;
		}
	}
	for (uint32_t at = stack; *known && at; at = nodes[at].parent) {
		(*known)[at] = answer;
		if (at == end)
			break;
	}
	return answer == NOWHERE ? 0 : answer - 1;
}

static const struct frame_name *answer_at(uint32_t at, const struct frame_name *f, uint32_t *node)
{
	if (node)
		*node = at;
	return f;
}

const struct frame_name *names_responsible(struct names *n, uint32_t stack, uint32_t *node)
{
	uint32_t at = nearest(n, &n->of_program, stack, is_of_program);
	const struct frame_name *innermost;
	unsigned nr;

	if (at)
		return answer_at(at, names_of_program(n, at), node);
	if (!stack)
		return answer_at(0, NULL, node);
	innermost = names_find(n, stack, &nr);
	if (innermost->role == FRAME_ALLOCATOR)
		at = nearest(n, &n->of_runtime, stack, is_of_runtime);
	return at ? answer_at(at, runtime_frame(n, at), node)
		  : answer_at(stack, innermost, node);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool names_same_line(const struct frame_name *a, const struct frame_name *b)
{
	if (a == b)
		return true;
	if (!a || !b || !a->function || !b->function)
		return false;
	return a->line == b->line && same_text(a->function, b->function) &&
	       same_text(a->file, b->file) && same_text(a->module, b->module);
}

static uint64_t text_key(uint64_t key, const char *text)
{
	return hash_u64(key ^ (text ? hash_bytes(text, strlen(text)) : 1));
}

uint64_t names_line_key(const struct frame_name *f)
{
	if (!f || !f->function)
		return hash_u64((uint64_t)(uintptr_t)f);
	return text_key(text_key(text_key(f->line, f->function), f->file), f->module);
}
