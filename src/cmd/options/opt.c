/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options: parsing argv by a table. */
#include "src/cmd/options/opt.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define MAX_OPTS 64
#define MAX_WORD 63

/* What the last opt_parse() met. */
static struct {
	const struct opt *opt[MAX_OPTS];	/* each once */
	unsigned nr;
	unsigned before_dashes;			/* operands */
} met;

static void meet(const struct opt *o)
{
	for (unsigned i = 0; i < met.nr; i++)
		if (met.opt[i] == o)
			return;
	if (met.nr < MAX_OPTS)
		met.opt[met.nr++] = o;
}

unsigned opt_before_dashes(void)
{
	return met.before_dashes;
}

const struct opt *opt_met(unsigned i)
{
	return i < met.nr ? met.opt[i] : NULL;
}

static int store_choice(const struct opt *o, const char *arg, struct err *e)
{
	size_t used = 0;
	char list[256] = "";
	int i;

	for (i = 0; o->choices[i]; i++) {
		if (!strcmp(o->choices[i], arg)) {
			*(int *)o->target = i;
			return 0;
		}
		if (used < sizeof(list) && (!o->offers || o->offers(i, o->by)))
			used += snprintf(list + used, sizeof(list) - used, "%s%s", used ? ", " : "",
					 o->choices[i]);
	}
	err_set(e, -EINVAL, "'%s' is not a choice of --%s", arg, o->name);
	err_hint(e, "one of: %s", list);
	return -EINVAL;
}

static struct fmt bound_text(const struct opt *o, uint64_t n)
{
	struct fmt number;

	if (o->type == OPT_SIZE)
		return fmt_bytes(n);
	if (o->type == OPT_DURATION)
		return fmt_duration_given(n);
	snprintf(number.s, sizeof(number.s), "%llu", (unsigned long long)n);
	return number;
}

static int store_number(const struct opt *o, const char *arg, struct err *e)
{
	uint64_t n = 0;
	int rc;

	if (o->type == OPT_SIZE)
		rc = fmt_parse_size(arg, &n, e);
	else if (o->type == OPT_DURATION)
		rc = fmt_parse_duration(arg, &n, e);
	else
		rc = fmt_parse_uint(arg, &n, e);
	if (rc)
		return rc;
	if (n >= o->min && (!o->max || n <= o->max)) {
		*(uint64_t *)o->target = n;
		return 0;
	}
	err_set(e, -ERANGE, "'%s' is out of range", arg);
	if (o->max)
		err_hint(e, "from %s to %s", bound_text(o, o->min).s, bound_text(o, o->max).s);
	else
		err_hint(e, "at least %s", bound_text(o, o->min).s);
	return -ERANGE;
}

static int store_again(const struct opt *o, const char *arg, struct err *e)
{
	struct opt_list *list = o->target;

	if (list->nr == OPT_LIST_MAX)
		return err_set(e, -ERANGE, "given more than %d times", OPT_LIST_MAX);
	list->v[list->nr++] = arg;
	return 0;
}

/* Put an argument where the option wants it; a failure names the option. */
static int store(const struct opt *o, const char *arg, struct err *e)
{
	struct err why = { .text = "" };
	int rc = 0;

	switch (o->type) {
	case OPT_FLAG:
		*(bool *)o->target = true;
		break;
	case OPT_STRING:
	case OPT_FILE:
		*(const char **)o->target = arg;
		break;
	case OPT_UINT:
	case OPT_SIZE:
	case OPT_DURATION:
		rc = store_number(o, arg, &why);
		break;
	case OPT_SIZE_RANGE:
		rc = fmt_parse_range(arg, o->target, fmt_parse_size, &why);
		break;
	case OPT_DURATION_RANGE:
		rc = fmt_parse_range(arg, o->target, fmt_parse_duration, &why);
		break;
	case OPT_CHOICE:
		return store_choice(o, arg, e);
	case OPT_LIST:
		rc = store_again(o, arg, &why);
		break;
	}
	if (rc) {
		err_set(e, -EINVAL, "--%s: %.400s", o->name, why.text);
		if (why.hint[0])
			err_hint(e, "%s", why.hint);
		return -EINVAL;
	}
	return 0;
}

static int set_option(const struct opt *o, const char *arg, struct err *e)
{
	int rc = store(o, arg, e);

	if (!rc && o->given)
		*o->given = true;
	if (!rc)
		meet(o);
	return rc;
}

static int unknown(const struct opt *table, const char *name, size_t len, struct err *e)
{
	const char *names[MAX_OPTS + 2] = { "help" };
	char word[MAX_WORD + 1];
	const char *near;
	size_t i;

	for (i = 0; table && table[i].name && i < MAX_OPTS; i++)
		names[i + 1] = table[i].name;
	snprintf(word, sizeof(word), "%.*s", (int)(len < MAX_WORD ? len : MAX_WORD), name);
	err_set(e, -EINVAL, "unknown option '--%s'", word);
	near = opt_nearest(word, names);
	if (near)
		err_hint(e, "did you mean '--%s'?", near);
	return -EINVAL;
}

