/* SPDX-License-Identifier: GPL-2.0-or-later */ /* libcheck_deep.so: releases and resizes blocks of the C library's, and gives it some of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int enter(void)
{
	char *line = NULL, *copy = realloc(strdup("some text"), 1000);
	size_t bytes = 0;
	FILE *f = tmpfile();

	fputs(copy, f);
	rewind(f);
	line = malloc(2);
	bytes = 2;
	if (getline(&line, &bytes, f) != 9)
		return 0;
	free(copy);
	free(line);
	fclose(f);
	return 42;
}
