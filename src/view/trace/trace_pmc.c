/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of the processor, by process: what its instructions cost and miss. */
#include <stdlib.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/view/trace/trace_line.h"
#include "src/view/trace/trace_sections.h"

void trace_describe_sample(struct str *text, struct event *e, const struct trace_record *r,
			   const char *tail)
{
	(void)tail;
	event_u64(e, "address", UNIT_ADDRESS, r->a[0]);
	event_u64(e, "in_kernel", UNIT_BOOL, !!r->a[1]);
	str_addf(text, "%s at 0x%llx", r->a[1] ? "in the kernel" : "in the program",
		 (unsigned long long)r->a[0]);
}

enum { PID, SAMPLES, COUNTED, CYCLES = COUNTED, INSTRUCTIONS, REFERENCES, MISSES, DTLB, CLOCK,
       FAULTS, PER_CYCLE, MISS_PERCENT, MISSES_PER, DTLB_PER, COMMAND };

static const struct column columns[] = {
	{ "pid", "pid", UNIT_NUMBER },
	{ "samples", "samples", UNIT_COUNT },
	{ "cycles", "cycles", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "instructions", "instructions", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "llc_references", "LLC refs", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "llc_misses", "LLC misses", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "dtlb_misses", "dTLB misses", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "cpu_ns", "CPU time", UNIT_DURATION, COLUMN_ZERO_BLANK },
	{ "page_faults", "faults", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "instructions_per_cycle", "IPC", UNIT_FLOAT, COLUMN_ZERO_BLANK },
	{ "llc_miss_percent", "LLC missed", UNIT_PERCENT, COLUMN_ZERO_BLANK },
	{ "llc_misses_per_1000", "LLC/1000", UNIT_FLOAT, COLUMN_ZERO_BLANK },
	{ "dtlb_misses_per_1000", "dTLB/1000", UNIT_FLOAT, COLUMN_ZERO_BLANK },
	{ "command", "command", UNIT_TEXT, COLUMN_LABEL },
};

/* In the order of the columns, as of kernel_counters[]. */
struct process {
	uint32_t pid;
	const char *comm;
	uint64_t samples, counted[KERNEL_NR_COUNTERS];
};

static int counter_of(uint32_t kind)
{
	for (int i = 0; i < KERNEL_NR_COUNTERS; i++)
		if (kernel_counters[i].kind == kind)
			return i;
	return -1;
}

static int by_samples(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static int by_pid(const void *a, const void *b)
{
	const struct trace_row *const *x = a, *const *y = b;

	return (*x)->id < (*y)->id ? -1 : (*x)->id > (*y)->id;
}

typedef VEC(struct process) processes;

static int collect(processes *v, const struct trace_result *t)
{
	VEC(const struct trace_row *) rows = { 0 };
	int rc = 0;

	vec_each(&t->totals->processes, row)
		if (counter_of(row->kind) >= 0)
			rc = rc ? rc : vec_push(&rows, row);
	vec_sort(&rows, by_pid);
	for (size_t i = 0; !rc && i < rows.nr; i++) {
		const struct trace_row *row = rows.v[i];
		int at = counter_of(row->kind);
		struct process *p;

		if (!v->nr || v->v[v->nr - 1].pid != row->id)
			rc = vec_push(v, (struct process){ .pid = row->id, .comm = row->comm });
		if (rc)
			break;
		p = &v->v[v->nr - 1];
		p->counted[at] = row->sum.events;
		p->samples += row->sum.events / kernel_counters[at].period;
	}
	vec_fini(&rows);
	return rc;
}

/* Nothing where there is nothing to divide by. */
static void set_ratio(struct table *t, unsigned column, uint64_t part, uint64_t of, double times)
{
	if (of)
		table_set_float(t, column, times * (double)part / (double)of);
}

static void set_process(struct table *t, const struct process *p)
{
	uint64_t n[COUNTED + KERNEL_NR_COUNTERS];	/* by column */

	table_row(t, 0, ROW_PLAIN, ROW_BOTH);
	table_set(t, PID, p->pid);
	table_set(t, SAMPLES, p->samples);
	memcpy(n + COUNTED, p->counted, sizeof(p->counted));
	for (unsigned i = 0; i < KERNEL_NR_COUNTERS; i++)
		table_set(t, COUNTED + i, p->counted[i]);
	set_ratio(t, PER_CYCLE, n[INSTRUCTIONS], n[CYCLES], 1);
	set_ratio(t, MISS_PERCENT, n[MISSES], n[REFERENCES], 100);
	set_ratio(t, MISSES_PER, n[MISSES], n[INSTRUCTIONS], 1000);
	set_ratio(t, DTLB_PER, n[DTLB], n[INSTRUCTIONS], 1000);
	table_setf(t, COMMAND, "%.*s", TRACE_COMM_BYTES, p->comm);
}

void trace_section_pmc(struct doc *d, const struct trace_result *t)
{
	struct table *table = table_new(TABLE_ROWS, "counters",
					"Counters by process (estimates from samples)", columns,
					sizeof(columns) / sizeof(*columns));
	processes v = { 0 };

	if (collect(&v, t) && table)
		table->failed = true;
	vec_sort(&v, by_samples);
	for (size_t i = 0; table && i < v.nr && !(t->top && i == t->top); i++)
		set_process(table, &v.v[i]);
	if (table && t->top && v.nr > t->top)
		table_note(table, "%s (--top=0 shows all)", fmt_many(v.nr - t->top, "more row").s);
	vec_fini(&v);
	doc_add(d, table);
}
