/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call tree in the report: a row per frame, inlined ones included; chains of only children stay
 * flat in text.
 */
#include <stdlib.h>
#include <string.h>

#include "src/analyze/tree.h"
#include "src/base/fmt.h"
#include "src/base/str.h"
#include "src/view/report_priv.h"

#define DEFAULT_DEPTH_UP 12
#define MIN_PERCENT 0.5

enum {
	TREE_BYTES,
	TREE_COUNT,
	TREE_SHARE,
	TREE_SELF_BYTES,
	TREE_SELF_COUNT,
	TREE_MORE,
	TREE_FRAME,
	TREE_LABEL = TREE_FRAME + 6,
	TREE_TAIL,
	TREE_NR
};

static const struct column tree_columns[TREE_NR] = {
	[TREE_BYTES] = { "value_bytes", "bytes", UNIT_BYTES },
	[TREE_COUNT] = { "value_count", "count", UNIT_COUNT },
	[TREE_SHARE] = { "share_percent", "share", UNIT_PERCENT },
	[TREE_SELF_BYTES] = JSON_COLUMN("self_bytes", UNIT_BYTES),
	[TREE_SELF_COUNT] = JSON_COLUMN("self_count", UNIT_COUNT),
	[TREE_MORE] = JSON_COLUMN("more", UNIT_COUNT),
	[TREE_FRAME] = REPORT_FRAME_COLUMNS,
	[TREE_LABEL] = { NULL, "frame", UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_LABEL },
	[TREE_TAIL] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_TAIL },
};

struct put {
	struct table *t;
	const struct tree *tree;
	enum rank_key key;
	bool down;
	uint32_t *extra; /* rows that inlined frames added above, by depth */
};

static void put_row(struct put *p, const struct tree_row *row, uint32_t depth,
		    const struct frame_name *f, bool self)
{
	struct table *t = p->t;

	double share =
		report_percent(rank_value(p->key, row->weight), rank_value(p->key, p->tree->total));

	/* what stands for many and is still little is only noise to a reader */
	table_row(t, depth, !f || f->role == FRAME_PROGRAM ? ROW_PLAIN : ROW_DIM,
		  row->more && share < MIN_PERCENT ? ROW_JSON_ONLY : ROW_BOTH);
	table_set(t, TREE_BYTES, row->weight.bytes);
	table_set(t, TREE_COUNT, row->weight.count);
	table_set_float(t, TREE_SHARE, share);
	if (self && p->down) {
		table_set(t, TREE_SELF_BYTES, row->self.bytes);
		table_set(t, TREE_SELF_COUNT, row->self.count);
	}
	if (row->more) {
		table_set(t, TREE_MORE, row->more);
		table_setf(t, TREE_LABEL, "(%s more)", fmt_count(row->more).s);
		return;
	}
	report_set_frame(t, TREE_FRAME, f);
	report_set_label(t, TREE_LABEL, f);
}

/* A row of the tree and, as rows between it and its children, what was inlined there. */
static void put_node(struct put *p, struct names *names, const struct tree_row *row)
{
	uint32_t depth = row->depth + p->extra[row->depth];
	const struct frame_name *f = NULL;
	unsigned nr = 1;

	if (!row->more && row->node)
		f = names_find(names, row->node, &nr);
	for (unsigned i = 0; i < nr; i++)
		put_row(p, row, depth + i, f ? &f[p->down ? nr - 1 - i : i] : NULL, i + 1 == nr);
	p->extra[row->depth + 1] = p->extra[row->depth] + nr - 1;
}

static int build(struct report *r, struct tree *tree)
{
	struct tree_limits limits = { r->opt.depth, r->opt.top, r->opt.top ? MIN_PERCENT : 0 };
	bool down = r->opt.shape == REPORT_TOP_DOWN;

	if (!r->opt.depth_given)
		limits.depth = down ? 0 : DEFAULT_DEPTH_UP;
	return down ? tree_top_down(r->heap, &r->selection, r->opt.sort, &limits, tree)
		    : tree_bottom_up(r->heap, &r->selection, r->opt.sort, &limits, tree);
}

void report_tree(struct report *r)
{
	static const char *const title[RANK_NR][2] = {
		[RANK_LIVE] = { "Call tree by live bytes", "Callers by live bytes" },
		[RANK_PEAK] = { "Call tree by bytes at the peak", "Callers by bytes at the peak" },
		[RANK_ALLOCATED] = { "Call tree by bytes allocated", "Callers by bytes allocated" },
		[RANK_CALLS] = { "Call tree by calls", "Callers by calls" },
		[RANK_TEMPORARY] = { "Call tree by temporary allocations",
				     "Callers by temporary allocations" },
	};
	struct put p = { .key = r->opt.sort, .down = r->opt.shape == REPORT_TOP_DOWN };
	struct tree tree;

	p.t = table_new(TABLE_TREE, "tree", title[p.key][!p.down], tree_columns, TREE_NR);
	p.tree = &tree;
	p.extra = calloc(TREE_MAX_DEPTH + 2, sizeof(*p.extra));
	if (!p.t || !p.extra || build(r, &tree)) {
		table_free(p.t);
		free(p.extra);
		doc_add(&r->doc, NULL);
		return;
	}
	p.t->estimated = r->heap->mode == HEAP_SAMPLED;
	p.t->fold_chains = true;
	for (size_t i = 0; i < tree.nr; i++) {
		put_node(&p, r->names, &tree.row[i]);
		r->left_out[REPORT_TREE] += tree.row[i].more;
	}
	if (!tree.nr)
		table_note(p.t, "nothing to show");
	tree_fini(&tree);
	free(p.extra);
	doc_add(&r->doc, p.t);
}
