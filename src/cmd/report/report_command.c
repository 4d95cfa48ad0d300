/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of a report, and its printing. */
#include "src/cmd/report/report_command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/cmd/cmd.h"
#include "src/cmd/emit.h"
#include "src/cmd/report/report_export.h"
#include "src/cmd/report/report_page.h"
#include "src/cmd/terminal.h"
#include "src/names/names.h"
#include "src/render/render_csv.h"
#include "src/names/naming.h"
#include "src/session/name_notes.h"
#include "src/symbol/symbol.h"

struct document {
	const struct report_command *command;
	const struct doc *doc;
};

static int write_doc(void *arg, FILE *out)
{
	const struct document *d = arg;
	struct style style = terminal_style(out);

	if (d->command->form == FORM_CSV)
		return doc_print_csv(d->doc, d->command->table, out);
	return d->command->as_json ? doc_print_json(d->doc, out)
				   : doc_print_text(d->doc, &style, out);
}

/* Is there such a table? */
static int check_table(const struct report_command *c, const struct doc *d, struct err *e)
{
	struct str names = STR_INIT;
	int rc = 0;

	if (!doc_csv_has(d, c->table)) {
		doc_csv_tables(d, &names);
		rc = err_set(e, -EINVAL, "the report has no table '%s'", c->table);
		err_hint(e, "it has %s", str_text(&names));
		e->exit_code = CMD_USAGE;
	}
	str_fini(&names);
	return rc;
}

int report_command_print(struct report_command *c, const struct heap *h, const char *source,
			 struct err *e)
{
	const struct naming_options options = { .none = c->no_symbols,
						.full = true,
						.debuginfod = c->debuginfod,
						.max_bytes = c->memory_bytes };
	struct naming naming;
	struct report report;
	int rc;

	c->opt.source = source;
	naming_open(&naming, h, &options);
	names_skip(&naming.names, c->skipped.v, c->skipped.nr);
	if (c->form != FORM_TEXT && c->form != FORM_JSON && c->form != FORM_CSV) {
		rc = c->form == FORM_HTML ? report_page(c, h, &naming.names, e)
					    : report_export(c, h, &naming.names, e);
		goto out;
	}
	rc = report_init(&report, h, &naming.names, &c->opt, e);
	if (!rc && c->form == FORM_CSV)
		rc = check_table(c, &report.doc, e);
	if (!rc && c->form == FORM_CSV) {
		report_say_losses(h);
		report_say_empty(h, &report.selection);
		report_say_estimates(c, h);
	}
	if (!rc)
		rc = report_put(c, h, write_doc, &(struct document){ c, &report.doc }, e);
	if (!rc) {
		report_say_cut(&report.cut);
		report_say_cut(&report.map_cut);
	}
	report_fini(&report);
out:
	if (!rc)
		name_notes(&emit_notes, &naming, "--memory-limit");
	naming_close(&naming);
	return rc;
}

/* JSON has all, unless less was asked for. */
static void complete(struct report_command *c)
{
	c->as_json = c->form == FORM_JSON;
	c->opt.sort = (enum rank_key)c->sort;
	if ((c->as_json || c->form == FORM_CSV) && !c->given_top)
		c->opt.top = 0;
	if ((c->as_json || c->form == FORM_CSV) && !c->opt.depth_given)
		c->opt.depth_given = true;		/* with a depth of 0 */
	c->opt.shape = c->top_down    ? REPORT_TOP_DOWN
		       : c->bottom_up ? REPORT_BOTTOM_UP
				      : REPORT_LIST;
}

/* CSV is one table: that of --table, or the one that another option asks for. */
static int choose_table(struct report_command *c, struct err *e)
{
	const char *const asked[][2] = {
		{ c->opt.blocks ? "--blocks" : NULL, "blocks" },
		{ c->opt.functions ? "--functions" : NULL, "functions" },
		{ c->top_down ? "--top-down" : c->bottom_up ? "--bottom-up" : NULL, "tree" },
	};
	const char *option = NULL;
	struct fmt text;

	if (c->table) {
		c->opt.blocks |= !strcmp(c->table, "blocks");
		c->opt.functions |= !strcmp(c->table, "functions");
		return 0;
	}
	for (unsigned i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
		if (asked[i][0] && option) {
			snprintf(text.s, sizeof(text.s), "'%s' and '%s' ask for two tables", option,
				 asked[i][0]);
			return cmd_refuse(e, text.s, "'--format csv' is one: leave out one of "
						     "them, or choose it with --table");
		}
		if (asked[i][0]) {
			option = asked[i][0];
			c->table = asked[i][1];
		}
	}
	c->table = c->table ? c->table : "lines";
	return 0;
}

int report_command_check(struct report_command *c, enum form_writer writer, struct err *e)
{
	int rc = form_join_json(&c->form, c->form_given, c->as_json, e);

	if (!rc)
		rc = form_check((enum form)c->form, writer, e);
	if (rc)
		return rc;
	complete(c);
	if (c->with_source && c->form != FORM_HTML)
		return cmd_refuse(e, "'--source' is for '--format html'",
				  "leave it out, or add '--format html'");
	rc = c->form == FORM_HTML ? report_page_check(e) :
	     c->form == FORM_CSV  ? choose_table(c, e) : 0;
	if (!rc)
		rc = report_export_check(c, e);
	if (rc)
		return rc;
	if (c->bottom_up && c->top_down)
		return cmd_refuse(e, "'--top-down' and '--bottom-up' cannot be used together",
				  "ask for one after the other");
	if (c->no_symbols && (c->opt.filter.function || c->opt.filter.file))
		return cmd_refuse(e,
				  c->opt.filter.function ? "'--function' needs symbols"
							 : "'--file' needs symbols",
				  "leave out --no-symbols");
	return report_check(&c->opt, e);
}
