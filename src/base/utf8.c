/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text from outside, made harmless. */
#include "src/base/utf8.h"

#include <stdio.h>
#include <string.h>

size_t utf8_decode(const char *text, size_t n, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *s = (const unsigned char *)text;
	size_t length = s[0] < 0x80   ? 1
			: s[0] < 0xc0 ? 0
			: s[0] < 0xe0 ? 2
			: s[0] < 0xf0 ? 3
			: s[0] < 0xf8 ? 4
				      : 0;

	if (!length || length > n)
		return 0;
	*c = length == 1 ? s[0] : s[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (s[i] & 0x3f);
	}
	return *c < least[length] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000) ? 0 : length;
}

bool utf8_harmless(uint32_t c)
{
	static const struct { uint32_t from, to; } not[] = {
		{ 0, 0x1f }, { 0x7f, 0x9f },		/* controls */
		{ 0xad, 0xad }, { 0x61c, 0x61c }, { 0x180e, 0x180e },
		/* of no width, marks of direction; ends of lines, embeddings and overrides */
		{ 0x200b, 0x200f }, { 0x2028, 0x202e },
		{ 0x2060, 0x206f },			/* isolates, invisible operators */
		{ 0xe000, 0xf8ff },			/* private use */
		{ 0xfeff, 0xfeff }, { 0xfff9, 0xfffb }, { 0xfffe, 0xffff },
		{ 0xe0000, UINT32_MAX },		/* tags, private use */
	};

	if (c < 0x7f)			/* ASCII, as nearly all is */
		return c >= 0x20;
	for (size_t i = 0; i < sizeof(not) / sizeof(*not); i++)
		if (c >= not[i].from && c <= not[i].to)
			return false;
	return true;
}

size_t utf8_harmless_length(const char *s, size_t n)
{
	uint32_t c;
	size_t length = utf8_decode(s, n, &c);

	return length && utf8_harmless(c) ? length : 0;
}

void utf8_mask(char *s, size_t n, char mask)
{
	for (size_t i = 0, length; i < n; i += length) {
		length = utf8_harmless_length(s + i, n - i);
		if (length)
			continue;
		s[i] = mask;
		length = 1;
	}
}

void utf8_add_clean(struct str *s, const char *text)
{
	size_t n = strlen(text), length;

	for (; n; text += length, n -= length) {
		length = utf8_harmless_length(text, n);
		if (length)
			str_addn(s, text, length);
		else
			str_addf(s, "\\x%02x", (unsigned char)*text);
		length = length ? length : 1;
	}
}

static bool all_harmless(const char *s)
{
	size_t n = strlen(s), length;

	for (; n; s += length, n -= length) {
		length = utf8_harmless_length(s, n);
		if (!length)
			return false;
	}
	return true;
}

void utf8_add_quoted(struct str *s, const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
	const bool harmless = all_harmless(word);
	struct str escaped = STR_INIT;

	if (*word && !word[strspn(word, plain)]) {
		str_add(s, word);
		return;
	}
	for (; *word; word++)
		if (*word == '\'')
			str_add(&escaped, harmless ? "'\\''" : "\\'");
		else if (*word == '\\' && !harmless)
			str_add(&escaped, "\\\\");
		else
			str_addc(&escaped, *word);
	str_add(s, harmless ? "'" : "$'");
	utf8_add_clean(s, str_text(&escaped));
	str_addc(s, '\'');
	s->failed |= escaped.failed;
	str_fini(&escaped);
}

void utf8_clean(char *to, size_t size, const char *from)
{
	size_t n = strlen(from), room = size - 1, length;

	for (; n; from += length, n -= length) {
		size_t need;

		length = utf8_harmless_length(from, n);
		need = length ? length : 4;
		if (need > room)
			break;
		if (length)
			memcpy(to, from, length);
		else
			snprintf(to, room + 1, "\\x%02x", (unsigned char)*from);
		length = length ? length : 1;
		to += need;
		room -= need;
	}
	*to = '\0';
}
