/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page faults in the report: by the line that allocated the memory, with the code that touches it;
 * by the stack that touches.
 */
#include "src/view/kernel/report_kernel_priv.h"
#include "src/view/stack_view.h"

#define PAGE_BYTES	4096	/* a fault maps at least so much */
#define TOUCHERS_SHOWN	3	/* in text */

enum {
	FAULT_ABOUT,
	FAULT_FAULTS,
	FAULT_RECORDS,
	FAULT_SHARE,
	FAULT_FIRST,
	FAULT_TOUCHED,
	FAULT_MAJOR,
	FAULT_SWAP_INS,
	FAULT_OF,
	FAULT_MEMORY,
	FAULT_SITES,
	FAULT_FRAME,
	FAULT_INLINED = FAULT_FRAME + 6,
	FAULT_ROLE,
	FAULT_LABEL,
	FAULT_TAIL,
	FAULT_NR,
};

#define FAULT_COLUMNS                                                                              \
	[FAULT_ABOUT] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_ZERO_BLANK },           \
	[FAULT_FAULTS] = { "faults", "faults", UNIT_COUNT, COLUMN_ZERO_BLANK },                    \
	[FAULT_RECORDS] = JSON_COLUMN("records", UNIT_COUNT),                                      \
	[FAULT_SHARE] = { "share_percent", "share", UNIT_PERCENT },                                \
	[FAULT_FIRST] = { "first_touches", "first", UNIT_COUNT, COLUMN_ZERO_BLANK },               \
	[FAULT_TOUCHED] = { "touched_bytes", "touched", UNIT_BYTES, COLUMN_ZERO_BLANK },           \
	[FAULT_MAJOR] = { "major", "major", UNIT_COUNT, COLUMN_ZERO_BLANK },                       \
	[FAULT_SWAP_INS] = { "swap_ins", "swap-ins", UNIT_COUNT, COLUMN_ZERO_BLANK },              \
	[FAULT_OF] = JSON_COLUMN("of", UNIT_TEXT),                                                 \
	[FAULT_MEMORY] = JSON_COLUMN("memory", UNIT_TEXT),                                         \
	[FAULT_SITES] = JSON_COLUMN("sites", UNIT_COUNT),                                          \
	[FAULT_FRAME] = REPORT_FRAME_COLUMNS, [FAULT_INLINED] = JSON_COLUMN("inlined", UNIT_BOOL), \
	[FAULT_ROLE] = JSON_COLUMN("role", UNIT_TEXT),                                             \
	[FAULT_TAIL] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_TAIL }

static void set_faults(struct table *t, const struct kernel_faults *f,
		       const struct kernel_faults *total, bool share)
{
	uint64_t first = kernel_faults_first(f);

	if (f->records < f->faults)
		table_set_const(t, FAULT_ABOUT, "about");
	table_set(t, FAULT_FAULTS, f->faults);
	table_set(t, FAULT_RECORDS, f->records);
	if (share)
		table_set_float(t, FAULT_SHARE,
				report_percent(kernel_faults_weight(f, total),
					       kernel_faults_weight(total, total)));
	table_set(t, FAULT_FIRST, first);
	table_set(t, FAULT_TOUCHED, first * PAGE_BYTES);
	table_set(t, FAULT_MAJOR, f->major);
	table_set(t, FAULT_SWAP_INS, f->swap_ins);
}

/* ---- by the line that allocated ---- */

static const struct column site_columns[FAULT_NR] = {
	FAULT_COLUMNS,
	[FAULT_LABEL] = { NULL, "allocated by", UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_LABEL },
};

static const char *const of_name[HEAP_KERNEL_NR_OF] = {
	[HEAP_KERNEL_OF_NOTHING] = "nothing", [HEAP_KERNEL_OF_BLOCK] = "block",
	[HEAP_KERNEL_OF_MAPPING] = "mapping", [HEAP_KERNEL_OF_AGENT] = "agent",
	[HEAP_KERNEL_OF_UNKNOWN] = "unknown",
};

static void sum_faults(struct kernel_faults *to, const struct kernel_faults *f)
{
	to->faults += f->faults;
	to->records += f->records;
	to->present += f->present;
	to->major += f->major;
	to->swap_ins += f->swap_ins;
}

