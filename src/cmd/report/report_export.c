/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports in the forms of other tools. */
#include "src/cmd/report/report_export.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/base/str.h"
#include "src/cmd/cmd.h"
#include "src/cmd/report/forms.h"
#include "src/cmd/report/report_file.h"
#include "src/cmd/terminal.h"
#include "src/cmd/whole.h"
#include "src/export/export.h"
#include "src/store/output.h"
#include "src/store/replace.h"
#include "src/view/report_view.h"

/* What writes it; EXPORT_NR: a renderer of documents. */
static enum export_form writer_of(int form)
{
	switch ((enum form)form) {
	case FORM_COLLAPSED:
		return EXPORT_COLLAPSED;
	case FORM_SPEEDSCOPE:
		return EXPORT_SPEEDSCOPE;
	case FORM_PPROF:
		return EXPORT_PPROF;
	case FORM_SVG:
		return EXPORT_SVG;
	case FORM_MASSIF:
		return EXPORT_MASSIF;
	case FORM_DHAT:
		return EXPORT_DHAT;
	case FORM_HEAPTRACK:
		return EXPORT_HEAPTRACK;
	case FORM_CHROME_TRACE:
		return EXPORT_CHROME;
	case FORM_OPENMETRICS:
		return EXPORT_OPENMETRICS;
	case FORM_CSV:
	case FORM_TEXT:
	case FORM_JSON:
	case FORM_HTML:
	case FORM_VALGRIND_XML:
	case FORM_SARIF:
	case FORM_JUNIT:
		break;
	}
	return EXPORT_NR;
}

/* An option of lists and trees, which the forms do not have. NULL: none was given. */
static const char *list_option(const struct report_command *c)
{
	return c->given_top		? "--top"
	       : c->opt.depth_given	? "--depth"
	       : c->top_down		? "--top-down"
	       : c->bottom_up		? "--bottom-up"
	       : c->opt.blocks		? "--blocks"
	       : c->opt.functions	? "--functions"
	       : c->skipped.nr && c->form != FORM_HTML ? "--skip-fn"
					: NULL;
}

bool report_to_stdout(const struct report_command *c)
{
	return !strcmp(c->output ? c->output : form_table[c->form].file, "-");
}

/* An option that the form has nothing for, with what helps; NULL: none was given. */
static const char *other_option(const struct report_command *c, const char **hint)
{
	bool timed = c->form == FORM_CHROME_TRACE;
	bool whole = c->form == FORM_MASSIF || c->form == FORM_DHAT || c->form == FORM_HEAPTRACK ||
		     c->form == FORM_OPENMETRICS;

	if (c->table && c->form != FORM_CSV) {
		*hint = "it chooses a table of '--format csv'; leave it out";
		return "--table";
	}
	if (c->opt.sort_given && (timed || whole)) {
		*hint = "all its figures are in it; leave the option out";
		return "--sort";
	}
	*hint = "it has the whole process over time; leave the filter out";
	return timed && (filter_by_stack(&c->opt.filter) || filter_by_block(&c->opt.filter))
		       ? "a filter" : NULL;
}

static int refuse(const char *option, const char *form, const char *hint, struct err *e)
{
	struct fmt text;

	snprintf(text.s, sizeof(text.s), strncmp(option, "--", 2) ? "%s cannot be used with "
								    "'--format %s'"
								  : "'%s' cannot be used with "
								    "'--format %s'",
		 option, form);
	return cmd_refuse(e, text.s, hint);
}

int report_export_check(const struct report_command *c, struct err *e)
{
	const char *name = form_table[c->form].name, *hint;
	bool lists = writer_of(c->form) == EXPORT_NR && c->form != FORM_HTML;
	const char *option = lists ? NULL : list_option(c);
	struct fmt text;
	int rc;

	if (c->output && !*c->output)
		return cmd_refuse(e, "the name after '-o' is empty", "name a file");
	rc = c->output ? output_check_pattern(c->output, e) : 0;
	if (rc)
		return rc;
	if (option)
		return refuse(option, name, "all stacks are in it; leave the option out", e);
	if (c->form == FORM_HEAPTRACK && !report_to_stdout(c) && c->output &&
	    !str_ends(c->output, ".gz"))
		return cmd_refuse(e,
				  "'--format heaptrack' is compressed, and its readers know that "
				  "by the name only",
				  "let the name after -o end in .gz");
	option = other_option(c, &hint);
	if (option)
		return refuse(option, name, hint, e);
	if (c->form == FORM_PPROF && c->opt.sort_given &&
	    (c->opt.sort == RANK_PEAK || c->opt.sort == RANK_TEMPORARY)) {
		snprintf(text.s, sizeof(text.s), "'--format %s' has no figures for '--sort %s'",
			 name, rank_key_name[c->opt.sort]);
		return cmd_refuse(e, text.s, "'--format speedscope' has");
	}
	if (form_table[c->form].binary && report_to_stdout(c) && isatty(STDOUT_FILENO)) {
		snprintf(text.s, sizeof(text.s), "'--format %s' is nothing for a terminal", name);
		return cmd_refuse(e, text.s, "name a file with '-o'");
	}
	return 0;
}

