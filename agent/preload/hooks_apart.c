/* SPDX-License-Identifier: MIT */
/*
 * Libraries that are loaded apart (RTLD_DEEPBIND of glibc): they look for names in themselves and
 * what they need before they look where everybody does, and so have the C library's malloc and free
 * instead of ours.
 *
 * The flag stays, as a library may rely on it. What the loader has bound to the functions that our
 * hooks stand for is bound to the hooks instead, which is what it would be without the flag. The
 * time for that is before the constructors of what is loaded, when start files' code calls
 * __gmon_start__(), or else the thread's next dlsym(): dlopen() itself has to see who calls it, so
 * it is jumped to and nothing of ours runs when it comes back; and dlsym() takes the same lock of
 * the loader.
 *
 * Libraries that may call the allocator's own functions (own_hooks.h) are bound in the same way.
 */
#include "agent/preload/agent_preload.h"
#include "agent/preload/bind.h"
#include "agent/preload/own_hooks.h"

#define DEEPBIND	8
/* threads between dlopen() and dlsym() at the same time; more leave blocks unseen */
#define MOST_LOADING	8

static uint32_t loading[MOST_LOADING];	/* thread ids, 0 = free */
static uint32_t rebinding;		/* a thread is at it */

/* A thread has loaded a library apart; else only the allocator's own functions are of interest. */
static bool apart;

struct rebind {
	struct bind_object b;
	/* some object has a malloc of its own: what is not bound yet may become that */
	bool own_allocator;
};

/* ---- objects --------------------------------------------------------------------------------- */

static void binding_look(void *arg, const struct link_binding *b)
{
	const struct rebind *r = arg;
	void *real = NULL, *hook;
	uint64_t value;

	if (!bind_inside(&r->b, b->at))
		return;
	hook = resolve_hook(b->name, &real);
	if (!hook || !real)
		return;
	value = LOAD(*b->at);
	if (value == (uint64_t)real ||
	    (b->call && value >= r->b.start && value < r->b.end && !r->own_allocator &&
	     !link_symbol(&r->b.o->map, b->name)))
		bind_word(&r->b, b->at, (uint64_t)hook, false);
}

static int object_allocates(void *arg, const struct link_object *o)
{
	struct rebind *r = arg;

	bind_bounds(&r->b, o);
	r->own_allocator |= !bind_apart(&r->b) && link_symbol(&o->map, "malloc");
	return r->own_allocator;
}

static int object_rebind(void *arg, const struct link_object *o)
{
	struct rebind *r = arg;

	bind_bounds(&r->b, o);
	if (!bind_apart(&r->b))
		link_bindings(&o->map, binding_look, r);
	return 0;
}

/* ---- who loads ------------------------------------------------------------------------------- */

static bool loading_put(uint32_t from, uint32_t to)
{
	for (unsigned i = 0; i < MOST_LOADING; i++) {
		uint32_t old = from;

		if (LOAD(loading[i]) == from && CAS(loading[i], old, to))
			return true;
	}
	return false;
}

static bool anybody_loads(void)
{
	for (unsigned i = 0; i < MOST_LOADING; i++)
		if (LOAD(loading[i]))
			return true;
	return false;
}

/* Bind to our hooks what was loaded apart, or may call the allocator's own functions. */
static void loaded(void)
{
	struct rebind r = { 0 };
	uint32_t nobody = 0, tid;

	if (likely(!anybody_loads()) || LOAD(agent.confined) || !agent.next.malloc ||
	    !CAS(rebinding, nobody, 1))
		return;
	tid = (uint32_t)sys0(gettid);
	if (LOAD(apart)) {
		link_each(object_allocates, &r);
		link_each(object_rebind, &r);
	}
	own_loaded();
	STORE_RELEASE(rebinding, 0);
	while (loading_put(tid, 0))
		;
}

/* ---- hooks ----------------------------------------------------------------------------------- */

__attribute__((used)) static void *apart_dlopen(const char *path, int flags)
{
	if (!agent.next.dlopen)
		resolve();
	loaded();
	if (path && unlikely(flags & DEEPBIND || own_wanted()) && agent_on()) {
		if (flags & DEEPBIND)
			STORE(apart, true);
		own_loading();
		loading_put(0, (uint32_t)sys0(gettid));
	}
	return agent.next.dlopen;
}

__attribute__((used)) static void *apart_dlsym(void)
{
	if (!agent.next.dlsym)
		resolve();
	loaded();
	return agent.next.dlsym;
}

__attribute__((used)) static void *apart_dlvsym(void)
{
	if (!agent.next.dlvsym)
		resolve();
	loaded();
	return agent.next.dlvsym;
}

/*
 * Called for each object before its constructors, by the start files' code, in programs that are
 * not profiled.
 */
EXPORT void __gmon_start__(void);
EXPORT void __gmon_start__(void)
{
	own_early();
	loaded();
}

ARCH_HOOK_JUMP("dlopen", "apart_dlopen")
ARCH_HOOK_JUMP("dlsym", "apart_dlsym")
ARCH_HOOK_JUMP("dlvsym", "apart_dlvsym")
