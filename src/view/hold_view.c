/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who holds blocks, as a document. */
#include "src/view/hold_view.h"

#include <inttypes.h>

#include "src/base/fmt.h"
#include "src/document/doc_record.h"
#include "src/document/facts.h"
#include "src/view/leaks_priv.h"
#include "src/view/report_priv.h"

#define LABEL_WIDTH	56		/* of a narrow terminal's line, beside the figures */

static const char *const kind_name[] = {
	[HOLD_ROOT_VARIABLE] = "variable",
	[HOLD_ROOT_SECTION] = "section",
	[HOLD_ROOT_THREAD_VARIABLE] = "thread-local",
	[HOLD_ROOT_THREAD] = "thread",
	[HOLD_ROOT_STACK] = "stack",
	[HOLD_ROOT_REGISTER] = "register",
	[HOLD_ROOT_KERNEL] = "kernel",
	[HOLD_ROOT_LIBRARY] = "library",
	[HOLD_ROOT_MEMORY] = "memory",
};
_Static_assert(sizeof(kind_name) / sizeof(kind_name[0]) == HOLD_NR_ROOT_KINDS,
	       "each kind has a name");

/* ---- head ---- */

static void add_asked(struct doc *d, const struct hold_answer *a)
{
	struct table *t = record_new("asked");

	record_text(t, "asked", a->asked);
	record_count(t, "blocks", a->sum.blocks);
	record_count(t, "bytes", a->sum.bytes);
	record_text(t, "verdict", a->verdict);
	doc_add(d, t);
}

enum {
	CLASS_CLASS,
	CLASS_BLOCKS,
	CLASS_BYTES,
	CLASS_NR,
};

static const struct column class_columns[CLASS_NR] = {
	[CLASS_CLASS] = { "class", NULL, UNIT_TEXT },
	[CLASS_BLOCKS] = { "blocks", NULL, UNIT_COUNT },
	[CLASS_BYTES] = { "bytes", NULL, UNIT_COUNT },
};

static void add_classes(struct doc *d, const struct hold_answer *a)
{
	struct table *t = table_new(TABLE_ROWS, "totals", NULL, class_columns, CLASS_NR);

	if (t) {
		t->json_only = true;
		for (int i = REACH_NR_CLASSES - 1; i >= 0; i--) {
			table_row(t, 0, ROW_PLAIN, ROW_BOTH);
			table_set_const(t, CLASS_CLASS, leaks_class_name[i]);
			table_set(t, CLASS_BLOCKS, a->by_class[i].blocks);
			table_set(t, CLASS_BYTES, a->by_class[i].bytes);
		}
	}
	doc_add(d, t);
}

/* Roots that are not listed with what they hold; what counts as reached without a pointer. */
static void add_left_out(struct doc *d, const struct hold_answer *a)
{
	struct table *t = record_new("left_out");

	record_count(t, "roots", a->nr_rest);
	record_count(t, "blocks", a->rest.blocks);
	record_count(t, "bytes", a->rest.bytes);
	record_count(t, "no_pointer_blocks", a->unreported.blocks);
	record_count(t, "no_pointer_bytes", a->unreported.bytes);
	doc_add(d, t);
}

/* "2,311 of 2,400 blocks (288 KiB)". */
static void add_share(struct str *s, const struct hold_answer *a, const struct hold_sum *part)
{
	if (part->blocks == a->sum.blocks)
		str_add(s, fmt_agree(a->sum.blocks, "", "all "));
	else
		str_addf(s, "%s of %s blocks, %s, ", fmt_count(part->blocks).s,
			 fmt_count(a->sum.blocks).s, fmt_bytes(part->bytes).s);
}

static void held_row(struct table *t, const struct hold_answer *a, bool first,
		     const struct hold_sum *part, const char *by)
{
	struct str s = STR_INIT;

	add_share(&s, a, part);
	str_addf(&s, "by %s", by);
	facts_wrap(t, first ? "held" : "", table_text(t, &s), LABEL_WIDTH + 10);
	str_fini(&s);
}

