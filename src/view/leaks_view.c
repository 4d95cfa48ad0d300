/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The verdict on leaks as a document: a head and the entries by verdict, each with the reason and
 * its stack.
 */
#include "src/view/leaks_view.h"

#include <errno.h>
#include <string.h>

#include "src/analyze/leaks_tree.h"
#include "src/base/fmt.h"
#include "src/document/doc_record.h"
#include "src/view/leaks_priv.h"
#include "src/view/report_priv.h"
#include "src/view/stack_view.h"

const char *const leaks_class_name[REACH_NR_CLASSES] = {
	[REACH_REACHED] = "reachable",
	[REACH_POSSIBLE] = "possible",
	[REACH_INDIRECT] = "indirect",
	[REACH_DEFINITE] = "definite",
};

#define REASON_WIDTH	58

static const char *const verdict_name[LEAK_NR_VERDICTS] = {
	[LEAK_CERTAIN] = "certain", [LEAK_LIKELY] = "likely", [LEAK_GROWING] = "growing",
	[LEAK_UNLIKELY] = "unlikely", [LEAK_SUPPRESSED] = "suppressed",
};

/* ---- entries ---- */

enum {
	ENTRY_CLASS,
	ENTRY_VERDICT,
	ENTRY_WHY,
	ENTRY_DIRECT_BYTES,
	ENTRY_DIRECT_BLOCKS,
	ENTRY_INDIRECT_BYTES,
	ENTRY_INDIRECT_BLOCKS,
	ENTRY_FRESH_BYTES,
	ENTRY_FRESH_BLOCKS,
	ENTRY_OLDEST,
	ENTRY_NEWEST,
	ENTRY_GROWTH,
	ENTRY_GROWS_FOR,
	ENTRY_EVIDENCE,
	ENTRY_HOLDER_FUNCTION,
	ENTRY_HOLDER_FILE,
	ENTRY_HOLDER_LINE,
	ENTRY_HELD_BLOCKS,
	ENTRY_CHAINED_BLOCKS,
	ENTRY_HABIT_BLOCKS,
	ENTRY_HEADER_BYTES,
	ENTRY_ROOT,
	ENTRY_SUPPRESSION,
	ENTRY_PROGRAM,
	ENTRY_PROCESSES,
	ENTRY_PIDS,
	ENTRY_EXAMPLE,
	ENTRY_CONTENTS,
	ENTRY_SITE,
	ENTRY_FRAME,
	ENTRY_INLINED = ENTRY_FRAME + 6,
	ENTRY_ROLE,
	ENTRY_BYTES,
	ENTRY_BLOCKS,
	ENTRY_LABEL,
	ENTRY_TAIL,
	ENTRY_NR,
};

