/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Watched from outside (shim_full.bats): names of all kinds. Block number n has 10 * n bytes; with an argument all are lost. */
#define PMM_NO_NAMES
#include <pmm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAMBDA "main()::<lambda(T*)> [with T = int; U = std::map<int, int>]"

static void *volatile kept[20];
static char path[6000], function[6000];

static const struct name {
	const char *file;
	int line;
	const char *function;
} name[] = {
	{ "dir with space/a b.c", 1, "blanks" },
	{ "d/\303\244\342\202\254.c", 2, "f\303\244" },
	{ "new\nline\t.c", 3, "g" },
	{ "\"quote'\\.c", 4, "<&>\"'" },
	{ "bad\377\001\033.c", 5, "h\200" },
	{ path, 6, function },
	{ "long.c", 70000, "far" },
	{ "long.c", 2147483647, "farthest" },
	{ "outside.cc", 9, "" },	/* in C++: no function */
	{ "t.cc", 10, LAMBDA },
	{ "no_line.c", 0, "nowhere" },
	{ "one.h", 12, "in_header" },
	{ "two/one.h", 12, "in_header" },
};

int main(int argc, char **argv)
{
	unsigned i, nr = sizeof(name) / sizeof(name[0]);

	(void)argv;
	memset(path, 'd', sizeof(path) - 1);
	memset(function, 'f', sizeof(function) - 1);
	for (i = 0; i < nr; i++)
		kept[i] = pmm_malloc(name[i].file, name[i].line, name[i].function, 10 * (i + 1));
	if (argc > 1)
		memset((void *)kept, 0, sizeof(kept));
	pmm_set(PMM_AT_EXIT, 0);
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
