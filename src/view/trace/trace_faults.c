/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page faults: a line for those with a stack, and tables by memory, file, range and process. */
#include <stdio.h>
#include <unistd.h>

#include "src/analyze/trace/fault_names.h"
#include "src/analyze/trace/fault_totals.h"
#include "src/base/fmt.h"
#include "src/kernel/fault_area.h"
#include "src/view/trace/trace_line.h"
#include "src/view/trace/trace_sections.h"

/* ---- lines ---- */

static const char *access_word(uint64_t error)
{
	return error & TRACE_FAULT_FETCH ? "fetch" : error & TRACE_FAULT_WRITE ? "write" : "read";
}

static void add_access(struct str *text, struct event *e, uint64_t error)
{
	if (error & TRACE_FAULT_NO_ACCESS)
		return;
	event_text(e, "access", access_word(error));
	str_addf(text, "%s%s, ", access_word(error),
		 error & TRACE_FAULT_PRESENT ? " of a page that is there" : "");
	/* perf events say of a fetch alone that it is one */
	event_u64(e, "page_present", UNIT_BOOL, error & TRACE_FAULT_PRESENT);
}

/* "/usr/lib/libc.so.6+0x1000", or what kind of memory it is; `tail`: the path. */
static void add_place(struct str *text, struct event *e, const struct trace_record *r,
		      const char *tail)
{
	enum fault_area area = fault_area_of(r);

	event_u64(e, "address", UNIT_ADDRESS, r->a[0]);
	event_u64(e, "instruction", UNIT_ADDRESS, r->a[1]);
	event_text(e, "memory", fault_area_name(area));
	event_u64(e, "by_kernel", UNIT_BOOL, !(r->a[2] & TRACE_FAULT_USER));
	str_addf(text, "%s at 0x%llx", fault_area_text(area), r->a[0]);
	if (!r->a[4])
		return;
	if (*tail)
		event_text(e, "file", tail);
	event_u64(e, "inode", UNIT_NUMBER, r->a[4]);
	event_u64(e, "offset_bytes", UNIT_BYTES, r->a[5]);
	if (*tail)
		str_addf(text, ", %s", tail);
	else
		str_addf(text, ", inode %llu", r->a[4]);
	str_addf(text, "+0x%llx", r->a[5]);
}

void trace_describe_fault(struct str *text, struct event *e, const struct trace_record *r,
			  const char *tail)
{
	if (r->kind == TRACE_FAULT)
		add_access(text, e, r->a[2]);
	add_place(text, e, r, tail);
	if (!(r->a[2] & TRACE_FAULT_USER))
		str_add(text, ", in a system call");
	if (r->weight > 1)
		str_addf(text, "; one of %llu", r->weight);
}

/* ---- tables ---- */

struct faults {
	const struct trace_result *result;
	struct fault_totals totals;
	struct fault_names names;
};

static void set_access(struct table *t, unsigned from, const struct fault_sum *s)
{
	table_set(t, from, s->faults);
	table_set(t, from + 1, s->access[FAULT_READ]);
	table_set(t, from + 2, s->access[FAULT_WRITE]);
	table_set(t, from + 3, s->access[FAULT_FETCH]);
	table_set(t, from + 4, s->access[FAULT_READ_PRESENT] + s->access[FAULT_WRITE_PRESENT] +
				       s->access[FAULT_FETCH_PRESENT]);
	table_set(t, from + 5, s->access[FAULT_NO_ACCESS]);
	table_set(t, from + 6, s->by_kernel);
	table_set(t, from + 7, s->major);
}

#define ACCESS_COLUMNS                                                                             \
	{ "faults", "faults", UNIT_COUNT },                                                        \
	{ "reads", "reads", UNIT_COUNT, COLUMN_ZERO_BLANK },                                       \
	{ "writes", "writes", UNIT_COUNT, COLUMN_ZERO_BLANK },                                     \
	{ "fetches", "fetches", UNIT_COUNT, COLUMN_ZERO_BLANK },                                   \
	{ "page_present", "page there", UNIT_COUNT, COLUMN_ZERO_BLANK },                           \
	{ "access_unknown", "read or write", UNIT_COUNT, COLUMN_ZERO_BLANK },                      \
	{ "by_kernel", "in calls", UNIT_COUNT, COLUMN_ZERO_BLANK },                                \
	{ "major", "major", UNIT_COUNT, COLUMN_ZERO_BLANK }
#define NR_ACCESS_COLUMNS 8

static const struct column area_columns[] = {
	{ "memory", "memory", UNIT_TEXT, COLUMN_JSON_ONLY },
	TEXT_COLUMN("memory", UNIT_TEXT),
	ACCESS_COLUMNS,
};

static const struct column file_columns[] = {
	ACCESS_COLUMNS,
	JSON_COLUMN("device", UNIT_TEXT),
	JSON_COLUMN("inode", UNIT_NUMBER),
	{ "file", "file", UNIT_TEXT, COLUMN_LABEL },
};

