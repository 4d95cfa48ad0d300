/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What roots are called: variables, thread-local ones, frames of stacks, registers. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arch/regs_arch.h"
#include "src/base/str.h"
#include "src/session/leaks/leaks_hold_priv.h"
#include "src/ptrace/process_copy.h"

#define DTV_AT	8		/* in a thread's record (glibc) */

static void registers_of(const struct process_copy_thread *t, struct dwarf_registers *r)
{
	*r = (struct dwarf_registers){ .known = (1u << ARCH_DWARF_REGISTERS) - 1 };
	arch_dwarf_values(&t->regs, r->value);
}

static size_t read_roots(void *arg, uint64_t address, void *to, size_t bytes)
{
	const struct roots *s = arg;

	return s->memory.ops->read(s->memory.arg, address, to, bytes);
}

void hold_names_init(struct hold_names *n, struct roots *s, struct symbolizer *sym)
{
	*n = (struct hold_names){ .roots = s, .heap = s->heap, .sym = sym };
	n->threads = roots_threads(s, &n->nr_threads);
	n->memory = (struct dwarf_memory){ read_roots, s };
}

void hold_names_fini(struct hold_names *n)
{
	vec_each(&n->walks, w)
		walk_fini(&w->walk);
	vec_fini(&n->walks);
	vec_fini(&n->tls);
}

static const struct process_copy_thread *thread_of(const struct hold_names *n, uint32_t tid)
{
	for (size_t i = 0; i < n->nr_threads; i++)
		if ((uint32_t)n->threads[i].tid == tid)
			return &n->threads[i];
	return NULL;
}

uint32_t hold_module_at(const struct heap *h, uint64_t address)
{
	for (uint32_t i = 1; i < h->nr_modules; i++)
		if (!h->modules[i].unload_ns && address >= h->modules[i].start &&
		    address < h->modules[i].end)
			return i;
	return 0;
}

/* ---- stacks ---- */

/* NULL where memory runs out, or nothing is known of the thread. */
static const struct walk *walk_of(struct hold_names *n, uint32_t tid)
{
	const struct process_copy_thread *t = thread_of(n, tid);
	struct dwarf_registers first;
	struct hold_walk w = { .thread = tid };

	vec_each(&n->walks, known)
		if (known->thread == tid)
			return &known->walk;
	if (!t || !n->sym)
		return NULL;
	registers_of(t, &first);
	walk_stack(n->sym, &first, &n->memory, &w.walk);
	if (vec_push(&n->walks, w)) {
		walk_fini(&w.walk);
		return NULL;
	}
	return &vec_last(&n->walks)->walk;
}

static const char *function_of(struct hold_names *n, const struct walk_frame *f)
{
	struct symbol_frame frame[SYMBOL_FRAMES_MAX];
	int nr = symbol_lookup(n->sym, f->module, f->pc, frame, SYMBOL_FRAMES_MAX);

	return nr > 0 && frame[nr - 1].named ? frame[nr - 1].function : NULL;
}

static void find_on_stack(struct hold_names *n, uint64_t at, const struct memory_range *range,
			  struct hold_root *r)
{
	const struct walk *w = walk_of(n, range->thread);
	const struct walk_frame *f = w ? walk_find(w, at) : NULL;

	r->kind = HOLD_ROOT_STACK;
	r->thread = range->thread;
	r->start = range->start;
	r->end = range->end;
	if (!f)
		return;
	r->start = f->low;
	r->end = f->high;
	r->function = function_of(n, f);
	if (symbol_local(n->sym, f, &n->memory, at, -1, &r->variable)) {
		r->start = r->variable.start;
		r->end = r->variable.end;
	}
}

/* ---- thread-local storage ---- */

static bool is_first(const struct heap *h, uint32_t module)
{
	return !strcmp(h->modules[module].path, h->exe);
}

