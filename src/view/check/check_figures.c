/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The figures of a heap error: its row in JSON. */
#include "include/pmm/ledger.h"
#include "src/analyze/sizes.h"
#include "src/view/check/check_priv.h"
#include "src/view/report_priv.h"

const struct column check_found_columns[FOUND_NR] = {
	[FOUND_TYPE] = JSON_COLUMN("type", UNIT_TEXT),
	[FOUND_BY] = JSON_COLUMN("by", UNIT_TEXT),
	[FOUND_ACCESS] = JSON_COLUMN("access", UNIT_TEXT),
	[FOUND_PLACE] = JSON_COLUMN("place", UNIT_TEXT),
	[FOUND_WHAT] = JSON_COLUMN("what", UNIT_TEXT),
	[FOUND_COUNT] = JSON_COLUMN("count", UNIT_COUNT),
	[FOUND_FIRST] = JSON_COLUMN("first_ns", UNIT_DURATION),
	[FOUND_LAST] = JSON_COLUMN("last_ns", UNIT_DURATION),
	[FOUND_SINCE] = JSON_COLUMN("well_at_ns", UNIT_DURATION),
	[FOUND_THREAD] = JSON_COLUMN("tid", UNIT_NUMBER),
	[FOUND_THREAD_NAME] = JSON_COLUMN("thread_name", UNIT_TEXT),
	[FOUND_VALGRIND_THREAD] = JSON_COLUMN("valgrind_thread", UNIT_NUMBER),
	[FOUND_ADDRESS] = JSON_COLUMN("address", UNIT_ADDRESS),
	[FOUND_SIZE] = JSON_COLUMN("size_bytes", UNIT_COUNT),
	[FOUND_BLOCK] = JSON_COLUMN("block_address", UNIT_ADDRESS),
	[FOUND_BLOCK_BYTES] = JSON_COLUMN("block_bytes", UNIT_COUNT),
	[FOUND_KIND] = JSON_COLUMN("kind", UNIT_TEXT),
	[FOUND_RELEASE] = JSON_COLUMN("release", UNIT_TEXT),
	[FOUND_FUNCTION] = JSON_COLUMN("function_called", UNIT_TEXT),
	[FOUND_OTHER] = JSON_COLUMN("other", UNIT_ADDRESS),
	[FOUND_SAID] = JSON_COLUMN("said", UNIT_NUMBER),
	[FOUND_SIGNAL] = JSON_COLUMN("signal", UNIT_TEXT),
	[FOUND_CODE] = JSON_COLUMN("signal_code", UNIT_NUMBER),
	[FOUND_ENDED] = JSON_COLUMN("ended_by", UNIT_TEXT),
	[FOUND_STATUS] = JSON_COLUMN("ended_with", UNIT_NUMBER),
	[FOUND_MAPPING] = JSON_COLUMN("mapping", UNIT_TEXT),
	[FOUND_MAP_ACCESS] = JSON_COLUMN("mapping_access", UNIT_TEXT),
	[FOUND_MAP_START] = JSON_COLUMN("mapping_start", UNIT_ADDRESS),
	[FOUND_MAP_END] = JSON_COLUMN("mapping_end", UNIT_ADDRESS),
	[FOUND_SAYS] = JSON_COLUMN("message", UNIT_TEXT),
	[FOUND_GUARDED] = JSON_COLUMN("guarded", UNIT_BOOL),
	[FOUND_AGAIN] = JSON_COLUMN("again", UNIT_BOOL),
	[FOUND_BYTES] = JSON_COLUMN("contents", UNIT_TEXT),
	[FOUND_ALLOC_THREAD] = JSON_COLUMN("allocated_tid", UNIT_NUMBER),
	[FOUND_ALLOC_THREAD_NAME] = JSON_COLUMN("allocated_thread_name", UNIT_TEXT),
	[FOUND_ALLOC_TIME] = JSON_COLUMN("allocated_ns", UNIT_DURATION),
	[FOUND_FREE_THREAD] = JSON_COLUMN("freed_tid", UNIT_NUMBER),
	[FOUND_FREE_THREAD_NAME] = JSON_COLUMN("freed_thread_name", UNIT_TEXT),
	[FOUND_FREE_TIME] = JSON_COLUMN("freed_ns", UNIT_DURATION),
	[FOUND_PARENT] = JSON_COLUMN("parent_pid", UNIT_NUMBER),
	[FOUND_PROCESS] = JSON_COLUMN("process", UNIT_TEXT),
	[FOUND_PID] = JSON_COLUMN("pid", UNIT_NUMBER),
	[FOUND_RUNS] = JSON_COLUMN("runs", UNIT_TEXT),
	[FOUND_PROGRAM] = JSON_COLUMN("program", UNIT_TEXT),
	[FOUND_PROCESSES] = JSON_COLUMN("processes", UNIT_COUNT),
	[FOUND_PIDS] = JSON_COLUMN("pids", UNIT_NUMBERS),
	[FOUND_STACK] = JSON_COLUMN("stack", UNIT_TEXT),
	[FOUND_FRAME] = REPORT_FRAME_COLUMNS,
	[FOUND_INLINED] = JSON_COLUMN("inlined", UNIT_BOOL),
	[FOUND_ROLE] = JSON_COLUMN("role", UNIT_TEXT),
	[FOUND_LABEL] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_LABEL },
	[FOUND_TAIL] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_TAIL },
};

