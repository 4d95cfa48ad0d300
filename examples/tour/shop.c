/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two bugs to find with `pmm leaks`: requests that are forgotten, and a cache that is never
 * emptied. shop [SECONDS], 25 requests a second.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct entry {
	struct entry *next;
	char value[104];
};

static struct entry *cache;
static char *volatile request;

static void cache_add(void)
{
	struct entry *e = calloc(1, sizeof(*e));

	e->next = cache;
	cache = e;
}

static void parse(void)
{
	request = malloc(23);
	memset(request, 'r', 23);
}

int main(int argc, char **argv)
{
	unsigned long seconds = argc > 1 ? strtoul(argv[1], NULL, 10) : 30;

	for (unsigned long i = 0; i < seconds * 25; i++) {
		cache_add();
		parse();
		usleep(40000);
	}
	return 0;
}
