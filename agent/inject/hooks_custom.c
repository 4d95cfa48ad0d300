/* SPDX-License-Identifier: MIT */
/*
 * Hooks of allocation functions of any signature: pools, arenas and wrappers that the user named,
 * and an allocator's own functions that look like no other (mallocx).
 *
 * The latter make blocks as malloc does and are recorded as it is. The blocks of the former are
 * inside memory that came from malloc or mmap and is recorded as such, so they have the table DENSE
 * for themselves (PMM_KIND_OTHER), and while the real function runs, calls of standard functions
 * are recorded as usual. Of custom functions that call each other the outermost counts. A function
 * that only hands on what malloc gave is noticed by the address: its block is not recorded twice.
 *
 * Exceptions may leave them (agent/inject/inject_borrow.c), where there is a frame to be borrowed;
 * where there is none, operators new are not recorded, and a function that the user named ends the
 * program when it throws.
 */
#include "agent/inject/any.h"
#include "agent/inject/agent_inject.h"

/* From the beginning of a call to its end. */
struct custom {
	struct tctx *c;			/* of the allocator's own functions, busy */
	uintptr_t outer;		/* c->pub.pool_sp before */
	uint64_t size;
	uint64_t frees;			/* that the context had seen, known or unknown */
	bool known;			/* the block released was */
	struct block_info was;
};

_Static_assert(sizeof(struct custom) <= sizeof(((struct arch_call *)0)->scratch),
	       "kept in the thunk's frame");

static inline struct custom *custom_of(struct arch_call *call)
{
	return (struct custom *)call->scratch;
}

/* An argument, or `none` where there is no such. */
static inline uint64_t argument(const struct arch_call *call, int8_t number, uint64_t none)
{
	return number >= 0 && number < 6 ? call->arg[number] : none;
}

/* operator new(size) or (size, align) */
static inline bool is_operator(const struct arch_call *call)
{
	uint32_t role = any_entry(call)->role;

	return role == PMM_ROLE_NEW || role == PMM_ROLE_NEW_ALIGNED;
}

/* Such an operator, or another function that throws when there is no memory (mi_new_n). */
static inline bool may_throw(const struct arch_call *call)
{
	return is_operator(call) || any_entry(call)->kind == PMM_KIND_NEW;
}

/* Of 32-bit arguments the upper half is undefined; no block is that large. */
static inline uint64_t sane(uint64_t n)
{
	return n >> PMM_ADDRESS_BITS ? (uint32_t)n : n;
}

static uint64_t size_asked(const struct arch_call *call)
{
	const struct pmm_entry *e = any_entry(call);
	uint64_t size = is_operator(call) ? call->arg[0]
					  : sane(argument(call, e->arg_size, e->fixed_bytes));
	uint64_t count = sane(argument(call, e->arg_count, 1));

	return __builtin_mul_overflow(size, count, &size) ? SIZE_MAX : size;
}

/* One of the allocator's own functions? */
static inline bool is_own(const struct arch_call *call)
{
	return any_entry(call)->kind != PMM_KIND_OTHER;
}

static inline uint64_t frees_seen(const struct tctx *c)
{
	return pmm_ctx_sums(&c->pub).frees + c->pub.untracked_frees;
}

/* The context when this call is to be recorded; it stays busy until pause(). */
static struct tctx *begin(struct arch_call *call, const struct caller *from)
{
	struct tctx *c = inject_enter(from);

	if (!c)
		return NULL;
	if (c->pub.pool_sp && unwind_inside(c, from, c->pub.pool_sp)) {
		agent_leave(c);
		return NULL;
	}
	/* what is below us, or just here, was left by an exception or a jump */
	custom_of(call)->outer = from->sp < c->pub.pool_sp ? c->pub.pool_sp : 0;
	c->pub.pool_sp = from->sp;
	c->last_address = 0;
	return c;
}

/*
 * The same context after the real function, unless the agent has turned itself off or this is a
 * forked child.
 */
static struct tctx *resume(struct arch_call *call, const struct caller *from)
{
	struct tctx *c = inject_enter(from);

	if (c)
		c->pub.pool_sp = custom_of(call)->outer;
	return c;
}

static int own_begin(struct arch_call *call, const struct caller *from, void *old)
{
	struct custom *k = custom_of(call);

	k->size = size_asked(call);
	if (may_throw(call) &&
	    (agent.borrowed == (uint64_t)arch_own_code || inject_passes(k->size)))
		return 0;		/* nothing to borrow: an exception would find no way */
	k->c = inject_enter(from);
	if (!k->c)
		return 0;
	if (may_throw(call)) {	/* when it throws, the next hook on this thread counts it */
		k->c->throwing_size = k->size;
		k->c->throwing_site = unwind_site(k->c, from, 0);
		k->c->throwing = true;
	}
	k->known = hook_resizing(k->c, old, k->size, &k->was);
	STORE(k->c->busy, TCTX_IN_ALLOCATOR);
	return any_call(call);
}

static void own_end(struct arch_call *call, const struct caller *from, void *old)
{
	struct custom *k = custom_of(call);

	STORE(k->c->busy, TCTX_RECORDING);
	k->c->throwing = false;
	hook_resized(k->c, old, k->known ? &k->was : NULL, (void *)call->result, k->size,
		     any_entry(call)->kind, from);
	agent_leave(k->c);
}

static void allocated(struct tctx *c, uint64_t p, uint64_t size, const struct caller *from)
{
	struct block_info stale;

	if (p && c->last_address == p)
		return;			/* malloc's own block */
	if (p && !hook_hit(c, size))
		return;
	if (p)
		record_free_pool(c, p, &stale);	/* its pool was emptied without a word */
	hook_allocated(c, (void *)p, size, PMM_KIND_OTHER, from);
}

