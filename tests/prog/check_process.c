/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Errors at a process's end and in its children: check_process NAME. What must be found is in tests/cli/check_process.bats. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *kept, *gone;

static void release(void) { free(kept); }
static void overrun(void) { kept[100] = 1; free(kept); }
static void again(void) { free(gone); }
static void late(void) { free(malloc(20)); gone[3] = 1; }
static void resize(void) { kept = realloc(strcpy(kept, "kept"), 400000); kept = realloc(kept, 900000); puts(kept); free(kept); }
static void quick(void) { late(); quick_exit(4); }
static void at_once(void) { late(); _exit(3); }
static void vforked(void) { if (!vfork()) { free(malloc(10)); _exit(0); } late(); }
static void keep_errno(void) { errno = 77; overrun(); again(); printf("errno %d\n", errno); }

static const struct { const char *name; void (*act)(void); } acts[] = {
	{ "release", release }, { "overrun", overrun }, { "again", again }, { "late", late }, { "resize", resize }, { "quick", quick },
	{ "at_once", at_once }, { "vforked", vforked }, { "errno", keep_errno },
};

int main(int argc, char **argv)
{
	int status = 0;

	kept = malloc(100);
	free(gone = malloc(50));
	for (unsigned i = 0; argc > 1 && i < sizeof(acts) / sizeof(acts[0]); i++)
		if (!strcmp(argv[1], acts[i].name) && (argc < 3 || !fork())) {
			acts[i].act();
			exit(7);
		}
	wait(&status);
	return WEXITSTATUS(status);
}
