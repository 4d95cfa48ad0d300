/*
 * More blocks of one call site than the budget affords, then one error, named by the argument: of a block of another call site, or with one
 * of the first, which were checked. "none": none.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "victim.h"

#define MANY 1000

static char *volatile block[MANY];
static char here[64];

SITE static char *by_loop(size_t size) { return malloc(size); }
SITE static char *by_late(void) { return malloc(40); }
SITE static void write_behind(char *p, size_t size) { p[size] = 1; }
SITE static void by_free(void *p) { free(p); }
SITE static char *by_realloc(char *p, size_t size) { return realloc(p, size); }

static void *work(void *arg)
{
	for (unsigned i = 0; i < MANY; i++)
		block[i] = by_loop(33 + i % 200 * (i % 50 ? 1 : 1000));
	for (unsigned i = 0; i < MANY; i += 3)
		memset(block[i] = by_realloc(block[i], 300), 1, 300);
	for (unsigned i = 1; i < MANY; i += 3)
		by_free(block[i]);
	return arg;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "none";
	char *late, *volatile p;
	pthread_t thread;

	if (!strcmp(what, "threads")) {
		pthread_create(&thread, NULL, work, NULL);
		pthread_join(thread, NULL);
	}
	work(NULL);
	late = by_late();
	p = !strcmp(what, "inside") ? block[2] + 16 : !strcmp(what, "inside-passed") ? block[500] + 16 : !strcmp(what, "static") ? here + 16 :
	    !strcmp(what, "twice") ? block[1] : NULL;
	if (!strcmp(what, "late"))
		write_behind(late, 40);
	by_free(p);
	by_free(late);
	puts("done");
	return 0;
}
