/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel module and what it monitors, as documents and events. */
#include "src/view/kmod/kmod_view.h"

#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "src/base/fmt.h"
#include "src/base/str.h"
#include "src/document/doc_record.h"
#include "src/document/facts.h"
#include "src/view/kmod/kmod_lost.h"
#include "src/view/report_priv.h"

#define SECOND_NS	1000000000ull
#define NR(array)	(sizeof(array) / sizeof(*(array)))

/* ---- the module ---- */

static struct table *config_record(const struct pmm_kmod_config *c)
{
	struct table *t = record_new("module");

	record_number(t, "version", c->version);
	record_bool(t, "scan", c->scan);
	record_duration(t, "interval_ns", c->interval_ms * 1000000ull);
	record_count(t, "entries_per_process", c->entries_per_process);
	record_count(t, "entries_in_all", c->entries_in_all);
	record_bytes(t, "growth_bytes", c->growth_bytes);
	record_bytes(t, "resident_bytes", c->resident_bytes);
	record_bytes(t, "logged_bytes", c->logged_bytes);
	record_duration(t, "keep_ns", c->keep_s * SECOND_NS);
	record_count(t, "window", c->window);
	return t;
}

/* Append one limit that alerts, if it is set. */
static void add_limit(struct str *s, const char *what, uint64_t bytes)
{
	if (bytes)
		str_addf(s, "%s%s above %s", s->len ? ", " : "", what, fmt_bytes(bytes).s);
}

static struct table *config_facts(const struct pmm_kmod_config *c)
{
	struct table *t = facts_new("Kernel module pmm");
	struct str alerts = STR_INIT;

	if (!t)
		return NULL;
	facts_add(t, "module", "loaded, version %u of its interface", c->version);
	if (c->scan)
		facts_add(t, "looks", "every %s; growth is judged over %s",
			  fmt_duration_given(c->interval_ms * 1000000ull).s,
			  fmt_many(c->window, "look").s);
	else
		facts_add(t, "looks", "none: scanning is off (SCAN 0)");
	facts_add(t, "limits", "%s a process, %s in all",
		  fmt_many(c->entries_per_process, "entry").s,
		  fmt_count(c->entries_in_all).s);
	add_limit(&alerts, "steady growth", c->growth_bytes);
	add_limit(&alerts, "resident memory", c->resident_bytes);
	add_limit(&alerts, "outstanding memory", c->logged_bytes);
	if (!alerts.len)
		str_add(&alerts, "none");
	facts_text(t, "alerts", &alerts);
	facts_add(t, "kept", "the log of a dead process, for %s",
		  fmt_duration_given(c->keep_s * SECOND_NS).s);
	str_fini(&alerts);
	return t;
}

/* ---- what is missing ---- */

enum { LOST_MARK, LOST_PID, LOST_CODE, LOST_COUNT, LOST_TEXT };

static const struct column lost_columns[] = {
	[LOST_MARK] = TEXT_COLUMN(NULL, UNIT_TEXT),
	[LOST_PID] = { "pid", "pid", UNIT_NUMBER, 0 },
	[LOST_CODE] = JSON_COLUMN("code", UNIT_TEXT),
	[LOST_COUNT] = JSON_COLUMN("count", UNIT_COUNT),
	[LOST_TEXT] = { "text", "what its log lacks", UNIT_TEXT, COLUMN_LABEL },
};

static void losses_of(struct heap_kmod *k, const struct pmm_kmod_process *p)
{
	*k = (struct heap_kmod){ .over_limit = p->over_limit, .no_memory = p->no_memory,
				 .overflows = p->overflows, .torn = p->torn, .bad = p->bad,
				 .sites_lost = p->sites_lost, .replaced = p->replaced,
				 .foreign_frees = p->foreign_frees,
				 .double_frees = p->double_frees, .evicted = p->evicted };
}

static void add_losses(struct table *t, const struct pmm_kmod_process *p)
{
	struct heap_kmod k;

	losses_of(&k, p);
	for (enum kmod_lost i = 0; i < KMOD_LOST_NR; i++) {
		struct str text = STR_INIT;
		uint64_t count = kmod_lost(&k, i);

		if (!count)
			continue;
		kmod_lost_text(&text, i, count);
		table_row(t, 0, ROW_STRONG, ROW_BOTH);
		table_sentence(t);
		table_set_const(t, LOST_MARK, "!");
		table_set(t, LOST_PID, (uint64_t)p->pid);
		table_set_const(t, LOST_CODE, kmod_lost_code(i));
		table_set(t, LOST_COUNT, count);
		table_set_text(t, LOST_TEXT, table_text(t, &text));
		str_fini(&text);
	}
}

