/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors of Valgrind's XML as findings of a heap, their stacks as sites. */
#include "src/store/valgrind_priv.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/store/valgrind_text.h"

/* One more element, zeroed, at the end of an array of the heap. Its index; 0 = out of memory. */
#define GROW(v, array, nr)                                                                         \
	({                                                                                         \
		__typeof__((v)->heap->array) new_ = realloc(                                       \
			(v)->heap->array, ((size_t)(v)->heap->nr + 1) * sizeof(*new_));            \
		if (new_) {                                                                        \
			(v)->heap->array = new_;                                                   \
			new_[(v)->heap->nr] = (__typeof__(*new_)){ 0 };                            \
		} else {                                                                           \
			(v)->rc = -ENOMEM;                                                         \
		}                                                                                  \
		new_ ? (v)->heap->nr++ : 0;                                                        \
	})

/*
 * The node of `nr` frames with one address: an inlined function and those it is inlined into. 0 =
 * out of memory.
 */
static uint32_t node_of(struct valgrind *v, uint32_t parent, const struct frame *f, uint32_t nr)
{
	uint64_t key = hash_u64(f->ip) ^ parent;
	struct node_names names = { (uint32_t)v->names.nr, nr };
	uint32_t *known = hash_find(&v->nodes, key), node;

	if (known)
		return *known;
	node = GROW(v, nodes, nr_nodes);
	if (!node)
		return 0;
	v->heap->nodes[node].parent = parent;
	v->heap->nodes[node].pc = f->ip;
	if (vec_resize(&v->by_node, node + 1u) || hash_put(&v->nodes, key, node))
		v->rc = -ENOMEM;
	else
		v->by_node.v[node] = names;
	for (uint32_t i = 0; i < nr; i++)
		if (vec_push(&v->names, f[i].name))
			v->rc = -ENOMEM;
	return v->rc ? 0 : node;
}

/* Without the innermost `skip` frames. */
static uint32_t site_of(struct valgrind *v, const struct stack *s, size_t skip)
{
	uint32_t node = 0, site, *known;

	/* the outermost is the last */
	for (size_t end = s->frames.nr; end > skip && !v->rc;) {
		size_t from = end - 1;

		while (from > skip && s->frames.v[from - 1].ip == s->frames.v[from].ip)
			from--;
		node = node_of(v, node, &s->frames.v[from], (uint32_t)(end - from));
		end = from;
	}
	if (!node)
		return HEAP_NO_SITE;
	known = hash_find(&v->sites, node);
	if (known)
		return *known;
	site = GROW(v, sites, nr_sites);
	if (!site || hash_put(&v->sites, node, site)) {
		v->rc = -ENOMEM;
		return HEAP_NO_SITE;
	}
	v->heap->sites[site].node = node;
	v->heap->sites[site].number = site;
	return site;
}

static uint16_t thread_of(struct valgrind *v, uint32_t tid)
{
	for (uint32_t i = 0; i < v->heap->nr_threads; i++)
		if (v->heap->threads[i].tid == tid)
			return (uint16_t)i;
	if (v->heap->nr_threads >= HEAP_NO_THREAD)
		return HEAP_NO_THREAD;
	GROW(v, threads, nr_threads);
	if (v->rc)
		return HEAP_NO_THREAD;
	v->heap->threads[v->heap->nr_threads - 1].tid = tid;
	snprintf(v->heap->threads[v->heap->nr_threads - 1].name, sizeof(v->heap->threads->name),
		 "%s", str_text(&v->thread_name));
	return (uint16_t)(v->heap->nr_threads - 1);
}

/* ---- an error ---- */

/*
 * Functions that Valgrind put in the place of the program's. Their number in front of a stack that
 * continues behind them.
 */
static size_t replaced(struct heap_finding *f, enum valgrind_stack which, const struct stack *s)
{
	size_t nr = 0;

	for (; nr + 1 < s->frames.nr; nr++) {
		const struct valgrind_frame *name = &s->frames.v[nr].name;

		if (!name->object || !strstr(name->object, "/vgpreload_"))
			break;
		if (!nr && name->function)
			valgrind_function(f, which, name->function);
	}
	return nr;
}

/* In Valgrind's words: where what was accessed is, when that is no block. */
static char *words(const struct valgrind *v, const struct heap_finding *f)
{
	const char *aux = str_text(&v->aux);
	char *text = NULL;

	if (f->block || !*aux)
		return strdup(str_text(&v->what));
	return asprintf(&text, "%s: %c%s", str_text(&v->what), tolower((unsigned char)*aux),
			aux + 1) < 0
		       ? NULL
		       : text;
}

void valgrind_add_error(struct valgrind *v)
{
	struct heap_finding f = {
		.by = PMM_BY_VALGRIND,
		.count = 1,
		.first_ns = v->now_ns,
		.last_ns = v->now_ns,
		.site = HEAP_NO_SITE,
		.alloc_site = HEAP_NO_SITE,
		.free_site = HEAP_NO_SITE,
		.alloc_thread = HEAP_NO_THREAD,
		.free_thread = HEAP_NO_THREAD,
		.thread = thread_of(v, v->tid),
		.number = (uint32_t)v->heap->nr_findings,
	};

	valgrind_classify(&f, str_text(&v->kind), str_text(&v->what));
	for (unsigned i = 0; i < v->nr_stacks; i++) {
		enum valgrind_stack which = i ? valgrind_note(&f, v->stack[i].before)
					      : VALGRIND_ERROR;
		uint32_t site = site_of(v, &v->stack[i], replaced(&f, which, &v->stack[i]));

		switch (which) {
		case VALGRIND_ERROR:
			f.site = site;
			break;
		case VALGRIND_ALLOCATED:
			f.alloc_site = site;
			break;
		case VALGRIND_FREED:
			f.free_site = site;
			break;
		case VALGRIND_NOTHING:
			break;
		}
	}
	valgrind_note(&f, str_text(&v->aux));
	f.text = words(v, &f);
	if (!f.text || v->rc || hash_put(&v->errors, v->unique, (uint32_t)v->heap->nr_findings)) {
		v->rc = -ENOMEM;
		free(f.text);
		return;
	}
	GROW(v, findings, nr_findings);
	if (v->rc)
		free(f.text);
	else
		v->heap->findings[v->heap->nr_findings - 1] = f;
}

void valgrind_forget_error(struct valgrind *v)
{
	for (unsigned i = 0; i < MAX_STACKS; i++) {
		vec_fini(&v->stack[i].frames);
		free(v->stack[i].before);
		v->stack[i].before = NULL;
	}
	v->nr_stacks = 0;
	v->unique = v->tid = 0;
	str_clear(&v->kind);
	str_clear(&v->what);
	str_clear(&v->aux);
	str_clear(&v->thread_name);
}
