/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heap errors as a document: the entries, each with its three places, and a head that says what was
 * looked at.
 */
#include "src/view/check/check_view.h"

#include <errno.h>

#include "include/pmm/ledger.h"
#include "src/analyze/sizes.h"
#include "src/base/fmt.h"
#include "src/document/doc_record.h"
#include "src/view/check/check_priv.h"
#include "src/view/report_priv.h"
#include "src/view/stack_view.h"

/* ---- one entry ---- */

static void detail(struct table *t, struct str *s)
{
	table_wrap(t, FOUND_LABEL, table_text(t, s), CHECK_LINE_WIDTH, 1, ROW_DIM, false);
	str_clear(s);
}

/* "thread 4711 (worker)", or `article` and "main thread"; false: not known. */
static bool add_thread(struct str *s, const struct check_view *v, const struct heap_finding *f,
		       uint16_t thread, const char *article)
{
	const struct finding_origin *o = check_origin(v, f);
	const struct heap *h = v->heap;
	bool counted = f->by == PMM_BY_VALGRIND;

	if (thread == HEAP_NO_THREAD || !h->threads[thread].tid)
		return false;
	if (h->threads[thread].tid == (counted ? 1 : o ? o->pid : h->pid)) {
		str_addf(s, "%smain thread", article);
		return true;
	}
	str_addf(s, "thread %u%s", h->threads[thread].tid, counted ? " by Valgrind's count" : "");
	if (h->threads[thread].name[0])
		str_addf(s, " (%s)", h->threads[thread].name);
	return true;
}

/*
 * Who had a hand in the block's past, and how long before it came to light; Valgrind does not say
 * when.
 */
static void add_past(struct str *s, const struct check_view *v, const struct heap_finding *f,
		     uint16_t thread, uint64_t ns)
{
	const struct heap *h = v->heap;
	uint64_t before = f->first_ns > ns ? f->first_ns - ns : 0;
	/* not always of a block from before the fork */
	bool known = f->by != PMM_BY_VALGRIND && (ns || !f->parent_pid);

	if (thread != HEAP_NO_THREAD) {
		str_add(s, " by ");
		if (thread == f->thread)
			str_add(s, "the same thread");
		else
			add_thread(s, v, f, thread, "the ");
	}
	if (known)
		str_addf(s, ", %s before", report_duration(h, before).s);
	str_addc(s, ':');
}

static bool has_stack(const struct check_view *v, uint32_t site)
{
	return site != HEAP_NO_SITE && site < v->heap->nr_sites && v->heap->sites[site].node;
}

static void add_stack(struct table *t, struct check_view *v, uint32_t site, const char *which)
{
	const struct stack_columns columns = {
		.frame = FOUND_FRAME,
		.inlined = FOUND_INLINED,
		.role = FOUND_ROLE,
		.label = FOUND_LABEL,
		.depth = 2,
		.which = which,
		.which_column = FOUND_STACK,
	};

	if (has_stack(v, site)) {
		stack_add(t, v->names, v->heap->sites[site].node, NULL, v->opt.depth,
			  " (--depth 0 shows all)", &columns);
	} else {
		table_row(t, 2, ROW_DIM, ROW_TEXT_ONLY);
		table_set_const(t, FOUND_LABEL, "[stack unknown]");
	}
}

/* Of several runs: the process, where that is not the program itself, and the runs. */
static void add_runs(struct str *s, const struct check_view *v, const struct heap_finding *f)
{
	const struct finding_origin *o = check_origin(v, f);

	if (!o)
		return;
	str_add(s, o->runs & (o->runs - 1) ? "in the runs " : "in the run ");
	check_runs_met(s, v, f, ", ", "'");
	if (!o->program)
		str_addf(s, ", in another process, %s", o->comm);
	str_add(s, f->by == PMM_BY_SCAN ? "" : ", ");
}