static const char *const type_name[PMM_NR_FINDING_TYPES] = {
	[PMM_FINDING_NONE] = "none",
	[PMM_FINDING_OVERRUN] = "overrun",
	[PMM_FINDING_UNDERRUN] = "underrun",
	[PMM_FINDING_AFTER_FREE] = "use-after-free",
	[PMM_FINDING_DOUBLE_FREE] = "double-free",
	[PMM_FINDING_BAD_FREE] = "bad-free",
	[PMM_FINDING_MISMATCH] = "mismatched-free",
	[PMM_FINDING_REALLOC_FREED] = "realloc-after-free",
	[PMM_FINDING_OVERLAP] = "overlap",
	[PMM_FINDING_SIZE] = "size",
	[PMM_FINDING_STACK_OVERFLOW] = "stack-overflow",
	[PMM_FINDING_UNINITIALISED] = "uninitialised",
	[PMM_FINDING_WILD] = "wild-access",
	[PMM_FINDING_OTHER] = "other",
	[PMM_FINDING_CRASH] = "crash",
};

const char *check_type_name(unsigned type)
{
	return type < PMM_NR_FINDING_TYPES ? type_name[type] : "other";
}

static const char *const by_name[PMM_NR_FINDING_BYS] = {
	[PMM_BY_ACCESS] = "access",   [PMM_BY_FUNCTION] = "function",
	[PMM_BY_RELEASE] = "release", [PMM_BY_QUARANTINE] = "quarantine",
	[PMM_BY_SCAN] = "sweep",      [PMM_BY_VALGRIND] = "valgrind",
	[PMM_BY_SIGNAL] = "signal",
};
static const char *const access_name[PMM_NR_ACCESSES] = {
	[PMM_ACCESS_READ] = "read", [PMM_ACCESS_WRITE] = "write", [PMM_ACCESS_EXEC] = "execute",
};
static const char *const place_name[PMM_NR_FINDING_PLACES] = {
	[PMM_PLACE_UNKNOWN] = "unknown",     [PMM_PLACE_INSIDE] = "inside",
	[PMM_PLACE_STACK] = "stack",	     [PMM_PLACE_STATIC] = "static",
	[PMM_PLACE_UNMAPPED] = "unmapped",   [PMM_PLACE_NULL] = "null",
	[PMM_PLACE_FORBIDDEN] = "forbidden", [PMM_PLACE_STACK_GUARD] = "stack-guard",
	[PMM_PLACE_PAST_FILE] = "past-file", [PMM_PLACE_NO_ADDRESS] = "no-address",
};

#define NAME(table, i) ((i) < sizeof(table) / sizeof(*(table)) ? (table)[i] : NULL)

static void set_thread_name(struct table *t, unsigned column, const struct heap *h, uint16_t thread)
{
	if (h->threads[thread].name[0])
		table_set_text(t, column, h->threads[thread].name);
}

/* Its name in the column behind. */
static void set_thread(struct table *t, unsigned column, const struct heap *h, uint16_t thread)
{
	if (thread == HEAP_NO_THREAD)
		return;
	table_set(t, column, h->threads[thread].tid);
	set_thread_name(t, column + 1, h, thread);
}

/* Valgrind has numbers of its own for threads, of which the first is 1. */
static void set_valgrind_thread(struct table *t, const struct heap *h, uint16_t thread)
{
	if (thread == HEAP_NO_THREAD || !h->threads[thread].tid)
		return;
	table_set(t, FOUND_VALGRIND_THREAD, h->threads[thread].tid);
	set_thread_name(t, FOUND_THREAD_NAME, h, thread);
	if (h->threads[thread].tid == 1)
		table_set(t, FOUND_THREAD, h->pid);
}

static void set_bytes(struct table *t, const struct heap_finding *f)
{
	struct str s = STR_INIT;

	for (unsigned i = 0; i < f->nr_bytes; i++)
		str_addf(&s, "%02x", f->bytes[i]);
	table_set_text(t, FOUND_BYTES, table_text(t, &s));
	str_fini(&s);
}

