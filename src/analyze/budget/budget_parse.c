/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of budgets: INI, read by libinih. What it makes of a line is taken only where it is what
 * the file says: lines are handed to it one by one, so that each mistake has its number.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/analyze/budget/budget_judge.h"
#include "src/base/fmt.h"

static const struct {
	const char *name;
	bool bytes;
} figures[BUDGET_NR_FIGURES] = {
	[BUDGET_PEAK] = { "peak", true },
	[BUDGET_LIVE] = { "live_at_end", true },
	[BUDGET_ALLOCATED] = { "allocated", true },
	[BUDGET_ALLOCATIONS] = { "allocations", false },
	[BUDGET_TEMPORARY] = { "temporary", false },
	[BUDGET_LEAKED] = { "leaked", true },
};

const char *budget_figure_name(enum budget_figure figure)
{
	return figures[figure].name;
}

bool budget_in_bytes(enum budget_figure figure)
{
	return figures[figure].bytes;
}

void budgets_fini(struct budgets *b)
{
	vec_fini(&b->v);
	arena_fini(&b->texts);
}

#ifndef HAVE_INIH

int budgets_parse(struct budgets *b, const char *text, const char *file, struct err *e)
{
	(void)text;
	*b = (struct budgets){ 0 };
	err_set(e, -ENOSYS, "'%s' cannot be read: pmm was built without libinih", file);
	err_hint(e, "install libinih-dev and build pmm again");
	return -ENOSYS;
}

#else

#include <ini.h>

/* libinih's lines have at most 200 bytes, with their end. */
#define MAX_LINE	190
#define HIDDEN_COLON	'\x01'	/* in names: libinih would take it for '=' */

struct parsing {
	struct budgets *out;
	const char *file, *at;
	struct err *e;
	unsigned line;
	int rc;
	bool comment;		/* it may be meant as one */
};

static int refuse(struct parsing *p, const char *fmt, const char *what)
{
	struct str s = STR_INIT;

	if (p->rc)
		return 0;
	str_addf(&s, "%s:%u: ", p->file, p->line);
	str_addf(&s, "%s'%s'", fmt, what);
	p->rc = err_set(p->e, -EINVAL, "%s", str_text(&s));
	str_fini(&s);
	return 0;
}

static int parse_figure(const char *word, enum budget_figure *out)
{
	for (unsigned i = 0; i < BUDGET_NR_FIGURES; i++)
		if (!strcmp(word, figures[i].name)) {
			*out = i;
			return 0;
		}
	return -EINVAL;
}

/* "peak", "function.NAME.peak", "module.NAME.peak"; names may have dots. */
static int parse_key(struct parsing *p, const char *key, struct budget *b)
{
	static const char function[] = "function.", module[] = "module.";
	const char *last = strrchr(key, '.'), *name = key;

	b->key = arena_strdup(&p->out->texts, key);
	if (!b->key)
		return -ENOMEM;
	b->scope = str_starts(key, function) ? BUDGET_FUNCTION
		   : str_starts(key, module) ? BUDGET_MODULE
					     : BUDGET_PROGRAM;
	if (b->scope == BUDGET_PROGRAM)
		return parse_figure(key, &b->figure);
	name += b->scope == BUDGET_FUNCTION ? sizeof(function) - 1 : sizeof(module) - 1;
	if (last <= name)
		return -EINVAL;
	b->name = arena_strndup(&p->out->texts, name, (size_t)(last - name));
	return b->name ? parse_figure(last + 1, &b->figure) : -ENOMEM;
}

static bool known_already(const struct budgets *all, const struct budget *b)
{
	vec_each(&all->v, k)
		if (!strcmp(k->section, b->section) && !strcmp(k->key, b->key))
			return true;
	return false;
}

static int parse_limit(const struct budget *b, const char *text, uint64_t *out)
{
	struct err why = { 0 };

	return budget_in_bytes(b->figure) ? fmt_parse_size(text, out, &why)
					  : fmt_parse_uint(text, out, &why);
}

/* Say what is wrong with a value: of "1M # note" the rest. */
static int refuse_value(struct parsing *p, const struct budget *b, const char *value)
{
	char head[MAX_LINE + 1];
	size_t n = strcspn(value, " \t#;");
	uint64_t limit;

	snprintf(head, sizeof(head), "%.*s", (int)n, value);
	if (value[n] && !parse_limit(b, head, &limit)) {
		p->comment = true;
		return refuse(p, "there is more than a limit: ", value);
	}
	return refuse(p, budget_in_bytes(b->figure) ? "no size, as in 4096, 64K or 2M: "
						    : "no number: ", value);
}

