/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verdicts as JUnit's XML, as test runners write it and CI services read it: a suite, in it a test
 * case for each verdict. Only what Jenkins's and Ant's schemas have in common is used.
 *
 *	failed <failure>	suppressed, or looked for in a part only <skipped>
 *	not looked for <error>	found and no reason to fail: passes, with what was found
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "src/base/xml.h"
#include "src/export/export_priv.h"
#include "src/export/verdict.h"

static void attribute(struct str *s, const char *name, const char *text)
{
	str_addf(s, " %s=\"", name);
	xml_add(s, text);
	str_addc(s, '"');
}

/* Seconds with milliseconds. */
static void add_time(struct str *s, uint64_t ns)
{
	str_addf(s, " time=\"%" PRIu64 ".%03u\"", ns / 1000000000,
		 (unsigned)(ns / 1000000 % 1000));
}

static void add_frame(struct str *s, const struct verdict_frame *f)
{
	struct str line = STR_INIT;

	verdict_frame_text(&line, f);
	str_add(s, "    ");
	xml_add(s, str_text(&line));
	str_addc(s, '\n');
	s->failed |= line.failed;
	str_fini(&line);
}

/* What is known of it, as lines. */
static void add_body(struct str *s, const struct verdicts *v, const struct verdict *d)
{
	xml_add(s, d->message);
	str_addc(s, '\n');
	if (d->text) {
		xml_add_lines(s, d->text);
		str_addc(s, '\n');
	}
	for (uint32_t i = 0; i < d->nr_stacks; i++) {
		if (!d->stack[i].nr)
			continue;
		if (d->stack[i].title) {
			xml_add(s, d->stack[i].title);
			str_add(s, ":\n");
		}
		for (uint32_t k = 0; k < d->stack[i].nr; k++)
			add_frame(s, &v->frames.v[d->stack[i].first + k]);
	}
}

static void add_element(struct str *s, const char *name, const struct verdicts *v,
			const struct verdict *d)
{
	str_addf(s, "      <%s", name);
	attribute(s, "message", d->message);
	attribute(s, "type", v->rules.v[d->rule].id);
	str_addc(s, '>');
	add_body(s, v, d);
	str_addf(s, "</%s>\n", name);
}

static bool is_skipped(const struct verdict *d)
{
	return d->state == VERDICT_SUPPRESSED || d->state == VERDICT_SKIPPED;
}

static void add_skipped(struct str *s, const struct verdict *d)
{
	str_add(s, "      <skipped");
	attribute(s, "message", d->state == VERDICT_SKIPPED ? d->message
				: d->text		    ? d->text
							    : "suppressed");
	str_add(s, "/>\n");
}

static void add_case(struct str *s, const struct verdicts *v, const struct verdict *d)
{
	struct str name = STR_INIT, class = STR_INIT;

	str_add(&name, d->title);
	if (d->title_number > 1)
		str_addf(&name, " #%" PRIu32, d->title_number);
	str_addf(&class, "pmm.%s.%s", v->command, v->rules.v[d->rule].id);
	str_add(s, "    <testcase");
	attribute(s, "classname", str_text(&class));
	attribute(s, "name", str_text(&name));
	str_add(s, " time=\"0.000\">\n");
	if (d->state == VERDICT_FAILED)
		add_element(s, "failure", v, d);
	else if (d->state == VERDICT_UNKNOWN)
		add_element(s, "error", v, d);
	else if (is_skipped(d))
		add_skipped(s, d);
	if (d->state != VERDICT_FAILED && d->state != VERDICT_UNKNOWN) {
		str_add(s, "      <system-out>");
		add_body(s, v, d);
		str_add(s, "</system-out>\n");
	}
	str_add(s, "    </testcase>\n");
	s->failed |= name.failed || class.failed;
	str_fini(&name);
	str_fini(&class);
}

static void add_counts(struct str *s, const struct verdicts *v)
{
	str_addf(s, " tests=\"%zu\" failures=\"%" PRIu64 "\" errors=\"%" PRIu64 "\"", v->list.nr,
		 verdicts_count(v, VERDICT_FAILED), verdicts_count(v, VERDICT_UNKNOWN));
}

static void add_suite(struct str *s, const struct verdicts *v)
{
	struct str name = STR_INIT;
	time_t t = (time_t)(v->start_realtime_ns / 1000000000);
	char at[32];
	struct tm tm;

	str_addf(&name, "pmm %s: %s", v->command, str_basename(v->program));
	str_add(s, "  <testsuite");
	attribute(s, "name", str_text(&name));
	add_counts(s, v);
	str_addf(s, " skipped=\"%" PRIu64 "\"", verdicts_count(v, VERDICT_SUPPRESSED) +
							verdicts_count(v, VERDICT_SKIPPED));
	add_time(s, v->took_ns);
	if (v->start_realtime_ns && gmtime_r(&t, &tm) &&
	    strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%S", &tm))
		attribute(s, "timestamp", at);
	str_add(s, ">\n    <properties>\n      <property name=\"program\"");
	attribute(s, "value", v->cmdline && *v->cmdline ? v->cmdline : v->program);
	str_add(s, "/>\n      <property name=\"pmm\" value=\"" PMM_VERSION
		   "\"/>\n    </properties>\n");
	s->failed |= name.failed;
	str_fini(&name);
}

int verdicts_print_junit(struct verdicts *v, FILE *out)
{
	struct str s = STR_INIT;
	int rc = verdicts_finish(v);

	if (rc)
		return rc;
	str_add(&s, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
	add_counts(&s, v);
	add_time(&s, v->took_ns);
	str_add(&s, ">\n");
	add_suite(&s, v);
	errno = 0;
	vec_each(&v->list, d) {
		add_case(&s, v, d);
		rc = rc ? rc : str_error(&s);
		if (fputs(str_text(&s), out) < 0)
			break;
		str_clear(&s);
	}
	str_add(&s, "  </testsuite>\n</testsuites>\n");
	rc = rc ? rc : str_error(&s);
	fputs(str_text(&s), out);
	str_fini(&s);
	return rc ? rc : export_flush(out);
}
