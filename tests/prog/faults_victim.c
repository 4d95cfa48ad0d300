/* SPDX-License-Identifier: GPL-2.0-or-later
 * A program to attach to while pmm itself is in trouble. Its threads check themselves all the time: one allocates and releases, one waits in timed
 * system calls that nothing may end early, one in read(). All memory that it will need is mapped before it says "ready", so that its maps stay.
 * At "c" it sends itself signals, checks everything and says "good" or "WRONG ..."; at the end of its input it ends with 45.
 *
 * It has lost 5 blocks of 1000 bytes (lose()) and keeps 7 of 500 (keep()).
 */
#include <errno.h>
#include <linux/futex.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#include "attach.h"

#define NR_SIGNALS 5
#define NR_BLOCKS 40

static atomic_int handled;
static atomic_ulong rounds, waits;
static const char *_Atomic wrong;
static void *kept[7];
static int question[2], answer[2];

SITE static void *churned(size_t bytes) { return malloc(bytes); }
SITE static void *lose(void) { return malloc(1000); }
SITE static void *keep(void) { return malloc(500); }

static void *churn(void *arg)
{
	struct { void *p; size_t bytes; } block[NR_BLOCKS] = { 0 };

	for (unsigned i = 0;; i++) {
		unsigned at = i % NR_BLOCKS;

		if (block[at].p && !filled(block[at].p, block[at].bytes))
			wrong = "a block has changed";
		errno = 1234;
		free(block[at].p);
		block[at].bytes = 16 + i * 37 % 1500;
		block[at].p = churned(block[at].bytes);
		if (!block[at].p || errno != 1234)
			wrong = "errno has changed";
		fill(block[at].p, block[at].bytes);
		if (i % NR_BLOCKS == 0)
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		++rounds;
	}
	return arg;
}

static void *wait_for_nothing(void *arg)
{
	struct timespec ts = { .tv_nsec = 20000000 };
	int word = 0;

	for (unsigned i = 0;; i++) {
		if (i % 3 == 0 && nanosleep(&ts, NULL))
			wrong = "nanosleep was interrupted";
		if (i % 3 == 1 && poll(NULL, 0, 20))
			wrong = "poll was interrupted";
		if (i % 3 == 2 && (syscall(SYS_futex, &word, FUTEX_WAIT, 0, &ts, NULL, 0) != -1 || errno != ETIMEDOUT))
			wrong = "futex was interrupted";
		++waits;
	}
	return arg;
}

static void *echo(void *arg)
{
	char c;

	for (;;) {
		if (read(question[0], &c, 1) != 1)
			wrong = "read was interrupted";
		if (write(answer[1], &c, 1) != 1)
			wrong = "write was interrupted";
	}
	return arg;
}

static void on_signal(int number)
{
	handled += number == SIGRTMIN;
}

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static void check(void)
{
	const unsigned long churned_before = rounds, waited_before = waits;
	const int handled_before = handled;
	char c = 'x';

	for (int i = 0; i < NR_SIGNALS; i++)
		sigqueue(getpid(), SIGRTMIN, (union sigval){ 0 });
	for (int i = 0; i < 20000 && (handled - handled_before < NR_SIGNALS || rounds == churned_before || waits == waited_before); i++)
		nap();
	if (handled - handled_before != NR_SIGNALS)
		wrong = "a signal was lost, or came twice";
	if (rounds == churned_before || waits == waited_before)
		wrong = "a thread does nothing any more";
	if (write(question[1], &c, 1) != 1 || read(answer[0], &c, 1) != 1 || c != 'x')
		wrong = "no echo";
	for (int i = 0; i < 7; i++)
		if (!filled(kept[i], 500))
			wrong = "a block that is kept has changed";
}

static void begin(void *(*function)(void *))
{
	pthread_t t;

	if (pthread_create(&t, NULL, function, NULL))
		_exit(98);
}

int main(void)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	sigset_t all, old;

	mallopt(M_ARENA_MAX, 1);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	mallopt(M_TOP_PAD, 4 << 20);
	sigaction(SIGRTMIN, &sa, NULL);
	if (pipe(question) || pipe(answer))
		return 99;
	for (int i = 0; i < 7; i++)
		kept[i] = fill(hide(keep()), 500);
	for (int i = 0; i < 5; i++)
		memset(hide(lose()), 1, 1000);
	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	begin(wait_for_nothing);
	begin(churn);
	begin(echo);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	while (rounds < 20 * NR_BLOCKS || waits < 4)
		nap();
	say("ready\n");
	while (order()) {
		check();
		if (wrong)
			say("WRONG ");
		say(wrong ? wrong : "good");
		say("\n");
	}
	return 45;
}