static const struct column range_columns[] = {
	{ "faults", "faults", UNIT_COUNT },
	{ "major", "major", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "offset_bytes", "from", UNIT_BYTES },
	{ "size_bytes", "bytes", UNIT_BYTES },
	JSON_COLUMN("device", UNIT_TEXT),
	JSON_COLUMN("inode", UNIT_NUMBER),
	{ "file", "file", UNIT_TEXT, COLUMN_LABEL },
};

static const struct column process_columns[] = {
	{ "pid", "pid", UNIT_NUMBER },
	{ "faults", "faults", UNIT_COUNT },
	{ "anonymous", "anonymous", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "heap", "heap", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "stack", "stack", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "file", "file", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "shared", "shared", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "huge", "huge", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "other", "other", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "major", "major", UNIT_COUNT, COLUMN_ZERO_BLANK },
	{ "command", "command", UNIT_TEXT, COLUMN_LABEL },
};

#define TABLE(key, title, columns)                                                                 \
	table_new(TABLE_ROWS, key, title, columns, sizeof(columns) / sizeof(*columns))

static const char by_programs[] =
	"; 'page there': those that found a page, to copy it or to make it writable; 'in calls': "
	"of all, those of the kernel for a system call";

static void add_areas(struct doc *d, const struct faults *f)
{
	struct table *t = TABLE("fault_memory", "Page faults by kind of memory", area_columns);
	bool no_access = false;		/* by perf events, which fill fewer columns */

	for (int area = 0; t && area < FAULT_NR_AREAS; area++) {
		const struct fault_sum *s = &f->totals.area[area];

		if (!s->faults && !s->major)
			continue;
		no_access |= s->access[FAULT_NO_ACCESS];
		table_row(t, 0, ROW_PLAIN, ROW_BOTH);
		table_set_const(t, 0, fault_area_name(area));
		table_set_const(t, 1, fault_area_text(area));
		set_access(t, 2, s);
	}
	if (t)
		table_note(t, "a fault may map several pages%s",
			   no_access ? "" : by_programs);
	doc_add(d, t);
}

static void set_file(struct table *t, unsigned from, const struct faults *f, uint32_t device,
		     uint64_t inode)
{
	const char *path = fault_names_find(&f->names, device, inode);

	table_setf(t, from, "%u:%u", device >> 20, device & 0xfffff);
	table_set(t, from + 1, inode);
	if (path)
		table_set_text(t, from + 2, path);
	else
		table_setf(t, from + 2, "inode %llu of device %u:%u", (unsigned long long)inode,
			   device >> 20, device & 0xfffff);
}

/* True as long as another row is to be shown. */
static bool more(const struct faults *f, const struct table *t, size_t shown)
{
	return t && (!f->result->top || shown < f->result->top);
}

static void note_rest(struct table *t, size_t shown, size_t all)
{
	if (t && shown < all)
		table_note(t, "%s (--top=0 shows all)", fmt_many(all - shown, "more row").s);
}

static void add_files(struct doc *d, const struct faults *f)
{
	struct table *t = TABLE("fault_files", "Page faults by file", file_columns);
	size_t i = 0;

	for (; i < f->totals.files.nr && more(f, t, i); i++) {
		const struct fault_file_sum *s = &f->totals.files.v[i];

		table_row(t, 0, ROW_PLAIN, ROW_BOTH);
		set_access(t, 0, &s->sum);
		set_file(t, NR_ACCESS_COLUMNS, f, s->device, s->inode);
	}
	note_rest(t, i, f->totals.files.nr);
	doc_add(d, t);
}

static void add_ranges(struct doc *d, const struct faults *f)
{
	struct table *t = TABLE("fault_ranges", "Page faults by range of a file", range_columns);
	size_t i = 0;

	for (; i < f->totals.ranges.nr && more(f, t, i); i++) {
		const struct fault_range_sum *s = &f->totals.ranges.v[i];

		table_row(t, 0, ROW_PLAIN, ROW_BOTH);
		table_set(t, 0, s->sum.faults);
		table_set(t, 1, s->sum.major);
		table_set(t, 2, s->start);
		table_set(t, 3, s->bytes);
		set_file(t, 4, f, s->device, s->inode);
	}
	note_rest(t, i, f->totals.ranges.nr);
	doc_add(d, t);
}

static void set_process(struct table *t, const struct fault_process_sum *p)
{
	const uint64_t *area = p->area;

	table_set(t, 0, p->tgid);
	table_set(t, 1, p->sum.faults);
	table_set(t, 2, area[FAULT_ANONYMOUS]);
	table_set(t, 3, area[FAULT_HEAP]);
	table_set(t, 4, area[FAULT_STACK] + area[FAULT_STACK_GROWTH]);
	table_set(t, 5, area[FAULT_FILE_PRIVATE] + area[FAULT_FILE_SHARED]);
	table_set(t, 6, area[FAULT_SHMEM]);
	table_set(t, 7, area[FAULT_ADVISED] + area[FAULT_HUGETLB]);
	table_set(t, 8, area[FAULT_UNKNOWN] + area[FAULT_NOWHERE] + area[FAULT_SPECIAL]);
	table_set(t, 9, p->sum.major);
	table_setf(t, 10, "%.*s", TRACE_COMM_BYTES, p->comm);
}

