/* SPDX-License-Identifier: GPL-2.0-or-later
 * Streams without locks, and lines into blocks that are said to be larger than they are: right, or `wrong' by one byte.
 */
#include <stdio.h>
#include <unistd.h>

#include "check_string.h"

/* A line that a block holds with its end, or one byte longer, as what comes next from f. */
static FILE *line(FILE *f)
{
	rewind(f);
	fprintf(f, "%.*s;\n", (int)(SIZE - 2 + more), "0123456789012345678901234567890");
	rewind(f);
	return f;
}

int main(int argc, char **argv)
{
	char *p = NULL, *q = NULL;
	FILE *f = tmpfile();
	size_t n = 0, m;
	long sum = 0;

	begin(argc, argv);
	m = opaque(SIZE + more);
	sum += (long)fwrite_unlocked(block(), 1, m, f), rewind(f);
	sum += 3 * (long)fread_unlocked(block(), 1, 1000, f), rewind(f);
	sum += 5 * !!fgets_unlocked(block(), (int)m, line(f));
	sum += 7 * fputs_unlocked(text(), f), rewind(f);
	sum += 11 * getline(&p, &n, line(f)) + !!hide(p);	/* they allocate */
	sum += 13 * getdelim(&p, &n, ';', line(f));
	p = block(), n = 1000;
	sum += 17 * getdelim(&p, &n, ';', line(f)), free(p);
	q = block(), n = 1000, line(f), fseek(f, 1, SEEK_SET);
	sum += 19 * getline(&q, &n, f), free(q);
	printf("%ld\n", sum);
	return 0;
}
