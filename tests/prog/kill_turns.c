/* SPDX-License-Identifier: GPL-2.0-or-later
 * What happens to the threads of kill_victim, at random, if it was asked for:
 *
 *	s	a timer's signals come to each thread, on its own stack and on another one; their handlers allocate and release as the thread does, which
 *		libkill_malloc.so allows at any instruction
 *	j	with s: handlers leave what they have interrupted by siglongjmp
 *	f	a thread forks; the child begins anew, with a truth of its own, and is killed at some time. With s also in a handler
 *	e	a thread executes the same program. With s also in a handler
 */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/prog/kill_victim.h"

#define STACK_BYTES	(256ul << 10)
#define LEAST_NS	5000
#define MOST_NS		300000
#define TURN_FORK	400		/* of a thread's turns one in as many */
#define TURN_EXEC	3000
#define TURN_JUMP	8		/* of a handler's */
#define TURN_REAP	100
#define MOST_THREADS	3		/* of an image that is begun */

static const int signals[KILL_HANDLERS] = { SIGUSR1, SIGUSR2 };
static char stacks[KILL_THREADS][STACK_BYTES] __attribute__((aligned(64)));
static atomic_uint nr_stacks;
static __thread struct crew *mine;

/* The thread's timers come one at a time each, again when their handler has run. */
static void wind(struct crew *crew, unsigned k, uint64_t dice)
{
	struct itimerspec in = { .it_value.tv_nsec = LEAST_NS + (long)(dice % MOST_NS) };

	syscall(SYS_timer_settime, crew->timer[k], 0, &in, NULL);
}

static sigset_t block(void)
{
	sigset_t all, before;

	sigemptyset(&all);
	for (unsigned k = 0; k < KILL_HANDLERS; k++)
		sigaddset(&all, signals[k]);
	sigprocmask(SIG_BLOCK, &all, &before);
	return before;
}

/* ---- jumps ------------------------------------------------------------------------------------------------------------------------------------ */

/* The operation that the worker was at stays noted: it has happened, in each figure, or it has not. Its slot is not used again. */
static void leave(struct worker *w, struct kill_note *left)
{
	struct kill_note *note = &w->truth->note, copy = *note;
	enum kill_op op = note->op;

	w->active = false;
	if (op == KILL_NONE)
		return;
	copy.op = KILL_NONE;
	*left = copy;
	ORDER();
	left->op = op;
	ORDER();
	w->truth->sums[note->old.group] = note->old_sums;
	w->truth->sums[note->new.group] = note->new_sums;
	truth->slot[note->slot] = (struct kill_slot){ 0 };
	ORDER();
	note->op = KILL_NONE;
}

static bool may_jump(const struct crew *crew)
{
	enum kill_op op = crew->worker->truth->note.op;

	return turns.jumps && !crew->jumped && op != KILL_NONE && op != KILL_INHERITED;
}

static void jump(struct crew *crew)
{
	unsigned n;

	block();
	if (!may_jump(crew))
		return;
	n = __atomic_fetch_add(&truth->nr_left, 1 + KILL_HANDLERS, __ATOMIC_RELAXED);
	if (n + 1 + KILL_HANDLERS > KILL_LEFT)
		return;
	crew->jumped = true;
	for (unsigned k = 0; k < 1 + KILL_HANDLERS; k++)
		leave(&crew->worker[k], &truth->left[n + k]);
	for (unsigned k = 0; k < KILL_HANDLERS; k++)
		wind(crew, k, next(&crew->worker->random));
	siglongjmp(crew->back, 1);
}

/* ---- processes -------------------------------------------------------------------------------------------------------------------------------- */

static unsigned some_threads(uint64_t dice)
{
	return dice % 2 ? 1 : 1 + (unsigned)(dice / 2 % MOST_THREADS);
}

static void reap(struct crew *crew)
{
	kill(crew->child, SIGKILL);
	waitpid(crew->child, NULL, 0);
	crew->child = 0;
}

/* Some microseconds or none: the child is at its first events then. */
static void dally(uint64_t dice)
{
	for (uint64_t k = 0; k < dice % (1ull << dice / 1024 % 16); k++)
		__asm__ volatile("" : : : "memory");
}

