/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/kernel/event_class.c, src/session/trace/trace_session.c, src/view/trace/trace_view.c,
 * trace_list.c: each group of programs missing in turn, whole or in part: the others go on, and
 * what is missing is said, in text, in JSON, and as the trace begins.
 */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/document/event.h"
#include "src/kernel/event_class.h"
#include "src/session/trace/trace_session.h"
#include "src/view/trace/trace_view.h"
#include "tests/fake/fake_kernel.h"
#include "tests/unit/trace_text.h"

struct seen {
	unsigned documents, warnings;
	char *text, *json;		/* the last document */
	char warning[400], second[400];	/* the first two */
};

static int on_event(void *arg, const struct event *e)
{
	(void)arg;
	(void)e;
	return 0;
}

static char *printed(const struct doc *d, bool json)
{
	struct style style = { .width = 200 };
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_int_equal(json ? doc_print_json(d, out) : doc_print_text(d, &style, out), 0);
	fclose(out);
	return text;
}

static int on_document(void *arg, const struct doc *d, bool follows)
{
	struct seen *s = arg;

	(void)follows;
	s->documents++;
	s->text = printed(d, false);
	s->json = printed(d, true);
	return 0;
}

static void on_note(void *arg, enum session_kind kind, const char *text)
{
	struct seen *s = arg;

	if (kind == SESSION_WARNING && s->warnings++ < 2)
		snprintf(s->warnings == 1 ? s->warning : s->second, sizeof(s->warning), "%s", text);
}

static const struct session_ops sink_ops = { .note = on_note, .event = on_event,
					     .document = on_document };

static int run(struct fake_kernel *f, uint32_t classes, struct seen *seen, struct err *e)
{
	struct session_sink sink = { &sink_ops, seen };
	struct trace_options o = { .classes = classes, .scope = "all", .duration_ns = 1,
				   .source = &fake_source, .lines = true,
				   .kernel = { .follow = true } };
	struct trace_session *s;
	int rc;

	*seen = (struct seen){ 0 };
	*e = (struct err){ 0 };
	assert_int_equal(loop_new(&o.loop), 0);
	fake_kernel = f;
	rc = trace_session_open(&s, &o, &sink, e);
	if (!rc)
		rc = trace_session_run(s, e);
	if (!rc)
		rc = trace_session_finish(s, e);
	trace_session_close(s);
	loop_free(o.loop);
	assert_int_equal(f->opened, f->closed);
	return rc;
}

static void forget(struct seen *s)
{
	free(s->text);
	free(s->json);
}

/* The classes of which this group sees all, and those of which others see the rest. */
static void classes_of(enum kernel_group group, uint32_t *whole, uint32_t *part)
{
	*whole = *part = 0;
	for (int i = 0; i < EVENT_NR_CLASSES; i++) {
		if (event_classes[i].groups == 1u << group)
			*whole |= 1u << i;
		else if (event_classes[i].groups >> group & 1)
			*part |= 1u << i;
	}
}

/* One blank for several, as the width of columns is the others' affair. */
static void squeeze(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++)
		if (*from != ' ' || from[1] != ' ')
			*to++ = *from;
	*to = 0;
}

/*
 * A line of text, a row in JSON, for the classes of which something is missing. `once`: what helps
 * is the same for all of them, and has a line of its own.
 */
static void is_said(const struct seen *seen, uint32_t classes, bool partly, bool once)
{
	struct str names = STR_INIT, line = STR_INIT, row = STR_INIT;

	if (!classes)
		return;
	event_classes_names(&names, classes);
	str_addf(&line, " %s %s: because%s\n", partly ? "seen in part" : "not seen",
		 str_text(&names), once ? "" : "; help");
	str_addf(&row, "{\"events\": \"%s\", \"partly\": %s, \"why\": \"because\", "
		       "\"remedy\": \"help\"}", str_text(&names), partly ? "true" : "false");
	squeeze(seen->text);
	has(seen->text, str_text(&line));
	if (once)
		has(seen->text, " to see all help\n");
	has(seen->json, str_text(&row));
	str_fini(&names);
	str_fini(&line);
	str_fini(&row);
}

/* How often `part` is in it. */
static unsigned occurs(const char *text, const char *part)
{
	unsigned nr = 0;

	while ((text = strstr(text, part))) {
		text += strlen(part);
		nr++;
	}
	return nr;
}

/* A record of each kind that is named. */
static size_t one_of_each(struct fake_record records[TRACE_NR_KINDS], struct fake_kernel *f)
{
	size_t nr = 0;

	for (uint32_t kind = 0; kind < TRACE_NR_KINDS; kind++) {
		if (!trace_kinds[kind].name)
			continue;
		records[nr++].r = (struct trace_record){ .kind = kind, .tgid = 7, .tid = 7,
							 .weight = 1, .comm = "victim" };
		f->counts[kind].seen = 1;
	}
	f->records = records;
	f->nr_records = nr;
	return nr;
}

static void has_event(const char *json, uint32_t kind)
{
	char row[80];

	snprintf(row, sizeof(row), "{\"event\": \"%s\", \"count\": 1", trace_kinds[kind].name);
	has(json, row);
}

#define ALL	(((1u << EVENT_NR_CLASSES) - 1) & ~(1u << EVENT_HEAP))

