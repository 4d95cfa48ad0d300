/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/export/verdict.c, verdict_place.c, verdict_sarif.c, verdict_junit.c, src/base/xml.c:
 * fingerprints that stay, places, states in both forms, hostile texts.
 */
#include <ctype.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/xml.h"
#include "src/export/verdict.h"
#include "tests/unit/unit.h"

static void frame(struct verdicts *v, const char *function, const char *file, uint32_t line,
		  const char *module, bool own)
{
	verdict_frame(v, &(struct verdict_frame){ function, file, module, line, own });
}

static char *print(struct verdicts *v, int (*write)(struct verdicts *, FILE *))
{
	char *text;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	assert_int_equal(write(v, f), 0);
	fclose(f);
	return text;
}

static unsigned times(const char *text, const char *part)
{
	unsigned n = 0;

	while ((text = strstr(text, part))) {
		n++;
		text += strlen(part);
	}
	return n;
}

/* The fingerprint of one finding with a stack of two frames of the program and one of a library. */
static const char *fingerprint(const char *rule, const char *inner, uint32_t line, const char *file,
			       const char *module, const char *library)
{
	static char text[4][VERDICT_FINGERPRINT];
	static unsigned turn;
	struct verdicts v;

	verdicts_init(&v, "leaks", "app");
	verdict_add(&v, verdict_rule(&v, rule, "A rule", NULL), VERDICT_ERROR, VERDICT_FAILED);
	verdict_message(&v, "%u bytes", line);
	verdict_stack(&v, "allocated by");
	frame(&v, "strdup", NULL, 0, library, false);
	frame(&v, inner, file, line, module, true);
	frame(&v, "main", file, line + 7, module, true);
	assert_int_equal(verdicts_finish(&v), 0);
	strcpy(text[++turn % 4], v.list.v[0].fingerprint);
	verdicts_fini(&v);
	return text[turn % 4];
}

static void a_fingerprint_is_of_functions_and_modules(void **state)
{
	const char *one = fingerprint("lost", "parse", 41, "/a/doc.c", "/bin/app", "libc.so.6");
	char was[VERDICT_FINGERPRINT];

	(void)state;
	strcpy(was, one);
	/* it is in files of others: it must not change from version to version */
	assert_string_equal(was, "78b3200681c1d5a2");
	/* lines, folders, libraries, names of clones */
	assert_string_equal(fingerprint("lost", "parse", 99, "/b/doc.c", "/home/app", "libc.musl"),
			    was);
	assert_string_equal(fingerprint("lost", "parse.constprop.0", 1, NULL, "app", ""), was);
	assert_string_equal(fingerprint("lost", "parse [clone .part.0]", 1, NULL, "app", ""), was);
	assert_string_not_equal(fingerprint("lost", "parse2", 41, NULL, "/bin/app", ""), was);
	assert_string_not_equal(fingerprint("found", "parse", 41, NULL, "/bin/app", ""), was);
	assert_string_not_equal(fingerprint("lost", "parse", 41, NULL, "/bin/app2", ""), was);
	strcpy(was, fingerprint("lost", "f", 1, NULL, "/lib/libx.so.1.2", ""));
	assert_string_equal(fingerprint("lost", "f", 1, NULL, "/opt/libx.so.2", ""), was);
}

static void two_of_a_stack(struct verdicts *v)
{
	for (unsigned i = 0; i < 2; i++) {
		verdict_add(v, verdict_rule(v, "lost", "Lost", "Free it."), VERDICT_ERROR,
			    VERDICT_FAILED);
		verdict_title(v, "lost: %s", "parse");
		verdict_figure(v, "bytes", 10 + i);
		verdict_stack(v, "allocated by");
		frame(v, "malloc", NULL, 0, "/lib/libc.so.6", false);
		frame(v, "parse", "/work/x/../src/a b.c", 7, "/bin/app", true);
	}
}

