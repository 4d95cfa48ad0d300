/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines about the OOM killer. */
#include "src/view/trace/trace_oom.h"

#include "src/base/fmt.h"
#include "src/base/utf8.h"
#include "src/view/trace/trace_line.h"

static void describe_victim(struct str *text, struct event *e, const struct trace_record *r,
			    const char *name)
{
	event_u64(e, "victim_pid", UNIT_NUMBER, r->a[0]);
	str_addf(text, "killed process %llu", (unsigned long long)r->a[0]);
	if (!r->a[4])			/* this kernel says no more */
		return;
	event_text(e, "victim_command", name);
	event_u64(e, "victim_uid", UNIT_NUMBER, r->a[2]);
	event_u64(e, "victim_oom_score_adj", UNIT_SIGNED, r->a[3]);
	if (r->a[1])
		event_u64(e, "victim_memory_cgroup", UNIT_NUMBER, r->a[1]);
	str_addf(text, " '%s' of uid %llu, oom_score_adj %lld", name,
		 (unsigned long long)r->a[2], (long long)r->a[3]);
	if (r->a[0] == r->tgid)
		str_add(text, "; it asked for memory itself");
	else
		str_addf(text, "; process %u asked for memory", r->tgid);
}

static void describe_sizes(struct str *text, struct event *e, const struct trace_record *r)
{
	event_u64(e, "victim_pid", UNIT_NUMBER, r->a[0]);
	event_u64(e, "mapped_bytes", UNIT_BYTES, r->a[1]);
	event_u64(e, "anonymous_bytes", UNIT_BYTES, r->a[2]);
	event_u64(e, "file_bytes", UNIT_BYTES, r->a[3]);
	event_u64(e, "shared_memory_bytes", UNIT_BYTES, r->a[4]);
	event_u64(e, "page_table_bytes", UNIT_BYTES, r->a[5]);
	str_addf(text, "process %llu: resident about %s anonymous, %s of files, %s shared; "
		       "mapped %s, page tables %s",
		 (unsigned long long)r->a[0], fmt_bytes(r->a[2]).s, fmt_bytes(r->a[3]).s,
		 fmt_bytes(r->a[4]).s, fmt_bytes(r->a[1]).s, fmt_bytes(r->a[5]).s);
}

void trace_describe_oom(struct str *text, struct event *e, const struct trace_record *r,
			const char *tail)
{
	switch (r->kind) {
	case TRACE_OOM:
		describe_victim(text, e, r, tail);
		break;
	case TRACE_OOM_SIZES:
		describe_sizes(text, e, r);
		break;
	case TRACE_OOM_REAPED:
		event_u64(e, "victim_pid", UNIT_NUMBER, r->a[0]);
		str_addf(text, "memory of process %llu is free", (unsigned long long)r->a[0]);
		break;
	}
}

/* ---- what was so at that moment ---- */

static void add_group(struct event *e, const struct memcg *g)
{
	if (!g) {
		str_add(&e->text, "  its control group is not known\n");
		return;
	}
	event_text(e, "cgroup", g->path);
	if (g->limit_bytes != MEMCG_NO_LIMIT)
		event_u64(e, "limit_bytes", UNIT_BYTES, g->limit_bytes);
	event_u64(e, "usage_bytes", UNIT_BYTES, g->usage_bytes);
	str_add(&e->text, "  control group ");
	utf8_add_clean(&e->text, g->path);
	str_add(&e->text, ": ");
	if (g->limit_bytes == MEMCG_NO_LIMIT)
		str_add(&e->text, "no limit of its own");
	else
		str_addf(&e->text, "limit %s", fmt_bytes(g->limit_bytes).s);
	str_addf(&e->text, ", %s used a moment later\n", fmt_bytes(g->usage_bytes).s);
}

