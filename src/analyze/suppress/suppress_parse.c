/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads suppressions, in Valgrind's form and in LeakSanitizer's.
 *
 * Valgrind's (m_errormgr.c there): lines, without the blanks around them; empty ones and those that
 * begin with '#' count for nothing.
 *	{
 *	   NAME
 *	   TOOL[,TOOL...]:KIND
 *	   match-leak-kinds: definite,possible		for Leak only, and not needed
 *	   fun:PATTERN | obj:PATTERN | src:PATTERN[:LINE] | ...
 *	}
 * LeakSanitizer's (sanitizer_suppressions.cpp): lines TYPE:PATTERN.
 */
#include "src/analyze/suppress/suppressions.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define NR(a) (sizeof(a) / sizeof((a)[0]))
#define ALL_CLASSES ((1u << REACH_NR_CLASSES) - 1)

enum {
	STEPS_MAX = 500,	/* of one suppression, as in Valgrind */
	TOTAL_MAX = 1 << 20,	/* of all of them: what is not meant cannot take all memory */
};

struct reader {
	struct suppress *s;
	const char *file;	/* in s->text */
	const char *at, *end;
	const char *line;	/* the current one, without blanks around it */
	size_t len;
	uint32_t number;
	struct err *e;
};

static int wrong(struct reader *r, const char *hint, const char *what)
{
	err_set(r->e, -EINVAL, "%s: '%s' line %u: '%.*s'", what, r->file, r->number,
		(int)(r->len < 80 ? r->len : 80), r->len ? r->line : "");
	err_hint(r->e, "%s", hint);
	return -EINVAL;
}

/* The next line that says something. false = there is none. */
static bool next_line(struct reader *r)
{
	while (r->at < r->end) {
		const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
		const char *from = r->at;

		stop = stop ? stop : r->end;
		r->at = stop < r->end ? stop + 1 : stop;
		r->number++;
		while (from < stop && isspace((unsigned char)*from))
			from++;
		while (stop > from && isspace((unsigned char)stop[-1]))
			stop--;
		r->line = from;
		r->len = (size_t)(stop - from);
		if (r->len && *from != '#')
			return true;
	}
	r->len = 0;
	return false;
}

static bool line_is(const struct reader *r, const char *text)
{
	return r->len == strlen(text) && !memcmp(r->line, text, r->len);
}

/* If the line begins with this, what comes after it in *rest. */
static bool line_starts(const struct reader *r, const char *text, const char **rest, size_t *n)
{
	size_t len = strlen(text);

	if (r->len < len || memcmp(r->line, text, len))
		return false;
	*rest = r->line + len;
	*n = r->len - len;
	return true;
}

static int add_entry(struct reader *r, const char *name, size_t n)
{
	struct suppress_entry e = { .classes = ALL_CLASSES };

	e.use.name = arena_strndup(&r->s->text, name, n);
	e.use.file = r->file;
	e.use.line = r->number;
	return e.use.name ? vec_push(&r->s->entries, e) : -ENOMEM;
}

static int add_step(struct reader *r, enum suppress_what what, const char *pattern, size_t n,
		    uint32_t line)
{
	if (r->s->steps.nr >= TOTAL_MAX) {
		err_set(r->e, -E2BIG, "more than %d frames in suppressions: '%s' line %u",
			TOTAL_MAX, r->file, r->number);
		err_hint(r->e, "use fewer suppressions, with '*' and '...'");
		return -E2BIG;
	}
	return suppress_add_step(r->s, what, pattern, n, line);
}

/* ---- Valgrind's ------------------------------------------------------------------------------ */

static const char hint_kinds[] = "the kinds are definite, indirect, possible and reachable, with "
				 "commas between, or all, or none";
static const char hint_frame[] = "a frame is fun:FUNCTION, obj:MODULE, src:FILE[:LINE] or ...";
static const char hint_block[] =
	"a suppression is '{', a name, Memcheck:Leak, frames and '}', a line each";

static bool kind_is(const char *text, size_t n, const char *name)
{
	return n == strlen(name) && !memcmp(text, name, n);
}

/* The classes of one name of a kind; -1 = no such. */
static int kind_classes(const char *text, size_t n)
{
	if (kind_is(text, n, "all"))
		return ALL_CLASSES;
	if (kind_is(text, n, "none"))
		return 0;
	for (unsigned class = 0; class < REACH_NR_CLASSES; class++)
		if (kind_is(text, n, suppress_class_name(class)))
			return 1 << class;
	return -1;
}