static void equal_fingerprints_are_numbered(void **state)
{
	struct verdicts v;
	char *text;

	(void)state;
	verdicts_init(&v, "leaks", "/bin/app");
	verdicts_root(&v, "/work");
	two_of_a_stack(&v);
	text = print(&v, verdicts_print_sarif);
	assert_int_equal(times(text, ":1\"}"), 1);
	assert_int_equal(times(text, ":2\"}"), 1);
	/* the place is of its own frame with a file, from the root of the sources */
	assert_int_equal(times(text, "{\"uri\": \"src/a%20b.c\", \"uriBaseId\": \"SRCROOT\"}"), 4);
	assert_int_equal(times(text, "\"SRCROOT\": {\"uri\": \"file:///work/\"}"), 1);
	assert_int_equal(times(text, "{\"uri\": \"file:///lib/libc.so.6\"}"), 2);
	assert_int_equal(times(text, "{\"startLine\": 7}"), 4);
	assert_int_equal(times(text, "\"id\": \"lost\""), 1);
	assert_int_equal(times(text, "\"ruleIndex\": 0"), 2);
	assert_int_equal(times(text, "\"bytes\": 11"), 1);
	free(text);
	text = print(&v, verdicts_print_junit);
	assert_int_equal(times(text, "name=\"lost: parse\""), 1);
	assert_int_equal(times(text, "name=\"lost: parse #2\""), 1);
	assert_int_equal(times(text, "    parse (src/a b.c:7) [app]\n"), 2);
	free(text);
	verdicts_fini(&v);
}

static void leak(struct verdicts *v, const char *title)
{
	verdict_add(v, verdict_rule(v, "lost", "Lost", NULL), VERDICT_ERROR, VERDICT_FAILED);
	verdict_title(v, "%s", title);
	verdict_stack(v, "allocated by");
	frame(v, "allocate_stack", "./nptl/allocatestack.c", 11, "/lib/libc.so.6", false);
}

/* Does a text begin so, but for blanks? */
static bool begins(const char *text, const char *want)
{
	for (; *want; want++) {
		if (isspace((unsigned char)*want))
			continue;
		text += strspn(text, " \n");
		if (*text++ != *want)
			return false;
	}
	return true;
}

/* The place of the i-th verdict as SARIF has it. */
static void is_placed(const char *text, unsigned i, const char *place)
{
	const char *at = strstr(text, "\"locations\": [");

	for (; at && i; i--)
		at = strstr(at + 1, "\"locations\": [");
	assert_non_null(at);
	at = strchr(at, '[') + 1;
	if (!begins(at, place))
		fail_msg("%.300s\nis not\n%s", at, place);
}

#define BELOW(path, line) \
	"{\"physicalLocation\": {\"artifactLocation\": {\"uri\": \"" path "\", " \
	"\"uriBaseId\": \"SRCROOT\"}, \"region\": {\"startLine\": " line "}}"

/* A C library's relative paths are not below the root, whatever it is called. */
static void a_finding_is_placed_in_the_programs_own_code(void **state)
{
	char root[] = "/tmp/pmm-verdict-XXXXXX", path[256], other[64], linked[256];
	struct verdicts v;
	char *text;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(path, sizeof(path), "%s/sub", root);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/sub/app.c", root);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	snprintf(other, sizeof(other), "%s.link", root);
	assert_int_equal(symlink(root, other), 0);
	snprintf(linked, sizeof(linked), "%s/./sub/app.c", other);
	verdicts_init(&v, "leaks", "/bin/app");
	verdicts_root(&v, root);
	leak(&v, "0: a library of its own is not in the tree, a file further out is");
	frame(&v, "parse", "/opt/xml/parse.c", 22, "/opt/libxml.so", true);
	frame(&v, "relative", "../sysdeps/x.c", 33, "/bin/app", true);
	frame(&v, "main", "sub/app.c", 44, "/bin/app", true);
	leak(&v, "1: reached by a link");
	frame(&v, "main", linked, 55, "/bin/app", true);
	leak(&v, "2: a file of the tree that is gone, after one that was never in it");
	frame(&v, "parse", "/opt/xml/parse.c", 22, "/opt/libxml.so", true);
	snprintf(path, sizeof(path), "%s/gone.c", root);
	frame(&v, "main", path, 66, "/bin/app", true);
	leak(&v, "3: none in the tree");
	frame(&v, "parse", "/opt/xml/parse.c", 22, "/opt/libxml.so", true);
	leak(&v, "4: no place for its file");
	frame(&v, "main", "gone/app.c", 77, "/bin/app", true);
	leak(&v, "5: nothing of the program");
	text = print(&v, verdicts_print_sarif);
	is_placed(text, 0, BELOW("sub/app.c", "44"));
	is_placed(text, 1, BELOW("sub/app.c", "55"));
	is_placed(text, 2, BELOW("gone.c", "66"));
	is_placed(text, 3, "{\"physicalLocation\": {\"artifactLocation\": {\"uri\": "
			   "\"file:///opt/xml/parse.c\"}, \"region\": {\"startLine\": 22}}");
	is_placed(text, 4, "{\"physicalLocation\": {\"artifactLocation\": {\"uri\": "
			   "\"file:///bin/app\"}}, \"logicalLocations\"");
	is_placed(text, 5, "{\"physicalLocation\": {\"artifactLocation\": {\"uri\": "
			   "\"file:///bin/app\"}}}]");
	assert_int_equal(times(text, "nptl"), 0);
	assert_int_equal(times(text, "sysdeps"), 0);
	free(text);
	text = print(&v, verdicts_print_junit);
	assert_int_equal(times(text, "    allocate_stack [libc.so.6]\n"), 6);
	assert_int_equal(times(text, "    main (sub/app.c:44) [app]\n"), 1);
	assert_int_equal(times(text, "    main (sub/app.c:55) [app]\n"), 1);
	assert_int_equal(times(text, "    relative [app]\n"), 1);
	free(text);
	verdicts_fini(&v);
	snprintf(path, sizeof(path), "%s/sub/app.c", root);
	assert_int_equal(unlink(other) | unlink(path), 0);
	*strrchr(path, '/') = '\0';
	assert_int_equal(rmdir(path) | rmdir(root), 0);
}

