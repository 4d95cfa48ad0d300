/* SPDX-License-Identifier: GPL-2.0-or-later
 * check_victim ERROR ENTRY [twin|error [CONTEXT]]: one heap error (check_victim.h) with a block of one of C's entries, or its correct twin, in
 * the first thread or where CONTEXT says. Ends with status 0 when it gets there.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_victim.h"

/* ---- entries: 64 bytes, where nothing else is said ---- */

#define TEXT "a text of sixty-three characters, so that its end is the 64th o"

SITE static void by_free(char *p)
{
	free(p);
}

SITE static char *by_malloc(void)
{
	return malloc(64);
}

/* With what alignment leaves behind the end. */
SITE static char *by_malloc_slack(void)
{
	return malloc(57);
}

SITE static char *by_malloc_large(void)
{
	return malloc(2 << 20);
}

SITE static char *by_calloc(void)
{
	return calloc(8, 8);
}

SITE static char *by_realloc(void)
{
	return realloc(NULL, 64);
}

SITE static char *by_realloc_grown(void)
{
	return realloc(malloc(20), 64);
}

SITE static char *by_realloc_shrunk(void)
{
	return realloc(malloc(500), 64);
}

SITE static char *by_reallocarray(void)
{
	return reallocarray(NULL, 8, 8);
}

SITE static char *by_posix_memalign(void)
{
	void *p = NULL;

	return posix_memalign(&p, 64, 64) ? NULL : p;
}

SITE static char *by_aligned_alloc(void)
{
	return aligned_alloc(32, 64);
}

SITE static char *by_memalign(void)
{
	return memalign(64, 64);
}

SITE static char *by_valloc(void)
{
	return valloc(4096);
}

SITE static char *by_pvalloc(void)
{
	return pvalloc(4096);
}

SITE static char *by_strdup(void)
{
	return strdup(TEXT);
}

SITE static char *by_strndup(void)
{
	return strndup(TEXT TEXT, 63);
}

/* 120 bytes of the C library's choice. */
SITE static char *by_getdelim(void)
{
	char text[] = TEXT "\n", *line = NULL;
	FILE *f = fmemopen(text, sizeof(text) - 1, "r");
	size_t n = 0;

	if (!f || getdelim(&line, &n, '\n', f) < 0)
		abort();
	fclose(f);
	return line;
}

static const struct entry entries[] = {
	{ "malloc", by_malloc, by_free, 64 }, { "malloc-slack", by_malloc_slack, by_free, 57 },
	{ "malloc-large", by_malloc_large, by_free, 2 << 20 }, { "calloc", by_calloc, by_free, 64 }, { "realloc", by_realloc, by_free, 64 },
	{ "realloc-grown", by_realloc_grown, by_free, 64 }, { "realloc-shrunk", by_realloc_shrunk, by_free, 64 },
	{ "reallocarray", by_reallocarray, by_free, 64 }, { "posix_memalign", by_posix_memalign, by_free, 64 },
	{ "aligned_alloc", by_aligned_alloc, by_free, 64 }, { "memalign", by_memalign, by_free, 64 }, { "valloc", by_valloc, by_free, 4096 },
	{ "pvalloc", by_pvalloc, by_free, 4096 }, { "strdup", by_strdup, by_free, 64 }, { "strndup", by_strndup, by_free, 64 },
	{ "getdelim", by_getdelim, by_free, 120 }, { NULL, NULL, NULL, 0 }
};

/* ---- requests ---- */

static volatile size_t minus_five = -(size_t)5;

SITE static void ask_absurd(const struct entry *e, int wrong)
{
	size_t n = wrong ? minus_five : 5;
	void *p = NULL;

	if (!strcmp(e->name, "malloc"))
		p = malloc(n);
	else if (!strcmp(e->name, "calloc"))
		p = calloc(n, 1);
	else if (!strcmp(e->name, "realloc"))
		p = realloc(NULL, n);
	else if (!strcmp(e->name, "memalign"))
		p = memalign(64, n);
	free(p);
}

