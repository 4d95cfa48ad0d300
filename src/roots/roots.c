/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The roots of a search for leaks.
 *
 * The copy of a running process's memory and the blocks are of one moment: the tables are frozen
 * while the threads are stopped for the copy.
 */
#include "src/roots/roots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "include/pmm/inject.h"
#include "src/base/nanotime.h"
#include "src/roots/roots_pages.h"
#include "src/roots/roots_state_priv.h"
#include "src/entries/attached.h"
#include "src/proc/proc.h"
#include "src/proc/task.h"

#define MOST_HELD_BYTES	(1ull << 30)	/* searched in one to some seconds */

static size_t read_snapshot(void *arg, uint64_t address, void *to, size_t bytes)
{
	return process_copy_read(arg, address, to, bytes);
}

static size_t read_core(void *arg, uint64_t address, void *to, size_t bytes)
{
	return core_read(arg, address, to, bytes);
}

static uint64_t untouched_snapshot(void *arg, uint64_t address, uint64_t bytes)
{
	return process_copy_untouched(arg, address, bytes);
}

static uint64_t untouched_core(void *arg, uint64_t address, uint64_t bytes)
{
	return core_untouched(arg, address, bytes);
}

static const struct memory_ops ops_snapshot = { read_snapshot, untouched_snapshot },
			       ops_core = { read_core, untouched_core };

/* ---- roots ----------------------------------------------------------------------------------- */

/*
 * What pmm has mapped into a running process when it attached. Not that of earlier times: the
 * blocks that such agents guard are none of this ledger's, but memory of the program.
 */
static int own_add(struct roots_find *f, pid_t pid)
{
	struct attached *a = malloc(sizeof(*a));
	int rc = a ? 0 : -ENOMEM;

	if (a && attached_recording(pid, f->maps, a) > 0)
		for (uint32_t i = 0; !rc && i < a->record.nr_ranges; i++) {
			const struct pmm_range *r = &a->record.range[i];

			if (r->use != PMM_RANGE_NONE && r->start + r->bytes > r->start)
				rc = vec_push(&f->own,
					      (struct memory_range){ .start = r->start,
								     .end = r->start + r->bytes,
								     .kind = ROOTS_NONE });
		}
	free(a);
	return rc;
}

static int entrusted_add(struct memory *m, const struct process_copy *s)
{
	int rc = 0;

	vec_each(&s->entrusted.words, word)
		if (!rc)
			rc = vec_push(&m->words, (struct memory_word){ .value = *word });
	return rc;
}

static void find_snapshot(struct roots_find *f, const struct process_copy *s)
{
	f->memory->ops = &ops_snapshot;
	f->memory->arg = (void *)(uintptr_t)s;
	f->maps = &s->maps;
	f->names_break = true;
	f->threads = s->threads.v;
	f->nr_threads = s->threads.nr;
}

static void find_core(struct roots_find *f, const struct core *c)
{
	f->memory->ops = &ops_core;
	f->memory->arg = (void *)(uintptr_t)c;
	f->maps = &c->maps;
	f->threads = c->threads.v;
	f->nr_threads = c->threads.nr;
}

int roots_settle(struct roots *s, const struct process_copy *copied, const struct core *core,
		 const struct roots_options *o, struct err *e)
{
	struct roots_find f = {
		.memory = &s->memory,
		.heap = s->heap,
		.forget = s->heap,
		.complete = s->complete,
		.leave_sp = o->leave_sp,
		.leave_tid = o->leave_tid,
	};
	struct roots_pagemaps pagemaps;
	struct roots_core_pages core_pages;
	int rc = 0;

	if (s->state) {
		f.moves = s->state->precopy.moves.v;
		f.nr_moves = s->state->precopy.moves.nr;
	}
	if (copied) {
		find_snapshot(&f, copied);
		roots_pagemaps_open(&pagemaps, task_proc(copied->pid), copied->copy);
		f.pages = &pagemaps.pages;
		rc = own_add(&f, copied->pid);
		if (!rc)
			rc = entrusted_add(&s->memory, copied);
	} else {
		find_core(&f, core);
		roots_core_pages_open(&core_pages, core, &s->unread_bytes);
		f.pages = &core_pages.pages;
	}
	if (!rc)
		rc = roots_join(&f);
	s->complete = f.complete;
	s->has_chunks = f.has_chunks;
	s->asks_usable = f.asks_usable;
	roots_find_fini(&f);
	if (copied)
		roots_pagemaps_close(&pagemaps);
	return rc ? err_set(e, rc, "not enough memory to search for pointers") : 0;
}