static void add_machine(struct event *e, const struct machine *m)
{
	event_u64(e, "available_bytes", UNIT_BYTES, m->available_bytes);
	event_u64(e, "memory_bytes", UNIT_BYTES, m->total_bytes);
	event_u64(e, "swap_free_bytes", UNIT_BYTES, m->swap_free_bytes);
	event_u64(e, "swap_bytes", UNIT_BYTES, m->swap_bytes);
	event_float(e, "load_1m", m->load[0]);
	event_float(e, "load_5m", m->load[1]);
	event_float(e, "load_15m", m->load[2]);
	str_addf(&e->text, "  machine: %s of %s available, ", fmt_bytes(m->available_bytes).s,
		 fmt_bytes(m->total_bytes).s);
	if (m->swap_bytes)
		str_addf(&e->text, "%s of %s swap free, ", fmt_bytes(m->swap_free_bytes).s,
			 fmt_bytes(m->swap_bytes).s);
	else
		str_add(&e->text, "no swap, ");
	str_addf(&e->text, "load average %.2f %.2f %.2f", m->load[0], m->load[1], m->load[2]);
	if (m->pressure.known) {
		event_float(e, "pressure_some_percent", m->pressure.some_percent);
		event_float(e, "pressure_full_percent", m->pressure.full_percent);
		str_addf(&e->text,
			 ", memory pressure in the last 10 s: some %.1f%%, full %.1f%%",
			 m->pressure.some_percent, m->pressure.full_percent);
	}
	str_addc(&e->text, '\n');
}

static void fill_before(struct event *e, const void *arg)
{
	const struct trace_oom *c = arg;

	for (unsigned i = 0; i < c->nr_before; i++) {
		const struct machine *m = &c->before[i];

		event_object(e, NULL);
		event_u64(e, "before_ns", UNIT_DURATION, c->now->time_ns - m->time_ns);
		event_u64(e, "available_bytes", UNIT_BYTES, m->available_bytes);
		event_u64(e, "swap_free_bytes", UNIT_BYTES, m->swap_free_bytes);
		for (int k = 0; k < MACHINE_NR_COUNTERS; k++)
			event_u64(e, machine_counter_key(k), UNIT_COUNT, m->counter[k]);
		event_end(e);
	}
}

static const struct column columns[] = {
	TEXT_COLUMN("  before", UNIT_DURATION),
	TEXT_COLUMN("available", UNIT_BYTES),
	TEXT_COLUMN("swap free", UNIT_BYTES),
	TEXT_COLUMN("major faults", UNIT_COUNT),
	TEXT_COLUMN("direct reclaims", UNIT_COUNT),
	TEXT_COLUMN("reclaimed", UNIT_BYTES),
	TEXT_COLUMN("swapped out", UNIT_BYTES),
};

#define PAGE_BYTES	4096ull

static void add_row(struct table *t, const struct trace_oom *c, const struct machine *from,
		    const struct machine *to)
{
	table_row(t, 0, ROW_PLAIN, ROW_TEXT_ONLY);
	table_set(t, 0, c->now->time_ns - from->time_ns);
	table_set(t, 1, from->available_bytes);
	table_set(t, 2, from->swap_free_bytes);
	table_set(t, 3, to->counter[MACHINE_MAJOR_FAULTS] - from->counter[MACHINE_MAJOR_FAULTS]);
	table_set(t, 4, to->counter[MACHINE_STALLS] - from->counter[MACHINE_STALLS]);
	table_set(t, 5, (to->counter[MACHINE_RECLAIMED] - from->counter[MACHINE_RECLAIMED]) *
				PAGE_BYTES);
	table_set(t, 6, (to->counter[MACHINE_SWAP_OUT] - from->counter[MACHINE_SWAP_OUT]) *
				PAGE_BYTES);
}

/* Moments of the minute that people want: the far ones coarse, the last ones fine. */
static const unsigned seconds[] = { 59, 30, 20, 10, 5, 3, 2, 1, 0 };

#define NR_SECONDS	(sizeof(seconds) / sizeof(*seconds))

static struct table *below(const void *arg)
{
	const struct trace_oom *c = arg;
	struct table *t = table_new(TABLE_ROWS, NULL, NULL, columns,
				    sizeof(columns) / sizeof(*columns));
	const struct machine *last = c->before + c->nr_before - 1;

	for (unsigned i = 0; t && i < NR_SECONDS; i++)
		if (seconds[i] < c->nr_before)
			add_row(t, c, last - seconds[i],
				i + 1 < NR_SECONDS ? last - seconds[i + 1] : c->now);
	return t;
}

void trace_oom_event(struct event *e, const struct trace_oom *c)
{
	event_text(e, "schema", TRACE_SCHEMA);
	event_text(e, "event", "oom_context");
	event_u64(e, "since_start_ns", UNIT_DURATION, c->since_start_ns);
	event_u64(e, "victim_pid", UNIT_NUMBER, c->pid);
	add_group(e, c->group);
	add_machine(e, c->now);
	event_filled_list(e, "before", fill_before, c);
	if (!c->nr_before)
		return;
	str_addf(&e->text, "  the machine in the %u s before, what happened until the next row:\n",
		 c->nr_before);
	e->below = below;
	e->below_arg = c;
}
