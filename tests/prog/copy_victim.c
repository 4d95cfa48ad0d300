/* SPDX-License-Identifier: GPL-2.0-or-later
 * A process that must not notice that it is copied. First prints the address of its pages, all of one mapping: of each of 4 pairs a thread
 * counts up the first word of the first page and then that of the second. Then works until its standard input ends, prints "right" and
 * exits with 7, or says what was wrong and exits with 1: wait() of every kind says ECHILD, no SIGCHLD comes.
 * Arguments: "signalfd" - SIGCHLD is blocked and read from a descriptor; "child" - has a child, that alone must be waited for;
 * "limited" - its user may have no more processes (RLIMIT_NPROC);
 * "shared", "kept", "wiped" - the pages are shared with its copies, not given to them (MADV_DONTFORK), given to them empty (MADV_WIPEONFORK);
 * "dropped" - shared, and taken out of its page table again and again, as the kernel's reclaim does;
 * "later" - shared, and each pair is touched for the first time a while after the one before.
 * On a line of input it closes descriptor 5.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAIRS 4
#define APART_NS 20000000	/* between the beginnings of pairs that begin "later" */

static atomic_bool ended;
static bool later;
static atomic_int signals, wrongs;
static _Atomic uint64_t *page[2 * PAIRS];

static void on_child(int number)
{
	signals += number == SIGCHLD;
}

static void *counts(void *arg)
{
	_Atomic uint64_t **pair = arg;

	if (later)
		nanosleep(&(struct timespec){ .tv_nsec = (pair - page) / 2 * APART_NS }, NULL);
	while (!ended) {
		++*pair[0];
		++*pair[1];
	}
	return NULL;
}

static void expect_none(const char *what, long rc)
{
	if ((rc != -1 || errno != ECHILD) && wrongs++ < 20)
		printf("%s: %ld, %s\n", what, rc, strerror(errno));
}

static void *waits(void *arg)
{
	siginfo_t info;

	while (!ended) {
		expect_none("wait", wait(NULL));
		expect_none("waitpid", waitpid(-1, NULL, WNOHANG | WUNTRACED));
		expect_none("waitid", waitid(P_ALL, 0, &info, WEXITED | WNOWAIT));
	}
	return arg;
}

/* A child that ends when this process does its part, and whose end is the only thing there is to wait for. */
static void *waits_for_child(void *arg)
{
	while (!ended) {
		pid_t child = fork();
		int status = 0;

		if (!child) {
			nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
			_exit(3);
		}
		if ((wait(&status) != child || status != 3 << 8) && wrongs++ < 20)
			printf("wait: status %#x, %s\n", status, strerror(errno));
		expect_none("then", waitpid(-1, NULL, WNOHANG));
		signals--;
	}
	return arg;
}

static void *drops(void *arg)
{
	while (!ended) {
		madvise(arg, 2 * PAIRS * 4096, MADV_DONTNEED);
		nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
	}
	return arg;
}

static char *map_pages(const char *how)
{
	bool shared = !strcmp(how, "shared") || !strcmp(how, "dropped") || !strcmp(how, "later");
	size_t bytes = 2 * PAIRS * 4096;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);

	if (!strcmp(how, "kept") || !strcmp(how, "wiped"))
		madvise(memory, bytes, how[0] == 'k' ? MADV_DONTFORK : MADV_WIPEONFORK);
	return memory;
}

int main(int argc, char **argv)
{
	const bool child = argc > 1 && !strcmp(argv[1], "child"), by_fd = argc > 1 && !strcmp(argv[1], "signalfd");
	struct sigaction action = { .sa_handler = on_child, .sa_flags = SA_RESTART };
	char *memory = map_pages(argc > 1 ? argv[1] : "");
	struct signalfd_siginfo info;
	pthread_t thread[PAIRS + 1];
	sigset_t set;
	int fd = -1;
	char c;

	later = argc > 1 && !strcmp(argv[1], "later");
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaction(SIGCHLD, &action, NULL);
	if (by_fd && !sigprocmask(SIG_BLOCK, &set, NULL))
		fd = signalfd(-1, &set, SFD_NONBLOCK);
	for (int i = 0; i < 2 * PAIRS; i++)
		page[i] = (_Atomic uint64_t *)(void *)(memory + i * 4096);
	for (int i = 0; i < PAIRS; i++)
		pthread_create(&thread[i], NULL, counts, &page[2 * i]);
	if (argc > 1 && !strcmp(argv[1], "dropped"))
		pthread_create(&thread[PAIRS], NULL, drops, memory);
	else
		pthread_create(&thread[PAIRS], NULL, child ? waits_for_child : waits, NULL);
	if (argc > 1 && !strcmp(argv[1], "limited") && setrlimit(RLIMIT_NPROC, &(struct rlimit){ 0 }))
		return 1;
	printf("%p\n", (void *)memory);
	for (ssize_t n; (n = read(0, &c, 1)) != 0; )
		if (n == 1)
			close(5);
		else
			wrongs += printf("read: %s\n", strerror(errno)) > 0;
	ended = true;
	for (int i = 0; i <= PAIRS; i++)
		pthread_join(thread[i], NULL);
	if (signals || (by_fd && read(fd, &info, sizeof(info)) != -1))
		wrongs += printf("SIGCHLD: %d more than children\n", (int)signals) > 0;
	if (!wrongs)
		puts("right");
	return wrongs ? 1 : 7;
}