static int read_kinds(struct reader *r, const char *text, size_t n)
{
	const char *end = text + n;
	uint8_t classes = 0;

	for (;;) {
		const char *comma, *stop;
		int class;

		while (text < end && isblank((unsigned char)*text))
			text++;
		comma = text < end ? memchr(text, ',', (size_t)(end - text)) : NULL;
		stop = comma ? comma : end;
		while (stop > text && isblank((unsigned char)stop[-1]))
			stop--;
		class = kind_classes(text, (size_t)(stop - text));
		if (class < 0)
			return wrong(r, hint_kinds, "no such kind of leak");
		classes |= (uint8_t)class;
		if (!comma)
			break;
		text = comma + 1;
	}
	vec_last(&r->s->entries)->classes = classes;
	return 0;
}

/* The line number at the end of src:FILE:LINE, cut off the pattern. 0 = none. */
static uint32_t cut_line(const char *pattern, size_t *n)
{
	size_t at = *n;
	uint32_t line = 0;

	while (at && isdigit((unsigned char)pattern[at - 1]))
		at--;
	if (at < 2 || at == *n || *n - at > 9 || pattern[at - 1] != ':')
		return 0;
	for (size_t i = at; i < *n; i++)
		line = line * 10 + (uint32_t)(pattern[i] - '0');
	*n = at - 1;
	return line;
}

/*
 * Valgrind's names are those of symbols, with a version behind them (f@@V_2) or what the compiler
 * calls its copies of a function (f.constprop.0); pmm's names are the function's own. How much of a
 * pattern is about that. After a wild character all of it is.
 */
static size_t name_length(const char *pattern, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (pattern[i] == '@' || pattern[i] == '.')
			return pattern[i - 1] == '*' || pattern[i - 1] == '?' ? n : i;
	return n;
}

static int read_frame(struct reader *r)
{
	const struct suppress_step *before = r->s->steps.nr ? vec_last(&r->s->steps) : NULL;
	const char *pattern;
	uint32_t line;
	size_t n;

	if (line_is(r, "...")) {
		if (before && before->what == SUPPRESS_FRAMES &&
		    before->entry == r->s->entries.nr - 1)
			return 0;
		return add_step(r, SUPPRESS_FRAMES, NULL, 0, 0);
	}
	if (line_starts(r, "fun:", &pattern, &n) && n)
		return add_step(r, SUPPRESS_FUN, pattern, name_length(pattern, n), 0);
	if (line_starts(r, "obj:", &pattern, &n) && n)
		return add_step(r, SUPPRESS_OBJ, pattern, n, 0);
	if (line_starts(r, "src:", &pattern, &n) && n) {
		line = cut_line(pattern, &n);
		return add_step(r, SUPPRESS_SRC, pattern, n, line);
	}
	return wrong(r, hint_frame, "not a frame");
}

/* End the last entry: "..." at its end says nothing, and only "..." would be everything. */
static int end_entry(struct reader *r)
{
	struct suppress *s = r->s;

	while (s->steps.nr && vec_last(&s->steps)->entry == s->entries.nr - 1 &&
	       vec_last(&s->steps)->what == SUPPRESS_FRAMES)
		s->steps.nr--;
	if (!s->steps.nr || vec_last(&s->steps)->entry != s->entries.nr - 1)
		return wrong(r, hint_frame, "suppression without a frame other than '...'");
	vec_last(&s->steps)->last = true;
	return 0;
}

static int read_leak(struct reader *r)
{
	const char *kinds;
	size_t first = r->s->steps.nr, n;
	bool may_have_kinds = true;
	int rc = 0;

	while (!rc) {
		if (!next_line(r))
			return wrong(r, hint_block, "suppression without its '}'");
		if (line_is(r, "}"))
			return end_entry(r);
		if (may_have_kinds && line_starts(r, "match-leak-kinds:", &kinds, &n))
			rc = read_kinds(r, kinds, n);
		else if (r->s->steps.nr - first >= STEPS_MAX)
			rc = wrong(r, "Valgrind takes 500 at most; use '...'",
				   "too many frames in one suppression");
		else
			rc = read_frame(r);
		may_have_kinds = false;
	}
	return rc;
}

static int pass_over(struct reader *r)
{
	while (next_line(r))
		if (line_is(r, "}"))
			return 0;
	return wrong(r, hint_block, "suppression without its '}'");
}

static bool has_tool(const char *tools, size_t n, const char *name)
{
	const char *end = tools + n;

	for (;;) {
		const char *comma = tools < end ? memchr(tools, ',', (size_t)(end - tools)) : NULL;

		if (kind_is(tools, (size_t)((comma ? comma : end) - tools), name))
			return true;
		if (!comma)
			return false;
		tools = comma + 1;
	}
}