static const struct column entry_columns[ENTRY_NR] = {
	[ENTRY_CLASS] = JSON_COLUMN("class", UNIT_TEXT),
	[ENTRY_VERDICT] = JSON_COLUMN("verdict", UNIT_TEXT),
	[ENTRY_WHY] = JSON_COLUMN("why", UNIT_TEXT),
	[ENTRY_DIRECT_BYTES] = JSON_COLUMN("bytes", UNIT_COUNT),
	[ENTRY_DIRECT_BLOCKS] = JSON_COLUMN("blocks", UNIT_COUNT),
	[ENTRY_INDIRECT_BYTES] = JSON_COLUMN("indirect_bytes", UNIT_COUNT),
	[ENTRY_INDIRECT_BLOCKS] = JSON_COLUMN("indirect_blocks", UNIT_COUNT),
	[ENTRY_FRESH_BYTES] = JSON_COLUMN("new_bytes", UNIT_COUNT),
	[ENTRY_FRESH_BLOCKS] = JSON_COLUMN("new_blocks", UNIT_COUNT),
	[ENTRY_OLDEST] = JSON_COLUMN("oldest_age_ns", UNIT_DURATION),
	[ENTRY_NEWEST] = JSON_COLUMN("newest_age_ns", UNIT_DURATION),
	[ENTRY_GROWTH] = JSON_COLUMN("growth_bytes_per_second", UNIT_FLOAT),
	[ENTRY_GROWS_FOR] = JSON_COLUMN("growth_ns", UNIT_DURATION),
	[ENTRY_EVIDENCE] = JSON_COLUMN("evidence", UNIT_TEXT),
	[ENTRY_HOLDER_FUNCTION] = JSON_COLUMN("holder_function", UNIT_TEXT),
	[ENTRY_HOLDER_FILE] = JSON_COLUMN("holder_file", UNIT_TEXT),
	[ENTRY_HOLDER_LINE] = JSON_COLUMN("holder_line", UNIT_NUMBER),
	[ENTRY_HELD_BLOCKS] = JSON_COLUMN("held_blocks", UNIT_COUNT),
	[ENTRY_CHAINED_BLOCKS] = JSON_COLUMN("chained_blocks", UNIT_COUNT),
	[ENTRY_HABIT_BLOCKS] = JSON_COLUMN("habit_blocks", UNIT_COUNT),
	[ENTRY_HEADER_BYTES] = JSON_COLUMN("header_bytes", UNIT_COUNT),
	[ENTRY_ROOT] = JSON_COLUMN("root", UNIT_TEXT),
	[ENTRY_SUPPRESSION] = JSON_COLUMN("suppression", UNIT_TEXT),
	[ENTRY_PROGRAM] = JSON_COLUMN("program", UNIT_TEXT),
	[ENTRY_PROCESSES] = JSON_COLUMN("processes", UNIT_COUNT),
	[ENTRY_PIDS] = JSON_COLUMN("pids", UNIT_NUMBERS),
	[ENTRY_EXAMPLE] = JSON_COLUMN("example_address", UNIT_ADDRESS),
	[ENTRY_CONTENTS] = JSON_COLUMN("example_contents", UNIT_TEXT),
	[ENTRY_SITE] = JSON_COLUMN("site", UNIT_NUMBER),
	[ENTRY_FRAME] = REPORT_FRAME_COLUMNS,
	[ENTRY_INLINED] = JSON_COLUMN("inlined", UNIT_BOOL),
	[ENTRY_ROLE] = JSON_COLUMN("role", UNIT_TEXT),
	[ENTRY_BYTES] = TEXT_COLUMN("bytes", UNIT_BYTES),
	[ENTRY_BLOCKS] = TEXT_COLUMN("blocks", UNIT_COUNT),
	[ENTRY_LABEL] = { NULL, "allocated in", UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_LABEL },
	[ENTRY_TAIL] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_TAIL },
};

static void set_holder(struct table *t, struct leaks_view *v, const struct leak_entry *e)
{
	const struct frame_name *f;

	if (e->holder_site == HEAP_NO_SITE)
		return;
	f = names_responsible(v->names, v->heap->sites[e->holder_site].node, NULL);
	if (f) {
		struct str s = STR_INIT;

		report_frame_label(&s, f);
		table_set_text(t, ENTRY_HOLDER_FUNCTION, table_text(t, &s));
		str_fini(&s);
		table_set_text(t, ENTRY_HOLDER_FILE, f->file);
		if (f->file && f->line)
			table_set(t, ENTRY_HOLDER_LINE, f->line);
	}
	table_set(t, ENTRY_HELD_BLOCKS, e->held_blocks);
}

static void set_processes(struct table *t, struct leaks_view *v, const struct leak_entry *e)
{
	const struct leaks_tree *tree = v->opt.tree;
	const struct merge_group *g = tree ? leaks_tree_group(tree, e) : NULL;

	if (!g)
		return;
	table_set_const(t, ENTRY_PROGRAM, merge_program(&tree->merge, g->program));
	table_set(t, ENTRY_PROCESSES, g->processes);
	table_set_bars(t, ENTRY_PIDS, g->pids);
}

static void add_hex(struct str *s, const uint8_t *byte, unsigned nr, unsigned group)
{
	for (unsigned i = 0; i < nr; i++)
		str_addf(s, "%s%02x", group && i && i % group == 0 ? " " : "", byte[i]);
}

