/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line of a fake recipe, in words: a verb, then KEY=VALUE and bare words. See fake.c.
 *
 * The first trouble is kept in `rc` and `why`; after it every accessor gives its default.
 */
#ifndef TESTS_FAKE_RECIPE_H
#define TESTS_FAKE_RECIPE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/err.h"

#define RECIPE_MAX_WORDS	40

struct recipe_word {
	char *key;		/* NULL: a bare word */
	char *value;
	bool used;
};

struct recipe_line {
	struct recipe_word word[RECIPE_MAX_WORDS];	/* [0] is the verb */
	int nr_words;		/* 0: an empty line */
	int rc;
	struct err why;
};

/* Take `text` (kept and changed) apart. 0 or -EINVAL with `why` set. */
int recipe_parse(struct recipe_line *l, char *text);

/* Note trouble, unless there was some before. */
void recipe_fail(struct recipe_line *l, int rc, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Fail if a word was not asked for. Returns rc. */
int recipe_done(struct recipe_line *l);

/*
 * The value of a key, NULL = not there. The next bare word; none left is an error and NULL. Is
 * there this bare word?
 */
const char *recipe_text(struct recipe_line *l, const char *key);
const char *recipe_bare(struct recipe_line *l);
bool recipe_flag(struct recipe_line *l, const char *name);

/*
 * The value of a key as a number, `otherwise` if it is not there. Times are in ns, addresses
 * hexadecimal.
 */
uint64_t recipe_count(struct recipe_line *l, const char *key, uint64_t otherwise);
uint64_t recipe_size(struct recipe_line *l, const char *key, uint64_t otherwise);
uint64_t recipe_time(struct recipe_line *l, const char *key, uint64_t otherwise);
uint64_t recipe_address(struct recipe_line *l, const char *key, uint64_t otherwise);

/* The place of the key's value among names (NULL = a gap); `otherwise` if the key is not there. */
unsigned recipe_choice(struct recipe_line *l, const char *key, const char *const *names,
		       unsigned nr, unsigned otherwise);

/* Bytes in hexadecimal, at most `max` of them, to `to`; how many, 0 if the key is not there. */
uint8_t recipe_hex(struct recipe_line *l, const char *key, uint8_t *to, uint8_t max);

/* Put a copy of the key's value, if there, in place of *field (malloc). */
void recipe_replace(struct recipe_line *l, const char *key, char **field);

#endif
