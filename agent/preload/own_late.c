/* SPDX-License-Identifier: MIT */
/*
 * When libraries that come late are looked at.
 *
 * dlopen() has to see who calls it, so that it is jumped to, and nothing of ours runs when it comes
 * back. The program gets at what it has loaded by dlsym() as a rule, so that is the time, and the
 * next dlopen(): whichever thread calls it, and each time from the first dlopen() on, as another
 * thread may have been in there just then. Where the loader has added nothing since the last look
 * that is soon known.
 *
 * The lock that is taken is dl_iterate_phdr()'s, not dlsym()'s. A thread may have had it when the
 * process was forked, and nobody gives it back in the child: nothing is looked at in a child of a
 * process with threads. Nor where dlopen() has loaded nothing in that very process.
 */
#include "agent/preload/own_late.h"

#include "agent/agent_core.h"
#include "agent/ctx.h"
#include "agent/preload/link.h"
#include "agent/preload/own_called.h"
#include "agent/segment.h"
#include "agent/sys.h"

#define NO_LOAD		4		/* RTLD_NOLOAD: glibc, musl */
#define PATH_BYTES	4096
#define FIRST		1u		/* *agent.alive of a process that is no child */
#define UNKNOWN		UINT32_MAX	/* `opened` of a process that has no ledger yet */

static struct link_seen seen;
static uint32_t opened;			/* *agent.alive of who called dlopen(); 0 = nobody */
static uint32_t told;
/* a path, which is the loader's and goes with the library */
static char caller[PATH_BYTES];

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

static int object_look(void *arg, const struct link_object *o)
{
	struct own_called own;

	(void)arg;
	if (!own_called_by(&o->map, own_late_looks, &own))
		return 0;
	met(&own, o->map.l_name, PMM_OWN_LATE);
	return 1;
}

/* Has this process loaded anything, and may that be looked at? */
static bool is_open(void)
{
	uint32_t who = LOAD(opened), we;

	if (likely(!who) || !agent_is_on())
		return false;
	we = LOAD(*agent.alive);
	return (who == UNKNOWN || who == we) && (we == FIRST || LOAD(*agent.single_threaded));
}

/* Is there anything that would be news? */
static bool is_asked(void)
{
	return is_open() && (!LOAD(agent.own_called.function) ||
			     (!own_late_looks && agent.own_called.looks && !LOAD(told)));
}

void own_late_open(const char *path, int flags)
{
	uint32_t who;

	if (!path || flags & NO_LOAD || !agent_is_on())
		return;
	who = LOAD(*agent.alive);
	STORE(opened, who ? who : UNKNOWN);
}

void own_late_look(void)
{
	uint64_t nr, none = 0;

	if (!is_asked() || !own_called_last(&nr))
		return;
	CAS(seen.nr, none, nr);
	link_each_new(&seen, object_look, NULL);
}

void own_late_end(void)
{
	struct own_called own;
	struct link_map *m;
	uint64_t nr;

	if (!is_asked() || !LOAD(*agent.single_threaded))
		return;
	m = own_called_last(&nr);
	while (m && (m = m->l_next))
		if (own_called_by(m, own_late_looks, &own)) {
			met(&own, m->l_name, PMM_OWN_LAST);
			return;
		}
}