static int read_block(struct reader *r)
{
	const char *colon, *kind;
	size_t n;
	int rc;

	if (!line_is(r, "{"))
		return wrong(r, hint_block, "'{' expected");
	if (!next_line(r) || line_is(r, "}"))
		return wrong(r, hint_block, "suppression without a name");
	rc = add_entry(r, r->line, r->len);
	if (rc)
		return rc;
	if (!next_line(r) || !(colon = memchr(r->line, ':', r->len)))
		return wrong(r, "after the name comes a line TOOL:KIND, for leaks Memcheck:Leak",
			     "no tool and kind");
	kind = colon + 1;
	n = (size_t)(r->line + r->len - kind);
	if (has_tool(r->line, (size_t)(colon - r->line), "Memcheck")) {
		if (kind_is(kind, n, "Leak"))
			return read_leak(r);
		if (n >= 4 && !strncasecmp(kind, "leak", 4))
			return wrong(r, "write Memcheck:Leak", "unknown kind");
	}
	r->s->entries.nr--;
	return pass_over(r);
}

/* ---- LeakSanitizer's ------------------------------------------------------------------------- */

/* What other sanitizers' files hold besides. */
static const char *const other_types[] = {
	"called_from_lib",
	"deadlock",
	"interceptor_name",
	"interceptor_via_fun",
	"interceptor_via_lib",
	"mutex",
	"odr_violation",
	"alloc_dealloc_mismatch",
	"race",
	"race_top",
	"signal",
	"thread",
};

/*
 * The pattern as suppress_text_matches() has them: it is found anywhere in the name unless '^' and
 * '$' say otherwise. What comes after '$' counts for nothing there.
 */
static int add_pattern(struct reader *r, const char *pattern, size_t n)
{
	const char *dollar = memchr(pattern, '$', n);
	struct str text = STR_INIT;
	int rc;

	if (*pattern != '^')
		str_addc(&text, '*');
	else
		pattern++, n--;
	str_addn(&text, pattern, dollar ? (size_t)(dollar - pattern) : n);
	if (!dollar)
		str_addc(&text, '*');
	rc = str_error(&text);
	rc = rc ? rc : add_step(r, SUPPRESS_FRAMES, NULL, 0, 0);
	rc = rc ? rc : add_step(r, SUPPRESS_ANY, str_text(&text), text.len, 0);
	if (!rc)
		vec_last(&r->s->steps)->last = true;
	str_fini(&text);
	return rc;
}

static bool says_nothing(const char *pattern, size_t n)
{
	for (size_t i = 0; i < n && pattern[i] != '$'; i++)
		if (pattern[i] != '*' && (i || pattern[i] != '^'))
			return false;
	return true;
}

static int read_pattern(struct reader *r)
{
	const char *colon = memchr(r->line, ':', r->len), *pattern;
	size_t n;
	int rc;

	if (line_starts(r, "leak:", &pattern, &n)) {
		if (says_nothing(pattern, n))
			return wrong(r,
				     "name a function, file or module; a pattern that matches all "
				     "of them would hide every leak",
				     "pattern without a name");
		rc = add_entry(r, pattern, n);
		return rc ? rc : add_pattern(r, pattern, n);
	}
	for (size_t i = 0; colon && i < NR(other_types); i++)
		if (kind_is(r->line, (size_t)(colon - r->line), other_types[i]))
			return 0;
	return wrong(r, "a line is leak:PATTERN, or a comment that begins with '#'",
		     "not a suppression");
}

/* ---- both ------------------------------------------------------------------------------------ */

static int read_all(struct reader *r)
{
	bool first = true, blocks = false;
	int rc = 0;

	while (!rc && next_line(r)) {
		if (first)
			blocks = *r->line == '{';
		first = false;
		rc = blocks ? read_block(r) : read_pattern(r);
	}
	return rc;
}

int suppress_parse(struct suppress *s, const char *file, const char *text, size_t bytes,
		   struct err *e)
{
	struct reader r = { .s = s,
			    .file = arena_strdup(&s->text, file),
			    .at = text,
			    .end = text + bytes,
			    .e = e };
	size_t nr_entries = s->entries.nr, nr_steps = s->steps.nr;
	int rc = -ENOMEM;

	suppress_forget(s);
	if (bytes && memchr(text, '\0', bytes)) {
		err_set(e, -EINVAL, "not a text file: '%s'", file);
		err_hint(e, "give a file of suppressions in Valgrind's or LeakSanitizer's form");
		return -EINVAL;
	}
	if (bytes >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		r.at += 3;
	if (r.file)
		rc = read_all(&r);
	if (rc) {
		s->entries.nr = nr_entries;
		s->steps.nr = nr_steps;
	}
	if (rc == -ENOMEM)
		err_set(e, rc, "no memory for suppressions: '%s'", file);
	return rc;
}