/* "steady many": the pieces that there are. */
static void set_evidence(struct table *t, const struct leak_entry *e)
{
	struct str s = STR_INIT;

	evidence_names(&s, &e->evidence);
	table_set_text(t, ENTRY_EVIDENCE, table_text(t, &s));
	str_fini(&s);
}

static void set_figures(struct table *t, struct leaks_view *v, const struct leak_entry *e)
{
	const struct growth *g = &e->growth;

	table_set_const(t, ENTRY_CLASS, leaks_class_name[e->class]);
	table_set_const(t, ENTRY_VERDICT, verdict_name[e->verdict]);
	table_set(t, ENTRY_DIRECT_BYTES, e->bytes);
	table_set(t, ENTRY_DIRECT_BLOCKS, e->blocks);
	table_set(t, ENTRY_INDIRECT_BYTES, e->indirect_bytes);
	table_set(t, ENTRY_INDIRECT_BLOCKS, e->indirect_blocks);
	table_set(t, ENTRY_FRESH_BYTES, e->fresh_bytes);
	table_set(t, ENTRY_FRESH_BLOCKS, e->fresh_blocks);
	table_set(t, ENTRY_OLDEST, report_age(v->heap, v->heap->search.at_ns, e->oldest_ns));
	table_set(t, ENTRY_NEWEST, report_age(v->heap, v->heap->search.at_ns, e->newest_ns));
	if (g->verdict == GROWTH_STEADY) {
		table_set_float(t, ENTRY_GROWTH, g->slope);
		table_set(t, ENTRY_GROWS_FOR,
			  g->until_ns > g->since_ns ? g->until_ns - g->since_ns : 0);
		set_evidence(t, e);
	}
	set_holder(t, v, e);
	table_set(t, ENTRY_CHAINED_BLOCKS, e->chained_blocks);
	if (e->habit_blocks)
		table_set(t, ENTRY_HABIT_BLOCKS, e->habit_blocks);
	if (e->header_bytes)
		table_set(t, ENTRY_HEADER_BYTES, e->header_bytes);
	table_set_text(t, ENTRY_SUPPRESSION, e->suppression);
	set_processes(t, v, e);
	if (e->example)
		table_set(t, ENTRY_EXAMPLE, e->example);
	if (e->nr_contents) {
		struct str s = STR_INIT;

		add_hex(&s, e->contents, e->nr_contents, 0);
		table_set_text(t, ENTRY_CONTENTS, table_text(t, &s));
		str_fini(&s);
	}
	table_set(t, ENTRY_SITE, e->site);
	table_set(t, ENTRY_BYTES, e->bytes + e->indirect_bytes);
	table_set(t, ENTRY_BLOCKS, e->blocks + e->indirect_blocks);
}

static void detail(struct table *t, struct str *s)
{
	table_row(t, 1, ROW_DIM, ROW_TEXT_ONLY);
	table_sentence(t);
	table_set_text(t, ENTRY_LABEL, table_text(t, s));
	str_clear(s);
}

/* The reason must be read whole: in lines that a narrow terminal holds. */
static void reason(struct table *t, const struct leak_entry *e, const char *why)
{
	struct str s = STR_INIT;

	str_addf(&s, "%s: %s", leaks_class_text(e->class), why);
	table_wrap(t, ENTRY_LABEL, table_text(t, &s), REASON_WIDTH, 1, ROW_PLAIN, false);
	str_fini(&s);
}

static void add_processes(struct table *t, const struct leaks_tree *tree,
			  const struct leak_entry *e)
{
	struct str s = STR_INIT;

	merge_group_text(&s, &tree->merge, leaks_tree_group(tree, e));
	table_wrap(t, ENTRY_LABEL, table_text(t, &s), REASON_WIDTH, 1, ROW_PLAIN, false);
	str_fini(&s);
}

static void add_contents(struct table *t, const struct leak_entry *e)
{
	struct str s = STR_INIT;

	str_addf(&s, "at 0x%llx, %s:", (unsigned long long)e->example,
		 fmt_many(e->example_bytes, "byte").s);
	detail(t, &s);
	for (unsigned i = 0; i < e->nr_contents; i += 16) {
		unsigned left = e->nr_contents - i;

		str_add(&s, "  ");
		add_hex(&s, e->contents + i, left < 16 ? left : 16, 8);
		str_add(&s, left <= 16 && e->nr_contents < e->example_bytes ? " ..." : "");
		detail(t, &s);
	}
	str_fini(&s);
}

