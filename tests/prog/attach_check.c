/* SPDX-License-Identifier: GPL-2.0-or-later
 * A program with heap errors to attach to. Says "ready", then obeys:
 *   k  keeps 200 blocks of 4096 bytes -> "kept"           c  checks and resizes them, asks for their sizes -> "good"
 *   f  releases half of them -> "freed"                   o  reads behind a block (overrun) -> "over"
 *   w  writes before a block (underrun) -> "under"        u  reads a released block (used_late) -> "late"
 *   d  releases a block twice (twice) -> "twice"          p  writes behind a block where nothing stops it (padded) -> "padded"
 *   h  own handler for SIGSEGV: a fault of its own is caught, sigaction() shows it -> "caught"
 *   t  4 threads allocate, check and release -> "joined"  y  forks; the child does k, c and f -> "child"
 *   b  blocks SIGSEGV, allocates -> "blocked"             n  a handler behind the C library's back, allocates -> "behind"
 *   x  runs itself anew -> "ready"                        i  a thread waits in sigsuspend() from now on -> "waits"
 *   m  a write barrier: pages of a block are read-only, its handler opens each that is written to -> "barred"
 *   at the end of input: status 42
 *   s  a storm until the end: threads allocate, hand blocks to each other, fault and fork -> "storming"; status 91 to 97 when anything was wrong
 */
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "attach.h"

#define NR 200
#define BYTES 4096

static void *kept[NR];
static volatile unsigned char sink;
static sigjmp_buf back;

SITE static void *make(void) { return fill(hide(malloc(BYTES)), BYTES); }
SITE static void overrun(void) { unsigned char *p = make(); sink = ((unsigned char *)hide(p))[BYTES]; free(p); }
SITE static void underrun(void) { unsigned char *p = make(); ((volatile unsigned char *)hide(p))[-1] = 1; free(p); }
SITE static void release(void *p) { free(p); }
SITE static void used_late(void) { unsigned char *p = make(); release(p); sink = ((unsigned char *)hide(p))[7]; }
SITE static void twice(void) { void *p = make(); release(p); free(hide(p)); }
SITE static void padded(void) { char *p = hide(malloc(4088)); p[4088] = 0; p[4089] = 1; free(p); }

static void keep(void)
{
	for (int i = 0; i < NR; i++)
		kept[i] = make();
}

static int check(void)
{
	for (int i = 0; i < NR; i++) {
		if (!kept[i] || !filled(kept[i], BYTES) || malloc_usable_size(kept[i]) < BYTES)
			return 0;
		unsigned char was = *(unsigned char *)kept[i], *p = realloc(kept[i], 2 * BYTES);

		if (!p || *p != was)
			return 0;
		free(i % 3 ? p : NULL);
		kept[i] = i % 3 ? make() : fill(p, BYTES);
	}
	return 1;
}

static void unkeep(int to)
{
	for (int i = 0; i < to; i++) {
		free(kept[i]);
		kept[i] = NULL;
	}
}

static void *work(void *arg)
{
	for (int i = 0; i < 2000; i++) {
		size_t n = 1 + (size_t)i * 7 % 9000;
		void *p = fill(hide(i % 2 ? malloc(n) : i % 4 ? calloc(1, n) : aligned_alloc(64, (n + 63) & ~63ul)), n);

		if (!filled(p, n))
			return "bad";
		free(p);
	}
	return arg;
}

static int threads(void)
{
	pthread_t t[4];
	void *bad = NULL, *ret;

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++)
		if (!pthread_join(t[i], &ret) && ret)
			bad = ret;
	return !bad;
}

static void handler(int signal, siginfo_t *info, void *context)
{
	(void)context;
	siglongjmp(back, signal == SIGSEGV && info->si_addr == (void *)8 ? 1 : 2);
}

/* 0, or what was wrong. */
static int own_handler(void)
{
	struct sigaction a = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK }, now;
	int ret;

	if (sigaction(SIGSEGV, &a, NULL))
		return 2;
	for (int i = 0; i < 3; i++) {
		ret = sigsetjmp(back, 1);
		if (!ret)
			*(volatile int *)hide((void *)8) = 1;
		if (ret != 1)
			return 3;
	}
	if (sigaction(SIGSEGV, NULL, &now))
		return 4;
	return now.sa_sigaction != handler ? 5 : (now.sa_flags & (SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND)) != a.sa_flags ? 6 : 0;
}

static char *barred;
static int opened;

static void barrier(int signal, siginfo_t *info, void *context)
{
	char *page = (char *)((uintptr_t)info->si_addr & ~4095ul);

	(void)signal, (void)context;
	opened += (size_t)(page - barred) < 4 * BYTES && !mprotect(page, BYTES, PROT_READ | PROT_WRITE);
}

