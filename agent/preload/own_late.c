/* SPDX-License-Identifier: MIT */
/*
 * When libraries that come late are looked at.
 *
 * dlopen() has to see who calls it, so that it is jumped to, and nothing of ours runs when it comes
 * back. The program gets at what it has loaded by dlsym() as a rule, so that is the time, and the
 * next dlopen().
 *
 * No lock of the loader's is taken: a thread may hold it in a callback of dl_iterate_phdr() while
 * it waits for a lock that the caller of dlsym() has (Python's), or may have held it when the
 * process was forked. So with one thread all objects behind those of the start are looked at, as no
 * other changes their list meanwhile. With several, only the one whose handle is given: it is the
 * loader's own description of the object (glibc's), and stays as long as the caller has it open.
 */
#include "agent/preload/own_late.h"

#include <elf.h>

#include "agent/agent_core.h"
#include "agent/preload/link.h"
#include "agent/preload/own_called.h"
#include "agent/segment.h"

#define NO_LOAD		4		/* RTLD_NOLOAD: glibc, musl */
#define NEXT		UINTPTR_MAX	/* RTLD_NEXT; 0 is RTLD_DEFAULT */
#define PATH_BYTES	4096
#define NR_SEEN_BITS	10

static bool opened;			/* dlopen() was called, ... */
static bool pending;			/* ... and nothing was looked at since */
static bool handles;			/* own_called_handles() */
static uint32_t told;
/* a path, which is the loader's and goes with the library */
static char caller[PATH_BYTES];
/* keys of objects that were looked at; who has lost its place is looked at again */
static uint64_t seen[1u << NR_SEEN_BITS];

static void path_copy(const char *path)
{
	size_t n = str_length(path);

	memcpy(caller, path, n < PATH_BYTES ? n : PATH_BYTES - 1);
}

/* The first that finds something says so. */
static void met(const struct own_called *own, const char *path, enum pmm_own_late late)
{
	uint32_t no = 0;

	if (CAS(told, no, 1)) {
		path_copy(path);
		agent.own_called.caller = caller;
		agent.own_called.looks = own->looks;
		agent.own_called.late = late;
		STORE_RELEASE(agent.own_called.function, own->function);
		segment_note_own();
	}
	if (late == PMM_OWN_LATE)
		own_late_met();
}

/* Is there anything that would be news? */
static bool is_asked(void)
{
	return LOAD(opened) && agent_is_on() &&
	       (!LOAD(agent.own_called.function) ||
		(!own_late_looks && agent.own_called.looks && !LOAD(told)));
}

/*
 * What tells an object from others, also from one that has taken its place in every way: where its
 * tables are and how large.
 */
static uint64_t object_key(const struct link_map *m)
{
	uint64_t key = (uint64_t)m ^ (uint64_t)m->l_ld << 16;

	for (const Elf64_Dyn *d = m->l_ld; d->d_tag != DT_NULL; d++)
		key = (key ^ d->d_un.d_val) * 0x9e3779b97f4a7c15ull + (key >> 32);
	return key;
}

static void object_look(const struct link_map *m, enum pmm_own_late late)
{
	uint64_t key = object_key(m), *was = &seen[key >> (64 - NR_SEEN_BITS)];
	struct own_called own;

	if (LOAD(*was) == key)
		return;
	if (own_called_by(m, own_late_looks, &own))
		met(&own, m->l_name, late);
	STORE_RELEASE(*was, key);
}

/* All that came after the start, by the list that only this thread changes. */
static void list_look(enum pmm_own_late late)
{
	const struct link_map *m = own_called_last();

	STORE(pending, false);
	while (m && (m = m->l_next))
		object_look(m, late);
}

void own_late_open(const char *path, int flags)
{
	if (!path || flags & NO_LOAD)
		return;
	STORE(pending, true);
	if (LOAD(opened))
		return;
	STORE(handles, own_called_handles());
	STORE_RELEASE(opened, true);
}

void own_late_look(const void *handle)
{
	if (likely(!is_asked()) || !own_called_last())
		return;
	if (LOAD(*agent.single_threaded)) {
		if (LOAD(pending))
			list_look(PMM_OWN_LATE);
	} else if (handle && (uintptr_t)handle != NEXT && LOAD(handles)) {
		object_look(handle, PMM_OWN_LATE);
	}
}

void own_late_end(void)
{
	if (is_asked() && LOAD(*agent.single_threaded))
		list_look(PMM_OWN_LAST);
}
