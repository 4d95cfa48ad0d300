/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of the functions found are patched.
 *
 * Everything that makes or releases blocks is, in every object, whichever the program uses: a block
 * is recorded where it is made. Not
 *   - the dynamic loader's own malloc: before the C library is there it is a minimal one,
 *     afterwards it calls the C library's;
 *   - __libc_malloc and the like where the same object has malloc: they are second names of it, or
 *     (musl) for the library itself;
 *   - mmap of anything but a C library: it calls the C library's;
 *   - functions that call another that is patched (operators new and delete mostly): that one sees
 *     the block.
 */
#include <errno.h>
#include <string.h>

#include "src/entries/detour.h"
#include "src/entries/entries_scan.h"

#define MAX_CODE	65536u		/* of a function that is searched for calls */
#define CODE_GUESS	512u		/* where its size is not known */
#define NR_SLOTS	32u

static bool has_public(const struct scan *s, const struct candidate *libc)
{
	for (size_t i = 0; i < s->found.nr; i++) {
		const struct candidate *c = &s->found.v[i];

		if (c->object == libc->object && candidate_is(c, libc->name->name))
			return true;
	}
	return false;
}

/* A local function of the same name as a global one of the same object is the program's own. */
static bool is_namesake(const struct scan *s, const struct candidate *local)
{
	for (size_t i = 0; local->local && i < s->found.nr; i++) {
		const struct candidate *c = &s->found.v[i];

		if (!c->local && c->object == local->object && c->name == local->name &&
		    c->prefix == local->prefix)
			return true;
	}
	return false;
}

/* Functions that only the C library's own are meant by. */
static bool is_libcs(unsigned role)
{
	return role == PMM_ROLE_MMAP || role == PMM_ROLE_MUNMAP || role == PMM_ROLE_MREMAP ||
	       role == PMM_ROLE_PRCTL || role == PMM_ROLE_SYSCALL || role == PMM_ROLE_SIGACTION;
}

/* ---- functions that only call others -------------------------------------------------------- */

struct caller {
	const struct scan *s;
	const struct object *object;
	/* PLT slots resolved, newest in the ring */
	struct { uint64_t slot, value; } bound[NR_SLOTS];
	unsigned nr_bound;
};

/*
 * Where a PLT slot that was not used so far will lead: to the first definition of its symbol. 0 =
 * unknown.
 */
static uint64_t slot_resolve(struct caller *caller, uint64_t slot)
{
	const struct scan *s = caller->s;
	char name[64];
	uint64_t value = 0;

	for (unsigned i = 0; i < NR_SLOTS && i < caller->nr_bound; i++)
		if (caller->bound[i].slot == slot)
			return caller->bound[i].value;
	object_slot_name(&s->objects, caller->object, slot, name, sizeof(name));
	for (size_t i = 0; !value && *name && i < s->found.nr; i++)
		if (candidate_is(&s->found.v[i], name) &&
		    !(s->marks[s->found.v[i].object] & NAMES_MARK_LOADER))
			value = s->found.v[i].address;
	caller->bound[caller->nr_bound % NR_SLOTS].slot = slot;
	caller->bound[caller->nr_bound++ % NR_SLOTS].value = value;
	return value;
}

/* Memory for detour_calls(): pointers of the PLT that lead back into it are not bound yet. */
static int caller_read(void *arg, uint64_t at, void *to, size_t bytes)
{
	struct caller *caller = arg;
	const struct object *o = caller->object;
	int rc = scan_code(caller->s, at, to, bytes);
	uint64_t value;

	if (rc || bytes != sizeof(value) || !o->jmprel)
		return rc;
	memcpy(&value, to, sizeof(value));
	if (value >= o->start && value < o->end) {
		value = slot_resolve(caller, at);
		if (value)
			memcpy(to, &value, sizeof(value));
	}
	return 0;
}