static void find_blocks(struct hold_names *n)
{
	n->tls_found = true;
	for (size_t i = 0; i < n->nr_threads; i++)
		for (uint32_t m = 1; m < n->heap->nr_modules; m++) {
			struct hold_block_of b = { .thread = (uint32_t)n->threads[i].tid,
						   .module = m };

			if (!n->heap->modules[m].unload_ns &&
			    symbol_thread_block(n->sym, m, is_first(n->heap, m),
						arch_tp(&n->threads[i].regs), &n->memory, &b.start,
						&b.end) &&
			    vec_push(&n->tls, b))
				return;
		}
}

/*
 * A place in some thread's block of a module: static ones beside its record, dynamic ones in blocks
 * of the heap.
 */
static bool find_thread_variable(struct hold_names *n, uint64_t at, struct hold_root *r)
{
	if (n->sym && !n->tls_found)
		find_blocks(n);
	vec_each(&n->tls, b) {
		if (at < b->start || at >= b->end)
			continue;
		r->thread = b->thread;
		r->module = b->module;
		r->kind = HOLD_ROOT_THREAD_VARIABLE;
		if (!symbol_thread_variable(n->sym, b->module, at - b->start, &r->variable))
			return false;
		r->start = b->start + r->variable.start;
		r->end = r->variable.end ? b->start + r->variable.end : at + 8;
		r->variable.start = r->start;
		return true;
	}
	return false;
}

/* One block cut out of the roots. */
static int paint(struct memory *m, const struct hold_block_of *b)
{
	size_t i = vec_while(&m->roots, p, p->end <= b->start), nr = m->roots.nr;

	for (; i < nr && m->roots.v[i].start < b->end; i++) {
		const struct memory_range r = m->roots.v[i];
		struct memory_range part = r;

		if (r.kind != MEMORY_STACK && r.kind != MEMORY_ANONYMOUS && r.kind != MEMORY_TLS)
			continue;
		part.start = b->start > r.start ? b->start : r.start;
		part.end = b->end < r.end ? b->end : r.end;
		/* empty where the block begins with the range */
		m->roots.v[i].end = part.start;
		part.kind = MEMORY_TLS;
		part.thread = b->thread;
		if (vec_push(&m->roots, part))
			return -ENOMEM;
		part = r;
		part.start = b->end;
		if (part.start < part.end && vec_push(&m->roots, part))
			return -ENOMEM;
	}
	return 0;
}

int hold_root_paint(struct hold_names *n, struct memory *m)
{
	int rc = 0;

	if (n->sym && !n->tls_found)
		find_blocks(n);
	for (size_t i = 0; !rc && i < n->tls.nr; i++) {
		rc = paint(m, &n->tls.v[i]);
		if (!rc)
			rc = memory_order(m);
	}
	return rc;
}

static void find_in_thread(struct hold_names *n, uint64_t at, const struct memory_range *range,
			   struct hold_root *r)
{
	if (find_thread_variable(n, at, r))
		return;
	r->kind = HOLD_ROOT_THREAD;
	r->thread = range->thread;
	r->start = range->start;
	r->end = range->end;
}

/* ---- the others ---- */

static void find_in_memory(struct hold_names *n, uint64_t at, const struct memory_range *range,
			   struct hold_root *r)
{
	r->module = hold_module_at(n->heap, at);
	r->kind = HOLD_ROOT_MEMORY;
	r->start = range->start;
	r->end = range->end;
	if (!r->module)
		return;
	r->kind = HOLD_ROOT_SECTION;
	if (!n->sym || !symbol_variable(n->sym, r->module, at, &r->variable))
		return;
	r->kind = r->variable.name ? HOLD_ROOT_VARIABLE : HOLD_ROOT_SECTION;
	r->start = r->variable.name ? r->variable.start : at;
	r->end = r->variable.name && r->variable.end ? r->variable.end : at + 8;
}

static void find_register(struct hold_names *n, const struct memory_word *word, struct hold_root *r)
{
	const struct process_copy_thread *t = thread_of(n, word->thread);
	const struct walk *w = t ? walk_of(n, word->thread) : NULL;
	struct dwarf_registers registers;

	r->kind = word->thread ? HOLD_ROOT_REGISTER : HOLD_ROOT_KERNEL;
	r->thread = word->thread;
	if (!t)
		return;
	registers_of(t, &registers);
	for (int i = ARCH_DWARF_REGISTERS - 1; i >= 0; i--)
		if (registers.value[i] == word->value)
			r->reg = i;
	if (!w || !w->frames.nr)
		return;
	r->function = function_of(n, &w->frames.v[0]);
	if (r->reg >= 0 &&
	    symbol_local(n->sym, &w->frames.v[0], &n->memory, 0, r->reg, &r->variable))
		r->start = r->end = (uint64_t)r->reg;
}