static struct table *lost_table(const struct pmm_kmod_process *v, size_t nr)
{
	struct table *t = table_new(TABLE_ROWS, "warnings", NULL, lost_columns, NR(lost_columns));

	if (!t)
		return NULL;
	for (size_t i = 0; i < nr; i++)
		add_losses(t, &v[i]);
	t->json_only = !t->rows.nr;
	return t;
}

/* ---- processes ---- */

enum {
	AT_PID,
	AT_PPID,
	AT_STATE,
	AT_EXIT,
	AT_SIGNAL,
	AT_RESIDENT,
	AT_GROWTH,
	AT_GROWTH_TEXT,
	AT_ENTRY_BYTES,
	AT_ENTRIES,
	AT_ALLOCS,
	AT_FREES,
	AT_ALERTS,
	AT_COMM,
	AT_ALLOCATED,
	AT_FREED,
	AT_LOST,
	AT_PEAK,
	AT_PEAK_ENTRIES,
	AT_NUMBER,
	AT_SINCE,
	AT_SEEN,
	AT_THREADS,
	AT_VIRTUAL,
	AT_SHARED,
	AT_CODE,
	AT_DATA,
	AT_STACK,
	AT_SWAP,
	AT_TABLES,
	AT_MINOR,
	AT_MAJOR,
	AT_SAMPLES,
	AT_BY_ITSELF,
	AT_RING,
	AT_OVER,
	AT_NR,
};

static const struct column columns[AT_NR] = {
	[AT_PID] = { "pid", "pid", UNIT_NUMBER, 0 },
	[AT_PPID] = { "ppid", "ppid", UNIT_NUMBER, 0 },
	[AT_STATE] = { "state", "state", UNIT_TEXT, 0 },
	[AT_EXIT] = JSON_COLUMN("exit_status", UNIT_NUMBER),
	[AT_SIGNAL] = JSON_COLUMN("signal", UNIT_NUMBER),
	[AT_RESIDENT] = { "resident_bytes", "resident", UNIT_BYTES, 0 },
	[AT_GROWTH] = JSON_COLUMN("growth_bytes_per_second", UNIT_SIGNED),
	[AT_GROWTH_TEXT] = TEXT_COLUMN("growth", UNIT_TEXT),
	[AT_ENTRY_BYTES] = { "live_bytes", "outstanding", UNIT_BYTES, 0 },
	[AT_ENTRIES] = { "live_blocks", "entries", UNIT_COUNT, 0 },
	[AT_ALLOCS] = { "allocs", "allocs", UNIT_COUNT, 0 },
	[AT_FREES] = { "frees", "frees", UNIT_COUNT, 0 },
	[AT_ALERTS] = { "alerts", "alerts", UNIT_COUNT, 0 },
	[AT_COMM] = { "comm", "command", UNIT_TEXT, COLUMN_LABEL },
	[AT_ALLOCATED] = JSON_COLUMN("allocated_bytes", UNIT_BYTES),
	[AT_FREED] = JSON_COLUMN("freed_bytes", UNIT_BYTES),
	[AT_LOST] = JSON_COLUMN("lost_bytes", UNIT_BYTES),
	[AT_PEAK] = JSON_COLUMN("peak_bytes", UNIT_BYTES),
	[AT_PEAK_ENTRIES] = JSON_COLUMN("peak_blocks", UNIT_COUNT),
	[AT_NUMBER] = JSON_COLUMN("number", UNIT_NUMBER),
	[AT_SINCE] = JSON_COLUMN("since_realtime_ns", UNIT_TIME),
	[AT_SEEN] = JSON_COLUMN("seen_realtime_ns", UNIT_TIME),
	[AT_THREADS] = JSON_COLUMN("threads", UNIT_COUNT),
	[AT_VIRTUAL] = JSON_COLUMN("virtual_bytes", UNIT_BYTES),
	[AT_SHARED] = JSON_COLUMN("shared_bytes", UNIT_BYTES),
	[AT_CODE] = JSON_COLUMN("code_bytes", UNIT_BYTES),
	[AT_DATA] = JSON_COLUMN("data_bytes", UNIT_BYTES),
	[AT_STACK] = JSON_COLUMN("stack_bytes", UNIT_BYTES),
	[AT_SWAP] = JSON_COLUMN("swap_bytes", UNIT_BYTES),
	[AT_TABLES] = JSON_COLUMN("page_table_bytes", UNIT_BYTES),
	[AT_MINOR] = JSON_COLUMN("minor_faults", UNIT_COUNT),
	[AT_MAJOR] = JSON_COLUMN("major_faults", UNIT_COUNT),
	[AT_SAMPLES] = JSON_COLUMN("samples", UNIT_COUNT),
	[AT_BY_ITSELF] = JSON_COLUMN("by_itself", UNIT_BOOL),
	[AT_RING] = JSON_COLUMN("ring", UNIT_BOOL),
	[AT_OVER] = JSON_COLUMN("over_limit", UNIT_BOOL),
};

