/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Blocks go to and come from a library that knows nothing of the header: library.table. -DLIBRARY is that library. */
#ifdef LIBRARY
#include <stdlib.h>
#include <string.h>

char *make(const char *text);
void take(char *block);
char *grow(char *block);

char *make(const char *text)
{
	char *copy = malloc(strlen(text) + 1);

	return copy ? strcpy(copy, text) : NULL;
}

void take(char *block)
{
	free(block);
}

char *grow(char *block)
{
	return realloc(block, 5000);
}
#else
#include "order.h"

char *make(const char *text);
void take(char *block);
char *grow(char *block);

int main(void)
{
	char *given, *grown, *got;
	struct pmm_stats stats;

	BEGIN();
	given = strdup("the library frees this");
	take(given);
	grown = grow(strdup("the library resizes this"));
	got = make("the library made this");
	free(got);
	got = (char *)realloc(make("and this, which is resized"), 3000);	/* ours from now on */
	pmm_report(PMM_BLOCKS | PMM_SITES);
	free(got);
	free(grown);
	free(strdup("the library frees this"));		/* has the address of the first: that is known to be gone */
	pmm_get_stats(&stats);
	printf("%d live, %d foreign, %d errors\n", (int)stats.nr_live, (int)stats.nr_foreign, (int)stats.nr_errors);
	pmm_set(PMM_AT_EXIT, 0);
	return 0;
}
#endif
