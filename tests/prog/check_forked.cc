/* SPDX-License-Identifier: GPL-2.0-or-later
 * Errors of children with blocks of the processes that they were forked from: check_forked ERROR HOW, how the child comes to be. What must be
 * found is in tests/cli/check_forked.bats; of "ok" nothing.
 */
#include <cstdio>
#include <cstdlib>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
#include "victim.h"

static char *kept, *large, *wide, *gone, local[120];
static long *array;

SITE char *makes(size_t n) { return (char *)hide(malloc(opaque(n))); }
SITE long *makes_new(void) { return (long *)hide(new long[opaque(5)]); }
SITE char *makes_later(size_t n) { return (char *)hide(calloc(1, opaque(n))); }
SITE void drops(void *p) { free(hide(p)); }
SITE void drops_first(void *p) { free(hide(p)); }
SITE void overrun(void) { ((char *)hide(kept))[100] = 1; drops(kept); }
SITE void underrun(void) { ((char *)hide(kept))[-1] = 1; drops(kept); }
SITE void head(void) { for (int i = -16; i < 0; i++) ((char *)hide(kept))[i] = 1; drops(kept); }
SITE void head_size(void) { ((char *)hide(large))[-9] = 1; drops(large); }
SITE void twice(void) { drops_first(kept); drops(kept); }
SITE void again(void) { drops(gone); }
SITE void late(void) { drops(makes(20)); ((char *)hide(gone))[3] = 1; }
SITE void pair(void) { drops(array); }
SITE void resize(void) { kept = (char *)hide(realloc(hide(kept), opaque(200))); ((char *)hide(kept))[200] = 1; drops(kept); }
SITE void inside(void) { drops(kept + 16); }
SITE void copy(void) { memcpy(hide(kept), hide(local), opaque(110)); }
SITE void copy_later(void) { free(hide(malloc(opaque(70000)))); copy(); }
SITE void middle(void) { memset((char *)hide(kept) + 90, 1, opaque(30)); }
SITE void read_on(void) { memcpy(hide(local), (char *)hide(kept) + 80, opaque(25)); }
SITE void reads_gone(void) { memcpy(hide(local), (char *)hide(gone) + 10, opaque(20)); }
SITE void writes_gone(void) { free(hide(malloc(opaque(40)))); memset((char *)hide(gone) + 10, 1, opaque(20)); }
SITE void far_on(void) { memcpy(hide(local), (char *)hide(wide) + 4900, opaque(110)); }
SITE void overlap(void) { memcpy((char *)hide(kept) + 8, hide(kept), opaque(20)); }
SITE void overlap_far(void) { memcpy((char *)hide(large) + 10008, (char *)hide(large) + 10000, opaque(20)); }
SITE void ok(void)
{
	strcpy(kept, "all");
	memset((char *)hide(kept) + 90, 1, opaque(10));
	memcpy(hide(local), (char *)hide(kept) + 70, opaque(30));
	memcpy(hide(local), (char *)hide(wide) + 4900, opaque(100));
	drops(realloc(hide(kept), opaque(5000)));
	drops(realloc(memset(hide(large), 1, opaque(300000)), opaque(400000)));
	delete[] array;
}

static const struct { const char *name; void (*act)(void); } acts[] = {
	{ "overrun", overrun }, { "underrun", underrun }, { "head", head }, { "head-size", head_size }, { "twice", twice },
	{ "again", again }, { "late", late }, { "pair", pair },
	{ "resize", resize }, { "inside", inside }, { "copy", copy }, { "copy-later", copy_later },
	{ "middle", middle }, { "read", read_on }, { "overlap", overlap }, { "reads-gone", reads_gone },
	{ "writes-gone", writes_gone }, { "far", far_on }, { "overlap-far", overlap_far }, { "ok", ok },
};
}

/*
 * "fork"; "raw" by the system call; a "grand" child; with an "orphan" the parent ends, and its capture PID.pmm is waited for; with a "changed"
 * one it goes on allocating first.
 */
static pid_t begin(const char *how)
{
	pid_t pid = !strcmp(how, "raw") ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();

	if (pid || strcmp(how, "grand"))
		return pid;
	array = makes_new();
	if (!(pid = fork()))
		return 0;
	waitpid(pid, NULL, 0);
	_exit(3);
}

int main(int argc, char **argv)
{
	int fd[2], status = 0;
	char c, capture[40];

	array = makes_new();
	kept = makes(100);
	large = makes(300000);
	wide = makes(5000);
	drops_first(gone = makes(50));
	makes(30000);			/* so that the child's own blocks are far from these */
	snprintf(capture, sizeof(capture), "%d.pmm", (int)getpid());
	if (argc < 3 || pipe(fd))
		return 1;
	if (begin(argv[2])) {
		for (int i = 0; i < 3000 && !strcmp(argv[2], "changed"); i++)
			drops(i ? makes_later(100) : kept);	/* so that others are where it was */
		if (!strcmp(argv[2], "orphan"))
			_exit(0);
		close(fd[1]);
		return wait(&status) > 0 ? WEXITSTATUS(status) : 1;
	}
	close(fd[1]);
	if (strcmp(argv[2], "grand"))
		while (read(fd[0], &c, 1) < 0)		/* until the parent waits, or has ended */
			;
	while (!strcmp(argv[2], "orphan") && access(capture, F_OK))
		usleep(1000);
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++)
		if (!strcmp(argv[1], acts[i].name))
			acts[i].act();
	exit(3);
}