static void add_summary(struct doc *d, const struct hold_answer *a)
{
	const struct heap *h = a->heap;
	struct table *t = facts_new(h->cmdline[0] ? h->cmdline : h->comm);

	if (!t) {
		doc_add(d, t);
		return;
	}
	report_process_row(t, h);
	if (h->search.pause_ns)
		facts_add(t, "stopped", "for %s", fmt_duration(h->search.pause_ns).s);
	facts_add(t, "asked", "%s: %s, %s", a->asked, fmt_many(a->sum.blocks, "block").s,
		  fmt_bytes(a->sum.bytes).s);
	for (size_t i = 0; i < a->roots.nr; i++) {
		const struct hold_view_root *r = &a->roots.v[i];

		held_row(t, a, !i, &(struct hold_sum){ r->blocks, r->bytes },
			 r->text ? r->text : "a root");
	}
	if (a->nr_rest) {
		struct fmt many = fmt_many(a->nr_rest, "other root");

		held_row(t, a, false, &a->rest, many.s);
	}
	if (a->unreported.blocks)
		held_row(t, a, false, &a->unreported,
			 "what is no pointer: they count as reached in a search for leaks");
	if (a->verdict)
		facts_wrap(t, "lost", a->verdict, LABEL_WIDTH + 10);
	if (!h->search.complete)
		facts_add(
			t, "!",
			"not all blocks are known: what the others point to is held by \"memory\"");
	doc_add(d, t);
}

/* ---- chains ---- */

enum {
	STEP_KIND,
	STEP_NAME,
	STEP_TEXT,
	STEP_FUNCTION,
	STEP_MODULE,
	STEP_FILE,
	STEP_LINE,
	STEP_THREAD,
	STEP_TID,
	STEP_ADDRESS,
	STEP_OTHERWISE,
	STEP_HELD_BLOCKS,
	STEP_HELD_BYTES,
	STEP_CHAIN_BLOCKS,
	STEP_POINTER,
	STEP_TYPE,
	STEP_OFFSET,
	STEP_OFFSET_BYTES,
	STEP_BLOCK,
	STEP_BYTES,
	STEP_INTO,
	STEP_INTO_BYTES,
	STEP_SITE,
	STEP_SAME,
	STEP_SKIPPED,
	STEP_ALONE_BLOCKS,
	STEP_ALONE_BYTES,
	STEP_ALONE,
	STEP_ALONE_COUNT,
	STEP_LABEL,
	STEP_NR,
};

static const struct column step_columns[STEP_NR] = {
	[STEP_KIND] = JSON_COLUMN("kind", UNIT_TEXT),
	[STEP_NAME] = JSON_COLUMN("name", UNIT_TEXT),
	[STEP_TEXT] = JSON_COLUMN("text", UNIT_TEXT),
	[STEP_FUNCTION] = JSON_COLUMN("function", UNIT_TEXT),
	[STEP_MODULE] = JSON_COLUMN("module", UNIT_TEXT),
	[STEP_FILE] = JSON_COLUMN("file", UNIT_TEXT),
	[STEP_LINE] = JSON_COLUMN("line", UNIT_NUMBER),
	[STEP_THREAD] = JSON_COLUMN("thread", UNIT_NUMBER),
	[STEP_TID] = JSON_COLUMN("tid", UNIT_NUMBER),
	[STEP_ADDRESS] = JSON_COLUMN("address", UNIT_ADDRESS),
	[STEP_OTHERWISE] = JSON_COLUMN("otherwise", UNIT_TEXT),
	[STEP_HELD_BLOCKS] = JSON_COLUMN("held_blocks", UNIT_COUNT),
	[STEP_HELD_BYTES] = JSON_COLUMN("held_bytes", UNIT_COUNT),
	[STEP_CHAIN_BLOCKS] = JSON_COLUMN("chain_blocks", UNIT_COUNT),
	[STEP_POINTER] = JSON_COLUMN("pointer", UNIT_TEXT),
	[STEP_TYPE] = JSON_COLUMN("type", UNIT_TEXT),
	[STEP_OFFSET] = JSON_COLUMN("offset", UNIT_COUNT),
	[STEP_OFFSET_BYTES] = JSON_COLUMN("offset_bytes", UNIT_COUNT),
	[STEP_BLOCK] = JSON_COLUMN("block", UNIT_ADDRESS),
	[STEP_BYTES] = JSON_COLUMN("bytes", UNIT_COUNT),
	[STEP_INTO] = JSON_COLUMN("points_into", UNIT_COUNT),
	[STEP_INTO_BYTES] = JSON_COLUMN("points_into_bytes", UNIT_COUNT),
	[STEP_SITE] = JSON_COLUMN("site", UNIT_NUMBER),
	[STEP_SAME] = JSON_COLUMN("pointers", UNIT_COUNT),
	[STEP_SKIPPED] = JSON_COLUMN("left_out_before", UNIT_COUNT),
	[STEP_ALONE_BLOCKS] = JSON_COLUMN("alone_blocks", UNIT_COUNT),
	[STEP_ALONE_BYTES] = JSON_COLUMN("alone_bytes", UNIT_COUNT),
	[STEP_ALONE] = { NULL, "holds alone", UNIT_BYTES, COLUMN_TEXT_ONLY | COLUMN_ZERO_BLANK },
	[STEP_ALONE_COUNT] = { NULL, "blocks", UNIT_COUNT, COLUMN_TEXT_ONLY | COLUMN_ZERO_BLANK },
	[STEP_LABEL] = { NULL, "pointer -> block it leads to", UNIT_TEXT,
			 COLUMN_TEXT_ONLY | COLUMN_LABEL },
};