/* ---- a running process ----------------------------------------------------------------------- */

static int precopy_stopped(void *arg, struct err *e)
{
	return precopy_now(arg, e);
}

static int live_read(struct roots *s, pid_t pid, const struct roots_options *o, struct err *e)
{
	struct roots_state *state = s->state;
	uint64_t damaged = 0;
	struct ledger_options lo = { .running = true, .pid = pid, .damaged = &damaged };
	struct process_copy_options so = { .no_copy = o->no_copy,
				       .most_held_bytes = MOST_HELD_BYTES,
				       .arg = &state->precopy };
	int rc;

	rc = ledger_map_open_pid(pid, &state->map, e);
	if (!rc)
		state->map->max_bytes = o->max_bytes;
	if (!rc && !o->no_copy) {
		so.stopped = precopy_stopped;
		rc = precopy_begin(&state->precopy, state->map, e);
	}
	if (!rc)
		rc = process_copy_take(pid, &so, &state->copied, e);
	if (!rc && o->no_copy)
		rc = precopy_still(&state->precopy, state->map, e);
	if (rc)
		return rc;
	s->stopped = !state->copied.copy;
	s->memory.stop = o->stop;
	s->pause_ns = state->copied.pause_ns;
	s->why_stopped = state->copied.why;
	s->held_bytes = state->copied.held_bytes;
	s->late = state->copied.late;
	rc = precopy_heap(&state->precopy, &lo, &s->heap, e);
	if (rc)
		return rc;
	s->complete = roots_complete(s->heap) && !damaged;
	return roots_settle(s, &state->copied, NULL, o, e);
}

int roots_live(pid_t pid, const struct roots_options *o, struct roots *s, struct err *e)
{
	int rc;

	*s = (struct roots){ .begun_ns = nanotime(), .state = calloc(1, sizeof(*s->state)) };
	if (!s->state)
		return err_set(e, -ENOMEM, "not enough memory to search for leaks");
	rc = live_read(s, pid, o, e);
	if (rc)
		roots_free(s);
	else
		precopy_end(&s->state->precopy);
	return rc;
}

int roots_intact(const struct roots *s, struct err *e)
{
	const pid_t pid = s->state ? s->state->copied.pid : 0;

	if (!s->state || process_copy_intact(&s->state->copied))
		return 0;
	if (s->stopped)
		return err_set(e, -ESRCH, "process %d was killed while it was searched", (int)pid);
	if (!proc_alive(pid)) {		/* its copy ends with it */
		err_set(e, -ESRCH, "process %d has ended while it was searched", (int)pid);
		err_hint(e, "'pmm leaks -- COMMAND' searches a program at its end");
		return -ESRCH;
	}
	err_set(e, -ECHILD, "the copy of process %d was killed while it was searched", (int)pid);
	err_hint(e, "when memory runs out the kernel kills it first; search with the program "
		    "stopped: --stop");
	return -ECHILD;
}

uint64_t roots_free(struct roots *s)
{
	struct roots_state *state = s->state;
	uint64_t pause_ns = s->pause_ns, ns;

	if (state) {
		precopy_end(&state->precopy);
		ns = process_copy_free(&state->copied);
		pause_ns = ns ? ns : pause_ns;
		if (state->map)
			ledger_map_close(state->map);
		core_close(&state->core);
		free(state);
	}
	memory_fini(&s->memory);
	heap_free(s->heap);
	*s = (struct roots){ 0 };
	return pause_ns;
}
