/* SPDX-License-Identifier: GPL-2.0-or-later
 * New programs made in all ways, by a program that blocks and ignores signals in the way argv[1] says: what each inherits is as natively. It
 * shows itself (argv[2], a static program). Between them attempts fail, and `overrun` reads behind a block's end: one finding.
 */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

static char *volatile block;
static char **words, *own[] = { "own", "name=value", NULL }, *none[] = { NULL };
static const char *path;

SITE static char overrun(void) { return block[128]; }

/* The kernel's own words. */
static int show(const char *what)
{
	char text[8192] = "", *at;
	int fd = open("/proc/self/status", O_RDONLY);

	if (read(fd, text, sizeof(text) - 1) <= 0 || !(at = strstr(text, "SigBlk:")))
		return 1;
	*strstr(at, "SigCgt:") = 0;
	return write(1, text, sprintf(text, "%s: %.20s%s", what, at + 8, at + 25)) < 0;
}

static void in_place(int how)
{
	switch (how) {
	case 0: execve(path, words, none); break;
	case 1: execv(path, words); break;
	case 2: execvp(path, words); break;
	case 3: execvpe(path, words, none); break;
	case 4: execl(path, path, "execl", NULL); break;
	case 5: execlp(path, path, "execlp", NULL); break;
	case 6: execle(path, path, "execle", NULL, none); break;
	case 7: fexecve(open(path, O_RDONLY), words, none); break;
	case 8: execveat(AT_FDCWD, path, words, none, 0); break;
	case 9: syscall(SYS_execve, path, words, none); break;
	case 10: syscall(SYS_execveat, AT_FDCWD, path, words, none, 0); break;
	}
}

static void forked(int how, int light)
{
	pid_t child = light ? vfork() : fork();

	if (!child) {
		in_place(how);
		_exit(1);
	}
	waitpid(child, NULL, 0);
}

static void spawned(int flags)
{
	posix_spawnattr_t attr;
	sigset_t some;
	pid_t child;

	sigemptyset(&some);
	sigaddset(&some, SIGSEGV);
	sigaddset(&some, SIGHUP);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, flags);
	posix_spawnattr_setsigmask(&attr, &some);
	posix_spawnattr_setsigdefault(&attr, &some);
	if (!(flags ? posix_spawn : posix_spawnp)(&child, path, NULL, flags < 0 ? NULL : &attr, words, none))
		waitpid(child, NULL, 0);
	printf("%d\n", posix_spawn(&child, "/nowhere/at/all", NULL, &attr, words, none));
}

static void piped(void)
{
	char line[512], out[256];
	FILE *f;

	sprintf(line, "exec %s popen", path);
	f = popen(line, "r");
	printf("%s", fgets(out, sizeof(out), f));
	printf("%s", fgets(out, sizeof(out), f));
	pclose(f);
	sprintf(line, "exec %s system", path);
	printf("%d %d\n", system(line), system("exit 7"));
}

static void set(const char *how)
{
	sigset_t mask;

	sigemptyset(&mask);
	if (strchr(how, 'a')) {
		sigfillset(&mask);
		sigdelset(&mask, SIGSEGV);
		sigdelset(&mask, SIGCHLD);
	}
	if (strchr(how, 's'))
		sigaddset(&mask, SIGSEGV);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (strchr(how, 'i'))
		for (int *sig = (int[]){ SIGSEGV, SIGBUS, SIGFPE, SIGTRAP, SIGSTKFLT, SIGUSR1, 0 }; *sig; sig++)
			signal(*sig, SIG_IGN);
	if (strchr(how, 'f'))
		signal(SIGFPE, SIG_IGN);
}

int main(int argc, char **argv)
{
	sigset_t mask;

	if (argc < 3)
		return show(argc > 1 ? argv[1] : "none");
	setvbuf(stdout, NULL, _IONBF, 0);
	block = malloc(128);
	set(argv[1]);
	path = argv[2];
	words = own;
	for (int how = 0; how <= 10; how++) {
		forked(how, 0);
		forked(how, 1);
	}
	for (int flags = -1; flags <= (POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF); flags++)
		spawned(flags);
	piped();
	path = "/nowhere/at/all";
	for (int how = 0; how <= 10; how++) {
		in_place(how);
		overrun();
	}
	sigprocmask(SIG_BLOCK, NULL, &mask);
	printf("%d %d %d\n", sigismember(&mask, SIGSEGV), sigismember(&mask, SIGSTKFLT), signal(SIGFPE, SIG_DFL) == SIG_IGN);
	path = argv[2];
	in_place(1);
	return 1;
}