/* Do functions of the role `callee` do the work of those of the role `role`? */
static bool may_do_for(unsigned role, unsigned callee)
{
	switch (role) {
	case PMM_ROLE_FREE:
		return callee == PMM_ROLE_FREE;
	case PMM_ROLE_REALLOC:
	case PMM_ROLE_REALLOCARRAY:
		return callee == PMM_ROLE_REALLOC || callee == PMM_ROLE_REALLOCARRAY;
	case PMM_ROLE_MALLOC:
	case PMM_ROLE_CALLOC:
	case PMM_ROLE_MEMALIGN:
	case PMM_ROLE_POSIX_MEMALIGN:
	case PMM_ROLE_NEW:
	case PMM_ROLE_NEW_NOTHROW:
	case PMM_ROLE_NEW_ALIGNED:
	case PMM_ROLE_NEW_ALIGNED_NOTHROW:
	case PMM_ROLE_CUSTOM_ALLOC:
		return callee == PMM_ROLE_MALLOC || callee == PMM_ROLE_MEMALIGN ||
		       callee == PMM_ROLE_POSIX_MEMALIGN || callee == PMM_ROLE_CALLOC ||
		       (callee >= PMM_ROLE_NEW && callee <= PMM_ROLE_NEW_ALIGNED_NOTHROW);
	default:
		return false;
	}
}

/* Addresses of what could do its work, caller frees; their number, none when memory runs out. */
static size_t helpers(const struct scan *s, const struct candidate *c, uint64_t **addresses)
{
	size_t nr = 0;

	*addresses = calloc(s->found.nr, sizeof(**addresses));
	for (size_t i = 0; *addresses && i < s->found.nr; i++) {
		const struct candidate *other = &s->found.v[i];

		if (other->name && other->address != c->address &&
		    may_do_for(c->name->role, other->name->role) &&
		    !(s->marks[other->object] & NAMES_MARK_LOADER))
			(*addresses)[nr++] = other->address;
	}
	return nr;
}

static bool only_calls(const struct scan *s, const struct candidate *c)
{
	struct caller caller = { .s = s, .object = &s->objects.v[c->object] };
	struct detour_function f = { .address = c->address, .size = c->size };
	uint64_t *addresses;
	size_t nr = helpers(s, c, &addresses);
	bool calls = false;
	uint8_t *code;

	f.nr_code = f.size && f.size < MAX_CODE ? f.size : f.size ? MAX_CODE : CODE_GUESS;
	if (f.nr_code > caller.object->end - c->address)
		f.nr_code = caller.object->end - c->address;
	code = malloc(f.nr_code);
	f.code = code;
	if (nr && code && !scan_code(s, c->address, code, f.nr_code))
		calls = detour_calls(&f, addresses, nr, caller_read, &caller);
	free(code);
	free(addresses);
	return calls;
}

/*
 * Only operators are left to what they call: an exception cannot pass through a hook, and there are
 * many. Of C functions that call each other the agent records the outermost, which has the right
 * name and whose caller is the program also where the allocator has no unwind information (musl).
 */
static bool is_left_out(const struct scan *s, const struct candidate *c)
{
	enum pmm_role role = c->name->role;

	return ((role >= PMM_ROLE_NEW && role <= PMM_ROLE_NEW_ALIGNED_NOTHROW) ||
		(role == PMM_ROLE_FREE && !candidate_is(c, "free"))) && only_calls(s, c);
}

void scan_choose(struct scan *s)
{
	vec_each(&s->found, c) {
		if (!c->name)
			continue;
		c->dropped = s->marks[c->object] & NAMES_MARK_LOADER ||
			     (c->prefix == NAMES_LIBC && has_public(s, c)) || is_namesake(s, c) ||
			     (is_libcs(c->name->role) && !(s->marks[c->object] & NAMES_MARK_LIBC));
	}
	vec_each(&s->found, c)
		if (c->name && !c->dropped)
			c->dropped = is_left_out(s, c);
}
