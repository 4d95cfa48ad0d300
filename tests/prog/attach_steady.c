/* SPDX-License-Identifier: GPL-2.0-or-later
 * A program whose mappings, descriptors, limits and signals stay what they are while its threads allocate without pause: whatever differs after
 * somebody attached and went is his. "p": answers "on" once each of its threads has got on since. Else as attach_stress.c: checks its
 * data, at the end "unharmed" and status 45.
 */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>

#include "attach.h"

#define NR_THREADS	3
#define NR_SLOTS	64
#define MOST_BYTES	1500

static atomic_int stop, wrong;
static atomic_ulong rounds[NR_THREADS];

SITE static void *steady_block(size_t bytes) { return malloc(bytes); }

static void one(unsigned *seed, void **slot, size_t *bytes)
{
	if (*slot && !filled(*slot, *bytes))
		wrong = 1;
	free(*slot);
	*bytes = 16 + (unsigned)rand_r(seed) % MOST_BYTES;
	*slot = fill(steady_block(*bytes), *bytes);
}

static void *work(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg + 1;
	void *slot[NR_SLOTS] = { 0 };
	size_t bytes[NR_SLOTS];

	for (uint64_t i = 0; !stop; i++) {
		one(&seed, &slot[i % NR_SLOTS], &bytes[i % NR_SLOTS]);
		rounds[(uintptr_t)arg]++;
		if (i % 32 == 0)
			usleep(1000);
	}
	for (unsigned i = 0; i < NR_SLOTS; i++)
		free(slot[i]);
	return NULL;
}

/* Heap for all that may come, so that it does not grow any more. */
static void warm_up(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	free(malloc(16 << 20));
}

static void wait_for_all(void)
{
	unsigned long before[NR_THREADS];

	for (int i = 0; i < NR_THREADS; i++)
		before[i] = rounds[i];
	for (int i = 0; i < NR_THREADS; i++)
		while (rounds[i] == before[i])
			usleep(1000);
}

static char alternate[1 << 16];

static void on_signal(int signal)
{
	(void)signal;
}

static int handled_by(int signal, void (*handler)(int))
{
	struct sigaction now;

	return !sigaction(signal, NULL, &now) && now.sa_handler == handler;
}

/* Its own signals, as it set them. */
static void check_signals(void)
{
	sigset_t mask;
	stack_t now;

	if (sigaltstack(NULL, &now) || now.ss_sp != alternate || now.ss_flags || pthread_sigmask(SIG_BLOCK, NULL, &mask) ||
	    sigismember(&mask, SIGUSR1) || sigismember(&mask, SIGUSR2) != 1 || !handled_by(SIGUSR1, on_signal) || !handled_by(SIGPIPE, SIG_IGN) ||
	    !handled_by(SIGSEGV, SIG_DFL))
		wrong = 1;
}

int main(void)
{
	pthread_t t[NR_THREADS];
	sigset_t mask;
	char c;

	warm_up();
	signal(SIGUSR1, on_signal);
	signal(SIGPIPE, SIG_IGN);
	sigaltstack(&(stack_t){ .ss_sp = alternate, .ss_size = sizeof(alternate) }, NULL);
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &mask, NULL);
	for (uintptr_t i = 0; i < NR_THREADS; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	wait_for_all();
	say("ready\n");
	while ((c = order()))
		if (c == 'p') {
			wait_for_all();
			check_signals();
			say("on\n");
		}
	stop = 1;
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(t[i], NULL);
	if (!wrong)
		say("unharmed\n");
	return wrong ? 1 : 45;
}