/* What the C library owns: a thread's vector, or a stack in a block. */
static void find_owned(struct hold_names *n, uint64_t address, struct hold_root *r)
{
	r->kind = HOLD_ROOT_LIBRARY;
	r->start = r->end = address;
	for (size_t i = 0; i < n->nr_threads; i++) {
		uint64_t dtv, tp = arch_tp(&n->threads[i].regs);

		if (read_roots(n->memory.arg, tp + DTV_AT, &dtv, sizeof(dtv)) != sizeof(dtv) ||
		    address != dtv - 16)
			continue;
		r->kind = HOLD_ROOT_THREAD;
		r->thread = (uint32_t)n->threads[i].tid;
	}
}

void hold_root_find(struct hold_names *n, const struct hold_edge *e, struct hold_root *r)
{
	const struct memory *m = &n->roots->memory;
	const struct memory_range *range;

	*r = (struct hold_root){ .reg = -1, .variable.module = "" };
	if (e->place == HOLD_WORD) {
		find_register(n, &m->words.v[e->at], r);
		return;
	}
	if (e->place == HOLD_OWNED) {
		find_owned(n, m->owned.v[e->at], r);
		return;
	}
	range = &m->roots.v[vec_while(&m->roots, p, p->end <= e->at)];
	if (range->kind == MEMORY_STACK)
		find_on_stack(n, e->at, range, r);
	else if (range->kind == MEMORY_TLS)
		find_in_thread(n, e->at, range, r);
	else
		find_in_memory(n, e->at, range, r);
}

bool hold_root_in_block(struct hold_names *n, uint64_t at, struct hold_root *r)
{
	*r = (struct hold_root){ .reg = -1, .variable.module = "" };
	return find_thread_variable(n, at, r);
}

bool hold_root_same(const struct hold_root *a, const struct hold_root *b)
{
	return a->kind == b->kind && a->thread == b->thread && a->start == b->start &&
	       a->end == b->end && a->reg == b->reg;
}

/* ---- in words ---- */

static void add_thread(struct str *s, const struct hold_names *n, uint32_t tid)
{
	const struct heap *h = n->heap;

	str_addf(s, "thread %" PRIu32, tid);
	for (uint32_t i = 0; i < h->nr_threads; i++)
		if (h->threads[i].tid == tid && h->threads[i].name[0]) {
			str_addf(s, " (%s)", h->threads[i].name);
			return;
		}
}

/* "walk()", "shop::walk(int)". */
static void add_function(struct str *s, const char *function)
{
	str_addf(s, "%s%s", function, strchr(function, '(') ? "" : "()");
}

/*
 * "variable cache (server.c:12)", "static variable n of f() (f.c:3)"; of a library "... of
 * libx.so".
 */
static void add_variable(struct str *s, const struct hold_names *n, const struct hold_root *r,
			 const char *what)
{
	const struct symbol_variable *v = &r->variable;

	str_addf(s, "%s%s %s", v->function ? "static " : "", what, v->name);
	if (v->function) {
		str_add(s, " of ");
		add_function(s, v->function);
	}
	if (v->file)
		str_addf(s, " (%s:%" PRIu32 ")", str_basename(v->file), v->line);
	if (r->module && !is_first(n->heap, r->module))
		str_addf(s, " of %s", v->module);
}