static void miss(enum kernel_group group, enum kernel_group_status status)
{
	static struct fake_record records[TRACE_NR_KINDS];
	struct fake_kernel f = { 0 };
	bool failed = status == KERNEL_GROUP_FAILED;
	size_t nr = one_of_each(records, &f);
	uint32_t whole, part;
	struct seen seen;
	struct err e;

	for (int i = 0; i < KERNEL_NR_GROUPS; i++)
		f.groups[i].status = KERNEL_GROUP_WORKS;
	f.groups[group] = (struct kernel_group_state){ status, "because", "help", 0 };
	classes_of(group, &whole, &part);

	/* with all others: they go on, each event is in the result */
	assert_int_equal(run(&f, ALL, &seen, &e), 0);
	assert_int_equal(seen.documents, 1);
	assert_int_equal(f.given, nr);
	is_said(&seen, failed ? whole : 0, false, failed && whole && part);
	is_said(&seen, failed ? part : whole | part, true, failed && whole && part);
	assert_int_equal(occurs(seen.text, ": because"), failed && whole && part ? 2 : 1);
	assert_int_equal(occurs(seen.json, "\"because\""), failed && whole && part ? 2 : 1);
	for (size_t i = 0; i < nr; i++)
		has_event(seen.json, records[i].r.kind);
	if (failed && whole)
		has(seen.warning, ": because; help");
	assert_int_equal(seen.warnings, (failed && whole) + (group == KERNEL_LIFE));
	if (group == KERNEL_LIFE)
		assert_string_equal(failed ? seen.second : seen.warning,
				    "children may not be traced: because");
	forget(&seen);

	/* alone: nothing can be seen, which is an error; half of it is seen */
	if (whole && failed) {
		assert_int_equal(run(&f, whole, &seen, &e), -ENODATA);
		has(e.text, " cannot be seen: because");
		assert_string_equal(e.hint, "help");
		assert_int_equal(seen.documents + seen.warnings, 0);
	}
	if (part || !failed) {
		assert_int_equal(run(&f, failed ? part : whole | part, &seen, &e), 0);
		is_said(&seen, failed ? part : whole | part, true, false);
		forget(&seen);
	}
}

static void test_each_group_fails(void **state)
{
	(void)state;
	for (int i = 0; i < KERNEL_NR_GROUPS; i++)
		miss(i, KERNEL_GROUP_FAILED);
}

static void test_a_part_of_each_group_is_missing(void **state)
{
	(void)state;
	for (int i = 0; i < KERNEL_NR_GROUPS; i++)
		miss(i, KERNEL_GROUP_PARTLY);
}

/* Also without a reason: what fails is said. */
static void test_a_group_that_says_nothing(void **state)
{
	struct fake_kernel f = { 0 };
	struct seen seen;
	struct err e;

	(void)state;
	for (int i = 0; i < KERNEL_NR_GROUPS; i++)
		f.groups[i].status = KERNEL_GROUP_WORKS;
	f.groups[KERNEL_OOM].status = KERNEL_GROUP_FAILED;
	assert_int_equal(run(&f, ALL, &seen, &e), 0);
	has(seen.json, "{\"events\": \"oom\", \"partly\": false, ");
	forget(&seen);
}

static void test_nothing_is_missing(void **state)
{
	struct fake_kernel f = { 0 };
	struct seen seen;
	struct err e;

	(void)state;
	for (int i = 0; i < KERNEL_NR_GROUPS; i++)
		f.groups[i].status = KERNEL_GROUP_WORKS;
	assert_int_equal(run(&f, ALL, &seen, &e), 0);
	assert_int_equal(seen.warnings, 0);
	assert_null(strstr(seen.text, "seen in part"));
	has(seen.json, "\"not_seen\": []");
	forget(&seen);
}

/* Without what was counted in the kernel no result says that nothing was lost. */
static void test_counts_that_cannot_be_read(void **state)
{
	struct fake_kernel f = { .counts_error = -EPERM };
	struct seen seen;
	struct err e;

	(void)state;
	f.groups[KERNEL_CALLS].status = KERNEL_GROUP_WORKS;
	assert_int_equal(run(&f, 1u << EVENT_MMAP, &seen, &e), -EPERM);
	assert_int_equal(seen.documents, 0);
}

/* `--list` has the same. */
static void test_list(void **state)
{
	static struct kernel_group_state groups[KERNEL_NR_GROUPS];

	(void)state;
	for (int group = 0; group < KERNEL_NR_GROUPS; group++) {
		uint32_t whole, part;
		struct doc d = { 0 };
		char *json;

		for (int i = 0; i < KERNEL_NR_GROUPS; i++)
			groups[i] = (struct kernel_group_state){ .status = KERNEL_GROUP_WORKS };
		groups[group] = (struct kernel_group_state){ KERNEL_GROUP_FAILED, "because", "",
							     0 };
		classes_of(group, &whole, &part);
		trace_list_document(&d, groups, &(struct trace_list_form){ .name = "bpf" });
		json = printed(&d, true);
		assert_int_equal(occurs(json, "\"works\": \"no\""), __builtin_popcount(whole));
		assert_int_equal(occurs(json, "\"works\": \"partly\""), __builtin_popcount(part));
		assert_int_equal(occurs(json, "\"why\": \"because\""),
				 __builtin_popcount(whole | part));
		assert_int_equal(occurs(json, "\"why\": null"),
				 EVENT_NR_CLASSES - __builtin_popcount(whole | part));
		free(json);
		doc_fini(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_group_fails),
		cmocka_unit_test(test_a_part_of_each_group_is_missing),
		cmocka_unit_test(test_a_group_that_says_nothing),
		cmocka_unit_test(test_nothing_is_missing),
		cmocka_unit_test(test_counts_that_cannot_be_read),
		cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
