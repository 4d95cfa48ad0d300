/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison as a page: its document, its stacks. */
#include "src/cmd/report/diff_page.h"

#include <limits.h>
#include <string.h>

#include "src/cmd/report/report_export.h"
#include "src/cmd/report/report_file.h"
#include "src/page/page_diff.h"
#include "src/store/output.h"

struct making {
	const struct diff_page *page;
	const struct diff *diff;
	const struct doc *doc;
};

static int write_page(void *arg, FILE *f)
{
	const struct making *m = arg;
	const struct heap *const *heap = m->page->heap;
	struct page p;

	page_begin(&p, f, heap[1]->comm);
	page_doc(&p, "diff", m->doc, NULL);
	page_diff(&p, m->diff, heap, m->page->source);
	return page_end(&p);
}

/* The first capture must not be what is written, either. */
static int check_before(const struct diff_page *to, struct err *e)
{
	char name[PATH_MAX];

	if (!to->output || !strcmp(to->output, "-"))
		return 0;
	return output_name(to->output, (pid_t)to->heap[1]->pid, to->heap[1]->comm, true, name)
		       ? 0 /* report_put() finds that, too, and says so */
		       : report_file_apart(name, to->source[0], e);
}

int diff_page_take(void *page, const struct diff *d, const struct doc *doc, struct err *e)
{
	const struct diff_page *to = page;
	struct report_command c = { .form = FORM_HTML, .output = to->output,
				    .opt.source = to->source[1] };
	int rc = check_before(to, e);

	return rc ? rc : report_put(&c, to->heap[1], write_page, &(struct making){ to, d, doc }, e);
}
