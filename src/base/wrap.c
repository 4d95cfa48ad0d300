/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text broken into lines at its spaces. */
#include "src/base/wrap.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "src/base/utf8.h"

#define MOST_HANG	24	/* further right there is no room left */
#define LONGEST_UNIT	3	/* letters: "MiB" */

/* May a line end at this space? Not between a number and its unit. */
static bool may_break(const char *text, size_t n)
{
	const char *word = text + n + 1;
	size_t letters = 0;

	if (text[n] != ' ')
		return false;
	while (isalpha((unsigned char)word[letters]))
		letters++;
	return !n || !isdigit((unsigned char)text[n - 1]) || !letters || letters > LONGEST_UNIT;
}

size_t wrap_line(const char *text, unsigned width)
{
	size_t fits = 0, own = strspn(text, " "), n;

	/* `fits`: the byte behind the last character that has room */
	for (unsigned columns = 0; text[fits]; fits++)
		if (utf8_begins(text[fits]) && columns++ == width)
			break;
	if (!text[fits])
		return fits;
	for (n = fits; n > own && !may_break(text, n); n--)
		;
	return n > own ? n : own + strcspn(text + own, " ");
}

void wrap_add(struct str *s, const char *text, unsigned width, const char *before, unsigned used)
{
	unsigned taken = used, hang = (unsigned)strlen(before);

	while (*text) {
		size_t n = wrap_line(text, width > taken ? width - taken : 1);

		str_addn(s, text, n);
		text += n + (text[n] == ' ');
		if (*text)
			str_addf(s, "\n%s", before);
		taken = hang;
	}
}

unsigned wrap_hang(const char *text)
{
	size_t own = strspn(text, " "), name = strcspn(text + own, " "), gap;

	/* a name may be of several words, but not of a sentence's */
	while ((gap = strspn(text + own + name, " ")) == 1 && own + name < MOST_HANG)
		name += gap + strcspn(text + own + name + gap, " ");
	return gap > 1 && own + name + gap <= MOST_HANG ? (unsigned)(own + name + gap)
							: (unsigned)own;
}