/* A budget is the same finding whichever stack is the largest; names of test cases are unique. */
static void what_has_an_identity_is_not_known_by_its_stack(void **state)
{
	struct verdicts v;
	char *text;

	(void)state;
	verdicts_init(&v, "budget", "/etc/passwd");
	verdicts_root(&v, "/etc");
	for (unsigned i = 0; i < 4; i++) {
		verdict_add(&v, verdict_rule(&v, "peak", "Peak", NULL), VERDICT_ERROR,
			    VERDICT_FAILED);
		verdict_title(&v, "[app] peak");
		if (i < 3)
			verdict_identity(&v, "budget/v1", "app\n%s", i < 2 ? "peak" : "allocated");
		verdict_source(&v, "passwd", 8);
		verdict_stack(&v, "most of it by");
		frame(&v, i ? "parse" : "lex", i == 3 ? "/etc/group" : NULL, 9, "/bin/app", true);
	}
	text = print(&v, verdicts_print_sarif);
	assert_string_equal(v.list.v[0].fingerprint, v.list.v[1].fingerprint);
	assert_string_not_equal(v.list.v[0].fingerprint, v.list.v[2].fingerprint);
	assert_string_not_equal(v.list.v[0].fingerprint, v.list.v[3].fingerprint);
	assert_int_equal(v.list.v[1].number, 2);
	assert_int_equal(v.list.v[2].number, 1);
	assert_int_equal(times(text, "\"budget/v1\": "), 3);
	assert_int_equal(times(text, "\"stack/v1\": "), 1);
	/* at the budget's line, where no code is below the root */
	is_placed(text, 0, BELOW("passwd", "8"));
	is_placed(text, 3, BELOW("group", "9"));
	free(text);
	text = print(&v, verdicts_print_junit);
	assert_int_equal(times(text, "name=\"[app] peak\""), 1);
	for (unsigned i = 2; i < 5; i++) {
		char name[32];

		snprintf(name, sizeof(name), "name=\"[app] peak #%u\"", i);
		assert_int_equal(times(text, name), 1);
	}
	free(text);
	verdicts_fini(&v);
}