/* Each page is written to twice in each round, of which the handler is told once. */
static int barriers(void)
{
	struct sigaction a = { .sa_sigaction = barrier, .sa_flags = SA_SIGINFO };

	opened = 0;
	barred = hide(aligned_alloc(BYTES, 4 * BYTES));
	memset(barred, 0, 4 * BYTES);
	sigaction(SIGSEGV, &a, NULL);
	for (int i = 0; i < 10; i++) {
		mprotect(barred, 4 * BYTES, PROT_READ);
		for (int k = 0; k < 8; k++)
			((volatile char *)barred)[k % 4 * BYTES + i]++;
	}
	free(barred);
	return opened == 40;
}

static void child(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		keep();
		_exit(check() ? unkeep(NR), 0 : 1);
	}
	say(waitpid(pid, &status, 0) == pid && !status ? "child\n" : "WRONG child\n");
}

/* ---- the storm ---- */

#define BOX_BYTES 3000

static _Atomic(void *) box[256];
static atomic_int stop, wrong;

static void *churn(void *arg)
{
	for (unsigned i = (unsigned)(size_t)arg; !stop; i++) {
		void *p = atomic_exchange(&box[i * 31 % 256], fill(malloc(BOX_BYTES), BOX_BYTES));

		if ((p && !filled(p, BOX_BYTES)) || (i % 64 == 0 && work(NULL)))
			wrong = 1;
		free(p);
	}
	return NULL;
}

static void *disturb(void *arg)
{
	while (!stop) {
		pid_t pid = arg ? fork() : 0;
		int status = 0;

		if (!arg && (status = own_handler()))
			wrong = status;
		if (arg && !pid) {
			keep();
			_exit(check() ? 0 : 1);
		}
		if (arg && (waitpid(pid, &status, 0) != pid || status))
			wrong = 7;
		usleep(1000);
	}
	return NULL;
}

static pthread_t storm[6];

static void storm_begin(void)
{
	for (size_t i = 0; i < 6; i++)
		pthread_create(&storm[i], NULL, i < 4 ? churn : disturb, (void *)(i & ~4ul));
}

static int storm_end(void)
{
	stop = 1;
	for (int i = 0; i < 6; i++)
		if (storm[i])
			pthread_join(storm[i], NULL);
	return wrong ? 90 + wrong : 42;
}

static void behind(void)
{
	struct { void *handler; unsigned long flags; void *restorer; unsigned long mask; } a;

	syscall(SYS_rt_sigaction, SIGSEGV, NULL, &a, 8);
	a.handler = SIG_DFL;
	syscall(SYS_rt_sigaction, SIGSEGV, &a, NULL, 8);
	work(NULL);
}

static void *waits(void *arg)
{
	sigset_t none;

	sigemptyset(&none);
	*(atomic_int *)arg = 1;
	for (;;)
		sigsuspend(&none);
	return NULL;
}

static void wait_for_signals(void)
{
	static atomic_int there;
	pthread_t t;

	pthread_create(&t, NULL, waits, &there);
	while (!there)
		sched_yield();
}

static void block(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	sigprocmask(SIG_BLOCK, &set, NULL);
	work(NULL);
}

int main(int argc, char **argv)
{
	char c;

	(void)argc;
	free(hide(malloc(1)));
	say("ready\n");
	while ((c = order()))
		switch (c) {
		case 'k': keep(); say("kept\n"); break;
		case 'c': say(check() ? "good\n" : "WRONG\n"); break;
		case 'f': unkeep(NR / 2); say("freed\n"); break;
		case 'a': unkeep(NR); say("freed\n"); break;
		case 'o': overrun(); say("over\n"); break;
		case 'w': underrun(); say("under\n"); break;
		case 'u': used_late(); say("late\n"); break;
		case 'd': twice(); say("twice\n"); break;
		case 'p': padded(); say("padded\n"); break;
		case 'h': say(!own_handler() ? "caught\n" : "WRONG\n"); break;
		case 'm': say(barriers() ? "barred\n" : "WRONG\n"); break;
		case 't': say(threads() ? "joined\n" : "WRONG\n"); break;
		case 'y': child(); break;
		case 'b': block(); say("blocked\n"); break;
		case 'n': behind(); say("behind\n"); break;
		case 's': storm_begin(); say("storming\n"); break;
		case 'i': wait_for_signals(); say("waits\n"); break;
		case 'x': execv(argv[0], argv); break;
		}
	return storm_end();
}
