/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of forms. */
#include "src/cmd/report/forms.h"

#include <errno.h>

#include "src/base/str.h"
#include "src/cmd/cmd.h"

#define FORM_HEAP	(FORM_REPORT | FORM_KMOD_REPORT)
#define FORM_VERDICTS	(FORM_LEAKS | FORM_CHECK | FORM_BUDGET)
#define FORM_ALL	(FORM_HEAP | FORM_VERDICTS | FORM_DIFF)

const struct form_row form_table[FORM_NR] = {
	[FORM_TEXT] = { "text", FORM_ALL, "-", NULL, false,
			"for people" },
	[FORM_JSON] = { "json", FORM_ALL, "-", NULL, false,
			"for programs, by the schemas of doc/json.md; the same as --json" },
	[FORM_HTML] = { "html", FORM_HEAP | FORM_DIFF, "pmm.%c.%p.html", NULL, false,
			"a page for a browser, with pictures and tables: one file that needs no "
			"server and no network" },
	[FORM_CSV] = { "csv", FORM_HEAP, "-", NULL, false,
		       "a table of the report (--table), with a header: spreadsheets, data bases" },
	[FORM_SVG] = { "svg", FORM_HEAP, "pmm.%c.%p.svg", NULL, false,
		       "a flame graph of one figure (--sort) as a picture without scripts: "
		       "browsers, documents" },
	[FORM_COLLAPSED] = { "collapsed", FORM_HEAP, "-", NULL, false,
			     "a line for each stack, with one figure (--sort): flame graph "
			     "scripts, speedscope; of pmm trace as 'folded'" },
	[FORM_SPEEDSCOPE] = { "speedscope", FORM_HEAP, "pmm.%c.%p.speedscope.json", "speedscope",
			      false,
			      "all stacks with all figures: speedscope, as a page or a program" },
	[FORM_PPROF] = { "pprof", FORM_HEAP, "pmm.%c.%p.pb.gz", "go tool pprof", true,
			 "all stacks with what was allocated and what is live, by number and "
			 "bytes: 'go tool pprof', services for profiles" },
	[FORM_MASSIF] = { "massif", FORM_HEAP, "pmm.%c.%p.massif", "ms_print", false,
			  "live bytes over time, with call trees of the peak and of the end: "
			  "ms_print, massif-visualizer",
			  "numbers of blocks and of allocations, threads, temporary allocations" },
	[FORM_DHAT] = { "dhat", FORM_HEAP, "pmm.%c.%p.dhat.json", NULL, false,
			"what each stack allocated, held at the peak and holds: dh_view.html of "
			"Valgrind",
			"the series over time, threads, temporary allocations; a stack's own "
			"highest point is the larger of its figures at the peak and now, and "
			"lifetimes are the average of the heap" },
	[FORM_HEAPTRACK] = { "heaptrack", FORM_HEAP, "heaptrack.pmm.%c.%p.gz", "heaptrack_print",
			     true,
			     "events with the sums of each stack: heaptrack_print, heaptrack_gui",
			     "the times and sizes of single blocks: they are averages, and what is "
			     "temporary there is what was freed by the peak" },
	[FORM_CHROME_TRACE] = { "chrome-trace", FORM_HEAP, "pmm.%c.%p.trace.json", NULL, false,
				"counters of memory over time, and marks: Perfetto, Chromium's "
				"about:tracing",
				"stacks" },
	[FORM_OPENMETRICS] = { "openmetrics", FORM_HEAP, "-", NULL, false,
			       "totals, and live bytes by line: Prometheus and what reads its "
			       "text form",
			       "the series over time, stacks" },
	[FORM_VALGRIND_XML] = { "valgrind-xml", FORM_LEAKS, "-", NULL, false,
				"as memcheck's --xml=yes, protocol 4: what reads Valgrind's "
				"results" },
	[FORM_SARIF] = { "sarif", FORM_VERDICTS, "-", NULL, false,
			 "findings with places, stacks and stable fingerprints, SARIF 2.1.0: code "
			 "scanning of GitHub and GitLab, editors" },
	[FORM_JUNIT] = { "junit", FORM_VERDICTS, "-", NULL, false,
			 "a test case for each finding and for what was looked at: CI services" },
};

