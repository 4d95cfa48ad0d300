/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports in the forms of other tools. */
#include "src/cmd/report/report_export.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/cmd/cmd.h"
#include "src/cmd/terminal.h"
#include "src/cmd/whole.h"
#include "src/export/export.h"
#include "src/store/output.h"
#include "src/store/replace.h"

static const struct {
	enum export_form form;
	const char *name;	/* of the file, where none is given */
	const char *reader;	/* what it is read with, before the file's name */
	bool peak;		/* has figures of the peak and of temporary blocks */
	bool binary;
} forms[REPORT_NR_FORMS] = {
	[REPORT_TEXT] = { EXPORT_NR, "-", NULL, true, false },
	[REPORT_JSON] = { EXPORT_NR, "-", NULL, true, false },
	[REPORT_HTML] = { EXPORT_NR, "pmm.%c.%p.html", NULL, true, false },
	[REPORT_COLLAPSED] = { EXPORT_COLLAPSED, "-", NULL, true, false },
	[REPORT_SPEEDSCOPE] = { EXPORT_SPEEDSCOPE, "pmm.%c.%p.speedscope.json", "speedscope", true,
				false },
	[REPORT_PPROF] = { EXPORT_PPROF, "pmm.%c.%p.pb.gz", "go tool pprof", false, true },
};

const char *const report_form_name[REPORT_NR_FORMS + 1] = {
	[REPORT_TEXT] = "text",
	[REPORT_JSON] = "json",
	[REPORT_HTML] = "html",
	[REPORT_COLLAPSED] = "collapsed",
	[REPORT_SPEEDSCOPE] = "speedscope",
	[REPORT_PPROF] = "pprof",
	[REPORT_NR_FORMS] = NULL,
};

const struct cmd_pair report_form_about[] = {
	{ "text", "for people: pmm report, leaks, check, trace, kmod report" },
	{ "json", "for programs, by the schemas of doc/json.md: the same commands, with --json" },
	{ "html", "a page for a browser, with pictures and tables: one file that needs no "
		  "server and no network; pmm report" },
	{ "collapsed", "a line for each stack, with one figure (--sort): flame graph scripts, "
		       "speedscope; pmm report, and as 'folded' pmm trace" },
	{ "speedscope", "all stacks with all figures: speedscope, as a page or a program; pmm "
			"report" },
	{ "pprof", "all stacks with what was allocated and what is live, by number and bytes: "
		   "'go tool pprof', services for profiles; pmm report" },
	{ 0 }
};

/* An option of lists and trees, which the forms do not have. NULL: none was given. */
static const char *list_option(const struct report_command *c)
{
	return c->given_top		? "--top"
	       : c->opt.depth_given	? "--depth"
	       : c->top_down		? "--top-down"
	       : c->bottom_up		? "--bottom-up"
	       : c->opt.blocks		? "--blocks"
	       : c->opt.functions	? "--functions"
	       : c->skipped.nr && c->form != REPORT_HTML ? "--skip-fn"
					: NULL;
}

bool report_to_stdout(const struct report_command *c)
{
	return !strcmp(c->output ? c->output : forms[c->form].name, "-");
}

int report_export_check(const struct report_command *c, struct err *e)
{
	const char *name = report_form_name[c->form];
	bool lists = forms[c->form].form == EXPORT_NR && c->form != REPORT_HTML;
	const char *option = lists ? NULL : list_option(c);
	struct fmt text;

	if (c->output && !*c->output)
		return cmd_refuse(e, "the name after '-o' is empty", "name a file");
	if (option) {
		snprintf(text.s, sizeof(text.s), "'%s' cannot be used with '--format %s'", option,
			 name);
		return cmd_refuse(e, text.s, "all stacks are in it; leave the option out");
	}
	if (!forms[c->form].peak && c->opt.sort_given &&
	    (c->opt.sort == RANK_PEAK || c->opt.sort == RANK_TEMPORARY)) {
		snprintf(text.s, sizeof(text.s), "'--format %s' has no figures for '--sort %s'",
			 name, rank_key_name[c->opt.sort]);
		return cmd_refuse(e, text.s, "'--format speedscope' has");
	}
	if (forms[c->form].binary && report_to_stdout(c) && isatty(STDOUT_FILENO)) {
		snprintf(text.s, sizeof(text.s), "'--format %s' is nothing for a terminal", name);
		return cmd_refuse(e, text.s, "name a file with '-o'");
	}
	return 0;
}

/* What the figures lack. */
static void say_losses(const struct heap *h)
{
	const struct style style = terminal_style(stderr);
	struct doc d = { 0 };

	report_warnings(&d, h);
	if (!doc_error(&d))
		doc_print_text(&d, &style, stderr);
	doc_fini(&d);
}

/* What was being read must not be what is written: its name after '-o' is a mistake. */
static int check_target(const char *name, const char *source, struct err *e)
{
	struct stat to, from;

	if (!source || stat(name, &to) || stat(source, &from) || to.st_dev != from.st_dev ||
	    to.st_ino != from.st_ino)
		return 0;
	err_set(e, -EINVAL, "'%s' is the capture itself", name);
	err_hint(e, "name another file with -o");
	e->exit_code = CMD_USAGE;
	return -EINVAL;
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
	if (!rc || rc == -EPIPE)
		return 0;
	if (rc == -E2BIG || rc == -ENOMEM)
		return explain(rc, "", e);
	return err_set(e, rc, "cannot write the report: %s", strerror(-rc));
}

int report_put(const struct report_command *c, const struct heap *h, report_write *write,
	       void *arg, struct err *e)
{
	const char *reader = forms[c->form].reader;
	char name[PATH_MAX];
	int rc;

	if (report_to_stdout(c))
		return print(write, arg, e);
	rc = output_name(c->output ? c->output : forms[c->form].name, (pid_t)h->pid, h->comm, true,
			 name);
	if (rc == -ENAMETOOLONG)
		return err_set(e, rc, "the name of the file is too long");
	if (!rc)
		rc = check_target(name, c->opt.source, e);
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

int report_export(const struct report_command *c, const struct heap *h, struct names *n,
		  struct err *e)
{
	struct selection selection;
	struct exporting x = { forms[c->form].form,
			       { .heap = h, .names = n, .selection = &selection } };
	int rc = selection_init(&selection, h, n, &c->opt.filter, e);

	if (rc)
		return rc;
	x.source.key = rank_chosen(h, &selection, c->opt.sort_given, c->opt.sort);
	say_losses(h);
	rc = report_put(c, h, write_export, &x, e);
	selection_fini(&selection);
	return rc;
}