/* "touched by fill" and its line. */
static void add_toucher(struct table *t, const struct kernel_toucher *x,
			const struct kernel_faults *total, bool shown)
{
	struct str s = STR_INIT;

	table_row(t, 1, ROW_DIM, shown ? ROW_BOTH : ROW_JSON_ONLY);
	set_faults(t, &x->faults, total, false);
	report_set_frame(t, FAULT_FRAME, x->frame);
	report_set_label(t, FAULT_LABEL, x->frame);
	str_add(&s, "touched by ");
	report_frame_label(&s, x->frame);
	table_set_text(t, FAULT_LABEL, table_text(t, &s));
	str_fini(&s);
}

/* In text those with names, and the others in one row; nothing if none has one. */
static void add_touchers(struct table *t, const struct kernel_fault_lines *all,
			 const struct kernel_fault_line *l)
{
	struct kernel_faults others = { 0 };
	uint32_t shown = 0;

	for (uint32_t i = 0; i < l->nr_touchers; i++) {
		const struct kernel_toucher *x = &all->touchers.v[l->first_toucher + i];
		bool show = x->frame && shown < TOUCHERS_SHOWN;

		add_toucher(t, x, &all->total, show);
		shown += show;
		if (!show)
			sum_faults(&others, &x->faults);
	}
	if (!shown || shown == l->nr_touchers)
		return;
	table_row(t, 1, ROW_DIM, ROW_TEXT_ONLY);
	set_faults(t, &others, &all->total, false);
	table_set_const(t, FAULT_LABEL, "touched by others");
}

static void add_line(struct table *t, const struct report *r, const struct kernel_fault_line *l)
{
	const struct kernel_fault_lines *all = &r->fault_lines;
	bool mapping = l->of == HEAP_KERNEL_OF_MAPPING;
	struct str s = STR_INIT;

	table_row(t, 0, ROW_STRONG, ROW_BOTH);
	set_faults(t, &l->faults, &all->total, true);
	table_set_const(t, FAULT_OF, of_name[l->of]);
	if (l->of == HEAP_KERNEL_OF_BLOCK || mapping) {
		table_set(t, FAULT_SITES, l->nr_sites);
		report_set_frame(t, FAULT_FRAME, l->frame);
		report_set_label(t, FAULT_LABEL, l->frame);
		str_add(&s, mapping ? "mapped by " : "");
		report_frame_label(&s, l->frame);
	} else {
		table_set_const(t, FAULT_MEMORY, fault_area_name(l->area));
		str_addf(&s, "%s: %s", l->of == HEAP_KERNEL_OF_UNKNOWN ? "not looked up"
								       : "in no block",
			 fault_area_text(l->area));
	}
	table_set_text(t, FAULT_LABEL, table_text(t, &s));
	str_fini(&s);
	add_touchers(t, all, l);
}

/* What the rows that are not listed add up to. */
static void add_rest(struct table *t, const struct report *r)
{
	const struct kernel_fault_lines *all = &r->fault_lines;
	uint64_t nr = r->left_out[REPORT_KERNEL_FAULT_SITES];
	struct kernel_faults sum = { 0 };

	for (size_t i = all->nr_sites - nr; i < all->nr_sites; i++)
		sum_faults(&sum, &all->lines.v[i].faults);
	table_row(t, 0, ROW_PLAIN, ROW_TEXT_ONLY);
	set_faults(t, &sum, &all->total, true);
	table_setf(t, FAULT_LABEL, "(%s, --top 0 shows all)", fmt_many(nr, "more line").s);
}

static void add_total(struct table *t, const struct report *r)
{
	const struct kernel_faults *total = &r->fault_lines.total;

	table_row(t, 0, ROW_TOTAL, ROW_TEXT_ONLY);
	set_faults(t, total, total, true);
	table_set_const(t, FAULT_LABEL, "total");
}

/* Groups: listed lines, the rest of them, areas, the sum. */
static void fill_site(struct table *t, uint64_t i)
{
	const struct report *r = t->ctx;
	const struct kernel_fault_lines *all = &r->fault_lines;
	uint64_t left_out = r->left_out[REPORT_KERNEL_FAULT_SITES];
	uint64_t listed = all->nr_sites - left_out;

	if (i < listed) {
		add_line(t, r, &all->lines.v[i]);
		return;
	}
	if (left_out && i == listed) {
		add_rest(t, r);
		return;
	}
	i += left_out ? left_out - 1 : 0;
	if (i < all->lines.nr)
		add_line(t, r, &all->lines.v[i]);
	else
		add_total(t, r);
}