const char *const form_name[FORM_NR + 1] = {
	[FORM_TEXT] = "text",
	[FORM_JSON] = "json",
	[FORM_HTML] = "html",
	[FORM_CSV] = "csv",
	[FORM_SVG] = "svg",
	[FORM_COLLAPSED] = "collapsed",
	[FORM_SPEEDSCOPE] = "speedscope",
	[FORM_PPROF] = "pprof",
	[FORM_MASSIF] = "massif",
	[FORM_DHAT] = "dhat",
	[FORM_HEAPTRACK] = "heaptrack",
	[FORM_CHROME_TRACE] = "chrome-trace",
	[FORM_OPENMETRICS] = "openmetrics",
	[FORM_VALGRIND_XML] = "valgrind-xml",
	[FORM_SARIF] = "sarif",
	[FORM_JUNIT] = "junit",
	[FORM_NR] = NULL,
};

const struct form_by form_writers[FORM_NR_WRITERS] = {
	{ FORM_REPORT, "pmm report" },
	{ FORM_KMOD_REPORT, "pmm kmod report" },
	{ FORM_LEAKS, "pmm leaks" },
	{ FORM_CHECK, "pmm check" },
	{ FORM_BUDGET, "pmm budget" },
	{ FORM_DIFF, "pmm diff" },
};

bool form_is_of(int form, unsigned writer)
{
	return form_table[form].writers & writer;
}

void form_add_names(struct str *s, enum form_writer writer)
{
	const char *separator = "";

	for (unsigned i = 0; i < FORM_NR; i++)
		if (form_table[i].writers & writer) {
			str_addf(s, "%s%s", separator, form_table[i].name);
			separator = ", ";
		}
}

/* Append "'pmm leaks', 'pmm check'". */
static void add_writers(struct str *s, unsigned writers)
{
	const char *separator = "";

	for (unsigned i = 0; i < FORM_NR_WRITERS; i++)
		if (writers & form_writers[i].writer) {
			str_addf(s, "%s'%s'", separator, form_writers[i].command);
			separator = ", ";
		}
}

static const char *command_of(enum form_writer writer)
{
	for (unsigned i = 0; i < FORM_NR_WRITERS; i++)
		if (form_writers[i].writer == writer)
			return form_writers[i].command;
	return "pmm";
}

int form_check(enum form form, enum form_writer writer, struct err *e)
{
	const struct form_row *row = &form_table[form];
	struct str text = STR_INIT, hint = STR_INIT;
	int rc;

	if (row->writers & writer)
		return 0;
	str_addf(&text, "'%s' has no '--format %s'", command_of(writer), row->name);
	str_add(&hint, "it is a form of ");
	add_writers(&hint, row->writers);
	str_add(&hint, "; this command has ");
	form_add_names(&hint, writer);
	rc = cmd_refuse(e, str_text(&text), str_text(&hint));
	str_fini(&text);
	str_fini(&hint);
	return rc;
}

int form_needs_file(enum form form, struct err *e)
{
	struct str text = STR_INIT;
	int rc;

	str_addf(&text, "'--format %s' of a COMMAND needs a file", form_table[form].name);
	rc = cmd_refuse(e, str_text(&text),
			"name it with --report: the COMMAND has standard output and standard "
			"error");
	str_fini(&text);
	return rc;
}

int form_join_json(int *form, bool given, bool as_json, struct err *e)
{
	if (as_json && given && *form != FORM_JSON)
		return cmd_refuse(e, "'--json' and '--format' contradict each other",
				  "leave out one of them");
	if (as_json)
		*form = FORM_JSON;
	return 0;
}