/* What a person reads below the headline: why, what goes with them, what is in them. */
static void add_details(struct table *t, const struct leak_entry *e, const char *why)
{
	struct str s = STR_INIT;

	reason(t, e, why);
	if (e->indirect_blocks) {
		str_addf(&s, "%s in %s directly, ", fmt_bytes(e->bytes).s,
			 fmt_many(e->blocks, "block").s);
		str_addf(&s, "and %s in %s that only they lead to", fmt_bytes(e->indirect_bytes).s,
			 fmt_many(e->indirect_blocks, "block").s);
		detail(t, &s);
	}
	if (e->suppression) {
		str_addf(&s, "suppressed by '%s'", e->suppression);
		detail(t, &s);
	}
	if (e->nr_contents)
		add_contents(t, e);
	str_fini(&s);
}

/* The root that they hang on, or one of them does: into the entry's row. */
static void set_root(struct table *t, struct leaks_view *v, const struct leak_entry *e,
		     struct str *root)
{
	if (v->opt.root)
		v->opt.root(v->opt.root_arg, e, root);
	if (root->len)
		table_set_text(t, ENTRY_ROOT, table_text(t, root));
}

static void add_root(struct table *t, const struct leak_entry *e, const struct str *root)
{
	struct str line = STR_INIT;

	if (!root->len)
		return;
	str_addf(&line, "%s on %s", fmt_agree(e->blocks, "hangs", "at least one hangs"),
		 str_text(root));
	table_wrap(t, ENTRY_LABEL, table_text(t, &line), REASON_WIDTH, 1, ROW_DIM, false);
	str_fini(&line);
}

static void add_entry(struct table *t, struct leaks_view *v, const struct leak_entry *e)
{
	static const struct stack_columns columns = {
		.frame = ENTRY_FRAME,
		.inlined = ENTRY_INLINED,
		.role = ENTRY_ROLE,
		.label = ENTRY_LABEL,
	};
	uint32_t node = v->heap->sites[e->site].node;
	const struct frame_name *f = names_responsible(v->names, node, NULL);
	struct str why = STR_INIT, root = STR_INIT;

	leaks_why(&why, v->heap, v->names, e);
	table_row(t, 0, ROW_STRONG, ROW_BOTH);
	set_figures(t, v, e);
	table_set_text(t, ENTRY_WHY, table_text(t, &why));
	set_root(t, v, e, &root);
	report_set_frame(t, ENTRY_FRAME, f);
	report_set_label(t, ENTRY_LABEL, f);
	if (v->opt.tree)
		add_processes(t, v->opt.tree, e);
	add_details(t, e, table_text(t, &why));
	add_root(t, e, &root);
	stack_add(t, v->names, node, f, v->opt.depth, " (--depth 0 shows all)", &columns);
	str_fini(&why);
	str_fini(&root);
}

#define FILL(name, verdict) \
	static void name(struct table *t, uint64_t i) \
	{ \
		struct leaks_view *v = t->ctx; \
		add_entry(t, v, v->shown[verdict].v[i]); \
	}
FILL(fill_certain, LEAK_CERTAIN)
FILL(fill_likely, LEAK_LIKELY)
FILL(fill_growing, LEAK_GROWING)
FILL(fill_unlikely, LEAK_UNLIKELY)
FILL(fill_suppressed, LEAK_SUPPRESSED)

/* Does a row count more than what its site allocated? */
static bool has_indirect(const struct leaks_view *v, enum leak_verdict verdict)
{
	for (size_t i = 0; i < v->shown[verdict].nr; i++)
		if (v->shown[verdict].v[i]->indirect_blocks)
			return true;
	return false;
}