static SLOW __attribute__((used)) int alloc_begin(struct arch_call *call)
{
	struct caller from = any_caller(call);
	struct tctx *c;

	if (is_own(call))
		return own_begin(call, &from, NULL);
	c = begin(call, &from);
	if (!c)
		return 0;
	custom_of(call)->size = size_asked(call);
	agent_leave(c);
	return any_call(call);
}

static SLOW __attribute__((used)) void alloc_end(struct arch_call *call)
{
	struct caller from = any_caller(call);
	struct tctx *c;

	if (is_own(call)) {
		own_end(call, &from, NULL);
		return;
	}
	c = resume(call, &from);
	if (!c)
		return;
	allocated(c, call->result, custom_of(call)->size, &from);
	agent_leave(c);
}

ARCH_ANY_HOOK(inject_custom_alloc, alloc_begin, alloc_end);

static SLOW __attribute__((used)) int free_begin(struct arch_call *call)
{
	struct caller from = any_caller(call);
	uint64_t p = argument(call, any_entry(call)->arg_pointer, 0);
	struct tctx *c = !inject_passes_free((void *)p) ? begin(call, &from) : NULL;
	struct custom *k = custom_of(call);

	if (!c)
		return 0;
	k->known = record_free_pool(c, p, &k->was);
	k->frees = frees_seen(c);
	agent_leave(c);
	return any_call(call);
}

static SLOW __attribute__((used)) void free_end(struct arch_call *call)
{
	struct caller from = any_caller(call);
	struct tctx *c = resume(call, &from);

	if (!c)
		return;
	/* nor did free() see it */
	if (!custom_of(call)->known && custom_of(call)->frees == frees_seen(c))
		record_free_unknown(c);
	agent_leave(c);
}

ARCH_ANY_HOOK(inject_custom_free, free_begin, free_end);

static SLOW __attribute__((used)) int realloc_begin(struct arch_call *call)
{
	struct caller from = any_caller(call);
	uint64_t old = argument(call, any_entry(call)->arg_pointer, 0);
	struct custom *k = custom_of(call);
	struct tctx *c;

	if (is_own(call))
		return own_begin(call, &from, (void *)old);
	c = begin(call, &from);
	if (!c)
		return 0;
	k->size = size_asked(call);
	if (old)
		move_begin(&c->pub.move[PMM_MOVE_POOL], old, k->size);
	k->known = !inject_passes_free((void *)old) && record_free_pool(c, old, &k->was);
	if (k->known)
		STORE(c->pub.move[PMM_MOVE_POOL].old_bytes, k->was.size);
	agent_leave(c);
	return any_call(call);
}

static SLOW __attribute__((used)) void realloc_end(struct arch_call *call)
{
	struct caller from = any_caller(call);
	struct custom *k = custom_of(call);
	uint64_t old = argument(call, any_entry(call)->arg_pointer, 0);
	struct tctx *c;

	if (is_own(call)) {
		own_end(call, &from, (void *)old);
		return;
	}
	c = resume(call, &from);
	if (!c)
		return;
	if (call->result || k->size || !old) {
		if (!call->result && k->known)
			record_restore(c, old, &k->was);
		allocated(c, call->result, k->size, &from);
	}
	move_end(&c->pub.move[PMM_MOVE_POOL]);
	agent_leave(c);
}

ARCH_ANY_HOOK(inject_custom_realloc, realloc_begin, realloc_end);

/* ---- an allocator's own functions whose result is no new block of a size asked for ----------- */

static SLOW __attribute__((used)) int string_begin(struct arch_call *call)
{
	struct caller from = any_caller(call);

	if (argument(call, any_entry(call)->arg_pointer, 0))
		return 0;		/* the caller has memory for it */
	return own_begin(call, &from, NULL);
}

static SLOW __attribute__((used)) void string_end(struct arch_call *call)
{
	struct caller from = any_caller(call);
	const char *text = (const char *)call->result;
	uint64_t length = 0;

	if (!text) {			/* of nothing, of a path that is none, or no memory */
		agent_leave(custom_of(call)->c);
		return;
	}
	while (text[length])
		length++;
	custom_of(call)->size = length + 1;
	own_end(call, &from, NULL);
}

ARCH_ANY_HOOK(inject_string, string_begin, string_end);

static SLOW __attribute__((used)) int in_place_begin(struct arch_call *call)
{
	struct caller from = any_caller(call);
	struct custom *k = custom_of(call);

	k->size = size_asked(call);
	k->c = inject_enter(&from);
	if (!k->c)
		return 0;
	STORE(k->c->busy, TCTX_IN_ALLOCATOR);
	return any_call(call);
}

/* That it cannot grow is no failure: the program then takes another block. */
static void in_place_end(struct arch_call *call, bool resized)
{
	struct caller from = any_caller(call);
	void *p = (void *)argument(call, any_entry(call)->arg_pointer, 0);
	struct custom *k = custom_of(call);

	STORE(k->c->busy, TCTX_RECORDING);
	if (resized) {
		k->known = hook_resizing(k->c, p, k->size, &k->was);
		hook_resized(k->c, p, k->known ? &k->was : NULL, p, k->size, any_entry(call)->kind,
			     &from);
	}
	agent_leave(k->c);
}

static SLOW __attribute__((used)) void expand_end(struct arch_call *call)
{
	in_place_end(call, call->result);
}

ARCH_ANY_HOOK(inject_expand, in_place_begin, expand_end);

static SLOW __attribute__((used)) void xallocx_end(struct arch_call *call)
{
	in_place_end(call, call->result >= custom_of(call)->size);
}

ARCH_ANY_HOOK(inject_xallocx, in_place_begin, xallocx_end);
