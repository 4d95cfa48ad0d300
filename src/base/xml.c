/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text in XML. */
#include "src/base/xml.h"

#include <string.h>

#include "src/base/utf8.h"

static const char *reference(char c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	case '\'':
		return "&apos;";
	default:
		return NULL;
	}
}

void xml_add(struct str *s, const char *text)
{
	struct str clean = STR_INIT;

	utf8_add_clean(&clean, text);
	s->failed |= str_error(&clean) != 0;
	for (const char *p = str_text(&clean); *p; p++) {
		const char *to = reference(*p);

		if (to)
			str_add(s, to);
		else
			str_addc(s, *p);
	}
	str_fini(&clean);
}

void xml_add_lines(struct str *s, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		struct str line = STR_INIT;

		str_addn(&line, text, n);
		xml_add(s, str_text(&line));
		s->failed |= line.failed;
		str_fini(&line);
		text += n;
		if (*text)
			str_addc(s, *text++);
	}
}
