/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line of a fake recipe, see recipe.h.
 */
#include "tests/fake/recipe.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fmt.h"

/* The next word of *text, which is changed and moved on; NULL at the end or a comment. */
static char *next_word(char **text)
{
	char *in = *text + strspn(*text, " \t\r"), *word = in, *out = in;
	bool quoted = false;

	if (!*in || *in == '#')
		return NULL;
	for (; *in && (quoted || !strchr(" \t\r", *in)); in++) {
		if (*in == '"')
			quoted = !quoted;
		else
			*out++ = *in;
	}
	*text = *in ? in + 1 : in;
	*out = '\0';
	return word;
}

/* Where a word's key ends: at the first '=' after letters and dashes; else it is a bare word. */
static char *key_end(char *word)
{
	size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyz-");

	return n && word[n] == '=' ? word + n : NULL;
}

int recipe_parse(struct recipe_line *l, char *text)
{
	char *word;

	memset(l, 0, sizeof(*l));
	while ((word = next_word(&text))) {
		char *equals = l->nr_words ? key_end(word) : NULL;

		if (l->nr_words == RECIPE_MAX_WORDS)
			return l->rc = err_set(&l->why, -EINVAL, "too many words");
		if (equals)
			*equals = '\0';
		l->word[l->nr_words] = (struct recipe_word){
			equals ? word : NULL, equals ? equals + 1 : word, !l->nr_words};
		l->nr_words++;
	}
	return 0;
}

int recipe_done(struct recipe_line *l)
{
	for (int i = 1; i < l->nr_words && !l->rc; i++) {
		struct recipe_word *w = &l->word[i];

		if (!w->used)
			recipe_fail(l, -EINVAL, "'%s' does not take '%s'", l->word[0].value,
				    w->key ? w->key : w->value);
	}
	return l->rc;
}

void recipe_fail(struct recipe_line *l, int rc, const char *fmt, ...)
{
	va_list args;

	if (l->rc)
		return;
	l->rc = rc;
	va_start(args, fmt);
	vsnprintf(l->why.text, sizeof(l->why.text), fmt, args);
	va_end(args);
}

const char *recipe_text(struct recipe_line *l, const char *key)
{
	for (int i = 0; i < l->nr_words; i++) {
		struct recipe_word *w = &l->word[i];

		if (w->key && !strcmp(w->key, key)) {
			w->used = true;
			return w->value;
		}
	}
	return NULL;
}

/* The next bare word, NULL = none left. */
const char *recipe_bare(struct recipe_line *l)
{
	for (int i = 1; i < l->nr_words; i++)
		if (!l->word[i].key && !l->word[i].used) {
			l->word[i].used = true;
			return l->word[i].value;
		}
	recipe_fail(l, -EINVAL, "'%s' lacks an argument", l->word[0].value);
	return NULL;
}

bool recipe_flag(struct recipe_line *l, const char *name)
{
	for (int i = 1; i < l->nr_words; i++)
		if (!l->word[i].key && !l->word[i].used && !strcmp(l->word[i].value, name))
			return l->word[i].used = true;
	return false;
}

static uint64_t recipe_number(struct recipe_line *l, const char *key, uint64_t otherwise,
			      int (*parse)(const char *, uint64_t *, struct err *))
{
	const char *text = recipe_text(l, key);
	uint64_t n = otherwise;

	if (text && !l->rc)
		l->rc = parse(text, &n, &l->why);
	return n;
}

uint64_t recipe_count(struct recipe_line *l, const char *key, uint64_t otherwise)
{
	return recipe_number(l, key, otherwise, fmt_parse_uint);
}

uint64_t recipe_size(struct recipe_line *l, const char *key, uint64_t otherwise)
{
	return recipe_number(l, key, otherwise, fmt_parse_size);
}

uint64_t recipe_time(struct recipe_line *l, const char *key, uint64_t otherwise)
{
	return recipe_number(l, key, otherwise, fmt_parse_duration);
}

static int parse_address(const char *text, uint64_t *n, struct err *e)
{
	char *end;

	*n = strtoull(text, &end, 16);
	return *end || end == text ? err_set(e, -EINVAL, "'%s' is not an address", text) : 0;
}

uint64_t recipe_address(struct recipe_line *l, const char *key, uint64_t otherwise)
{
	return recipe_number(l, key, otherwise, parse_address);
}

/* The place of a word among the names; `otherwise` when the key is absent. */
unsigned recipe_choice(struct recipe_line *l, const char *key, const char *const *names,
		       unsigned nr, unsigned otherwise)
{
	const char *text = recipe_text(l, key);

	if (!text)
		return otherwise;
	for (unsigned i = 0; i < nr; i++)
		if (names[i] && !strcmp(names[i], text))
			return i;
	recipe_fail(l, -EINVAL, "'%s' is no value for '%s'", text, key);
	return otherwise;
}

uint8_t recipe_hex(struct recipe_line *l, const char *key, uint8_t *to, uint8_t max)
{
	const char *text = recipe_text(l, key);
	uint8_t n = 0;
	unsigned byte;

	for (; text && *text; text += 2) {
		if (n == max || !isxdigit((unsigned char)text[0]) ||
		    !isxdigit((unsigned char)text[1]) || sscanf(text, "%2x", &byte) != 1) {
			recipe_fail(l, -EINVAL, "'%s' is no value for '%s'", recipe_text(l, key),
				    key);
			return 0;
		}
		to[n++] = (uint8_t)byte;
	}
	return n;
}

void recipe_replace(struct recipe_line *l, const char *key, char **field)
{
	const char *text = recipe_text(l, key);
	char *copy;

	if (!text)
		return;
	copy = strdup(text);
	if (!copy) {
		recipe_fail(l, -ENOMEM, "out of memory");
		return;
	}
	free(*field);
	*field = copy;
}