static void add_entries(struct leaks_view *v, enum leak_verdict verdict)
{
	static const struct {
		const char *title;
		void (*fill)(struct table *t, uint64_t i);
	} part[LEAK_NR_VERDICTS] = {
		[LEAK_CERTAIN] = { "Leaks, certain", fill_certain },
		[LEAK_LIKELY] = { "Leaks, likely", fill_likely },
		[LEAK_GROWING] = { "Growing: a leak, or a cache that fills", fill_growing },
		[LEAK_UNLIKELY] = { "Caches, pools, too young to tell: probably no leaks",
				    fill_unlikely },
		[LEAK_SUPPRESSED] = { "Suppressed", fill_suppressed },
	};
	struct table *t = table_new(TABLE_TREE, verdict_name[verdict], part[verdict].title,
				    entry_columns, ENTRY_NR);

	if (t) {
		if (verdict == LEAK_CERTAIN && has_indirect(v, verdict))
			t->title = "Leaks, certain, each with the blocks that only it leads to";
		t->children_key = "frames";
		t->ctx = v;
		t->fill = part[verdict].fill;
		t->nr_groups = v->shown[verdict].nr;
		t->json_only = v->nr_all[verdict] == 0;
		if (v->shown[verdict].nr < v->nr_all[verdict])
			table_note(t, "%s more (--top 0 shows all)",
				   fmt_count(v->nr_all[verdict] - v->shown[verdict].nr).s);
	}
	doc_add(&v->doc, t);
}

static void fill_other(struct table *t, uint64_t i)
{
	struct leaks_view *v = t->ctx;

	add_entry(t, v, v->others.v[i]);
}

static void add_others(struct leaks_view *v)
{
	struct table *t = table_new(TABLE_TREE, "others", NULL, entry_columns, ENTRY_NR);

	if (t) {
		t->children_key = "frames";
		t->ctx = v;
		t->fill = fill_other;
		t->nr_groups = v->others.nr;
		t->json_only = true;
	}
	doc_add(&v->doc, t);
}

/*
 * JSON: how many entries of each verdict are not listed, for --top or for --show, and how many a
 * repeat leaves out as they are no news.
 */
static void add_left_out(struct leaks_view *v)
{
	static const char *const key[LEAK_NR_VERDICTS] = {
		[LEAK_CERTAIN] = "certain",	  [LEAK_LIKELY] = "likely",
		[LEAK_GROWING] = "growing",	  [LEAK_UNLIKELY] = "unlikely",
		[LEAK_SUPPRESSED] = "suppressed",
	};
	struct table *t = record_new("left_out");

	for (unsigned i = 0; i < LEAK_NR_VERDICTS; i++)
		record_count(t, key[i], v->nr_all[i] - v->shown[i].nr + v->nr_hidden[i]);
	record_count(t, "others", v->nr_others - v->others.nr);
	record_count(t, "not_new", v->opt.nr_not_new);
	doc_add(&v->doc, t);
}

/* Why there was no block that could have been lost; NULL = there were some, live or freed. */
static const char *why_no_blocks(const struct leaks_view *v)
{
	const struct heap *h = v->heap;
	const struct leaks_tree *tree = v->opt.tree;
	const uint64_t allocs = tree ? tree->allocs : h->allocs;
	uint64_t known = v->leaks->suppressed.blocks;

	for (int i = 0; i < REACH_NR_CLASSES; i++)
		known += v->leaks->by_class[i].blocks;
	if (known || allocs)
		return NULL;
	if (h->mode == HEAP_SAMPLED)
		return "no block was in the sample";
	if (tree ? tree->skipped_allocs : h->skipped_allocs)
		return "all blocks were smaller than --min-size";
	return h->began == HEAP_BEGAN_ATTACH ? "no allocation was seen since the attach"
					     : "no allocation was seen";
}

/* Nothing was found: in what? */
static void add_none(struct leaks_view *v, struct table *t)
{
	const char *why = why_no_blocks(v);

	if (v->opt.tree && !v->opt.tree->nr)
		table_note(t, "nothing was searched");
	else
		table_note(t, "no leaks %s found%s%s%s%s",
			   why && !v->heap->search.complete ? "could be" : "were",
			   leaks_all_searched(v) ? "" : " in what was searched",
			   leaks_or_freed(v->leaks) ? " that are certain" : "", why ? ": " : "",
			   why ? why : "");
}