void report_say_losses(const struct heap *h)
{
	const struct style style = terminal_style(stderr);
	struct doc d = { 0 };

	report_warnings(&d, h);
	if (!doc_error(&d))
		doc_print_text(&d, &style, stderr);
	doc_fini(&d);
}

void report_say_empty(const struct heap *h, const struct selection *s)
{
	struct str filter = STR_INIT;

	if (!report_filter_text(&filter, s->filter) || rank_passes_any(h, s))
		str_clear(&filter);
	if (filter.len)
		cmd_note("nothing passes the filter: %s", str_text(&filter));
	str_fini(&filter);
}

void report_say_estimates(const struct report_command *c, const struct heap *h)
{
	struct str text = STR_INIT;

	if (export_estimates(&text, h))
		cmd_note(c->form == FORM_COLLAPSED ? "%s, which '%s' has no place for" : "%s",
			 str_text(&text), form_table[c->form].name);
	str_fini(&text);
}

/* What replace_file() calls. */
struct writing {
	report_write *write;
	void *arg;
	const char *name;
};

static int explain(int rc, const char *name, struct err *e)
{
	if (rc == -E2BIG)
		return err_set(e, rc, "there are more different frames or stacks than a profile "
				      "takes");
	if (rc == -EDOM)
		return err_set(e, rc,
			       "the figures of a stack contradict each other: no events have "
			       "these sums");
	return rc == -ENOMEM ? rc : replace_failed(e, rc, "report", name);
}

static int write_file(void *arg, FILE *f, struct err *e)
{
	const struct writing *w = arg;
	int rc = w->write(w->arg, f);

	return rc ? explain(rc, w->name, e) : 0;
}

static int print(report_write *write, void *arg, struct err *e)
{
	int rc = write(arg, stdout);

	/* a reader that has seen enough (head, less) is no trouble */
	if (!rc || rc == -EPIPE || (rc == -EIO && terminal_reader_gone(STDOUT_FILENO)))
		return 0;
	if (rc == -E2BIG || rc == -EDOM || rc == -ENOMEM)
		return explain(rc, "", e);
	return err_set(e, rc, "cannot write the report: %s", strerror(-rc));
}

int report_put(const struct report_command *c, const struct heap *h, report_write *write,
	       void *arg, struct err *e)
{
	const char *reader = form_table[c->form].reader;
	char name[PATH_MAX];
	int rc;

	if (report_to_stdout(c))
		return print(write, arg, e);
	rc = output_name(c->output ? c->output : form_table[c->form].file, (pid_t)h->pid, h->comm,
			 true, name);
	if (rc == -ENAMETOOLONG)
		return err_set(e, rc, "the name of the file is too long");
	if (!rc)
		rc = report_file_apart(name, c->opt.source, e);
	if (!rc)
		rc = whole_write_report(name, write_file, &(struct writing){ write, arg, name }, e);
	if (!rc)
		cmd_note(reader ? "written to '%s': '%s FILE' shows it" : "written to '%s'", name,
			 reader);
	return rc;
}

struct exporting {
	enum export_form form;
	struct export_source source;
};

static int write_export(void *arg, FILE *f)
{
	const struct exporting *x = arg;

	return export_write(x->form, &x->source, f);
}

/* Is the form about times or the peak, which another tool's profile may not know? */
static bool is_timed(int form)
{
	return form == FORM_MASSIF || form == FORM_DHAT || form == FORM_HEAPTRACK ||
	       form == FORM_CHROME_TRACE;
}

static int check_known(const struct report_command *c, const struct heap *h, struct err *e)
{
	int rc = report_check_known(h, &c->opt, e);

	if (rc || heap_import_history(h) || !is_timed(c->form))
		return rc;
	err_set(e, -ENOTSUP, "the profile has no peak and no times, which '--format %s' is about",
		form_table[c->form].name);
	err_hint(e, "use '--format pprof', speedscope or collapsed");
	return -ENOTSUP;
}

void report_say_cut(const struct stack_cut *cut)
{
	if (cut->stacks)
		cmd_note("%s cut to %s innermost frames: %s in all are left out, as a list of them "
			 "would be too long",
			 fmt_many(cut->stacks, "stack").s, fmt_count(cut->frames).s,
			 fmt_count(cut->left_out).s);
}

int report_export(const struct report_command *c, const struct heap *h, struct names *n,
		  struct err *e)
{
	struct selection selection;
	struct stack_cut cut = { 0 };
	struct exporting x = { writer_of(c->form),
			       { .heap = h, .names = n, .selection = &selection, .cut = &cut } };
	int rc = check_known(c, h, e);

	if (!rc)
		rc = selection_init(&selection, h, n, &c->opt.filter, e);
	if (rc)
		return rc;
	x.source.key = rank_chosen(h, &selection, c->opt.sort_given, c->opt.sort);
	x.source.filtered =
		filter_by_stack(&c->opt.filter) || filter_by_block(&c->opt.filter);
	report_say_losses(h);
	report_say_empty(h, &selection);
	report_say_estimates(c, h);
	if (form_table[c->form].lacks)
		cmd_note("'--format %s' has no place for: %s", form_table[c->form].name,
			 form_table[c->form].lacks);
	rc = report_put(c, h, write_export, &x, e);
	if (!rc)
		report_say_cut(&cut);
	selection_fini(&selection);
	return rc;
}
