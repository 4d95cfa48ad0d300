/* SPDX-License-Identifier: MIT */
/*
 * Libraries that are loaded apart (RTLD_DEEPBIND of glibc): they look for names in themselves and
 * what they need before they look where everybody does, and so have the C library's malloc and free
 * instead of ours.
 *
 * The flag stays, as a library may rely on it. What the loader has bound to the functions that our
 * hooks stand for is bound to the hooks instead, which is what it would be without the flag. The
 * time for that is the thread's next dlsym(): dlopen() itself has to see who calls it, so it is
 * jumped to and nothing of ours runs when it comes back; and dlsym() takes the same lock of the
 * loader. What the library's constructors allocate and release before that passes unseen.
 *
 * A word that is changed must have been set by the loader for good. One that is to be read-only
 * once the loader is done with it (RELRO) is left alone as long as it is writable: another thread
 * is just loading that object.
 */
#include <elf.h>

#include "agent/env.h"
#include "agent/preload/exec_elf.h"
#include "agent/preload/link.h"
#include "agent/preload/agent_preload.h"
#include "agent/preload/own_late.h"

#define DEEPBIND	8
/* threads between dlopen() and dlsym() at the same time; more leave blocks unseen */
#define MOST_LOADING	8
#define EFAULT		14

static uint32_t loading[MOST_LOADING];	/* thread ids, 0 = free */
static uint32_t rebinding;		/* a thread is at it */

struct rebind {
	const struct link_object *o;
	uint64_t start, end;		/* of the object */
	uint64_t relro_start, relro_end;
	/* some object has a malloc of its own: what is not bound yet may become that */
	bool own_allocator;
};

/* ---- one word -------------------------------------------------------------------------------- */

/* Is memory read-only? Asked of the kernel, which writes what is there. */
static bool is_read_only(uint64_t *at)
{
	uint64_t same = LOAD(*at);
	struct {
		void *base;
		size_t bytes;
	} local = { &same, sizeof(same) }, remote = { at, sizeof(same) };

	return arch_syscall(ARCH_SYS_process_vm_writev, sys0(gettid), (long)&local, 1,
			    (long)&remote, 1, 0) == -EFAULT;
}

static void word_set(const struct rebind *r, uint64_t *at, uint64_t value)
{
	uint64_t page = (uint64_t)at & ~(uint64_t)(ARCH_PAGE - 1);

	if (page < r->relro_start || page >= r->relro_end) {
		STORE(*at, value);
		return;
	}
	if (!is_read_only(at) ||
	    sys_failed(sys3(mprotect, page, ARCH_PAGE, SYS_PROT_READ | SYS_PROT_WRITE)))
		return;
	STORE(*at, value);
	sys3(mprotect, page, ARCH_PAGE, SYS_PROT_READ);
}

static void binding_look(void *arg, const struct link_binding *b)
{
	const struct rebind *r = arg;
	uint64_t at = (uint64_t)b->at, value;
	void *real = NULL, *hook;

	if (at < r->start || at > r->end - sizeof(value) || at & (sizeof(value) - 1))
		return;
	hook = resolve_hook(b->name, &real);
	if (!hook || !real)
		return;
	value = LOAD(*b->at);
	if (value == (uint64_t)real || (b->call && value >= r->start && value < r->end &&
					!r->own_allocator && !link_symbol(&r->o->map, b->name)))
		word_set(r, b->at, (uint64_t)hook);
}

/* ---- objects --------------------------------------------------------------------------------- */

static void bounds_read(struct rebind *r, const struct link_object *o)
{
	const Elf64_Phdr *ph = o->headers;

	r->o = o;
	r->start = UINT64_MAX;
	r->end = r->relro_start = r->relro_end = 0;
	for (unsigned i = 0; i < o->nr_headers; i++) {
		uint64_t start = o->map.l_addr + ph[i].p_vaddr, end = start + ph[i].p_memsz;

		if (ph[i].p_type == PT_LOAD) {
			r->start = start < r->start ? start : r->start;
			r->end = end > r->end ? end : r->end;
		} else if (ph[i].p_type == PT_GNU_RELRO) {
			r->relro_start = start & ~(uint64_t)(ARCH_PAGE - 1);
			r->relro_end = end & ~(uint64_t)(ARCH_PAGE - 1);
		}
	}
}

/* The allocator's own object, whose internal calls are not recorded, and the loader. */
static bool is_apart(const struct rebind *r)
{
	uint64_t allocator = (uint64_t)agent.next.malloc, loader = link_aux(AT_BASE);

	return (allocator >= r->start && allocator < r->end) ||
	       (loader >= r->start && loader < r->end);
}

static int object_allocates(void *arg, const struct link_object *o)
{
	struct rebind *r = arg;

	bounds_read(r, o);
	r->own_allocator |= !is_apart(r) && link_symbol(&o->map, "malloc");
	return r->own_allocator;
}

static int object_rebind(void *arg, const struct link_object *o)
{
	struct rebind *r = arg;

	bounds_read(r, o);
	if (!is_apart(r))
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

/* Bind to our hooks what was loaded apart, if anything was. */
static void loaded(void)
{
	struct rebind r = { 0 };
	uint32_t nobody = 0, tid;

	if (likely(!anybody_loads()) || LOAD(agent.confined) || !agent.next.malloc ||
	    !CAS(rebinding, nobody, 1))
		return;
	tid = (uint32_t)sys0(gettid);
	link_each(object_allocates, &r);
	link_each(object_rebind, &r);
	STORE_RELEASE(rebinding, 0);
	while (loading_put(tid, 0))
		;
}

/* ---- hooks ----------------------------------------------------------------------------------- */

const bool own_late_looks = false;
const bool exec_elf_bypasses = false;

void own_late_met(void)
{
}

__attribute__((used)) static void *apart_dlopen(const char *path, int flags)
{
	if (!agent.next.dlopen)
		resolve();
	loaded();
	own_late_look(NULL);
	own_late_open(path, flags);
	if (unlikely(flags & DEEPBIND) && path && agent_on())
		loading_put(0, (uint32_t)sys0(gettid));
	return agent.next.dlopen;
}

__attribute__((used)) static void *apart_dlsym(const void *handle)
{
	if (!agent.next.dlsym)
		resolve();
	loaded();
	own_late_look(handle);
	return agent.next.dlsym;
}

__attribute__((used)) static void *apart_dlvsym(const void *handle)
{
	if (!agent.next.dlvsym)
		resolve();
	loaded();
	own_late_look(handle);
	return agent.next.dlvsym;
}

ARCH_HOOK_JUMP("dlopen", "apart_dlopen")
ARCH_HOOK_JUMP("dlsym", "apart_dlsym")
ARCH_HOOK_JUMP("dlvsym", "apart_dlvsym")