static void add_where(struct table *t, struct check_view *v, const struct heap_finding *f)
{
	const struct heap *h = v->heap;
	struct str s = STR_INIT;

	add_runs(&s, v, f);

	if (v->opt.no_head)		/* among the output of other processes */
		str_addf(&s, "%s, pid %u, ", h->comm[0] ? h->comm : h->cmdline, h->pid);
	if (add_thread(&s, v, f, f->thread, ""))
		str_add(&s, ", ");
	check_when(&s, h, f->first_ns);
	if (f->count > 1 && f->by != PMM_BY_VALGRIND && f->last_ns < f->first_ns + h->tick_ns)
		str_addf(&s, "; %s times within %s", fmt_count(f->count).s,
			 report_duration(h, h->tick_ns).s);
	else if (f->count > 1)
		str_addf(&s, "; %s times, the last %s later", fmt_count(f->count).s,
			 report_duration(h, f->last_ns > f->first_ns ? f->last_ns - f->first_ns : 0)
				 .s);
	str_addc(&s, ':');
	detail(t, &s);
	str_fini(&s);
	add_stack(t, v, f->site, "error");
}

/* Of a canary scan the sentence before has said when. */
static void add_swept(struct table *t, const struct check_view *v, const struct heap_finding *f)
{
	const struct heap *h = v->heap;
	struct str s = STR_INIT;

	add_runs(&s, v, f);
	if (v->opt.no_head)
		str_addf(&s, "%s, pid %u", h->comm[0] ? h->comm : h->cmdline, h->pid);
	if (f->count > 1)
		str_addf(&s, "%s%s such blocks", s.len ? "; " : "", fmt_count(f->count).s);
	if (s.len || str_error(&s))
		detail(t, &s);
	str_fini(&s);
}

static void add_origin(struct str *s, const struct heap_finding *f)
{
	if (f->type == PMM_FINDING_UNINITIALISED && f->place == PMM_PLACE_STACK) {
		str_add(s, "the memory is on the stack, that of the first function here");
		return;
	}
	str_add(s, f->type == PMM_FINDING_UNINITIALISED ? "the memory " : "the block ");
	if (f->block)
		str_addf(s, "at 0x%llx ", (unsigned long long)f->block);
	str_add(s, "was allocated");
	if (f->kind)
		str_addf(s, " with %s", kind_name(f->kind));
	if (f->parent_pid)
		str_addf(s, " before the fork, by process %u", f->parent_pid);
}

static void add_freed(struct str *s, const struct check_view *v, const struct heap_finding *f)
{
	str_add(s, "it was freed");
	add_past(s, v, f, f->free_thread, f->free_ns);
}

/* What a canary scan has found the release finds, too. */
static void add_released(struct str *s, const struct check_view *v, const struct heap_finding *f)
{
	str_addf(s, "found again by its %s", check_release_text(f->release));
	if (f->free_thread != HEAP_NO_THREAD) {
		str_add(s, " in ");
		add_thread(s, v, f, f->free_thread, "the ");
	}
	str_addf(s, ", %s later:",
		 report_duration(v->heap, f->free_ns > f->first_ns ? f->free_ns - f->first_ns : 0)
			 .s);
}

static void add_history(struct table *t, struct check_view *v, const struct heap_finding *f)
{
	struct str s = STR_INIT;

	if (f->parent_pid && !has_stack(v, f->alloc_site)) {
		str_addf(&s, "the block was allocated before the fork, by process %u",
			 f->parent_pid);
		detail(t, &s);
	} else if (f->alloc_site != HEAP_NO_SITE) {
		add_origin(&s, f);
		add_past(&s, v, f, f->alloc_thread, f->alloc_ns);
		detail(t, &s);
		add_stack(t, v, f->alloc_site, "allocated");
	}
	if (f->free_site != HEAP_NO_SITE) {
		if (f->by == PMM_BY_SCAN)
			add_released(&s, v, f);
		else
			add_freed(&s, v, f);
		detail(t, &s);
		add_stack(t, v, f->free_site, "freed");
	}
	str_fini(&s);
}

static void add_contents(struct table *t, const struct heap_finding *f)
{
	struct str s = STR_INIT;

	str_addf(&s, "now at 0x%llx:", (unsigned long long)f->address);
	for (unsigned i = 0; i < f->nr_bytes; i++)
		str_addf(&s, "%s%02x", i % 8 ? "" : " ", f->bytes[i]);
	detail(t, &s);
	str_fini(&s);
}

/* An empty line between entries. */
static void separate(struct table *t, uint64_t i)
{
	if (!i)
		return;
	table_row(t, 0, ROW_PLAIN, ROW_TEXT_ONLY);
	table_set_const(t, FOUND_LABEL, "");
}

