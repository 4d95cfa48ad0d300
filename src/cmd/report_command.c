/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of a report, and its printing. */
#include "src/cmd/report_command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/cmd/cmd.h"
#include "src/cmd/emit.h"
#include "src/cmd/terminal.h"
#include "src/names/names.h"
#include "src/names/naming.h"
#include "src/session/name_notes.h"
#include "src/symbol/symbol.h"

static int print_doc(const struct report_command *c, const struct doc *doc, struct err *e)
{
	struct style style = terminal_style(stdout);
	int rc = c->as_json ? doc_print_json(doc, stdout) : doc_print_text(doc, &style, stdout);

	/* a reader that has seen enough (head, less) is no trouble */
	if (rc == -EPIPE)
		return 0;
	if (rc)
		err_set(e, rc, "cannot write the report: %s", strerror(-rc));
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
	rc = report_init(&report, h, &naming.names, &c->opt, e);
	if (!rc)
		rc = print_doc(c, &report.doc, e);
	if (!rc)
		name_notes(&emit_notes, &naming, "--memory-limit");
	report_fini(&report);
	naming_close(&naming);
	return rc;
}

/* JSON has all, unless less was asked for. */
static void complete(struct report_command *c)
{
	c->opt.sort = (enum rank_key)c->sort;
	if (c->as_json && !c->given_top)
		c->opt.top = 0;
	if (c->as_json && !c->opt.depth_given)
		c->opt.depth_given = true;		/* with a depth of 0 */
	c->opt.shape = c->top_down    ? REPORT_TOP_DOWN
		       : c->bottom_up ? REPORT_BOTTOM_UP
				      : REPORT_LIST;
}

int report_command_check(struct report_command *c, struct err *e)
{
	complete(c);
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
