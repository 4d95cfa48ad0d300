/* SPDX-License-Identifier: MIT */
/*
 * Formats of the printf family, as glibc reads them, and the arguments they take, as the System V
 * ABI of x86-64 passes them.
 */
#include "agent/strings/format.h"

#include <string.h>

#include "agent/strings/hooks_wide.h"

/* A va_list. */
struct arguments {
	uint32_t general, vector;	/* offsets into `saved` of what comes next there */
	char *stack, *saved;
};

#define GENERAL_END	48u		/* of six general registers; ... */
#define VECTOR_END	176u		/* ... eight vector registers follow */

_Static_assert(sizeof(va_list) == sizeof(struct arguments),
	       "a va_list is not what it is taken for");

/* Where the next integer or pointer is. */
static void *next_word(struct arguments *a)
{
	char *at = a->general < GENERAL_END ? a->saved + a->general : a->stack;

	if (a->general < GENERAL_END)
		a->general += 8;
	else
		a->stack += 8;
	return at;
}

static void skip_double(struct arguments *a)
{
	if (a->vector < VECTOR_END)
		a->vector += 16;
	else
		a->stack += 8;
}

static void skip_long_double(struct arguments *a)
{
	a->stack = (char *)(((uint64_t)a->stack + 15) & ~15ull) + 16;
}

enum { UNKNOWN, FLAG, MODIFIER, WORD, REAL, TEXT, NOTHING };

/* What a character behind a percent sign is, and of those that end a conversion what it takes. */
static const uint8_t class_of[256] = {
	['-'] = FLAG,	  ['+'] = FLAG,	    [' '] = FLAG,     ['#'] = FLAG,	['0'] = FLAG,
	['\''] = FLAG,	  ['I'] = FLAG,	    ['h'] = MODIFIER, ['l'] = MODIFIER, ['q'] = MODIFIER,
	['j'] = MODIFIER, ['z'] = MODIFIER, ['t'] = MODIFIER, ['L'] = MODIFIER, ['Z'] = MODIFIER,
	['d'] = WORD,	  ['i'] = WORD,	    ['o'] = WORD,     ['u'] = WORD,	['x'] = WORD,
	['X'] = WORD,	  ['b'] = WORD,	    ['B'] = WORD,     ['c'] = WORD,	['C'] = WORD,
	['p'] = WORD,	  ['n'] = WORD,	    ['a'] = REAL,     ['A'] = REAL,	['e'] = REAL,
	['E'] = REAL,	  ['f'] = REAL,	    ['F'] = REAL,     ['g'] = REAL,	['G'] = REAL,
	['s'] = TEXT,	  ['S'] = TEXT,	    ['%'] = NOTHING,  ['m'] = NOTHING,
};

static inline unsigned class(char c)
{
	return class_of[(uint8_t)c];
}

struct conversion {
	unsigned what;			/* its class */
	bool is_long, is_long_double;
	size_t most;			/* precision, SIZE_MAX: none */
};

/* Digits, or an asterisk and its argument, which is negative where it counts for nothing. */
static const char *number(const char *at, struct arguments *a, int64_t *value)
{
	*value = 0;
	if (*at == '*') {
		*value = *(const int *)next_word(a);
		return at + 1;
	}
	for (; *at >= '0' && *at <= '9'; at++)
		*value = *value < INT32_MAX ? *value * 10 + (*at - '0') : *value;
	return at;
}

/*
 * What follows a percent sign; returns what is behind it. The width's and the precision's arguments
 * are taken.
 */
static const char *conversion(const char *at, struct arguments *a, struct conversion *c)
{
	int64_t value;

	*c = (struct conversion){ .most = SIZE_MAX };
	while (class(*at) == FLAG)
		at++;
	/* a dollar sign behind it is no conversion that is known */
	at = number(at, a, &value);
	if (*at == '.') {
		at = number(at + 1, a, &value);
		c->most = value < 0 ? SIZE_MAX : (size_t)value;
	}
	for (; class(*at) == MODIFIER; at++) {
		c->is_long |= *at == 'l';
		c->is_long_double |= *at == 'L';
	}
	c->is_long |= *at == 'S';
	c->what = class(*at);
	return *at ? at + 1 : at;
}

/*
 * As string_begin(). A precision of these counts bytes of what they become: then they are not
 * looked at.
 */
static const void *wide_begin(struct bounce *b, const wide *s, size_t most, const char *function,
			      const struct caller *from)
{
	size_t n;

	if (most != SIZE_MAX)
		return s;
	n = wide_length(s, function, from);
	if (likely(!bounds_guarded(s) || n < bounds_left(s, 1) / WIDE))
		return s;
	return bounce_begin(b, s, (n + 1) * WIDE, n * WIDE);
}

static void check_text(struct format *f, const void **argument, const struct conversion *c,
		    const char *function, const struct caller *from)
{
	const char *s = *argument;

	if (!bounds_suspect(s) || f->nr == FORMAT_STANDS)
		return;
	if (c->is_long)
		*argument = wide_begin(&f->stand[f->nr], (const wide *)(const void *)s, c->most,
				       function, from);
	else
		*argument = string_begin(&f->stand[f->nr], s, c->most, function, from);
	if (*argument != s)
		f->argument[f->nr++] = argument;
}

/* False: it is not known what comes next. */
static bool consume_argument(struct format *f, struct arguments *a, const struct conversion *c,
		 const char *function, const struct caller *from)
{
	switch (c->what) {
	case WORD:
		next_word(a);
		return true;
	case REAL:
		if (c->is_long_double)
			skip_long_double(a);
		else
			skip_double(a);
		return true;
	case TEXT:
		check_text(f, next_word(a), c, function, from);
		return true;
	default:
		return c->what == NOTHING;
	}
}

static void walk(struct format *f, const char *at, va_list list, const char *function,
		 const struct caller *from)
{
	struct arguments a;
	struct conversion c;

	memcpy(&a, list, sizeof(a));
	while (*at) {
		if (*at++ != '%')
			continue;
		at = conversion(at, &a, &c);
		if (!consume_argument(f, &a, &c, function, from))
			return;
	}
}

const char *format_begin(struct format *f, const char *format, va_list list, const char *function,
			 const struct caller *from)
{
	f->nr = 0;
	f->itself = (struct bounce){ .block = NULL };
	if (!bounds_where.tops)	/* guarded ones have their pages */
		return format;
	if (bounds_suspect(format))
		format = string_begin(&f->itself, format, SIZE_MAX, function, from);
	walk(f, format, list, function, from);
	return format;
}

void format_end(struct format *f)
{
	while (f->nr) {
		f->nr--;
		*f->argument[f->nr] = f->stand[f->nr].block;
		bounce_end(&f->stand[f->nr], 0);
	}
	bounce_end(&f->itself, 0);
}