static const char *state_name(unsigned state)
{
	static const char *const name[] = {
		[PMM_KMOD_RUNNING] = "running",
		[PMM_KMOD_ZOMBIE] = "zombie",
		[PMM_KMOD_EXITED] = "exited",
		[PMM_KMOD_KILLED] = "killed",
	};

	return state < NR(name) && name[state] ? name[state] : "unknown";
}

/* Figures of a look at it; without one there are none. */
static void set_figures(struct table *t, const struct pmm_kmod_process *p)
{
	const struct {
		unsigned column;
		uint64_t value;
	} v[] = {
		{ AT_RESIDENT, p->resident_bytes }, { AT_GROWTH, (uint64_t)p->growth_bytes_per_s },
		{ AT_SEEN, p->seen_ns },		   { AT_THREADS, p->threads },
		{ AT_VIRTUAL, p->virtual_bytes },   { AT_SHARED, p->shared_bytes },
		{ AT_CODE, p->code_bytes },	   { AT_DATA, p->data_bytes },
		{ AT_STACK, p->stack_bytes },	   { AT_SWAP, p->swap_bytes },
		{ AT_TABLES, p->page_table_bytes }, { AT_MINOR, p->minor_faults },
		{ AT_MAJOR, p->major_faults },
	};
	int64_t growth = p->growth_bytes_per_s;
	uint64_t size = growth < 0 ? -(uint64_t)growth : (uint64_t)growth;

	if (!(p->flags & PMM_KMOD_SEEN))
		return;
	for (size_t i = 0; i < NR(v); i++)
		table_set(t, v[i].column, v[i].value);
	if (growth)
		table_setf(t, AT_GROWTH_TEXT, "%s%s/s", growth < 0 ? "-" : "+", fmt_bytes(size).s);
}

static void add_process(struct table *t, const struct pmm_kmod_process *p)
{
	const unsigned over = PMM_KMOD_OVER_GROWTH | PMM_KMOD_OVER_RESIDENT | PMM_KMOD_OVER_LOGGED;
	const int status = (int)p->status;

	table_row(t, 0, p->flags & over ? ROW_STRONG : ROW_PLAIN, ROW_BOTH);
	table_set(t, AT_PID, (uint64_t)p->pid);
	table_set(t, AT_PPID, (uint64_t)p->ppid);
	table_set_const(t, AT_STATE, state_name(p->state));
	if (p->state != PMM_KMOD_RUNNING && WIFEXITED(status))
		table_set(t, AT_EXIT, (uint64_t)WEXITSTATUS(status));
	if (p->state != PMM_KMOD_RUNNING && WIFSIGNALED(status))
		table_set(t, AT_SIGNAL, (uint64_t)WTERMSIG(status));
	set_figures(t, p);
	table_set(t, AT_ENTRY_BYTES, p->entry_bytes);
	table_set(t, AT_ENTRIES, p->entries);
	table_set(t, AT_ALLOCS, p->allocations);
	table_set(t, AT_FREES, p->frees);
	table_set(t, AT_ALERTS, p->alerts);
	table_set_text(t, AT_COMM, p->comm);
	table_set(t, AT_ALLOCATED, p->allocated_bytes);
	table_set(t, AT_FREED, p->freed_bytes);
	table_set(t, AT_LOST, p->lost_bytes);
	table_set(t, AT_PEAK, p->peak_bytes);
	table_set(t, AT_PEAK_ENTRIES, p->peak_entries);
	table_set(t, AT_NUMBER, p->number);
	table_set(t, AT_SINCE, p->since_ns);
	table_set(t, AT_SAMPLES, p->samples);
	table_set(t, AT_BY_ITSELF, (p->flags & PMM_KMOD_BY_ITSELF) != 0);
	table_set(t, AT_RING, (p->flags & PMM_KMOD_HAS_RING) != 0);
	table_set(t, AT_OVER, (p->flags & over) != 0);
}

void kmod_view_status(struct doc *d, const struct pmm_kmod_config *config,
		      const struct pmm_kmod_process *processes, size_t nr)
{
	struct table *t;

	d->schema = KMOD_STATUS_SCHEMA;
	doc_add(d, config_record(config));
	doc_add(d, config_facts(config));
	doc_add(d, lost_table(processes, nr));
	t = table_new(TABLE_ROWS, "processes", "Monitored processes", columns, AT_NR);
	for (size_t i = 0; t && i < nr; i++)
		add_process(t, &processes[i]);
	if (t && !nr)
		table_note(t, "none; 'pmm kmod start PID' begins with one");
	doc_add(d, t);
}