/* The end: nothing found, or what was not shown. */
static void add_rest(struct leaks_view *v)
{
	static const struct column columns[] = { TEXT_COLUMN(NULL, UNIT_TEXT) };
	struct table *t = table_new(TABLE_ROWS, NULL, NULL, columns, NR_COLUMNS(columns));
	bool none = true;

	for (int i = 0; i < LEAK_NR_VERDICTS; i++)
		none &= v->nr_all[i] == 0;
	if (t && none)
		add_none(v, t);
	if (t && v->hidden_possible.blocks)
		table_note(t,
			   "%s in %s at %s: possibly lost, and nothing else speaks for leaks "
			   "(--show=possible lists them)",
			   fmt_bytes(v->hidden_possible.bytes).s,
			   fmt_many(v->hidden_possible.blocks, "block").s,
			   fmt_many(v->hidden_possible.sites, "site").s);
	if (t && v->hidden.blocks)
		table_note(t,
			   "%s in %s at %s: still reachable, probably no leaks (--show=all lists "
			   "them)",
			   fmt_bytes(v->hidden.bytes).s, fmt_many(v->hidden.blocks, "block").s,
			   fmt_many(v->hidden.sites, "site").s);
	doc_add(&v->doc, t);
}

/* ---- the whole ---- */

bool leaks_view_shows(const struct leak_entry *e, unsigned show)
{
	if (e->verdict == LEAK_SUPPRESSED)
		return show & LEAKS_SHOW_SUPPRESSED;
	return (show & 1u << e->class) ||
	       (e->verdict == LEAK_LIKELY && (show & LEAKS_SHOW_LIKELY)) ||
	       (e->verdict == LEAK_GROWING && (show & LEAKS_SHOW_GROWING));
}

static void hide(struct leak_sum *sum, const struct leak_entry *e)
{
	sum->bytes += e->bytes;
	sum->blocks += e->blocks;
	sum->sites++;
}

/* An entry that `show` leaves out. 0 or -ENOMEM. */
static int put_aside(struct leaks_view *v, const struct leak_entry *e)
{
	if (!v->opt.others) {
		v->nr_hidden[e->verdict]++;
		return 0;
	}
	v->nr_others++;
	if (v->opt.top && v->nr_others > v->opt.top)
		return 0;
	return vec_push(&v->others, e);
}

static int choose(struct leaks_view *v)
{
	const struct leak_entry *const end = v->leaks->entries.v + v->leaks->entries.nr;

	for (const struct leak_entry *e = v->leaks->entries.v; e < end; e++) {
		if (!leaks_view_shows(e, v->opt.show)) {
			if (put_aside(v, e))
				return -ENOMEM;
			if (e->verdict == LEAK_UNLIKELY)
				hide(e->class == REACH_POSSIBLE ? &v->hidden_possible : &v->hidden,
				     e);
			continue;
		}
		if (v->opt.top && v->nr_all[e->verdict]++ >= v->opt.top)
			continue;
		v->nr_all[e->verdict] += !v->opt.top;
		if (vec_push(&v->shown[e->verdict], e))
			return -ENOMEM;
	}
	return 0;
}

int leaks_view_init(struct leaks_view *v, const struct heap *h, struct names *n,
		    const struct leaks *l, const struct leaks_view_options *o)
{
	*v = (struct leaks_view){
		.heap = h, .names = n, .leaks = l, .opt = *o, .doc.schema = LEAKS_SCHEMA
	};
	if (choose(v))
		return -ENOMEM;
	leaks_head(v);
	for (int i = 0; i < LEAK_NR_VERDICTS; i++)
		add_entries(v, (enum leak_verdict)i);
	add_others(v);
	add_left_out(v);
	add_rest(v);
	return doc_error(&v->doc);
}

void leaks_view_fini(struct leaks_view *v)
{
	doc_fini(&v->doc);
	for (int i = 0; i < LEAK_NR_VERDICTS; i++)
		vec_fini(&v->shown[i]);
	vec_fini(&v->others);
}