/* The blocks of some slots, which are this thread's meanwhile; returns whose. */
static void take_heirs(struct crew *crew, uint32_t slots[NR_HEIRS], uint64_t heirs[NR_HEIRS])
{
	for (unsigned k = 0; k < NR_HEIRS; k++) {
		uint32_t n = (uint32_t)(next(&crew->worker->random) % KILL_SLOTS);

		heirs[k] = 0;
		slots[k] = KILL_SLOTS;
		if (atomic_flag_test_and_set_explicit(&taken[n], memory_order_acquire))
			continue;
		slots[k] = n;
		heirs[k] = truth->slot[n].address;
	}
}

static void forks(struct crew *crew)
{
	uint64_t dice = next(&crew->worker->random), heirs[NR_HEIRS];
	unsigned image, threads = some_threads(dice >> 8);
	uint32_t slots[NR_HEIRS];
	sigset_t before = block();

	if (!crew->child && image_get(&image)) {
		take_heirs(crew, slots, heirs);
		crew->child = fork();
		if (!crew->child)
			image_begin(image, threads, heirs);
		for (unsigned k = 0; k < NR_HEIRS; k++)
			if (slots[k] < KILL_SLOTS)
				atomic_flag_clear_explicit(&taken[slots[k]], memory_order_release);
		dally(dice >> 20);
		if (crew->child > 0 && dice % 2)
			reap(crew);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* In a handler on the thread's stack, and only what may be called there; the child never returns to what the handler has interrupted. */
static void forks_inside(struct crew *crew)
{
	unsigned image;
	stack_t stack;

	if (crew->child || sigaltstack(NULL, &stack) || stack.ss_flags & SS_ONSTACK || !image_get(&image))
		return;
	crew->child = _Fork();
	if (!crew->child)
		image_begin(image, 1, (const uint64_t[NR_HEIRS]){ 0 });
}

static void executes(uint64_t dice)
{
	unsigned image;

	block();
	if (image_get(&image))
		image_execute(image, some_threads(dice));
}

void turns_take(struct crew *crew)
{
	uint64_t dice = next(&crew->worker->random);

	if (turns.forks && dice % TURN_FORK == 0)
		forks(crew);
	if (crew->child > 0 && dice % TURN_REAP == 1)
		reap(crew);
	if (turns.execs && dice % TURN_EXEC == 2) {
		sigset_t before = block();

		executes(dice >> 20);
		sigprocmask(SIG_SETMASK, &before, NULL);
	}
}

/* ---- handlers --------------------------------------------------------------------------------------------------------------------------------- */

/* The driver's own signals come at instructions that it has chosen: those are left. */
static void handler(int number, siginfo_t *info, void *frame)
{
	unsigned k = number == signals[1];
	struct crew *crew = mine;
	struct worker *w = &crew->worker[1 + k];
	uint64_t dice = next(&w->random);

	(void)frame;
	crew->interrupts++;
	w->active = true;
	/* What was left counts for pmm as under way: a handler in a handler in that would be too deep (AGENT_MAX_LEVEL). */
	for (unsigned i = 0; i < 1 + dice % 4 && !(k && crew->jumped); i++)
		turn(w);
	if ((dice >> 8) % TURN_JUMP == 0 || info->si_code != SI_TIMER)
		jump(crew);
	if (turns.forks && dice >> 16 & 1)
		forks_inside(crew);
	if (turns.execs && (dice >> 17) % 128 == 0)
		executes(dice >> 24);
	w->active = false;
	wind(crew, k, dice >> 28);
}

void turns_begin(void)
{
	if (!turns.signals)
		return;
	block();
	for (unsigned k = 0; k < KILL_HANDLERS; k++) {
		struct sigaction sa = { .sa_handler = SIG_IGN };

		sigaction(signals[k], &sa, NULL);	/* what came before the program was executed goes */
		sa = (struct sigaction){ .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART | (k ? SA_ONSTACK : 0) };
		sigaction(signals[k], &sa, NULL);
	}
}

void turns_thread(struct crew *crew)
{
	stack_t stack = { .ss_sp = stacks[atomic_fetch_add(&nr_stacks, 1) % KILL_THREADS], .ss_size = STACK_BYTES };
	sigset_t none;

	mine = crew;
	if (!turns.signals)
		return;
	sigaltstack(&stack, NULL);
	for (unsigned k = 0; k < KILL_HANDLERS; k++) {
		struct sigevent to = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = signals[k],
				       ._sigev_un._tid = (pid_t)syscall(SYS_gettid) };

		if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &to, &crew->timer[k]))
			fails("no timer");
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (unsigned k = 0; k < KILL_HANDLERS; k++)
		wind(crew, k, next(&crew->worker->random));
}
