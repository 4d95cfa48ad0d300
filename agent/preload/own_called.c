/* SPDX-License-Identifier: MIT */
/*
 * Which of the allocator's own functions, and of glibc's, the program calls: looked up in the names
 * that objects import. Nothing is changed.
 */
#include "agent/preload/own_called.h"

#include <elf.h>

#include "agent/preload/link.h"
#include "agent/sys.h"
#include "include/pmm/allocator_names.h"

/* What the functions do that are called: the first is said that does most. */
enum rank { RANK_NONE, RANK_LOOKS, RANK_LIBC, RANK_OWN };

struct calls {
	struct own_called *found;
	enum rank rank;		/* of what was found */
};

/* What the program was started with, which stays: the allocator, the last of all objects. */
static const struct link_map *allocator, *last_first;

#define OWN_NAME(FORM, NAME, OWN, ...) OWN_##OWN(NAME)
#define OWN_BARE(NAME)	NAME "\0"
#define OWN_TC(NAME)	"tc_" NAME "\0"
#define OWN_MI(NAME)	"mi_" NAME "\0"
#define OWN_TC_MI(NAME)	OWN_TC(NAME) OWN_MI(NAME)

/* What allocates, resizes and releases: what pmm attach patches, and what it does not either ... */
static const char names[] =
	PMM_NAMES_OF_LIBC(OWN_NAME) PMM_NAMES_OF_OWN(OWN_NAME)
	"mi_reallocarr\0" "mi__expand\0" "mi_dupenv_s\0" "mi_new_realloc\0" "mi_new_reallocn\0"
	"mi_heap_destroy\0";

/* ... and what only looks at a block. */
static const char looks[] =
	"sallocx\0" "tc_malloc_size\0" "MallocExtension_GetAllocatedSize\0"
	"MallocExtension_GetOwnership\0" "mi_usable_size\0" "mi_malloc_size\0"
	"mi_malloc_usable_size\0" "mi_check_owned\0" "mi_heap_check_owned\0"
	"mi_heap_contains_block\0";

/* Names under which the C library has its functions again, beside whatever allocator. */
static const char libc_names[] =
	"__libc_malloc\0" "__libc_calloc\0" "__libc_realloc\0" "__libc_memalign\0"
	"__libc_valloc\0" "__libc_pvalloc\0" "__libc_free\0";

/* May it be one of them? Quick. */
static bool own_likely(const char *name)
{
	switch (name[0]) {
	case '_':
		return str_starts(name, "__libc_");
	case 'm':
		return str_starts(name, "mi_") || str_starts(name, "mallocx");
	case 't':
		return str_starts(name, "tc_");
	case 'r':
	case 'x':
	case 'd':
		return str_starts(name + 1, "allocx");
	case 's':
		return str_starts(name, "sdallocx") || str_starts(name, "sallocx");
	case 'M':
		return str_starts(name, "MallocExtension_");
	default:
		return false;
	}
}

/* The name in a list, or NULL. */
static const char *listed(const char *n, const char *name)
{
	while (*n && !str_equal(n, name))
		n += str_length(n) + 1;
	return *n ? n : NULL;
}

/*
 * Whose address is asked for, if there is one, is compared with malloc's: by pmm.h's full form and
 * others that want to know which allocator they have.
 */
static bool compared(const struct link_binding *b)
{
	return b->weak && !b->call && str_equal(b->name, libc_names);
}

/* Has an object behind ours the C library's function, of those that the program started with? */
static bool libc_has(const char *name)
{
	for (struct link_map *m = link_self(); m && m != last_first;) {
		m = m->l_next;
		if (m && link_symbol(m, name))
			return true;
	}
	return false;
}

static enum rank rank_of(const struct link_binding *b, const char **n)
{
	if ((*n = listed(names, b->name)) && link_symbol(allocator, *n))
		return RANK_OWN;
	if ((*n = listed(libc_names, b->name)) && !compared(b) && libc_has(*n))
		return RANK_LIBC;
	if ((*n = listed(looks, b->name)) && link_symbol(allocator, *n))
		return RANK_LOOKS;
	return RANK_NONE;
}

static void called_look(void *arg, const struct link_binding *b)
{
	struct calls *k = arg;
	enum rank rank;
	const char *n;

	if (k->rank == RANK_OWN || !own_likely(b->name))
		return;
	rank = rank_of(b, &n);
	if (rank <= k->rank)
		return;
	k->rank = rank;
	*k->found = (struct own_called){ .function = n, .looks = rank == RANK_LOOKS };
}

/* An object that calls nothing else of `rank` up to now. */
static void object_look(struct calls *k, const struct link_map *m)
{
	link_bindings(m, called_look, k);
	if (k->found->function && !k->found->caller)
		k->found->caller = m->l_name;
}

void own_called(const struct link_map *has_malloc, struct own_called *found)
{
	struct calls k = { .found = found };
	uint64_t loader = link_aux(AT_BASE);

	*found = (struct own_called){ NULL };
	allocator = has_malloc;
	for (struct link_map *m = link_first(); m; m = m->l_next)
		last_first = m;
	for (struct link_map *m = link_first(); m && k.rank < RANK_OWN; m = m->l_next)
		if (m != allocator && m != link_self() && m->l_addr != loader)
			object_look(&k, m);
}

const struct link_map *own_called_last(void)
{
	return last_first;
}

bool own_called_handles(void)
{
	return libc_has("gnu_get_libc_version");
}

/* ---- what comes later ------------------------------------------------------------------------ */

static bool is_of_start(const struct link_map *object)
{
	const struct link_map *m = link_first();

	while (m && m != object && m != last_first)
		m = m->l_next;
	return m == object;
}

bool own_called_by(const struct link_map *object, bool looks_too, struct own_called *found)
{
	struct calls k = { .found = found, .rank = looks_too ? RANK_NONE : RANK_LOOKS };

	*found = (struct own_called){ NULL };
	if (!is_of_start(object))
		object_look(&k, object);
	return found->function;
}