static void set_alone(struct table *t, const struct hold_alone *a)
{
	if (!a->known)
		return;
	table_set(t, STEP_ALONE_BLOCKS, a->blocks);
	table_set(t, STEP_ALONE_BYTES, a->bytes);
	table_set(t, STEP_ALONE, a->bytes);
	table_set(t, STEP_ALONE_COUNT, a->blocks);
}

/* "make_entry (server.c:41)". */
static void add_site(struct str *s, struct names *n, const struct heap *h, uint32_t site)
{
	const struct frame_name *f = names_responsible(n, h->sites[site].node, NULL);

	if (!f) {
		str_add(s, "an unknown stack");
		return;
	}
	report_frame_label(s, f);
	if (f->file)
		str_addf(s, " (%s:%" PRIu32 ")", report_basename(f->file), f->line);
}

static void step_label(struct str *s, const struct hold_answer *a, struct names *n,
		       const struct hold_view_step *step)
{
	const struct heap_block *b = &a->heap->blocks[step->block];

	str_addf(s, "%s -> ", step->pointer ? step->pointer : "?");
	if (step->into)
		str_addf(s, "byte %" PRIu32 " of ", step->into);
	if (step->type)
		str_addf(s, "%s, ", step->type);
	str_addf(s, "%s from ", fmt_many(b->size_bytes, "byte").s);
	add_site(s, n, a->heap, b->site);
	if (step->same > 1)
		str_addf(s, "; %s to it there", fmt_many(step->same, "pointer").s);
}

static void add_step(struct table *t, const struct hold_answer *a, struct names *n,
		     const struct hold_view_step *step)
{
	const struct heap_block *b = &a->heap->blocks[step->block];
	struct str s = STR_INIT;

	if (step->skipped) {
		table_row(t, 1, ROW_DIM, ROW_TEXT_ONLY);
		str_addf(&s, "... %s", fmt_many(step->skipped, "block").s);
		table_set_text(t, STEP_LABEL, table_text(t, &s));
		str_clear(&s);
	}
	table_row(t, 1, ROW_PLAIN, ROW_BOTH);
	table_set_text(t, STEP_POINTER, step->pointer);
	table_set_text(t, STEP_TYPE, step->type);
	table_set(t, STEP_OFFSET, step->offset);
	table_set(t, STEP_OFFSET_BYTES, step->offset);
	table_set(t, STEP_BLOCK, b->address);
	table_set(t, STEP_BYTES, b->size_bytes);
	table_set(t, STEP_INTO, step->into);
	table_set(t, STEP_INTO_BYTES, step->into);
	table_set(t, STEP_SITE, b->site);
	table_set(t, STEP_SAME, step->same);
	table_set(t, STEP_SKIPPED, step->skipped);
	set_alone(t, &step->alone);
	step_label(&s, a, n, step);
	table_wrap(t, STEP_LABEL, table_text(t, &s), LABEL_WIDTH, 2, ROW_PLAIN, true);
	str_fini(&s);
}

struct filling { const struct hold_answer *a; struct names *n; };

