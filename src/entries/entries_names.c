/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names under which allocators are known (C17, POSIX, Itanium C++ ABI; jemalloc(3), tcmalloc's
 * and mimalloc's headers).
 */
#include "src/entries/entries_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "include/pmm/allocator_names.h"

#define PUBLIC	(1 << NAMES_PUBLIC)
#define MI	(1 << NAMES_MI)
#define TC	(1 << NAMES_TC)
#define JE	(1 << NAMES_JE | 1 << NAMES_RJEM)
#define LIBC	(1 << NAMES_LIBC)

/*
 * Rows of include/pmm/allocator_names.h, and of our own. FIRST: the number of the first argument
 * that says what is allocated or resized, and what the arguments from there on are.
 */
#define ROW(FORM, NAME, OWN, OTHERS, ...) FORM(NAME, (OWN) | (OTHERS), __VA_ARGS__),
#define TC_MI	(TC | MI)
#define BARE	0

#define FUNCTION(NAME, PREFIXES, ROLE, KIND)                                                       \
	{                                                                                          \
		NAME, PREFIXES, PMM_ROLE_##ROLE, PMM_KIND_##KIND, -1, -1, -1, 0, 0                 \
	}
/* FIRST: a size */
#define SIZED(NAME, PREFIXES, FIRST, KIND)                                                         \
	{                                                                                          \
		NAME, PREFIXES, PMM_ROLE_CUSTOM_ALLOC, PMM_KIND_##KIND, FIRST, -1, -1, 0, 0        \
	}
/* a count, then a size */
#define COUNTED(NAME, PREFIXES, FIRST, KIND)                                                       \
	{                                                                                          \
		NAME, PREFIXES, PMM_ROLE_CUSTOM_ALLOC, PMM_KIND_##KIND, (FIRST) + 1, FIRST, -1, 0, \
			0                                                                          \
	}
/* a block, then a size */
#define RESIZED(NAME, PREFIXES, FIRST, KIND)                                                       \
	{                                                                                          \
		NAME, PREFIXES, PMM_ROLE_CUSTOM_REALLOC, PMM_KIND_##KIND, (FIRST) + 1, -1, FIRST,  \
			0, 0                                                                       \
	}
/* a block, then a count, then a size */
#define RECOUNTED(NAME, PREFIXES, FIRST, KIND)                                                     \
	{                                                                                          \
		NAME, PREFIXES, PMM_ROLE_CUSTOM_REALLOC, PMM_KIND_##KIND, (FIRST) + 2,             \
			(FIRST) + 1, FIRST, 0, 0                                                   \
	}
/* of the C++ operators' kind: it may throw */
#define THROWS(NAME, PREFIXES, COUNT, SIZE)                                                        \
	{                                                                                          \
		NAME, PREFIXES, PMM_ROLE_CUSTOM_ALLOC, PMM_KIND_NEW, SIZE, COUNT, -1, 0, 0         \
	}
#define IN_PLACE(NAME, PREFIXES, ROLE)                                                             \
	{                                                                                          \
		NAME, PREFIXES, PMM_ROLE_##ROLE, PMM_KIND_REALLOC, 1, -1, 0, 0, 0                  \
	}
/* MEMORY: the argument that may have memory for it, -1 = none */
#define STRING(NAME, PREFIXES, MEMORY)                                                             \
	{                                                                                          \
		NAME, PREFIXES, PMM_ROLE_STRING, PMM_KIND_MALLOC, -1, -1, MEMORY, 0, 0             \
	}
#define MARK(NAME, PREFIXES, WHAT)                                                                 \
	{                                                                                          \
		NAME, PREFIXES, PMM_ROLE_NONE, PMM_KIND_NONE, -1, -1, -1, NAMES_MARK_##WHAT, 0     \
	}
#define INFO(NAME, WHAT) { NAME, PUBLIC, PMM_ROLE_NONE, PMM_KIND_NONE, -1, -1, -1, 0, NAMES_##WHAT }

/* Where two names have the same address, the one that comes first here stands for it. */
static const struct entries_name names[] = {
	PMM_NAMES_OF_LIBC(ROW)

	/* where blocks are guarded */
	FUNCTION("malloc_usable_size", PUBLIC, USABLE_SIZE, NONE),
	FUNCTION("sigaction", PUBLIC, SIGACTION, NONE),

	FUNCTION("_Znwm", PUBLIC, NEW, NEW),
	FUNCTION("_Znam", PUBLIC, NEW, NEW_ARRAY),
	FUNCTION("_ZnwmRKSt9nothrow_t", PUBLIC, NEW_NOTHROW, NEW),
	FUNCTION("_ZnamRKSt9nothrow_t", PUBLIC, NEW_NOTHROW, NEW_ARRAY),
	FUNCTION("_ZnwmSt11align_val_t", PUBLIC, NEW_ALIGNED, NEW_ALIGNED),
	FUNCTION("_ZnamSt11align_val_t", PUBLIC, NEW_ALIGNED, NEW_ARRAY_ALIGNED),
	FUNCTION("_ZnwmSt11align_val_tRKSt9nothrow_t", PUBLIC, NEW_ALIGNED_NOTHROW, NEW_ALIGNED),
	FUNCTION("_ZnamSt11align_val_tRKSt9nothrow_t", PUBLIC, NEW_ALIGNED_NOTHROW,
		 NEW_ARRAY_ALIGNED),
	FUNCTION("_ZdlPv", PUBLIC, FREE, NONE),
	FUNCTION("_ZdaPv", PUBLIC, FREE, NONE),
	FUNCTION("_ZdlPvm", PUBLIC, FREE, NONE),
	FUNCTION("_ZdaPvm", PUBLIC, FREE, NONE),
	FUNCTION("_ZdlPvRKSt9nothrow_t", PUBLIC, FREE, NONE),
	FUNCTION("_ZdaPvRKSt9nothrow_t", PUBLIC, FREE, NONE),
	FUNCTION("_ZdlPvSt11align_val_t", PUBLIC, FREE, NONE),
	FUNCTION("_ZdaPvSt11align_val_t", PUBLIC, FREE, NONE),
	FUNCTION("_ZdlPvmSt11align_val_t", PUBLIC, FREE, NONE),
	FUNCTION("_ZdaPvmSt11align_val_t", PUBLIC, FREE, NONE),
	FUNCTION("_ZdlPvSt11align_val_tRKSt9nothrow_t", PUBLIC, FREE, NONE),
	FUNCTION("_ZdaPvSt11align_val_tRKSt9nothrow_t", PUBLIC, FREE, NONE),

	FUNCTION("mmap", PUBLIC, MMAP, MMAP),
	FUNCTION("mmap64", PUBLIC, MMAP, MMAP),
	FUNCTION("munmap", PUBLIC, MUNMAP, NONE),
	FUNCTION("mremap", PUBLIC, MREMAP, MMAP),

	/* ways into seccomp */
	FUNCTION("prctl", PUBLIC, PRCTL, NONE),
	FUNCTION("syscall", PUBLIC, SYSCALL, NONE),

	PMM_NAMES_OF_OWN(ROW)

	MARK("__libc_start_main", PUBLIC, LIBC),
	MARK("gnu_get_libc_version", PUBLIC, GLIBC),
	MARK("__libc_start_call_main", PUBLIC, GLIBC),
	MARK("__libc_early_init", PUBLIC, GLIBC),
	MARK("_rtld_global", PUBLIC, LOADER),
	MARK("mallctl", PUBLIC | JE, JEMALLOC),
	MARK("runtime.mallocgc", PUBLIC, GO),
	MARK("__sanitizer_set_report_path", PUBLIC, SANITIZER),
	MARK("version", TC, TCMALLOC),
	MARK("version", MI, MIMALLOC),

	INFO("__libc_single_threaded", SINGLE_THREADED),
	INFO("_dl_find_object", FIND_OBJECT),
	INFO("__vdso_clock_gettime", VDSO_CLOCK),
	INFO("mallinfo2", MALLINFO2),
};

static const struct {
	const char *text;
	size_t length;
} prefixes[NAMES_NR_PREFIXES] = {
	[NAMES_MI] = { "mi_", 3 },	[NAMES_TC] = { "tc_", 3 },	 [NAMES_JE] = { "je_", 3 },
	[NAMES_RJEM] = { "_rjem_", 6 }, [NAMES_LIBC] = { "__libc_", 7 },
};

int entries_names_init(struct entries_names *n)
{
	*n = (struct entries_names){ 0 };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		/* the same name with other prefixes has a second line right behind */
		if (!hash_add(&n->by_hash, hash_bytes(names[i].name, strlen(names[i].name)),
			      (uint32_t)i, NULL))
			return -ENOMEM;
	return 0;
}

void entries_names_fini(struct entries_names *n)
{
	hash_fini(&n->by_hash);
}

static const struct entries_name *find(const struct entries_names *n, const char *name,
				       enum names_prefix prefix)
{
	const uint32_t *at = hash_find(&n->by_hash, hash_bytes(name, strlen(name)));

	for (size_t i = at ? *at : sizeof(names) / sizeof(names[0]);
	     i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i].name, name))
			break;
		if (names[i].prefixes & 1 << prefix)
			return &names[i];
	}
	return NULL;
}

/* Most symbols of a process begin with what none of these does. */
static bool of_interest(const char *symbol)
{
	if (symbol[0] == '_')
		return symbol[1] == 'Z' ? symbol[2] == 'n' || symbol[2] == 'd' : true;
	return symbol[0] && strchr("acdfgjmprstvx", symbol[0]);
}

const struct entries_name *entries_names_find(const struct entries_names *n, const char *symbol,
					      enum names_prefix *prefix)
{
	const struct entries_name *found = of_interest(symbol)
						   ? find(n, symbol, *prefix = NAMES_PUBLIC)
						   : NULL;

	for (unsigned i = NAMES_PUBLIC + 1; !found && i < NAMES_NR_PREFIXES; i++)
		if (!strncmp(symbol, prefixes[i].text, prefixes[i].length))
			found = find(n, symbol + prefixes[i].length, *prefix = i);
	return found;
}