/*
 * Of an address that the processor does not have the kernel does not say which; the instruction
 * does.
 */
static bool check_odd(const struct check_view *v, struct heap_finding *f)
{
	bool writes;

	if (f->type != PMM_FINDING_CRASH || f->place != PMM_PLACE_NO_ADDRESS || !f->nr_code ||
	    !v->opt.odd_address ||
	    !v->opt.odd_address(f->code, f->nr_code, v->heap->death.regs, &f->address, &writes))
		return false;
	f->access = writes ? PMM_ACCESS_WRITE : PMM_ACCESS_READ;
	return true;
}

static void fill(struct table *t, uint64_t i)
{
	struct check_view *v = t->ctx;
	struct heap_finding odd = v->heap->findings[v->shown.v[i]];
	const struct heap_finding *f = &v->heap->findings[v->shown.v[i]];
	unsigned access_bytes = f->nr_code && v->opt.access_bytes
					? v->opt.access_bytes(f->code, f->nr_code)
					: 0;
	struct str title = STR_INIT, what = STR_INIT;
	bool again = check_again(v, f);

	if (v->opt.turn)
		v->opt.turn(v->opt.turn_ctx, v->shown.v[i]);
	if (check_odd(v, &odd))
		f = &odd;
	separate(t, i);
	if (v->opt.no_head)		/* among the program's own output */
		str_add(&title, "pmm: ");
	check_title(&title, v->names, f, again);
	if (again)
		check_headline_again(&what, f);
	else
		check_headline(&what, v->heap, f, access_bytes);
	table_row(t, 0, ROW_STRONG, ROW_BOTH);
	check_figures(t, v, f, access_bytes);
	if (v->opt.tree)
		check_set_processes(t, v, v->shown.v[i]);
	table_set_text(t, FOUND_WHAT, table_text(t, &what));
	table_wrap(t, FOUND_LABEL, table_text(t, &title), CHECK_LINE_WIDTH, 0, ROW_STRONG, true);
	table_wrap(t, FOUND_LABEL, table_text(t, &what), CHECK_LINE_WIDTH, 1, ROW_PLAIN, false);
	str_fini(&title);
	str_fini(&what);
	if (f->by == PMM_BY_SCAN)
		add_swept(t, v, f);
	else
		add_where(t, v, f);
	if (v->opt.bytes && f->nr_bytes)
		add_contents(t, f);
	if (!again)
		add_history(t, v, f);
}

/* ---- the whole ---- */

/* JSON: how many findings are not listed. */
static void add_left_out(struct check_view *v, uint64_t nr)
{
	struct table *t = record_new("left_out");

	record_count(t, "findings", nr);
	doc_add(&v->doc, t);
}

static void add_entries(struct check_view *v)
{
	uint64_t nr = v->shown.nr, shown = v->opt.top && nr > v->opt.top ? v->opt.top : nr;
	struct table *t = table_new(TABLE_TREE, "findings", NULL, check_found_columns, FOUND_NR);

	if (t) {
		t->children_key = "frames";
		t->ctx = v;
		t->fill = fill;
		t->nr_groups = shown;
		t->no_margin = v->opt.no_head;
		t->json_only = !nr || v->opt.tree;	/* its text has a line of each */
		if (shown < nr)
			table_note(t, "%s more (--top 0 shows all)", fmt_count(nr - shown).s);
	}
	v->entries = t;
	doc_add(&v->doc, t);
	add_left_out(v, nr - shown);
}

static int choose(struct check_view *v)
{
	for (uint64_t i = v->opt.from; i < v->heap->nr_findings; i++)
		if (!(v->opt.skip && v->opt.skip[i - v->opt.from]) && vec_push(&v->shown, i))
			return -ENOMEM;
	return 0;
}

int check_view_init(struct check_view *v, const struct heap *h, struct names *n,
		    const struct check_view_options *o)
{
	*v = (struct check_view){ .heap = h, .names = n, .opt = *o, .doc.schema = CHECK_SCHEMA };
	if (choose(v))
		return -ENOMEM;
	if (o->tree)
		check_tree(v);
	else if (!o->no_head)
		check_head(v);
	add_entries(v);
	return doc_error(&v->doc);
}

void check_view_fini(struct check_view *v)
{
	doc_fini(&v->doc);
	vec_fini(&v->shown);
}