static void note_estimate(struct table *t, const struct report *r)
{
	const struct kernel_faults *total = &r->fault_lines.total;

	if (total->records < total->faults)
		table_note(t, "about: estimated, from the %s that %s a stack",
			   fmt_many(total->records, "fault").s,
			   fmt_agree(total->records, "has", "have"));
	if (kernel_faults_first(total))
		table_note(t, "first: there was no page yet, nor one in swap; touched: at least "
			      "that, a page of %s each", fmt_bytes(PAGE_BYTES).s);
}

/*
 * Where a heap grows, malloc writes to a page before the program does: the size of the free memory
 * above the new block.
 */
static void note_allocator(struct table *t, const struct kernel_fault_lines *all)
{
	for (size_t i = all->nr_sites; i < all->lines.nr; i++) {
		const struct kernel_fault_line *l = &all->lines.v[i];

		if (l->of != HEAP_KERNEL_OF_NOTHING || l->area != FAULT_HEAP)
			continue;
		table_note(t, "heap (brk) in no block: the allocator's own data and free memory, "
			      "which malloc touches first where the heap grows; 'touched by' says "
			      "for whom");
		return;
	}
}

void report_kernel_fault_sites(struct report *r)
{
	struct table *t = table_new(TABLE_TREE, "kernel_fault_sites",
				    "Page faults by the line that allocated the memory",
				    site_columns, FAULT_NR);
	struct kernel_fault_lines *all = &r->fault_lines;
	uint64_t top = r->opt.top;

	if (t && kernel_fault_lines_rank(r->heap, r->names, all))
		t->failed = true;
	if (t && !t->failed) {
		r->left_out[REPORT_KERNEL_FAULT_SITES] =
			top && top < all->nr_sites ? all->nr_sites - top : 0;
		t->children_key = "touched_by";
		t->ctx = r;
		t->fill = fill_site;
		t->nr_groups = all->lines.nr - r->left_out[REPORT_KERNEL_FAULT_SITES] +
			       !!r->left_out[REPORT_KERNEL_FAULT_SITES] + !!all->lines.nr;
		if (all->lines.nr)
			note_estimate(t, r);
		note_allocator(t, all);
	}
	doc_add(&r->doc, t);
}

/* ---- by the stack that touches ---- */

static const struct column stack_columns[FAULT_NR] = {
	FAULT_COLUMNS,
	[FAULT_LABEL] = { NULL, "touched by", UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_LABEL },
};

static void fill_stack(struct table *t, uint64_t i)
{
	static const struct stack_columns columns = {
		.frame = FAULT_FRAME,
		.inlined = FAULT_INLINED,
		.role = FAULT_ROLE,
		.label = FAULT_LABEL,
	};
	struct report *r = t->ctx;
	const struct kernel_fault_stack *s = &r->fault_stack[i];
	const struct frame_name *f = names_responsible(r->names, s->node, NULL);

	table_row(t, 0, ROW_STRONG, ROW_BOTH);
	set_faults(t, &s->faults, &r->fault_lines.total, true);
	report_set_frame(t, FAULT_FRAME, f);
	report_set_label(t, FAULT_LABEL, f);
	stack_add(t, r->names, s->node, f, report_kernel_depth(r), " (--depth 0 shows all)",
		  &columns);
}

void report_kernel_fault_stacks(struct report *r)
{
	struct table *t = table_new(TABLE_TREE, "kernel_fault_stacks",
				    "Page faults by the code that touches the memory",
				    stack_columns, FAULT_NR);
	size_t nr = 0;

	if (t && kernel_fault_stacks_rank(r->heap, &r->fault_stack, &nr))
		t->failed = true;
	if (t && !t->failed) {
		t->children_key = "frames";
		t->ctx = r;
		t->fill = fill_stack;
		t->nr_groups = r->opt.top && r->opt.top < nr ? r->opt.top : nr;
		report_kernel_cut(r, t, REPORT_KERNEL_FAULT_STACKS, t->nr_groups, nr, "stack");
	}
	doc_add(&r->doc, t);
}