static void add_root(struct table *t, const struct hold_answer *a, struct names *n,
		     const struct hold_view_root *r)
{
	struct str s = STR_INIT;

	table_row(t, 0, ROW_STRONG, ROW_BOTH);
	table_set_const(t, STEP_KIND, kind_name[r->kind]);
	table_set_text(t, STEP_NAME, r->name);
	table_set_text(t, STEP_TEXT, r->text);
	table_set_text(t, STEP_FUNCTION, r->function);
	table_set_text(t, STEP_MODULE, r->module);
	table_set_text(t, STEP_FILE, r->file);
	if (r->line)
		table_set(t, STEP_LINE, r->line);
	if (r->thread) {
		table_set(t, STEP_THREAD, r->thread);
		table_set(t, STEP_TID, r->thread);
	}
	if (r->address)
		table_set(t, STEP_ADDRESS, r->address);
	table_set_text(t, STEP_OTHERWISE, r->otherwise);
	table_set(t, STEP_HELD_BLOCKS, r->blocks);
	table_set(t, STEP_HELD_BYTES, r->bytes);
	table_set(t, STEP_CHAIN_BLOCKS, r->chain_blocks);
	set_alone(t, &r->alone);
	str_add(&s, r->text ? r->text : "a root");
	if (r->steps.nr && r->blocks > 1)
		str_addf(&s, ", to the nearest of %s", fmt_count(r->blocks).s);
	table_wrap(t, STEP_LABEL, table_text(t, &s), LABEL_WIDTH, 0, ROW_STRONG, true);
	for (size_t i = 0; i < r->steps.nr; i++)
		add_step(t, a, n, &r->steps.v[i]);
	if (r->otherwise) {
		str_clear(&s);
		str_addf(&s, "also held by %s", r->otherwise);
		table_wrap(t, STEP_LABEL, table_text(t, &s), LABEL_WIDTH, 1, ROW_PLAIN, false);
	}
	str_fini(&s);
}

/* How many pointers hold something alone; how many of which that is not known. */
static size_t count_alone(const struct hold_answer *a, size_t *unknown)
{
	size_t nr = 0;

	*unknown = 0;
	vec_each (&a->roots, r) {
		nr += r->alone.known && r->alone.blocks;
		*unknown += !r->alone.known;
		vec_each (&r->steps, s) {
			nr += s->alone.known && s->alone.blocks;
			*unknown += !s->alone.known;
		}
	}
	return nr;
}

/* What the column of figures says, which is not there when it has none. */
static void note_alone(struct table *t, const struct hold_answer *a)
{
	size_t unknown, nr = count_alone(a, &unknown);

	if (nr) {
		table_note(t, "holds alone: what would be lost if that one pointer were cleared; "
			      "on the line of a root: all pointers of that root");
		table_note(t, "-: nothing would be lost, as other pointers lead there too");
	} else if (!unknown) {
		table_note(t, "clearing any one of these pointers would lose nothing: other "
			      "pointers lead there too");
	}
}

int hold_view(struct doc *d, const struct hold_answer *a, struct names *n)
{
	struct table *t = table_new(TABLE_TREE, "holders", a->roots.nr ? "Chains" : NULL,
				    step_columns, STEP_NR);

	d->schema = HOLD_SCHEMA;
	report_process(d, a->heap);
	add_asked(d, a);
	add_classes(d, a);
	add_summary(d, a);
	if (t) {
		t->children_key = "chain";
		for (size_t i = 0; i < a->roots.nr; i++)
			add_root(t, a, n, &a->roots.v[i]);
		if (a->roots.nr)
			note_alone(t, a);
		t->json_only = !a->roots.nr;
	}
	doc_add(d, t);
	add_left_out(d, a);
	return doc_error(d);
}

void hold_answer_fini(struct hold_answer *a)
{
	vec_each(&a->roots, r) {
		vec_each(&r->steps, s) {
			free(s->pointer);
			free(s->type);
		}
		vec_fini(&r->steps);
		free(r->name);
		free(r->text);
		free(r->otherwise);
		free(r->function);
		free(r->module);
		free(r->file);
	}
	vec_fini(&a->roots);
	free(a->asked);
	free(a->verdict);
	heap_free(a->heap);
	*a = (struct hold_answer){ 0 };
}
