/* SPDX-License-Identifier: GPL-2.0-or-later */ /* A function that is chosen when the library is relocated, by a resolver that calls string functions. */
#include <string.h>

static char copy[40];
static volatile size_t found;

static int answer(void) { return (int)found; }

static int (*choose(void))(void)
{
	char text[40];

	memset(text, 0, sizeof(text));
	strcpy(text, "early");
	memcpy(copy, text, 6);
	found = strlen(copy) + !strcmp(copy, "early") + (size_t)(strchr(copy, 'l') - copy);
	return answer;
}

int early(void) __attribute__((ifunc("choose")));
