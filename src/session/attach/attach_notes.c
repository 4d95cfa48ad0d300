/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes on a process that is attached to. */
#include "src/session/attach/attach_notes.h"

#include "src/base/fmt.h"
#include "src/proc/task.h"
#include "src/session/attach/attach_events.h"
#include "src/session/kernel_notes.h"
#include "src/session/session.h"
#include "src/view/lost.h"

static const char *allocator_name(const struct entries *found)
{
	static const char *const name[] = {
		[ENTRIES_GLIBC] = "glibc",
		[ENTRIES_MUSL] = "musl",
		[ENTRIES_JEMALLOC] = "jemalloc",
		[ENTRIES_TCMALLOC] = "tcmalloc",
		[ENTRIES_MIMALLOC] = "mimalloc",
		[ENTRIES_SANITIZER] = "a sanitizer's",
		[ENTRIES_CUSTOM] = "the program's own",
		[ENTRIES_OTHER] = "",
	};

	_Static_assert(sizeof(name) / sizeof(*name) == ENTRIES_NR_ALLOCATORS, "a name for each");
	return found->allocator < ENTRIES_NR_ALLOCATORS ? name[found->allocator] : "";
}

void attach_note_space(const struct session_sink *to, pid_t pid, const struct attach_info *info)
{
	struct str text = STR_INIT;

	if (!info->space_taken_bytes)
		return;
	lost_space_text(&text, info->space_taken_bytes);
	session_warn_text(to, &text, "the process lacks address space");
	session_hint(to,
		     "raise that of the process (prlimit --pid %d --as=BYTES), run pmm with "
		     "CAP_SYS_RESOURCE (as root, outside of containers that drop it), or give the "
		     "ledger less (--ledger-limit)",
		     (int)pid);
}

void attach_note_lowered(const struct session_sink *to, pid_t pid, uint64_t limit_bytes,
			 const struct attach_info *info)
{
	session_warn(to,
		     "the limit on address space (ulimit -v) of process %d was lowered to %s while "
		     "pmm's ledger takes %s: allocations fail that have no room beside it",
		     (int)pid, fmt_bytes(limit_bytes).s, fmt_bytes(info->space_bytes).s);
	session_hint(to,
		     "end 'pmm attach' (Ctrl-C), or raise the limit by what the ledger takes "
		     "(prlimit --pid %d --as=BYTES); another time give the ledger less "
		     "(--ledger-limit)",
		     (int)pid);
}

void attach_note_attached(const struct session_sink *to, pid_t pid, const char *comm,
			  const struct attach_info *info)
{
	const struct entries *found = &info->entries;
	const char *path = found->allocator_path ? found->allocator_path : "";

	session_note(to,
		     "attached to '%s' (%d): allocator %s%s%s%s, %u functions patched, all threads "
		     "stopped for %s, one for %s before",
		     comm, (int)pid, allocator_name(found), *path ? " (" : "", path,
		     *path ? ")" : "", info->nr_patched, fmt_duration(info->pause_ns).s,
		     fmt_duration(info->prepare_ns).s);
	for (size_t i = 0; i < found->nr; i++)
		if (found->v[i].refused)
			session_note(to, "not patched: %s: %s", found->v[i].name,
				     found->v[i].refused);
	if (task_stopped(pid))
		session_note(to, "process %d is stopped: nothing is recorded until 'kill -CONT %d'",
			     (int)pid, (int)pid);
}

static void note_detached(const struct session_sink *to, pid_t pid, const struct outcome *o)
{
	static const char *const why[] = {
		[SAY_ENDED] = "the process has ended",
		[SAY_EXECED] = "the process runs another program now, which is not watched",
	};

	if (o->end == SAY_ENDED || o->end == SAY_EXECED)
		session_note(to, "%s", why[o->end]);
	else if (o->nr_guarded_left)
		session_note(
			to,
			"detached: the agent stays in process %d for %s that it still uses; when "
			"they have been released, 'pmm detach %d' takes it out",
			(int)pid, fmt_many(o->nr_guarded_left, "guarded block").s, (int)pid);
	else if (o->removed)
		session_note(to, "detached: process %d is as it was, all threads stopped for %s",
			     (int)pid, fmt_duration(o->detach_pause_ns).s);
	else
		session_note(
			to,
			"detached: the code of process %d is as it was; a thread is still inside "
			"the agent, which does no harm; "
			"'pmm detach %d' takes it out later",
			(int)pid, (int)pid);
}

static void note_unguarded(const struct session_sink *to, pid_t pid, const struct outcome *o)
{
	static const char *const why[PMM_NR_CHECK_STOPS] = {
		[PMM_CHECK_STOP_BLOCKED] = "a thread blocks SIGSEGV",
		[PMM_CHECK_STOP_HANDLER] =
			"it set a handler for SIGSEGV by its own system call",
		[PMM_CHECK_STOP_IGNORED] = "it ignores SIGSEGV",
		[PMM_CHECK_STOP_CONFINED] = "it entered seccomp",
	};

	if (o->check_stopped != PMM_CHECK_RUNS)
		session_note(
			to,
			"process %d was not checked to the end: %s, so no blocks were guarded any "
			"more",
			(int)pid, why[o->check_stopped]);
}

void attach_note_late(const struct session_sink *to, const struct attach_late *late)
{
	if (late->nr)
		session_warn(to, "%s of libraries that were loaded meanwhile %s not seen: %s",
			     fmt_many(late->nr, "function").s, fmt_agree(late->nr, "is", "are"),
			     late->why.text);
	else
		session_warn(to,
			     "libraries that were loaded meanwhile could not be searched for "
			     "allocators: %s",
			     late->why.text);
}

void attach_note_end(const struct session_sink *to, pid_t pid, const struct outcome *o, bool quiet)
{
	note_unguarded(to, pid, o);
	if (!quiet || o->nr_guarded_left)
		note_detached(to, pid, o);
	if (o->late.failed)
		attach_note_late(to, &o->late);
	if (o->heap && !quiet)
		kernel_notes(to, o->heap);
	if (o->heap)
		kernel_notes_losses(to, o->heap);
}