/* For libinih: 0 is an error, which is in `p` then. */
static int take(void *arg, const char *section, const char *name, const char *value)
{
	struct parsing *p = arg;
	struct budget b = { .line = p->line };
	char key[MAX_LINE + 1];
	int rc;

	snprintf(key, sizeof(key), "%s", name);
	for (char *c = key; *c; c++)
		*c = *c == HIDDEN_COLON ? ':' : *c;
	if (!*section)
		return refuse(p, "no [section] that names a program is above ", key);
	b.section = arena_strdup(&p->out->texts, section);
	rc = b.section ? parse_key(p, key, &b) : -ENOMEM;
	if (rc == -EINVAL)
		return refuse(p, "no budget is called ", key);
	if (!rc && known_already(p->out, &b))
		return refuse(p, "given twice: ", key);
	if (!rc && parse_limit(&b, value, &b.limit))
		return refuse_value(p, &b, value);
	if (!rc)
		rc = vec_push(&p->out->v, b);
	if (rc && !p->rc)
		p->rc = rc;
	return !rc;
}

/* Nothing but blanks, or a comment as libinih has it: a ';' after a blank. */
static bool ends_after(const char *text)
{
	size_t blanks = strspn(text, " \t\r\n");

	return !text[blanks] || (blanks && text[blanks] == ';');
}

/* Hand the next line to libinih, without what it would take for something else. */
static char *next_line(char *to, int room, void *arg)
{
	struct parsing *p = arg;
	size_t bytes = strcspn(p->at, "\n"), skip = strspn(p->at, " \t");
	bool named = false;

	if (!*p->at || p->rc)
		return NULL;
	p->line++;
	if (bytes >= MAX_LINE || bytes + 2 > (size_t)room) {
		refuse(p, "the line is too long: ", "...");
		return NULL;
	}
	/* leading blanks would continue the line before */
	skip = skip > bytes ? bytes : skip;
	memcpy(to, p->at + skip, bytes - skip);
	to[bytes - skip] = '\n';
	to[bytes - skip + 1] = '\0';
	p->at += bytes + (p->at[bytes] == '\n');
	if (*to == '[' && !strchr(to, ']')) {
		to[strcspn(to, "\n")] = '\0';
		refuse(p, "a section ends with ']': ", to);
	}
	if (*to == '[' && !p->rc && !ends_after(strchr(to, ']') + 1)) {
		to[strcspn(to, "\r\n")] = '\0';
		p->comment = true;
		refuse(p, "there is more than a section: ", to);
	}
	if (*to == '[' || *to == '#' || *to == ';')
		return p->rc ? NULL : to;
	named = strchr(to, '=') != NULL;
	for (char *c = to; named && *c != '='; c++)
		*c = *c == ':' ? HIDDEN_COLON : *c;
	if (!named && to[strspn(to, " \t\r\n")]) {
		to[strcspn(to, "\r\n")] = '\0';
		refuse(p, "neither a [section] nor NAME = LIMIT: ", to);
	}
	return p->rc ? NULL : to;
}

int budgets_parse(struct budgets *b, const char *text, const char *file, struct err *e)
{
	struct parsing p = { .out = b, .file = file, .at = text, .e = e };
	int bad;

	*b = (struct budgets){ 0 };
	bad = ini_parse_stream(next_line, &p, take, &p);
	if (!p.rc && bad) {
		p.line = bad > 0 ? (unsigned)bad : p.line;
		refuse(&p, "this is no line of an INI file", "");
	}
	if (!p.rc && !b->v.nr) {
		err_set(e, -EINVAL, "'%s' has no budget", file);
		p.rc = -EINVAL;
	}
	if (p.rc == -EINVAL && p.comment)
		err_hint(e, "a comment in the same line begins with a blank and ';'; see "
			    "doc/budget.md");
	else if (p.rc == -EINVAL)
		err_hint(e, "as in '[app]' and 'peak = 20M' below it; see doc/budget.md");
	return p.rc == -ENOMEM ? err_set(e, p.rc, "out of memory") : p.rc;
}

#endif
