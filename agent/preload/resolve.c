/* SPDX-License-Identifier: MIT */
/*
 * Finding the real allocator: the next definition of each function after ours, once.
 */
#include "agent/preload/agent_preload.h"
#include "agent/unwind/module.h"
#include "agent/preload/link.h"
#include "agent/preload/own_called.h"

enum cxx_form cxx_form __attribute__((visibility("hidden")));

/* Names in the order of struct next_functions, and of its cxx[]. */
#define NAME_OF_ENTRY(RET, NAME, ...)	#NAME "\0"
static const char names[] = AGENT_ENTRIES(NAME_OF_ENTRY) "mallinfo2\0";

#define NAME_OF_SYMBOL(SYMBOL, ...)	#SYMBOL "\0"
static const char cxx_names[] =
	CXX_NEW(NAME_OF_SYMBOL) CXX_NEW_ALIGNED(NAME_OF_SYMBOL) CXX_DELETE(NAME_OF_SYMBOL);

static const char *base_name(const char *path)
{
	const char *base = path;

	for (; *path; path++)
		if (*path == '/')
			base = path + 1;
	return base;
}

static bool is_cxx_library(const struct link_map *m)
{
	const char *b = base_name(m->l_name);

	return str_starts(b, "libstdc++.") || str_starts(b, "libc++.") ||
	       str_starts(b, "libc++abi.");
}

/* Libraries whose blocks are at least 32 bytes apart: glibc. */
static bool is_glibc(const struct link_map *m)
{
	return str_starts(base_name(m->l_name), "libc.so.6") ||
	       str_starts(base_name(m->l_name), "libc-2.");
}

void *cxx_operator(enum cxx_which which)
{
	const char *n = cxx_names;

	if (agent.next.cxx[which])
		return agent.next.cxx[which];
	while (which--)
		n += str_length(n) + 1;
	return link_symbol_late(n);
}

void *resolve_hook(const char *name, void **real)
{
	void **slot = (void **)&agent.next;
	struct link_map *self;

	for (const char *n = names; *n; n += str_length(n) + 1, slot++) {
		if (!str_equal(n, name))
			continue;
		*real = *slot;
		self = *slot ? link_self() : NULL;
		return self ? link_symbol(self, name) : NULL;
	}
	return NULL;
}

/*
 * The operators after ours, and what they are: one form for all, as blocks of one are given to
 * another. Where a library replaces some, whichever, each call goes on to whom it is for.
 */
static enum cxx_form operators_find(const struct link_map *allocator)
{
	struct link_map *self = link_self(), *where;
	enum cxx_form form = CXX_PLAIN;
	void **slot = agent.next.cxx;

	for (const char *n = cxx_names; *n; n += str_length(n) + 1, slot++) {
		where = NULL;
		*slot = link_symbol_from(self->l_next, n, &where);
		if (!where || is_cxx_library(where))
			continue;
		if (where != allocator)
			form = CXX_CUSTOM;
		else if (n == cxx_names)
			form = CXX_SAME;
	}
	return form;
}

/*
 * Does the program run under Valgrind, with a tool that calls its own malloc in the place of each?
 * Nothing of ours would be called, and Valgrind speaks of system calls that it does not know.
 */
static bool under_valgrind(const struct link_map *o)
{
	const char *base;

	for (; o; o = o->l_next) {
		base = o->l_name ? base_name(o->l_name) : "";
		if (str_starts(base, "vgpreload_") && !str_starts(base, "vgpreload_core"))
			return true;
	}
	return false;
}

/* By the linker: where we begin, and where our code ends. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

bool resolve(void)
{
	struct link_map *self = link_self(), *allocator = NULL, *all;
	void **slot = (void **)&agent.next;

	if (!self)
		return false;
	agent.code_start = (uint64_t)__ehdr_start;
	agent.code_end = (uint64_t)etext;
	for (const char *n = names; *n; n += str_length(n) + 1)
		*slot++ = link_symbol_from(self->l_next, n,
					   str_equal(n, "malloc") ? &allocator : NULL);
	cxx_form = operators_find(allocator);
	if (!allocator)
		return false;
	agent.glibc = is_glibc(allocator);
	agent.dense = !agent.glibc || cxx_form == CXX_CUSTOM;
	if (!agent.glibc)
		agent.next.mallinfo2 = NULL;
	agent.allocator_path = allocator->l_name;
	all = link_first();
	if (under_valgrind(all)) {
		STORE(agent.state, AGENT_OFF);
		return false;
	}
	/* the program's own goes before ours: we see nothing */
	agent.own_allocator = all && link_symbol(all, "malloc");
	if (!agent.own_allocator && !own_called_last())
		own_called(allocator, &agent.own_called);
	agent.find_object = (int (*)(void *, void *))link_symbol_from(all, "_dl_find_object", NULL);
	for (; all && !agent.single_threaded; all = all->l_next)
		agent.single_threaded = link_symbol(all, "__libc_single_threaded");
	agent.vdso_clock = (long (*)(int, int64_t *))link_vdso_symbol("__vdso_clock_gettime");
	return agent.next.malloc && agent.next.free;
}

/* Once; apart, as what is called afterwards goes deep. */
static __attribute__((noinline)) bool allocator_find(void)
{
	struct module_at m;

	if (!module_find((uint64_t)agent.next.malloc, &m))
		return false;
	STORE(agent.allocator_start, m.start);
	STORE_RELEASE(agent.allocator_end, m.end);
	return true;
}

/* Is this code of the object that the real malloc is in? */
static bool in_allocator(uint64_t pc)
{
	if (!LOAD_ACQUIRE(agent.allocator_end) && !allocator_find())
		return false;
	return pc - agent.allocator_start < agent.allocator_end - agent.allocator_start;
}

struct tctx *hook_enter_busy(struct tctx *c, struct caller from)
{
	if (in_allocator(from.ra - 1))
		return agent_enter_busy(c, from, false);
	c = ctx_nested(c, from.sp);
	return c ? agent_begin(c, from.sp, false) : NULL;
}

bool preload_on(void)
{
	return (agent.next.malloc || resolve()) && agent_on();
}
