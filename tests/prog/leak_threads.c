/* SPDX-License-Identifier: GPL-2.0-or-later
 * Blocks held by what belongs to a thread: its stack, registers, red zone, keys, the stack its signal handler runs on and the one that it
 * was interrupted on; and by the stacks of threads that have ended. Memcheck scans no vector registers and knows no alternate stacks.
 * An alternate stack that is not in use is known to the kernel alone, which tells nobody but the thread itself: pmm has it ask.
 *
 * expect:
 *   in_main        reachable=1/300
 *   on_stack       reachable=1/301
 *   in_r12         reachable=1/302 exit:any
 *   in_xmm5        reachable=1/303 memcheck:definite=1/303
 *   in_ymm5_high   reachable=1/304 memcheck:definite=1/304
 *   in_redzone     reachable=1/305
 *   on_altstack    reachable=1/306 memcheck:possible=1/306
 *   interrupted    reachable=1/307
 *   altstack       reachable=1/16384 memcheck:any
 *   idle_altstack  reachable=1/16400 memcheck:definite=1/16400 core:definite=1/16400
 *   on_idle_stack  reachable=1/311 memcheck:indirect=1/311 core:indirect=1/311
 *   key_first      reachable=1/308
 *   key_second     reachable=1/309
 *   ended          definite=1/310
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>

#define LEAK_THREADS
#include "leak.h"

/* Read from a pipe that stays empty, with the second argument nowhere but in r12, xmm5, the upper half of ymm5, the red zone. */
#define SCRUB "mov %rdi, %r8\n lea -264(%rsp), %rdi\n mov $32, %ecx\n xor %eax, %eax\n rep stosq\n mov %r8, %rdi\n"
void wait_r12(int fd, void *p), wait_xmm5(int fd, void *p), wait_ymm5(int fd, void *p), wait_redzone(int fd, void *p);
__asm__("wait_r12: push %r12\n mov %rsi, %r12\n" SCRUB "call wait_here\n pop %r12\n ret\n"
	"wait_xmm5: " SCRUB "movq %rsi, %xmm5\n jmp wait_here\n"
	"wait_ymm5: " SCRUB "vmovq %rsi, %xmm6\n vinsertf128 $1, %xmm6, %ymm5, %ymm5\n vpxor %xmm6, %xmm6, %xmm6\n jmp wait_here\n"
	"wait_redzone: " SCRUB "mov %rsi, -64(%rsp)\n"
	"wait_here: lea -8(%rsp), %rsi\n mov $1, %edx\n xor %ecx, %ecx\n xor %r8d, %r8d\n xor %r9d, %r9d\n xor %r10d, %r10d\n xor %r11d, %r11d\n"
	"xor %eax, %eax\n syscall\n ret\n");

static sem_t ready;
static int never[2], nr_tids;
static pid_t tids[16];
static pthread_key_t keys[64];

SITE static void about_to_wait(void)
{
	tids[nr_tids++] = (pid_t)syscall(SYS_gettid);
	sem_post(&ready);
}

SITE static void give_stack(void *stack)
{
	sigaltstack(&(stack_t){ .ss_sp = stack, .ss_size = 16384 }, NULL);
}

SITE static void altstack(void) { give_stack(make(16384)); }
SITE static void *on_idle_stack(void) { return make(311); }

SITE static void idle_altstack(void)
{
	void **stack = make(16400);

	*stack = on_idle_stack();
	give_stack(stack);
}

SITE static void on_altstack(int signal)
{
	void *volatile p = make(306);

	(void)signal;
	about_to_wait();
	wait_redzone(never[0], NULL);
	hide(p);
}

SITE static void interrupted(void)
{
	void *volatile p = make(307);

	altstack();
	raise(SIGUSR1);
	hide(p);
}

SITE static void on_stack(void)
{
	void *volatile p = make(301);

	idle_altstack();
	about_to_wait();
	wait_redzone(never[0], NULL);
	hide(p);
}

SITE static void ended(void)
{
	void *volatile p[16];

	for (int i = 0; i < 16; i++)
		p[i] = i ? p[0] : make(310);
}

SITE static void in_r12(void) { about_to_wait(), wait_r12(never[0], make(302)); }
SITE static void in_xmm5(void) { about_to_wait(), wait_xmm5(never[0], make(303)); }
SITE static void in_ymm5_high(void) { about_to_wait(), wait_ymm5(never[0], make(304)); }
SITE static void in_redzone(void) { about_to_wait(), wait_redzone(never[0], make(305)); }
SITE static void key_first(void) { pthread_setspecific(keys[5], make(308)); }
SITE static void key_second(void) { pthread_setspecific(keys[50], make(309)); }

SITE static void with_keys(void)
{
	pthread_setspecific(keys[51], &ready);
	key_first(), key_second();
	about_to_wait();
	wait_redzone(never[0], NULL);
}

static void *body(void *run)
{
	((void (*)(void))run)();
	return NULL;
}

static void start(void (*run)(void))
{
	pthread_t t;

	pthread_create(&t, NULL, body, (void *)run);
	if (run == ended)
		pthread_join(t, NULL);
	else
		sem_wait(&ready);
}

/* A thread that is about to wait sleeps nowhere else. */
static void settle(pid_t tid)
{
	char path[64], stat[200] = "";

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	do {
		int fd = open(path, O_RDONLY);

		if (fd < 0 || read(fd, stat, sizeof(stat) - 1) < 0)
			_exit(96);
		close(fd);
	} while (!strstr(stat, ") S "));
}

SITE static void in_main(void *volatile *p) { *p = make(300); }

int main(void)
{
	void *volatile p;

	say("ready\n");
	if (!rest(0))
		return 0;
	signal(SIGUSR1, on_altstack);
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on_altstack, .sa_flags = SA_ONSTACK }, NULL);
	if (sem_init(&ready, 0, 0) || pipe(never))
		return 1;
	for (int i = 0; i < 64; i++)
		pthread_key_create(&keys[i], NULL);
	in_main(&p);
	start(ended), start(on_stack), start(interrupted), start(in_r12), start(in_xmm5), start(in_redzone), start(with_keys);
	if (__builtin_cpu_supports("avx"))
		start(in_ymm5_high);
	for (int i = 0; i < nr_tids; i++)
		settle(tids[i]);
	say("done\n");
	rest(0);
	hide(p);
	exit(0);
}
