/* SPDX-License-Identifier: GPL-2.0-or-later
 * The first argument, a number: so many blocks at once, each of which strcpy() writes past the end of, 22 bytes into 20, which natively does no
 * harm. The first half of them is released, in a child as well; the others live on.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

SITE static char *over(const char *text) { return strcpy(hide(malloc(20)), text); }

int main(int argc, char **argv)
{
	static char *p[4000];
	int nr = argc > 1 ? atoi(argv[1]) : 0, status;

	for (int i = 0; i < nr; i++)
		p[i] = over("22 bytes and the zero");
	if (!fork()) {
		for (int i = 0; i < nr / 2; i++)
			free(p[i]);
		_exit(0);
	}
	if (wait(&status) < 0 || status)
		return 1;
	for (int i = 0; i < nr / 2; i++)
		free(p[i]);
	return 0;
}