static void each_state_has_its_place(void **state)
{
	static const enum verdict_state states[] = { VERDICT_FAILED, VERDICT_LISTED,
						     VERDICT_SUPPRESSED, VERDICT_PASSED,
						     VERDICT_SKIPPED, VERDICT_UNKNOWN };
	struct verdicts v;
	char *text;

	(void)state;
	verdicts_init(&v, "budget", "app");
	for (unsigned i = 0; i < 6; i++) {
		verdict_add(&v, verdict_rule(&v, "peak", "Peak", NULL), VERDICT_WARNING, states[i]);
		verdict_title(&v, "title %u", i);
		verdict_message(&v, "message %u", i);
	}
	text = print(&v, verdicts_print_junit);
	assert_int_equal(times(text, "tests=\"6\" failures=\"1\" errors=\"1\" skipped=\"2\""), 1);
	assert_int_equal(times(text, "<failure message=\"message 0\" type=\"peak\">"), 1);
	assert_int_equal(times(text, "<skipped message=\"suppressed\"/>"), 1);
	assert_int_equal(times(text, "<skipped message=\"message 4\"/>"), 1);
	assert_int_equal(times(text, "<error message=\"message 5\" type=\"peak\">"), 1);
	assert_int_equal(times(text, "<system-out>message 3\n</system-out>"), 1);
	free(text);
	text = print(&v, verdicts_print_sarif);
	assert_int_equal(times(text, "\"ruleId\""), 3);
	assert_int_equal(times(text, "\"associatedRule\""), 3);
	assert_int_equal(times(text, "\"failed\": true"), 1);
	assert_int_equal(times(text, "\"suppressions\": [{\"kind\""), 0);
	assert_int_equal(times(text, "{\"kind\": \"external\"}"), 1);
	assert_int_equal(times(text, "\"executionSuccessful\": false"), 1);
	assert_int_equal(times(text, "title 5: message 5"), 1);
	/* where the program is called by a name alone, that is no place */
	assert_int_equal(times(text, "\"locations\": []"), 3);
	assert_int_equal(times(text, "\"uri\""), 0);
	free(text);
	verdicts_fini(&v);
}

static void hostile_texts_stay_texts(void **state)
{
	struct verdicts v;
	struct str s = STR_INIT;
	char *text;

	(void)state;
	xml_add(&s, "<a href='x' b=\"y\">&\033[31m\n]]>\xff\xe2\x80\xa8\xef\xbf\xbe");
	assert_string_equal(str_text(&s),
			    "&lt;a href=&apos;x&apos; b=&quot;y&quot;&gt;&amp;\\x1b[31m\\x0a]]&gt;"
			    "\\xff\\xe2\\x80\\xa8\\xef\\xbf\\xbe");
	str_clear(&s);
	xml_add_lines(&s, "a<\n\nb\r\n");
	assert_string_equal(str_text(&s), "a&lt;\n\nb\\x0d\n");
	str_fini(&s);
	verdicts_init(&v, "check", "/tmp/a\"><b>");
	verdict_add(&v, verdict_rule(&v, "r", "R", NULL), VERDICT_ERROR, VERDICT_FAILED);
	verdict_title(&v, "</failure><x>");
	verdict_stack(&v, NULL);
	frame(&v, "f<int>(\"\n\")", "/s/%41?#:\xff.c", 3, "a'b", true);
	text = print(&v, verdicts_print_junit);
	assert_int_equal(times(text, "<x>"), 0);
	assert_int_equal(times(text, "    f&lt;int&gt;(&quot;\\x0a&quot;) (/s/%41?#:\\xff.c:3) "
				     "[a&apos;b]\n"), 1);
	free(text);
	text = print(&v, verdicts_print_sarif);
	assert_int_equal(times(text, "\"file:///s/%2541%3F%23%3A%FF.c\""), 2);
	free(text);
	verdicts_fini(&v);
}

static void a_full_disk_fails_both(void **state)
{
	struct verdicts v;
	FILE *f = fopen("/dev/full", "w");

	(void)state;
	verdicts_init(&v, "check", "app");
	two_of_a_stack(&v);
	assert_int_equal(verdicts_print_sarif(&v, f), -ENOSPC);
	fclose(f);
	f = fopen("/dev/full", "w");
	assert_int_equal(verdicts_print_junit(&v, f), -ENOSPC);
	fclose(f);
	assert_int_equal(verdicts_count(&v, VERDICT_FAILED), 2);
	verdicts_fini(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fingerprint_is_of_functions_and_modules),
		cmocka_unit_test(equal_fingerprints_are_numbered),
		cmocka_unit_test(a_finding_is_placed_in_the_programs_own_code),
		cmocka_unit_test(what_has_an_identity_is_not_known_by_its_stack),
		cmocka_unit_test(each_state_has_its_place),
		cmocka_unit_test(hostile_texts_stay_texts),
		cmocka_unit_test(a_full_disk_fails_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