SITE static void ask_zero(const struct entry *e, int wrong)
{
	char *p = strcmp(e->name, "malloc") ? calloc(!wrong, 8) : malloc(!wrong);

	free(p);
}

/* What does not fit a number is no error: the function says so itself. */
SITE static void ask_overflow(const struct entry *e, int wrong)
{
	(void)e;
	free(calloc(wrong ? SIZE_MAX / 2 : 2, 8));
}

static const struct error own_errors[] = {
	{ "ask-absurd", ask_absurd }, { "ask-zero", ask_zero }, { "ask-overflow", ask_overflow }, { NULL, NULL }
};

/* ---- where ---- */

static const struct error *error;
static const struct entry *entry;
static int wrong;

__attribute__((visibility("default"))) int victim_commit(const char *error_name, const char *entry_name, int is_wrong);
int victim_commit(const char *error_name, const char *entry_name, int is_wrong)
{
	error = error_named(common_errors, error_name);
	error = error ? error : error_named(own_errors, error_name);
	entry = entry_named(entries, entry_name);
	wrong = is_wrong;
	if (!error || !entry)
		return -1;
	error->commit(entry, wrong);
	return 0;
}

#ifndef LIBRARY

static const char *context;

static void commit(void)
{
	error->commit(entry, wrong);
}

static void *in_thread(void *arg)
{
	commit();
	return arg;
}

static void in_signal(int sig)
{
	(void)sig;
	commit();
}

/* The parent's block, which a child of it uses. */
static char *parents;

static char *of_parent(void)
{
	return parents;
}

static int in_child(int its_own)
{
	struct entry of_parents = *entry;
	int status = 1;
	pid_t pid;

	if (!its_own) {
		parents = entry->make();
		of_parents.make = of_parent;
		entry = &of_parents;
	}
	pid = fork();
	if (!pid) {
		commit();
		exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

static int in_library(char **argv)
{
	int (*its_commit)(const char *error_name, const char *entry_name, int is_wrong);
	void *library = dlopen("libcheck_victim_in.so", RTLD_NOW);

	if (!library)
		return puts(dlerror());
	*(void **)&its_commit = dlsym(library, "victim_commit");
	if (its_commit(argv[1], argv[2], wrong))
		return 2;
	return dlclose(library);
}

/* Calls that change what pages may do are refused from now on. */
static int filtered(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_madvise, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int in_place(char **argv)
{
	pthread_t t;

	if (!context)
		return commit(), 0;
	if (!strcmp(context, "thread"))
		return pthread_create(&t, NULL, in_thread, NULL) || pthread_join(t, NULL);
	if (!strcmp(context, "locked"))
		return mlockall(MCL_CURRENT | MCL_FUTURE) || (commit(), 0);
	if (!strcmp(context, "filtered"))
		return filtered() || (commit(), 0);
	if (!strcmp(context, "signal"))
		return signal(SIGUSR1, in_signal) == SIG_ERR || raise(SIGUSR1);
	if (!strcmp(context, "exec"))
		return execv("/proc/self/exe", (char *[]){ argv[0], argv[1], argv[2], argv[3], NULL });
	if (!strcmp(context, "atexit"))
		return atexit(commit);
	if (!strcmp(context, "library"))
		return in_library(argv);
	return !strcmp(context, "child") ? in_child(1) : !strcmp(context, "child-of-owner") ? in_child(0) : 0;
}

/* Of the program; its arguments are given by the C library. */
__attribute__((constructor)) static void begin(int argc, char **argv)
{
	if (argc < 3)
		return;
	error = error_named(common_errors, argv[1]);
	error = error ? error : error_named(own_errors, argv[1]);
	entry = entry_named(entries, argv[2]);
	wrong = argc < 4 || strcmp(argv[3], "twin");
	context = argc > 4 ? argv[4] : NULL;
	if (error && entry && context && !strcmp(context, "constructor"))
		commit();
}

__attribute__((destructor)) static void end(void)
{
	if (context && !strcmp(context, "destructor"))
		commit();
}

int main(int argc, char **argv)
{
	(void)argc;
	return error && entry ? in_place(argv) : 64;
}

#endif
