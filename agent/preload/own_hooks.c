/* SPDX-License-Identifier: MIT */
/*
 * Hooks of the allocator's own functions. Each is an entry that knows who calls and hands over to
 * one body, which does what the function's row says. All six words of arguments are passed on as
 * they came, however many the function takes.
 *
 * The C library's names are taken only where the program is started with objects that import them:
 * a search in all that a program loads later would be for nearly nothing.
 */
#include "agent/preload/own_hooks.h"

#include "agent/block.h"
#include "agent/preload/agent_preload.h"
#include "agent/preload/bind.h"
#include "agent/preload/own_names.h"

#define NO	(-1)

enum own_nr {
#define OWN_NR(NAME, ...) OWN_##NAME,
	OWN_NAMES(OWN_NR)
#undef OWN_NR
	OWN_NR,
	OWN_NR_LIBC = OWN_mallocx,	/* the C library's come first */
};

/* Any of them: a word, of up to six words. */
typedef uint64_t own_function(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

struct own {
	const char *name;
	own_function *hook;
	uint8_t form, kind;	/* enum own_form, enum pmm_kind */
	int8_t old, size, count;
};

struct call {
	const struct own *own;
	own_function *real;
	const uint64_t *arg;	/* six */
	const struct caller *from;
};

static own_function *reals[OWN_NR];	/* NULL: none, or not the allocator's */
static bool started, wanted;
static bool missed;		/* a function that returns blocks is not hooked */

/* mimalloc's mi_heap_visit_blocks() and mi_heap_get_backing(). */
typedef bool visit_function(void *heap, void *area, void *block, size_t bytes, void *arg);
static bool (*heap_visit)(void *heap, bool blocks, visit_function *each, void *arg);
static void *(*heap_backing)(void);

/* ---- what a call is -------------------------------------------------------------------------- */

static inline uint64_t call_real(const struct call *f)
{
	const uint64_t *a = f->arg;

	return f->real(a[0], a[1], a[2], a[3], a[4], a[5]);
}

static inline uint64_t call_real_busy(struct tctx *c, const struct call *f)
{
	return REAL(c, call_real(f));
}

static size_t call_size(const struct call *f)
{
	size_t size = f->arg[f->own->size];

	if (f->own->count != NO &&
	    __builtin_mul_overflow(f->arg[f->own->count], size, &size))
		return SIZE_MAX;
	return size;
}

static void **call_out(const struct call *f)
{
	return (void **)f->arg[0];
}

/* ---- one for each form ----------------------------------------------------------------------- */

static uint64_t allocate(struct tctx *c, const struct call *f)
{
	uint64_t ret = call_real_busy(c, f);
	void *p = f->own->form == OWN_ALLOC ? (void *)ret : ret ? NULL : *call_out(f);

	hook_result(c, p, call_size(f), f->own->kind, f->from);
	return ret;
}

/* What may throw, or call what is hooked, does so with no context of ours busy. */
static uint64_t allocate_first(const struct call *f)
{
	uint64_t ret = call_real(f);
	const struct own *own = f->own;
	bool into = own->form == OWN_STRING_INTO;
	void *p = into ? (ret ? NULL : *call_out(f)) : (void *)ret;
	struct tctx *c;

	if (!p || (own->old != NO && p == (void *)f->arg[own->old]) || !(c = hook_enter(f->from)))
		return ret;
	hook_result(c, p, own->form == OWN_NEW ? call_size(f) : str_length(p) + 1, own->kind,
		    f->from);
	agent_leave(c);
	return ret;
}

static uint64_t resize(struct tctx *c, const struct call *f)
{
	bool into = f->own->form == OWN_RESIZE_INTO;
	void *old = into ? *call_out(f) : (void *)f->arg[f->own->old], *p;
	size_t size = call_size(f);
	struct block_info was;
	bool known = hook_resizing(c, old, size, &was);
	uint64_t ret = call_real_busy(c, f);

	p = into ? (ret ? NULL : *call_out(f)) : (void *)ret;
	if (!p && f->own->form == OWN_RESIZE_FREE)
		known = false;
	hook_resized(c, old, known ? &was : NULL, p, size, f->own->kind, f->from);
	return ret;
}

/* In its place. What cannot be done there is no request that failed. */
static uint64_t expand(struct tctx *c, const struct call *f)
{
	void *old = (void *)f->arg[f->own->old];
	size_t size = call_size(f), most;
	struct block_info was;
	bool known = hook_resizing(c, old, size, &was), done;
	uint64_t ret = call_real_busy(c, f);

	done = ret != 0;
	if (f->own->form == OWN_XALLOCX) {
		done = ret >= size;
		if (!__builtin_add_overflow(size, f->arg[2], &most))
			size = ret < most ? ret : most;
	}
	if (done) {
		hook_resized(c, old, known ? &was : NULL, old, size, f->own->kind, f->from);
		return ret;
	}
	if (known)
		record_restore(c, (uint64_t)old, &was);
	move_end(&c->pub.move[PMM_MOVE_HEAP]);
	return ret;
}

static uint64_t release(struct tctx *c, const struct call *f)
{
	void *p = (void *)f->arg[f->own->old];

	if (p && (!agent.sampled || *sample_filter((uint64_t)p)))
		hook_free(c, p);
	STORE(c->busy, TCTX_IN_ALLOCATOR);
	return call_real(f);
}

/* A block of the heap that is about to go. One that was aligned begins behind mimalloc's start. */
static bool destroyed(void *heap, void *area, void *block, size_t bytes, void *arg)
{
	struct block_info was;
	uint64_t at;

	(void)heap, (void)area;
	if (!block || hook_take(arg, block))
		return true;
	if (bytes && block_below((uint64_t)block + bytes - 1, bytes - 1, &at, &was))
		hook_take(arg, (void *)at);
	return true;
}

/* The heap that a thread has from its start is not destroyed by it: its blocks stay. */
static uint64_t destroy(struct tctx *c, const struct call *f)
{
	void *heap = (void *)f->arg[0];

	if (heap && heap_visit && heap_backing && heap != heap_backing())
		heap_visit(heap, true, destroyed, c);
	return call_real_busy(c, f);
}

/* ---- entries --------------------------------------------------------------------------------- */

static uint64_t with_context(struct tctx *c, const struct call *f)
{
	switch ((enum own_form)f->own->form) {
	case OWN_ALLOC:
	case OWN_INTO:
		return allocate(c, f);
	case OWN_RESIZE:
	case OWN_RESIZE_FREE:
	case OWN_RESIZE_INTO:
		return resize(c, f);
	case OWN_EXPAND:
	case OWN_XALLOCX:
		return expand(c, f);
	case OWN_FREE:
		return release(c, f);
	case OWN_DESTROY:
		return destroy(c, f);
	default:
		return call_real(f);
	}
}

static uint64_t own_call(enum own_nr nr, const uint64_t *arg, const struct caller *from);

#define OWN_ENTRY(NAME, ...)								\
static uint64_t own_##NAME(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,	\
			   uint64_t f)							\
{											\
	struct caller from = CALLER_HERE();						\
	uint64_t arg[6] = { a, b, c, d, e, f };					\
											\
	return own_call(OWN_##NAME, arg, &from);					\
}

OWN_NAMES(OWN_ENTRY)

static const struct own owns[] = {
#define OWN_ROW(NAME, FORM, KIND, ...)							\
	[OWN_##NAME] = { #NAME, own_##NAME, OWN_##FORM, PMM_KIND_##KIND, __VA_ARGS__ },
	OWN_NAMES(OWN_ROW)
#undef OWN_ROW
};

static SLOW uint64_t own_call(enum own_nr nr, const uint64_t *arg, const struct caller *from)
{
	struct call f = { &owns[nr], reals[nr], arg, from };
	struct tctx *c;
	uint64_t ret;

	if (f.own->form == OWN_NEW || f.own->form == OWN_STRING || f.own->form == OWN_STRING_INTO)
		return allocate_first(&f);
	c = hook_enter(from);
	if (unlikely(!c))
		return call_real(&f);
	ret = with_context(c, &f);
	agent_leave(c);
	return ret;
}

/* ---- binding --------------------------------------------------------------------------------- */

struct own_bind {
	struct bind_object b;
	bool settled;
};

struct definition {
	const char *name;
	void *real;
	bool other;		/* found: an object defines the name as something else */
};

static int defines_other(void *arg, const struct link_object *o)
{
	struct definition *d = arg;
	void *p = link_symbol(&o->map, d->name);

	return d->other = p && p != d->real;
}

/*
 * What is not bound yet: may it become something else than the allocator's? At the start there is
 * one order in which names are looked for.
 */
static bool is_ambiguous(const struct own_bind *r, const char *name, void *real)
{
	struct definition d = { .name = name, .real = real };

	if (r->settled)
		return link_symbol_from(link_first(), name, NULL) != real;
	link_each(defines_other, &d);
	return d.other;
}

static bool is_known(const char *name)
{
	for (int i = 0; i < OWN_NR; i++)
		if (str_equal(owns[i].name, name))
			return true;
	return false;
}

static bool contains(const char *name, const char *word)
{
	for (; *name; name++)
		if (str_starts(name, word))
			return true;
	return false;
}

/* May it return a block, as its name is? */
static bool returns_blocks(const char *name)
{
	return (contains(name, "alloc") || contains(name, "new") || contains(name, "dup")) &&
	       !contains(name, "_stats") && !contains(name, "_mode") &&
	       !contains(name, "_heap_new") && !contains(name, "good_size") &&
	       !contains(name, "nallocx");
}

/* For readers: what is in the allocator's memory and no block of ours is not the program's. */
static void hooked_note(bool hooked)
{
	STORE(agent.own_hooked, hooked);
	if (agent_is_on() && agent_begun())
		STORE(agent.ledger->own_hooked, hooked);
}

static void binding_look(void *arg, const struct link_binding *b)
{
	const struct own_bind *r = arg;
	uint64_t value;
	int i = 0;

	if (likely(!own_likely(b->name)))
		return;
	missed |= !is_known(b->name) && returns_blocks(b->name);
	while (i < OWN_NR && (!reals[i] || owns[i].form == OWN_LOOK ||
			      !str_equal(owns[i].name, b->name)))
		i++;
	if (i == OWN_NR || !bind_inside(&r->b, b->at))
		return;
	value = LOAD(*b->at);
	if (value == (uint64_t)reals[i] ||
	    (b->call && value >= r->b.start && value < r->b.end &&
	     !is_ambiguous(r, b->name, reals[i])))
		missed |= !bind_word(&r->b, b->at, (uint64_t)owns[i].hook, r->settled);
}

static int object_bind(void *arg, const struct link_object *o)
{
	struct own_bind *r = arg;

	bind_bounds(&r->b, o);
	if (!bind_apart(&r->b))
		link_bindings(&o->map, binding_look, r);
	return 0;
}

/* The program's own malloc goes before ours: what it calls is its business. */
void own_start(void)
{
	struct own_bind r = { .settled = true };
	struct link_map *self = link_self(), *allocator = NULL;

	if (started || !self || agent.own_allocator || (form_checks && !agent.own_function) ||
	    !link_symbol_from(self->l_next, "malloc", &allocator))
		return;
	started = true;
	for (int i = 0; i < (agent.glibc ? OWN_NR_LIBC : OWN_NR); i++) {
		reals[i] = link_symbol(allocator, owns[i].name);
		if (!reals[i] && i < OWN_NR_LIBC)
			reals[i] = link_symbol_from(self->l_next, owns[i].name, NULL);
		wanted |= reals[i] && i >= OWN_NR_LIBC;
	}
	if (reals[OWN_mi_heap_destroy]) {
		heap_visit = link_symbol(allocator, "mi_heap_visit_blocks");
		heap_backing = link_symbol(allocator, "mi_heap_get_backing");
	}
	link_each(object_bind, &r);
	hooked_note(!missed && !form_checks);
}

void own_early(void)
{
	if (started || !link_settled() || (!agent.next.malloc && !resolve()) || agent.glibc)
		return;
	if (preload_on())
		own_start();
}

bool own_wanted(void)
{
	return wanted;
}

void own_loading(void)
{
	if (wanted)
		hooked_note(false);
}

void own_loaded(void)
{
	struct own_bind r = { .settled = false };

	if (!wanted)
		return;
	link_each(object_bind, &r);
	hooked_note(!missed && !form_checks);
}