static void add_memory(struct str *s, const struct hold_names *n, const struct hold_root *r)
{
	const struct proc_maps *maps = roots_maps(n->roots);

	for (size_t i = 0; maps && i < maps->nr; i++)
		if (r->start >= maps->v[i].start && r->start < maps->v[i].end) {
			if (!strcmp(maps->v[i].path, "[heap]"))
				str_add(s, "heap memory that is in no block pmm knows");
			else if (maps->v[i].path[0])
				str_addf(s, "memory of %s, from 0x%" PRIx64 " on",
					 str_basename(maps->v[i].path), maps->v[i].start);
			else
				str_addf(s, "a mapping without a file, from 0x%" PRIx64 " on",
					 maps->v[i].start);
			return;
		}
	str_addf(s, "memory at 0x%" PRIx64, r->start);
}

static void add_register(struct str *s, const struct hold_names *n, const struct hold_root *r)
{
	str_addf(s, "%s of ", r->reg >= 0 ? arch_dwarf_name(r->reg) : "a vector register");
	add_thread(s, n, r->thread);
	if (r->function) {
		str_add(s, " in ");
		add_function(s, r->function);
	}
	if (r->variable.name)
		str_addf(s, ", its variable %s", r->variable.name);
}

static void add_stack(struct str *s, const struct hold_names *n, const struct hold_root *r)
{
	if (r->variable.name) {
		str_addf(s, "variable %s of ", r->variable.name);
	} else if (r->function) {
		str_add(s, "the frame of ");
	}
	if (r->function)
		add_function(s, r->function);
	if (r->variable.file)
		str_addf(s, " (%s:%" PRIu32 ")", str_basename(r->variable.file), r->variable.line);
	str_add(s, r->function ? " on the stack of " : "the stack of ");
	add_thread(s, n, r->thread);
}

static void add_section(struct str *s, const struct hold_names *n, const struct hold_root *r)
{
	const struct symbol_variable *v = &r->variable;

	if (v->section)
		str_addf(s, "%s+0x%" PRIx64 " of %s", v->section, r->start - v->start, v->module);
	else
		str_addf(s, "data of %s", str_basename(n->heap->modules[r->module].path));
}

static void add_text(struct str *s, const struct hold_names *n, const struct hold_root *r)
{
	switch (r->kind) {
	case HOLD_ROOT_VARIABLE:
		add_variable(s, n, r, "variable");
		break;
	case HOLD_ROOT_SECTION:
		add_section(s, n, r);
		break;
	case HOLD_ROOT_THREAD_VARIABLE:
		if (r->variable.name)
			add_variable(s, n, r, "thread-local variable");
		else
			add_section(s, n, r);
		str_add(s, " of ");
		add_thread(s, n, r->thread);
		break;
	case HOLD_ROOT_THREAD:
		str_add(s, "the record or thread-local storage of ");
		if (r->thread)
			add_thread(s, n, r->thread);
		else
			str_add(s, "an ended thread");
		break;
	case HOLD_ROOT_STACK:
		add_stack(s, n, r);
		break;
	case HOLD_ROOT_REGISTER:
		add_register(s, n, r);
		break;
	case HOLD_ROOT_KERNEL:
		str_add(s, "an epoll instance or a timer in the kernel");
		break;
	case HOLD_ROOT_LIBRARY:
		str_add(s, "the C library: it is a thread's stack, or the library's own");
		break;
	default:
		add_memory(s, n, r);
	}
}

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

void hold_root_text(struct hold_names *n, const struct hold_root *r, struct hold_view_root *v)
{
	struct str s = STR_INIT;

	v->kind = r->kind;
	v->thread = r->thread;
	add_text(&s, n, r);
	v->text = str_steal(&s);
	if (r->variable.name)
		str_add(&s, r->variable.name);
	else if (r->variable.section)
		str_addf(&s, "%s+0x%" PRIx64, r->variable.section, r->start - r->variable.start);
	else if (r->kind == HOLD_ROOT_REGISTER && r->reg >= 0)
		str_add(&s, arch_dwarf_name(r->reg));
	v->name = s.len ? str_steal(&s) : NULL;
	v->function = copy(r->function ? r->function : r->variable.function);
	v->module = r->variable.module && *r->variable.module ? copy(r->variable.module)
		    : r->module ? copy(str_basename(n->heap->modules[r->module].path))
				: NULL;
	v->file = copy(r->variable.file);
	v->line = r->variable.line;
	str_fini(&s);
}
