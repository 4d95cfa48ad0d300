/* SPDX-License-Identifier: MIT */
/*
 * Which of the allocator's own functions, and of glibc's, the program calls: looked up in the names
 * that objects import. Nothing is changed.
 */
#include "agent/preload/own_called.h"

#include <elf.h>

#include "agent/preload/link.h"
#include "agent/sys.h"

/* What the functions do that are called: the first is said that does most. */
enum rank { RANK_NONE, RANK_LOOKS, RANK_LIBC, RANK_OWN };

struct calls {
	const struct link_map *allocator;
	struct own_called *found;
	enum rank rank;		/* of what was found */
};

/* What allocates, resizes and releases ... */
static const char names[] =
	"mallocx\0" "rallocx\0" "xallocx\0" "dallocx\0" "sdallocx\0" "tc_malloc\0"
	"tc_malloc_skip_new_handler\0" "tc_calloc\0" "tc_realloc\0" "tc_memalign\0"
	"tc_posix_memalign\0" "tc_valloc\0" "tc_pvalloc\0" "tc_free\0" "tc_cfree\0"
	"tc_free_sized\0" "tc_new\0" "tc_new_nothrow\0" "tc_newarray\0"
	"tc_newarray_nothrow\0" "tc_new_aligned\0" "tc_new_aligned_nothrow\0"
	"tc_newarray_aligned\0" "tc_newarray_aligned_nothrow\0" "tc_delete\0"
	"tc_delete_nothrow\0" "tc_delete_sized\0" "tc_delete_aligned\0"
	"tc_delete_aligned_nothrow\0" "tc_delete_sized_aligned\0" "tc_deletearray\0"
	"tc_deletearray_nothrow\0" "tc_deletearray_sized\0" "tc_deletearray_aligned\0"
	"tc_deletearray_aligned_nothrow\0" "tc_deletearray_sized_aligned\0" "mi_malloc\0"
	"mi_malloc_small\0" "mi_zalloc\0" "mi_zalloc_small\0" "mi_calloc\0" "mi_mallocn\0"
	"mi_realloc\0" "mi_reallocn\0" "mi_reallocf\0" "mi_rezalloc\0" "mi_recalloc\0"
	"mi_reallocarray\0" "mi_reallocarr\0" "mi_expand\0" "mi__expand\0" "mi_strdup\0"
	"mi_mbsdup\0" "mi_strndup\0" "mi_realpath\0" "mi_dupenv_s\0" "mi_malloc_aligned\0"
	"mi_malloc_aligned_at\0" "mi_zalloc_aligned\0" "mi_zalloc_aligned_at\0"
	"mi_calloc_aligned\0" "mi_calloc_aligned_at\0" "mi_realloc_aligned\0"
	"mi_realloc_aligned_at\0" "mi_rezalloc_aligned\0" "mi_rezalloc_aligned_at\0"
	"mi_recalloc_aligned\0" "mi_recalloc_aligned_at\0" "mi_aligned_recalloc\0"
	"mi_aligned_offset_recalloc\0" "mi_posix_memalign\0" "mi_memalign\0"
	"mi_aligned_alloc\0" "mi_valloc\0" "mi_pvalloc\0" "mi_new\0" "mi_new_n\0"
	"mi_new_nothrow\0" "mi_new_aligned\0" "mi_new_aligned_nothrow\0" "mi_new_realloc\0"
	"mi_new_reallocn\0" "mi_free\0" "mi_cfree\0" "mi_free_size\0"
	"mi_free_aligned\0" "mi_free_size_aligned\0"
	"mi_heap_malloc\0" "mi_heap_malloc_small\0" "mi_heap_zalloc\0"
	"mi_heap_calloc\0" "mi_heap_mallocn\0" "mi_heap_realloc\0" "mi_heap_reallocn\0"
	"mi_heap_reallocf\0" "mi_heap_rezalloc\0" "mi_heap_recalloc\0" "mi_heap_strdup\0"
	"mi_heap_strndup\0" "mi_heap_realpath\0" "mi_heap_malloc_aligned\0"
	"mi_heap_malloc_aligned_at\0" "mi_heap_zalloc_aligned\0" "mi_heap_zalloc_aligned_at\0"
	"mi_heap_calloc_aligned\0" "mi_heap_calloc_aligned_at\0" "mi_heap_realloc_aligned\0"
	"mi_heap_realloc_aligned_at\0" "mi_heap_rezalloc_aligned\0"
	"mi_heap_rezalloc_aligned_at\0" "mi_heap_recalloc_aligned\0"
	"mi_heap_recalloc_aligned_at\0" "mi_heap_alloc_new\0" "mi_heap_alloc_new_n\0"
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

static enum rank rank_of(const struct calls *k, const struct link_binding *b, const char **n)
{
	if ((*n = listed(names, b->name)) && link_symbol(k->allocator, *n))
		return RANK_OWN;
	if ((*n = listed(libc_names, b->name)) && !compared(b) &&
	    link_symbol_from(link_self()->l_next, *n, NULL))
		return RANK_LIBC;
	if ((*n = listed(looks, b->name)) && link_symbol(k->allocator, *n))
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
	rank = rank_of(k, b, &n);
	if (rank <= k->rank)
		return;
	k->rank = rank;
	*k->found = (struct own_called){ .function = n, .looks = rank == RANK_LOOKS };
}

void own_called(const struct link_map *allocator, struct own_called *found)
{
	struct calls k = { .allocator = allocator, .found = found };
	uint64_t loader = link_aux(AT_BASE);

	*found = (struct own_called){ NULL };
	for (struct link_map *m = link_first(); m && k.rank < RANK_OWN; m = m->l_next) {
		if (m == allocator || m == link_self() || m->l_addr == loader)
			continue;
		link_bindings(m, called_look, &k);
		if (found->function && !found->caller)
			found->caller = m->l_name;
	}
}
