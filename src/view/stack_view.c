/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stack: its frames as rows of a tree, the walk from what allocated to main.
 */
#include "src/view/stack_view.h"

#include <string.h>

#include "src/base/fmt.h"
#include "src/view/report_priv.h"

struct walk {
	struct table *t;
	const struct stack_columns *c;
	const struct frame_name *responsible;
	struct str via; /* frames inside the responsible one */
	uint64_t shown, limit, left_out;
	bool outside; /* past the responsible frame */
	bool via_done;
};

static void row(struct walk *w, enum row_style style, enum row_where where)
{
	table_row(w->t, w->c->depth ? w->c->depth : 1, style, where);
}

static bool starts_program(const struct frame_name *f)
{
	return f->function && (strcmp(f->function, "_start") == 0 ||
			       strncmp(f->function, "__libc_start", 12) == 0);
}

/*
 * A function without template arguments and parameters: "std::vector::push_back". Names that begin
 * with '<' (Rust's <T as Trait>::f) and operators stay as they are.
 */
static void add_short(struct str *s, const struct frame_name *f)
{
	const char *name = f->function;
	int depth = 0;

	if (!name || *name == '<' || strstr(name, "operator")) {
		report_frame_label(s, f);
		return;
	}
	for (const char *p = name; *p && (depth || *p != '('); p++) {
		if (*p == '<')
			depth++;
		else if (*p == '>' && depth)
			depth--;
		else if (!depth)
			str_addc(s, *p);
	}
}

static void add_frame(struct walk *w, const struct frame_name *f)
{
	bool shown = w->outside && (!w->limit || w->shown < w->limit) && !starts_program(f);

	if (w->outside && !shown && !starts_program(f))
		w->left_out++;
	if (w->outside && !w->via_done && w->via.len) {
		row(w, ROW_DIM, ROW_TEXT_ONLY);
		table_setf(w->t, w->c->label, "via %s", table_text(w->t, &w->via));
	}
	w->via_done |= w->outside;
	if (!w->c->text_only || shown)
		row(w, f->role == FRAME_PROGRAM ? ROW_PLAIN : ROW_DIM,
		    w->c->text_only ? ROW_TEXT_ONLY : shown ? ROW_BOTH : ROW_JSON_ONLY);
	if (w->c->which)
		table_set_const(w->t, w->c->which_column, w->c->which);
	if (!w->c->text_only) {
		report_set_frame(w->t, w->c->frame, f);
		table_set(w->t, w->c->inlined, f->inlined);
		table_set_const(w->t, w->c->role, frame_role_name(f->role));
	}
	if (shown) {
		report_set_label(w->t, w->c->label, f);
		w->shown++;
	}
	if (f == w->responsible) {
		w->outside = true;
	} else if (!w->outside) {
		str_add(&w->via, w->via.len ? " < " : "");
		add_short(&w->via, f);
	}
}

void stack_add(struct table *t, struct names *n, uint32_t node,
	       const struct frame_name *responsible, uint64_t limit, const char *more,
	       const struct stack_columns *c)
{
	struct walk w = {
		.t = t,
		.c = c,
		.responsible = responsible,
		.limit = limit,
		.outside = !responsible,
		.via_done = !responsible,
	};
	const uint32_t most = c->cut ? c->most : UINT32_MAX;
	uint32_t at = node, nodes = 0;

	for (; at && nodes < most; at = n->heap->nodes[at].parent, nodes++) {
		unsigned nr;
		const struct frame_name *f = names_find(n, at, &nr);

		for (unsigned i = 0; i < nr; i++)
			add_frame(&w, &f[i]);
	}
	w.left_out += c->cut;
	if (!w.via_done && w.via.len) {
		row(&w, ROW_DIM, ROW_TEXT_ONLY);
		table_setf(t, c->label, "via %s", table_text(t, &w.via));
	}
	if (w.left_out) {
		row(&w, ROW_DIM, ROW_TEXT_ONLY);
		table_setf(t, c->label, "... %s more %s%s", fmt_count(w.left_out).s,
			   fmt_agree(w.left_out, "frame", "frames"), limit ? more : "");
	}
	table_text(t, &w.via);		/* also where not even its first frame could be added */
	str_fini(&w.via);
}
