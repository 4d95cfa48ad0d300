/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes suppressions for stacks that were found, in Valgrind's form and in LeakSanitizer's;
 * suppress_parse.c reads them back.
 */
#include "src/analyze/suppress/suppressions.h"

#include <inttypes.h>
#include <string.h>

#include "src/base/utf8.h"

enum {
	STEPS_WRITTEN = 100,	/* a stack this deep is distinct by then */
	LINE_END = 1000000000,	/* of lines that are read back */
};

struct stack_writer {
	struct str *out;
	unsigned steps;
	bool any;	/* the last line was "..." */
	bool done;
};

/*
 * Text that must stay on its line; characters that a line cannot hold, or that `special` names,
 * become `wild`.
 */
static void add_plain(struct str *out, const char *text, const char *special, char wild)
{
	size_t n = strlen(text), length;

	for (; n; text += length, n -= length) {
		length = utf8_harmless_length(text, n);
		if (length && !strchr(special, *text)) {
			str_addn(out, text, length);
			continue;
		}
		length = 1;
		str_addc(out, wild);
	}
}

/*
 * A blank at the end of a line, and in functions what begins with one of `special`
 * (suppress_parse.c), is left to '*'. `line`: 0 = none.
 */
static void add_line(struct stack_writer *w, const char *prefix, const char *text,
		     const char *special, uint32_t line)
{
	size_t len = strcspn(text, special);
	struct str kept = STR_INIT;

	str_addn(&kept, text, len);
	str_add(w->out, prefix);
	add_plain(w->out, str_text(&kept), "", '?');
	if (text[len] || !len || text[len - 1] == ' ')
		str_addc(w->out, '*');
	if (line && line < LINE_END)
		str_addf(w->out, ":%" PRIu32, line);
	str_addc(w->out, '\n');
	str_fini(&kept);
	w->any = false;
	w->steps++;
}

/*
 * What was inlined depends on the compiler's mood, and Valgrind has no mangled names there: C++ and
 * Rust functions are left to "...".
 */
static void add_frame(struct stack_writer *w, const struct frame_name *f)
{
	bool mangled = f->linkage && f->linkage[0] == '_' &&
		       (f->linkage[1] == 'Z' || f->linkage[1] == 'R');

	if (f->role == FRAME_MARK || w->steps >= STEPS_WRITTEN) {
		w->done = true;
		return;
	}
	if (f->inlined && (mangled || !f->linkage)) {
		if (!w->any)
			str_add(w->out, "   ...\n");
		w->any = true;
		return;
	}
	if (f->linkage)
		add_line(w, "   fun:", f->linkage, "@.", 0);
	else if (!f->module && f->file)	/* a line outside functions, that pmm.h named */
		add_line(w, "   src:", f->file, "", f->line);
	else
		add_line(w, "   obj:", f->module ? f->module : "", "", 0);
	w->done = f->linkage && !strcmp(f->linkage, "main");
}

static void add_stack(struct str *out, struct names *names, uint32_t node, unsigned kind)
{
	struct stack_writer w = { .out = out };
	const struct frame_name *f;
	unsigned nr = suppress_allocator(kind, &f);

	for (unsigned i = 0; i < nr; i++)
		add_frame(&w, &f[i]);
	for (; node && !w.done; node = names->heap->nodes[node].parent) {
		f = names_find(names, node, &nr);
		for (unsigned i = 0; i < nr && !w.done; i++)
			add_frame(&w, &f[i]);
	}
	if (!w.steps)
		add_line(&w, "   obj:", "", "", 0);
}

static void write_valgrind(struct str *out, struct names *names, uint32_t site, unsigned kind,
			   unsigned class, const char *name)
{
	str_add(out, "{\n   ");
	add_plain(out, name, "", '?');
	str_addf(out, "\n   Memcheck:Leak\n   match-leak-kinds: %s\n", suppress_class_name(class));
	add_stack(out, names, names->heap->sites[site].node, kind);
	str_add(out, "}\n");
}

/* A whole name, so that "get" does not hide "get_all" as well; special characters become wild. */
static void write_lsan(struct str *out, const struct frame_name *f, const char *name)
{
	const char *text = f ? f->function : NULL, *slash;

	str_add(out, "# ");
	add_plain(out, name, "", '?');
	str_addc(out, '\n');
	if (!text && f && f->module) {
		slash = strrchr(f->module, '/');
		str_add(out, "leak:");
		add_plain(out, slash ? slash + 1 : f->module, "$", '*');
		str_addc(out, '\n');
		return;
	}
	if (!text) {
		str_add(out, "# no function and no module is known there\n");
		return;
	}
	str_add(out, "leak:^");
	add_plain(out, text, "$", '*');
	str_add(out, "$\n");
}

void suppress_write(struct str *out, enum suppress_form form, struct names *names, uint32_t site,
		    unsigned kind, unsigned class, const char *name)
{
	const struct frame_name *f = names_responsible(names, names->heap->sites[site].node, NULL);
	struct str made = STR_INIT;

	if (!name) {
		str_addf(&made, "%s, %s",
			 f && f->function ? f->function
			 : f && f->module ? f->module
			 : f && f->file	  ? f->file
					  : "unknown stack",
			 suppress_class_name(class));
		name = str_text(&made);
	}
	if (form == SUPPRESS_VALGRIND)
		write_valgrind(out, names, site, kind, class, name);
	else
		write_lsan(out, f && f->role != FRAME_MARK ? f : NULL, name);
	str_fini(&made);
}
