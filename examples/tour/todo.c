/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bug to find with `pmm report`: tasks that are done are never released. todo [TASKS] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct task {
	char *title;
	int done;
};

static struct task *volatile current;

static struct task *task_new(const char *title)
{
	struct task *t = malloc(sizeof(*t));

	t->title = strdup(title);
	t->done = 0;
	return t;
}

int main(int argc, char **argv)
{
	unsigned long nr = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
	char title[130];

	for (unsigned long i = 0; i < nr; i++) {
		snprintf(title, sizeof(title), "%0129lu", i);
		current = task_new(title);
		current->done = 1;
	}
	printf("%lu tasks are done\n", nr);
	return 0;
}
