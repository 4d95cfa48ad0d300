/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict on a searched heap. */
#include "src/session/leaks/leaks_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/base/io.h"
#include "src/names/naming.h"
#include "src/session/leaks/leaks_root.h"
#include "src/session/leaks/leaks_verdict.h"
#include "src/session/name_notes.h"

#define MAX_FILE	(64u << 20)	/* of suppressions */

const struct leaks_report_options leaks_report_default = LEAKS_REPORT_DEFAULT;

/* ---- suppressions ---- */

static int read_file(const char *path, char **text, size_t *bytes, struct err *e)
{
	FILE *f = io_open_text(path);
	char *buffer = f ? malloc(MAX_FILE) : NULL;
	int rc = 0;

	if (!f)
		rc = err_set(e, -errno, "cannot read the suppressions in '%s': %s", path,
			     errno == ENOTSUP ? "it is a named pipe" : strerror(errno));
	else if (!buffer)
		rc = err_set(e, -ENOMEM, "out of memory");
	if (!rc) {
		*bytes = fread(buffer, 1, MAX_FILE, f);
		if (ferror(f))
			rc = err_set(e, -errno, "cannot read the suppressions in '%s': %s", path,
				     strerror(errno));
		else if (*bytes == MAX_FILE)
			rc = err_set(e, -EFBIG,
				     "cannot read the suppressions in '%s': it is too large", path);
	}
	if (f)
		fclose(f);
	if (rc && rc != -ENOMEM)
		err_hint(e, "name a file in Valgrind's or LeakSanitizer's form; 'pmm leaks "
			    "--gen-suppressions' writes one");
	if (rc)
		free(buffer);
	else
		*text = buffer;
	return rc;
}

int leaks_read_suppressions(struct texts files, bool no_default, struct suppress **out,
			    struct err *e)
{
	struct suppress *s = suppress_new();
	int rc = s ? 0 : err_set(e, -ENOMEM, "out of memory");

	for (unsigned i = 0; !rc && i < files.nr; i++) {
		char *text = NULL;
		size_t bytes = 0;

		rc = read_file(files.v[i], &text, &bytes, e);
		if (!rc)
			rc = suppress_parse(s, files.v[i], text, bytes, e);
		free(text);
	}
	if (!rc && !no_default)
		rc = suppress_add_default(s, e);
	if (rc)
		suppress_free(s);
	else
		*out = s;
	return rc;
}

static bool is_lost(const struct leak_entry *e)
{
	return e->class == REACH_DEFINITE || e->class == REACH_INDIRECT;
}

int leaks_suppress_heap(struct heap *h, struct names *n, struct suppress *s, const char *source,
			const struct session_sink *to, struct leak_sum *out)
{
	struct leaks_options options = { .suppress = s, .names = n };
	struct leaks l = { 0 };
	size_t left = 0;
	int rc = s && h->nr_leaks ? leaks_load(&l, h) : 0;

	*out = (struct leak_sum){ 0 };
	if (!rc && l.entries.nr)
		rc = leaks_judge(&l, h, &options);
	for (size_t i = 0; !rc && i < l.entries.nr; i++) {
		struct leak_entry *e = &l.entries.v[i];

		if (e->verdict == LEAK_SUPPRESSED && is_lost(e)) {
			out->blocks += e->blocks;
			out->bytes += e->bytes;
			out->sites++;
		} else {
			l.entries.v[left++] = *e;
		}
	}
	l.entries.nr = left;
	if (!rc && out->sites)
		rc = leaks_store(&l, h);
	if (!rc && out->sites)
		session_note(to, "'%s': %s in %s that were lost are suppressed", source,
			     fmt_many(out->bytes, "byte").s, fmt_many(out->blocks, "block").s);
	leaks_fini(&l);
	return rc;
}

/* ---- the verdict ---- */

/* Is there more of what makes it fail than is allowed? */
static bool found(const struct leaks *l, const struct leaks_report_options *o)
{
	const struct leak_entry *const end = l->entries.v + l->entries.nr;
	uint64_t blocks = 0, bytes = 0;

	for (const struct leak_entry *e = l->entries.v; e < end; e++) {
		if (!leaks_counts(e, o->fail_on))
			continue;
		blocks += e->blocks;
		bytes += e->bytes;
		if (e->class == REACH_DEFINITE &&
		    !(o->fail_on & (1u << REACH_INDIRECT | LEAKS_FAIL_LIKELY)))
			bytes += e->indirect_bytes; /* else they count as entries of their own */
	}
	return o->max_leaked_bytes ? bytes > o->max_leaked_bytes : blocks > 0;
}

static int judge(const struct heap *h, struct leaks *l, struct names *n,
		 const struct leaks_report_options *o)
{
	struct growing past = { 0 };
	struct leaks_options options = {
		.growing = o->growing,
		.past = &past,
		.suppress = o->suppress,
		.names = n,
		.old_ns = o->old_ns,
	};
	int rc = growing_past(&past, h);

	if (!rc)
		rc = leaks_judge(l, h, &options);
	growing_fini(&past);
	return rc;
}