/* "--name", "--name=ARG" or "--name ARG"; *i moves over an argument taken from the next word. */
static int parse_long(const struct opt *table, int argc, char **argv, int *i, struct err *e)
{
	const char *name = argv[*i] + 2;
	const char *eq = strchr(name, '=');
	size_t len = eq ? (size_t)(eq - name) : strlen(name);
	const struct opt *o;

	for (o = table; o && o->name; o++)
		if (strlen(o->name) == len && !memcmp(o->name, name, len))
			break;
	if (!o || !o->name)
		return unknown(table, name, len, e);
	if (o->type == OPT_FLAG && eq)
		return err_set(e, -EINVAL, "option '--%s' takes no argument", o->name);
	if (o->type == OPT_FLAG)
		return set_option(o, NULL, e);
	if (eq)
		return set_option(o, eq + 1, e);
	if (o->if_omitted)
		return set_option(o, o->if_omitted, e);
	if (*i + 1 >= argc)
		return err_set(e, -EINVAL, "option '--%s' needs an argument", o->name);
	return set_option(o, argv[++*i], e);
}

/* "-q", "-qo FILE", "-oFILE". */
static int parse_short(const struct opt *table, int argc, char **argv, int *i, bool *help,
		       struct err *e)
{
	const char *p;
	int rc = 0;

	for (p = argv[*i] + 1; *p && !rc && !*help; p++) {
		const struct opt *o;

		for (o = table; o && o->name && o->letter != *p; o++)
			;
		if ((!o || !o->name) && *p == 'h') {
			*help = true;
		} else if (!o || !o->name) {
			return err_set(e, -EINVAL, "unknown option '-%c'", *p);
		} else if (o->type == OPT_FLAG) {
			rc = set_option(o, NULL, e);
		} else if (p[1]) {
			return set_option(o, p + 1, e);
		} else if (o->if_omitted) {
			return set_option(o, o->if_omitted, e);
		} else if (*i + 1 >= argc) {
			return err_set(e, -EINVAL, "option '-%c' needs an argument", *p);
		} else {
			return set_option(o, argv[++*i], e);
		}
	}
	return rc;
}

/*
 * Rotate argv[from..to-1] left by one, `times` times: moves options before operands, keeping both
 * orders.
 */
static void move_left(char **argv, int from, int at, int n)
{
	while (n--) {
		char *word = argv[at];

		memmove(argv + from + 1, argv + from, (at - from) * sizeof(*argv));
		argv[from++] = word;
		at++;
	}
}

int opt_parse(const struct opt *table, bool stop, int argc, char **argv, bool *help, struct err *e)
{
	int first = 1;		/* first operand so far */
	int i;

	if (e)
		e->exit_code = 2;
	met.nr = 0;
	met.before_dashes = OPT_NO_DASHES;
	for (i = 1; i < argc; i++) {
		int at = i, rc;

		if (!strcmp(argv[i], "--")) {
			met.before_dashes = i - first;
			move_left(argv, first, i, 1);
			return first + 1;
		}
		if (argv[i][0] != '-' || !argv[i][1]) {
			if (stop)
				return i;
			continue;
		}
		if (!strcmp(argv[i], "--help"))
			*help = true, rc = 0;
		else if (argv[i][1] == '-')
			rc = parse_long(table, argc, argv, &i, e);
		else
			rc = parse_short(table, argc, argv, &i, help, e);
		if (rc)
			return -EINVAL;
		if (*help)
			return argc;
		move_left(argv, first, at, i - at + 1);
		first += i - at + 1;
	}
	return first;
}

void opt_usage(const struct opt *o, struct str *out)
{
	size_t i;

	str_addf(out, "--%s", o->name);
	if (o->type == OPT_FLAG)
		return;
	str_add(out, o->if_omitted ? "[=" : " ");
	if (o->arg)
		str_add(out, o->arg);
	for (i = 0; !o->arg && o->choices && o->choices[i]; i++)
		str_addf(out, "%s%s", i ? "|" : "", o->choices[i]);
	if (o->if_omitted)
		str_addc(out, ']');
}

/* Letters to add, drop, replace or swap to make `a` into `b` (optimal string alignment). */
static unsigned slips(const char *a, const char *b)
{
	unsigned row[3][MAX_WORD + 2];
	size_t n = strlen(a), m = strlen(b), i, j;

	if (n > MAX_WORD || m > MAX_WORD)
		return UINT_MAX;
	for (j = 0; j <= m; j++)
		row[0][j] = j;
	for (i = 1; i <= n; i++) {
		unsigned *now = row[i % 3], *up = row[(i - 1) % 3], *up2 = row[(i + 1) % 3];

		now[0] = i;
		for (j = 1; j <= m; j++) {
			unsigned best = up[j - 1] + (a[i - 1] != b[j - 1]);

			if (up[j] + 1 < best)
				best = up[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    up2[j - 2] + 1 < best)
				best = up2[j - 2] + 1;
			now[j] = best;
		}
	}
	return row[n % 3][m];
}

const char *opt_nearest(const char *word, const char *const *words)
{
	unsigned best = (strlen(word) + 2) / 3 + 1;
	const char *near = NULL;

	for (; *words; words++) {
		unsigned n = slips(word, *words);

		if (n < best) {
			best = n;
			near = *words;
		}
	}
	return near;
}