static void add_processes(struct doc *d, const struct faults *f)
{
	struct table *t = TABLE("fault_processes", "Page faults by process", process_columns);
	size_t i = 0;

	for (; i < f->totals.processes.nr && more(f, t, i); i++) {
		table_row(t, 0, ROW_PLAIN, ROW_BOTH);
		set_process(t, &f->totals.processes.v[i]);
	}
	note_rest(t, i, f->totals.processes.nr);
	doc_add(d, t);
}

/* ---- sections ---- */

static int faults_make(struct faults *f, const struct trace_result *result, bool all)
{
	static const struct kernel_rows none;
	const struct kernel_rows *rows = result->rows;
	int rc;

	f->result = result;
	rc = fault_totals_make(&f->totals, all ? &rows[KERNEL_TABLE_FAULTS] : &none,
			       &rows[KERNEL_TABLE_MAJOR]);
	if (!rc)
		rc = fault_names_add_rows(&f->names, &rows[KERNEL_TABLE_FAULT_FILES]);
	if (!rc)
		rc = fault_names_add_rows(&f->names, &rows[KERNEL_TABLE_MAJOR_FILES]);
	return rc;
}

static void faults_fini(struct faults *f)
{
	fault_totals_fini(&f->totals);
	fault_names_fini(&f->names);
}

void trace_section_faults(struct doc *d, const struct trace_result *result)
{
	struct faults f = { 0 };

	if (faults_make(&f, result, true))
		doc_add(d, NULL);
	else if (f.totals.processes.nr) {
		add_areas(d, &f);
		add_processes(d, &f);
		add_files(d, &f);
		add_ranges(d, &f);
	}
	faults_fini(&f);
}

static const struct column major_columns[] = {
	{ "faults", "faults", UNIT_COUNT },
	{ "offset_bytes", "from", UNIT_BYTES },
	{ "size_bytes", "bytes", UNIT_BYTES },
	JSON_COLUMN("device", UNIT_TEXT),
	JSON_COLUMN("inode", UNIT_NUMBER),
	{ "file", "file", UNIT_TEXT, COLUMN_LABEL },
};

/* By range of a file; with `faults` asked for as well its tables have them. */
void trace_section_major(struct doc *d, const struct trace_result *result)
{
	struct faults f = { 0 };
	struct table *t;
	size_t i = 0;

	if (result->classes >> EVENT_FAULTS & 1)
		return;
	if (faults_make(&f, result, false)) {
		doc_add(d, NULL);
	} else if (f.totals.ranges.nr) {
		t = TABLE("major_ranges", "Major faults by range of a file", major_columns);
		for (; i < f.totals.ranges.nr && more(&f, t, i); i++) {
			const struct fault_range_sum *s = &f.totals.ranges.v[i];

			table_row(t, 0, ROW_PLAIN, ROW_BOTH);
			table_set(t, 0, s->sum.major);
			table_set(t, 1, s->start);
			table_set(t, 2, s->bytes);
			set_file(t, 3, &f, s->device, s->inode);
		}
		note_rest(t, i, f.totals.ranges.nr);
		if (t)
			table_note(t, "pages of a private mapping that were written to come from "
				      "swap, not from the file");
		doc_add(d, t);
	}
	faults_fini(&f);
}

static const struct column swap_columns[] = {
	{ "pid", "pid", UNIT_NUMBER },
	{ "faults", "swap-ins", UNIT_COUNT },
	{ "size_bytes", "at least", UNIT_BYTES },
	{ "command", "command", UNIT_TEXT, COLUMN_LABEL },
};

static void add_swapped(struct doc *d, const struct faults *f)
{
	struct table *t = TABLE("swap_processes", "Swap-ins by process", swap_columns);

	vec_each(&f->totals.processes, p) {
		if (!p->swapped_in)
			continue;
		table_row(t, 0, ROW_PLAIN, ROW_BOTH);
		table_set(t, 0, p->tgid);
		table_set(t, 1, p->swapped_in);
		table_set(t, 2, p->swapped_in * sysconf(_SC_PAGESIZE));
		table_setf(t, 3, "%.*s", TRACE_COMM_BYTES, p->comm);
	}
	if (t)
		table_note(t, "one page for each; pages that are read ahead, and those of shared "
			      "memory and of files, are not among them");
	doc_add(d, t);
}

void trace_section_swap(struct doc *d, const struct trace_result *result)
{
	struct faults f = { 0 };
	bool any = false;

	if (faults_make(&f, result, false))
		doc_add(d, NULL);
	vec_each(&f.totals.processes, p)
		any |= p->swapped_in;
	if (any)
		add_swapped(d, &f);
	faults_fini(&f);
}