static int give_suppressions(const struct heap *h, struct names *n, const struct leaks *l,
			     const struct leaks_report_options *o, const struct session_sink *to)
{
	const struct leak_entry *const end = l->entries.v + l->entries.nr;
	enum suppress_form form = o->format == LEAKS_GEN_LSAN ? SUPPRESS_LSAN : SUPPRESS_VALGRIND;
	uint8_t *kinds = suppress_kinds(h);
	struct str text = STR_INIT;
	int rc = kinds ? 0 : -ENOMEM;

	for (const struct leak_entry *e = l->entries.v; !rc && e < end; e++)
		if (e->verdict != LEAK_SUPPRESSED && leaks_view_shows(e, o->view.show))
			suppress_write(&text, form, n, e->site, kinds[e->site], e->class, NULL);
	if (!rc)
		rc = str_error(&text);
	if (!rc)
		rc = session_text(to, str_text(&text), text.len);
	str_fini(&text);
	free(kinds);
	return rc;
}

/* A form that is no document: written to memory first. */
static int give_text(const struct heap *h, struct names *n, const struct leaks *l,
		     const struct leaks_report_options *o, const struct session_sink *to)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *memory = open_memstream(&text, &bytes);
	int rc = -ENOMEM;

	if (memory && o->format == LEAKS_VALGRIND_XML)
		rc = leaks_print_xml(h, n, l, &o->view, o->suppress, memory);
	else if (memory)
		rc = leaks_verdicts_print(h, n, l, o, found(l, o), memory);
	if (memory && fclose(memory) && !rc)
		rc = -ENOMEM;
	if (!rc)
		rc = session_text(to, text, bytes);
	free(text);
	return rc;
}

static int give_doc(const struct heap *h, struct names *n, const struct leaks *l,
		    const struct leaks_report_options *o, const struct session_sink *to)
{
	struct leaks_root root = { n->ctx, h };
	struct leaks_view_options with = o->view;
	struct leaks_view view;
	int rc;

	with.root = leaks_root_text;
	with.root_arg = &root;
	rc = leaks_view_init(&view, h, n, l, &with);
	if (!rc)
		rc = session_document(to, &view.doc, o->quiet_if_none);
	leaks_view_fini(&view);
	return rc;
}

static int give_all(const struct heap *h, struct names *n, const struct leaks *l,
		    const struct leaks_report_options *o, const struct session_sink *to,
		    struct err *e)
{
	int rc;

	if (o->format == LEAKS_VALGRIND_XML || o->format == LEAKS_SARIF || o->format == LEAKS_JUNIT)
		rc = give_text(h, n, l, o, to);
	else if (o->format == LEAKS_GEN_VALGRIND || o->format == LEAKS_GEN_LSAN)
		rc = give_suppressions(h, n, l, o, to);
	else
		rc = give_doc(h, n, l, o, to);
	/* a reader that has seen enough (head, less) is no trouble */
	return rc && rc != -EPIPE ? err_set(e, rc, "cannot write the verdict: %s", strerror(-rc))
				  : 0;
}

/* Judge, choose, hand over; 1 = found what was asked for, 0 = not, -errno with `e`. */
static int report_one(const struct heap *h, struct leaks *l, struct names *n,
		const struct leaks_report_options *o, const struct session_sink *to, struct err *e)
{
	struct leaks_report_options left = *o;
	size_t nr;
	int rc = judge(h, l, n, o);

	if (rc)
		return err_set(e, rc, "not enough memory for the verdict");
	nr = l->entries.nr;
	if (o->choose)
		o->choose(o->choose_arg, l);
	left.view.nr_not_new = nr - l->entries.nr;
	if (o->judged)
		o->judged(o->judged_arg, found(l, o));
	if (l->entries.nr || !o->quiet_if_none)
		rc = give_all(h, n, l, &left, to, e);
	return rc ? rc : found(l, o);
}

int leaks_report(const struct heap *h, struct leaks *l, const struct leaks_report_options *o,
		 const struct session_sink *to, struct err *e)
{
	const struct naming_options options = {
		.none = o->no_symbols,
		.full = true,
		.debuginfod = o->debuginfod,
		.pid = o->pid,
		.max_bytes = o->memory_bytes,
	};
	struct leaks own = { 0 };
	struct naming naming;
	int rc;

	if (o->silent)
		return 0;
	if (!l && h->search.how == HEAP_SEARCH_NONE) {
		err_set(e, -ENODATA, "the process of this capture was not searched for leaks");
		err_hint(e, "record another with 'pmm run --leaks', search a running process with "
			    "'pmm leaks PID', or a core file with "
			    "'pmm leaks --core CORE FILE'");
		return -ENODATA;
	}
	naming_open(&naming, h, &options);
	names_skip(&naming.names, o->skip.v, o->skip.nr);
	rc = l ? 0 : leaks_load(&own, h);
	if (rc)
		err_set(e, rc, "not enough memory for the verdict");
	else
		rc = report_one(h, l ? l : &own, &naming.names, o, to, e);
	if (rc >= 0)
		name_notes(to, &naming, "--memory-limit");
	leaks_fini(&own);
	naming_close(&naming);
	return rc;
}