/* ---- events ---- */

static const char *const event_name[] = {
	[PMM_KMOD_EVENT_STARTED] = "started",	  [PMM_KMOD_EVENT_STOPPED] = "stopped",
	[PMM_KMOD_EVENT_EXEC] = "exec",		  [PMM_KMOD_EVENT_ENDED] = "ended",
	[PMM_KMOD_EVENT_FORGOTTEN] = "forgotten", [PMM_KMOD_EVENT_GROWTH] = "growth",
	[PMM_KMOD_EVENT_RESIDENT] = "resident",	  [PMM_KMOD_EVENT_LOGGED] = "logged",
};

static bool is_alert(const struct pmm_kmod_event *e)
{
	return e->type >= PMM_KMOD_EVENT_GROWTH && e->type <= PMM_KMOD_EVENT_LOGGED;
}

static void add_end(struct str *s, int status)
{
	if (WIFSIGNALED(status))
		report_killed_text(s, WTERMSIG(status));
	else
		str_addf(s, "exited with status %d", WEXITSTATUS(status));
}

static void add_sentence(struct str *s, const struct pmm_kmod_event *e)
{
	static const char *const alert[] = {
		[PMM_KMOD_EVENT_GROWTH] = "gained %s steadily, more than %s",
		[PMM_KMOD_EVENT_RESIDENT] = "has %s resident, more than %s",
		[PMM_KMOD_EVENT_LOGGED] = "has %s outstanding, more than %s",
	};

	switch (e->type) {
	case PMM_KMOD_EVENT_STARTED:
		str_add(s, "is monitored from now on");
		break;
	case PMM_KMOD_EVENT_STOPPED:
		str_add(s, "is not monitored any more");
		break;
	case PMM_KMOD_EVENT_EXEC:
		str_add(s, "executes another program: its log begins anew");
		break;
	case PMM_KMOD_EVENT_ENDED:
		add_end(s, (int)e->value);
		break;
	case PMM_KMOD_EVENT_FORGOTTEN:
		str_add(s, "ended long ago: its log is gone now");
		break;
	case PMM_KMOD_EVENT_GROWTH:
	case PMM_KMOD_EVENT_RESIDENT:
	case PMM_KMOD_EVENT_LOGGED:
		str_addf(s, alert[e->type], fmt_bytes(e->value).s, fmt_bytes(e->limit).s);
		break;
	default:
		str_addf(s, "event %u, which this pmm does not know", e->type);
	}
}

static void add_text(struct event *to, const struct pmm_kmod_event *e)
{
	time_t second = (time_t)(e->time_ns / SECOND_NS);
	char when[16] = "";
	struct tm tm;

	if (localtime_r(&second, &tm))
		strftime(when, sizeof(when), "%H:%M:%S", &tm);
	if (e->lost)
		str_addf(&to->text, "! %s %s lost before this one\n",
			 fmt_many(e->lost, "event").s, fmt_agree(e->lost, "was", "were"));
	str_addf(&to->text, "%s  %s%d (%s) ", when, is_alert(e) ? "! " : "", e->pid, e->comm);
	add_sentence(&to->text, e);
	str_add(&to->text, "\n");
}

void kmod_view_event(struct event *to, const struct pmm_kmod_event *e)
{
	const char *name = e->type < NR(event_name) ? event_name[e->type] : NULL;
	const int status = (int)e->value;

	event_text(to, "schema", KMOD_WATCH_SCHEMA);
	event_text(to, "event", name ? name : "unknown");
	event_u64(to, "time_realtime_ns", UNIT_TIME, e->time_ns);
	event_u64(to, "pid", UNIT_NUMBER, (uint64_t)e->pid);
	event_text(to, "comm", e->comm);
	event_u64(to, "number", UNIT_NUMBER, e->number);
	event_u64(to, "lost", UNIT_COUNT, e->lost);
	if (is_alert(e)) {
		event_u64(to, "bytes", UNIT_BYTES, e->value);
		event_u64(to, "limit_bytes", UNIT_BYTES, e->limit);
	} else if (e->type == PMM_KMOD_EVENT_ENDED && WIFSIGNALED(status)) {
		event_u64(to, "signal", UNIT_NUMBER, (uint64_t)WTERMSIG(status));
	} else if (e->type == PMM_KMOD_EVENT_ENDED) {
		event_u64(to, "exit_status", UNIT_NUMBER, (uint64_t)WEXITSTATUS(status));
	}
	add_text(to, e);
}
