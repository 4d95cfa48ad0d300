/* SPDX-License-Identifier: GPL-2.0-or-later
 * check_exact CASE...: what runs with blocks in different places find. late, before, slack: one error each. header, tag, hang: correct where malloc aligns to 16, as it
 * does; with less they die, release another address, or never end. input: prints what it reads. child: `late` and `slack` in a child process. status N: exit code.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

typedef float four __attribute__((vector_size(16)));

struct header {
	four values;
	char name[];
};

/* Three bytes behind a block of 20. */
SITE static void late(void)
{
	volatile char *p = malloc(20);

	for (volatile int i = 20; i < 23; i++)
		p[i] = 1;
	free((void *)p);
}

SITE static void before(void)
{
	volatile char *p = malloc(57);

	(void)p[-9];
	free((void *)p);
}

SITE static void slack(void)
{
	volatile char *p = malloc(57);

	(void)p[60];
	free((void *)p);
}

SITE static void header(void)
{
	volatile struct header *h = malloc(sizeof(*h) + 5);

	h->values = (four){ 1, 2, 3, 4 };
	free((void *)h);
}

SITE static void tag(void)
{
	uintptr_t p = (uintptr_t)malloc(5) | 1;

	free((void *)(p & ~(uintptr_t)7));
}

/* As code does that waits for a futex at an address that can be none. */
SITE static void hang(void)
{
	char *p = malloc(5);

	while ((uintptr_t)p % 16)
		pause();
	free(p);
}

SITE static void input(void)
{
	char line[100];

	while (fgets(line, sizeof(line), stdin))
		fputs(line, stdout);
}

SITE static void child(void)
{
	pid_t pid = fork();

	if (!pid) {
		late();
		slack();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = { { "late", late }, { "before", before }, { "slack", slack }, { "header", header }, { "tag", tag }, { "input", input },
		      { "child", child }, { "hang", hang } };

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "status"))
			return atoi(argv[i + 1]);
		for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++)
			if (!strcmp(argv[i], cases[k].name))
				cases[k].run();
	}
	return 0;
}