static void set_block(struct table *t, const struct heap *h, const struct heap_finding *f)
{
	table_set(t, FOUND_BLOCK, f->block);
	table_set(t, FOUND_BLOCK_BYTES, f->block_bytes);
	table_set(t, FOUND_GUARDED, f->guarded);
	if (f->kind)
		table_set_const(t, FOUND_KIND, kind_name(f->kind));
	if (f->alloc_site != HEAP_NO_SITE || f->alloc_ns)
		set_thread(t, FOUND_ALLOC_THREAD, h, f->alloc_thread);
	if (f->alloc_ns || (f->alloc_site != HEAP_NO_SITE && !f->parent_pid))
		table_set(t, FOUND_ALLOC_TIME, heap_tick_time(h, f->alloc_ns));
	if (f->free_site != HEAP_NO_SITE) {
		set_thread(t, FOUND_FREE_THREAD, h, f->free_thread);
		table_set(t, FOUND_FREE_TIME, heap_tick_time(h, f->free_ns));
	}
	if (f->parent_pid)
		table_set(t, FOUND_PARENT, f->parent_pid);
}

/*
 * Of several runs: which met it, and of which process the one that is described is, unless that is
 * the program itself.
 */
static void set_runs(struct table *t, const struct check_view *v, const struct heap_finding *f)
{
	const struct finding_origin *o = check_origin(v, f);
	struct str s = STR_INIT;

	if (!o)
		return;
	check_runs_met(&s, v, f, ",", "");
	table_set_text(t, FOUND_RUNS, table_text(t, &s));
	table_set(t, FOUND_PID, o->pid);
	if (!o->program)
		table_set_text(t, FOUND_PROCESS, o->comm);
	str_fini(&s);
}

static void set_signal(struct table *t, unsigned column, unsigned signal)
{
	char name[CHECK_SIGNAL_BYTES];

	check_signal_name(name, signal);
	table_set_text(t, column, name);
}

/* Of a crash, and of what else the process died of. */
static void set_death(struct table *t, const struct heap *h, const struct heap_finding *f)
{
	const struct heap_death *d = &h->death;
	bool crash = f->type == PMM_FINDING_CRASH;

	if (!d->known || (!crash && d->finding != f->number))
		return;
	set_signal(t, FOUND_SIGNAL, check_crash_signal(h));
	if (d->code > 0)
		table_set(t, FOUND_CODE, (uint64_t)d->code);
	if (d->fault && d->signal && d->signal != d->fault)
		set_signal(t, FOUND_ENDED, d->signal);
	if (!d->signal)
		table_set(t, FOUND_STATUS, d->status);
	if (!crash)
		return;
	if (d->map_access) {
		table_setf(t, FOUND_MAP_ACCESS, "%c%c%c", d->map_access & 1 ? 'r' : '-',
			   d->map_access & 2 ? 'w' : '-', d->map_access & 4 ? 'x' : '-');
		table_set(t, FOUND_MAP_START, d->map_start);
		table_set(t, FOUND_MAP_END, d->map_end);
	}
	if (f->text[0])
		table_set_text(t, d->map_access ? FOUND_MAPPING : FOUND_SAYS, f->text);
}

void check_figures(struct table *t, const struct check_view *v, const struct heap_finding *f,
		   unsigned access_bytes)
{
	const struct heap *h = v->heap;

	table_set_const(t, FOUND_TYPE, NAME(type_name, f->type));
	table_set_const(t, FOUND_BY, NAME(by_name, f->by));
	if (f->access)
		table_set_const(t, FOUND_ACCESS, NAME(access_name, f->access));
	if (f->type == PMM_FINDING_BAD_FREE || f->place)
		table_set_const(t, FOUND_PLACE, NAME(place_name, f->place));
	table_set(t, FOUND_COUNT, f->count);
	table_set(t, FOUND_FIRST, heap_tick_time(h, f->first_ns));
	table_set(t, FOUND_LAST, heap_tick_time(h, f->last_ns));
	if (f->since_ns)
		table_set(t, FOUND_SINCE, heap_tick_time(h, f->since_ns));
	if (f->by == PMM_BY_VALGRIND)
		set_valgrind_thread(t, h, f->thread);
	else
		set_thread(t, FOUND_THREAD, h, f->thread);
	if (f->address)
		table_set(t, FOUND_ADDRESS, f->address);
	if (f->size_bytes || access_bytes)
		table_set(t, FOUND_SIZE, f->size_bytes ? f->size_bytes : access_bytes);
	if (f->block)
		set_block(t, h, f);
	set_death(t, h, f);
	if (f->release)
		table_set_const(t, FOUND_RELEASE, check_release_word(f->release));
	if (f->function[0])
		table_set_text(t, FOUND_FUNCTION, f->function);
	if (f->other)
		table_set(t, f->type == PMM_FINDING_MISMATCH ? FOUND_SAID : FOUND_OTHER, f->other);
	if (check_again(v, f))
		table_set(t, FOUND_AGAIN, true);
	if (v->opt.bytes && f->nr_bytes)
		set_bytes(t, f);
	set_runs(t, v, f);
}
