/* SPDX-License-Identifier: GPL-2.0-or-later
 * Random call chains through every kind of frame, for tests/prog/same_stacks.c to compare: plain,
 * alloca, realigned, larger than a page, callbacks out of the C library, signal handlers on both
 * stacks, tail calls, functions whose CFA is in rbx, is an expression, or whose rbp is somewhere
 * else, threads, coroutines, and one deeper than a stack may be.
 *
 * Neighbouring chains share their outer part, or seem to: the same frames at the same place, called
 * from elsewhere.
 */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "victim.h"

#define ROUNDS	3000

struct way {
	uint64_t random;
	int depth;		/* frames still to go */
};

static __thread struct way *signal_way __attribute__((tls_model("initial-exec")));

static void go(struct way *w);

static unsigned int pick(struct way *w, unsigned int n)
{
	w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned int)(w->random >> 33) % n;
}

SITE static void leaf(struct way *w)
{
	free(hide(malloc(1 + pick(w, 100))));
	free(hide(calloc(1 + pick(w, 10), 8)));
}

SITE static void plain(struct way *w) { go(w); go(w); hide(w); }
SITE static void tail(struct way *w) { go(w); }
SITE static void with_alloca(struct way *w) { hide(alloca(pick(w, 500))); go(w); hide(w); }

SITE static void with_large(struct way *w)
{
	char v[9000];

	hide(v);
	go(w);
	hide(v);
}

SITE static void with_realigned(struct way *w)
{
	char v[64] __attribute__((aligned(128)));

	hide(v);
	go(w);
	hide(v);
}

SITE static void with_realigned_alloca(struct way *w)
{
	char v[64] __attribute__((aligned(64)));

	hide(v);
	hide(alloca(pick(w, 300)));
	go(w);
	hide(v);
}

static __thread struct way *sort_way __attribute__((tls_model("initial-exec")));

static int order(const void *a, const void *b)
{
	struct way *w = sort_way;

	sort_way = NULL;
	if (w)
		go(w);
	return *(const int *)a - *(const int *)b;
}

SITE static void with_qsort(struct way *w)
{
	int v[] = { 3, 1, 2, 5, 4 };

	sort_way = w;
	qsort(v, 5, sizeof(v[0]), order);
}

static void handler(int number)
{
	struct way *w = signal_way;

	(void)number;
	signal_way = NULL;
	if (w)
		go(w);
	hide(w);
}

SITE static void with_signal(struct way *w)
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = SA_NODEFER };

	sigaction(SIGUSR1, &act, NULL);
	signal_way = w;
	raise(SIGUSR1);
}

SITE static void with_jump(struct way *w)
{
	jmp_buf env;

	if (!setjmp(env)) {
		leaf(w);
		longjmp(env, 1);
	}
	go(w);
	hide(w);
}

/*
 * By hand: what compilers rarely or never do. Each calls go() with its own argument.
 *   cfa_in_rbx      keeps its CFA in rbx, as glibc's _dl_runtime_resolve does, and clobbers rbp
 *   cfa_expression  keeps its CFA in a stack slot, as OpenSSL's assembler functions do
 *   rbp_in_r12      keeps the caller's rbp in r12
 *   fault           is interrupted by a signal at its first instruction, with another CFA before it
 *   saves_rbp       pushes rbp and uses it otherwise
 */
void fault(void), saves_rbp(struct way *w);
void cfa_in_rbx(struct way *w), cfa_expression(struct way *w), rbp_in_r12(struct way *w);
void call_go(struct way *w);
void call_go(struct way *w) { go(w); hide(w); }

__asm__(".text\n"
	"cfa_in_rbx:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rbp, 0\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rbx, 0\n"
	"	mov %rsp, %rbx\n"
	"	.cfi_def_cfa %rbx, 24\n"
	"	and $-64, %rsp\n"
	"	sub $256, %rsp\n"
	"	xor %ebp, %ebp\n"
	"	call call_go\n"
	"	mov %rbx, %rsp\n"
	"	.cfi_def_cfa %rsp, 24\n"
	"	pop %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore %rbx\n"
	"	pop %rbp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore %rbp\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"cfa_expression:\n"
	"	.cfi_startproc\n"
	"	mov %rsp, %rax\n"
	"	.cfi_def_cfa_register %rax\n"
	"	sub $200, %rsp\n"
	"	and $-64, %rsp\n"
	"	mov %rax, 24(%rsp)\n"
	"	.cfi_escape 0x0f, 5, 0x77, 24, 0x06, 0x23, 8\n"	/* *(rsp + 24) + 8 */
	"	call call_go\n"
	"	mov 24(%rsp), %rsp\n"
	"	.cfi_def_cfa %rsp, 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"rbp_in_r12:\n"
	"	.cfi_startproc\n"
	"	push %r12\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %r12, 0\n"
	"	mov %rbp, %r12\n"
	"	.cfi_register %rbp, %r12\n"
	"	mov $77, %ebp\n"
	"	call call_go\n"
	"	mov %r12, %rbp\n"
	"	.cfi_restore %rbp\n"
	"	pop %r12\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore %r12\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"saves_rbp:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rbp, 0\n"
	"	mov $78, %ebp\n"
	"	call call_go\n"
	"	pop %rbp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore %rbp\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"never_called:\n"
	"	.cfi_startproc\n"
	"	.cfi_def_cfa_offset 4096\n"
	"	nop\n"
	"	.cfi_endproc\n"
	"fault:\n"
	"	.cfi_startproc\n"
	"	ud2\n"
	"	ret\n"
	"	.cfi_endproc\n");

static void fault_handler(int number, siginfo_t *info, void *context)
{
	struct way *w = signal_way;

	(void)number;
	(void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
	signal_way = NULL;
	go(w);
}

SITE static void with_fault(struct way *w)
{
	struct sigaction act = {
		.sa_sigaction = fault_handler, .sa_flags = SA_NODEFER | SA_SIGINFO,
	};

	sigaction(SIGILL, &act, NULL);
	signal_way = w;
	fault();
	hide(w);
}

static void go(struct way *w)
{
	static void (*const ways[])(struct way *) = {
		plain, tail, with_alloca, with_large, with_realigned, with_realigned_alloca,
		with_qsort, with_signal, with_jump, cfa_in_rbx, cfa_expression, rbp_in_r12, call_go,
		with_fault,
	};

	if (--w->depth < 0) {
		leaf(w);
		return;
	}
	ways[pick(w, sizeof(ways) / sizeof(ways[0]))](w);
	hide(w);
}

SITE static void rounds(uint64_t seed, int nr)
{
	struct way w = { .random = seed };
	int k;

	for (k = 0; k < nr; k++) {
		if (k % 3 == 0)
			w.random = seed + (uint64_t)(k % 100);	/* the same chain again */
		w.depth = (int)pick(&w, 12);
		go(&w);
	}
}

static void *thread(void *arg)
{
	rounds((uintptr_t)arg, ROUNDS / 4);
	return NULL;
}

SITE static void deep(int n)
{
	if (n)
		deep(n - 1);
	else
		leaf(&(struct way){ .random = 5 });
	hide(&n);
}

/*
 * Chains that differ only in a saved rbp: one frame more outside, so many bytes less of alloca
 * inside. All that the inner frames hold is the same at the same place, and where the outer frames
 * were is left as it was.
 */
static uintptr_t frame_at[4];

SITE static void look_alike(struct way *w, int n, size_t pad)
{
	frame_at[n] = (uintptr_t)__builtin_frame_address(0);
	if (n) {
		look_alike(w, n - 1, pad);
	} else {
		hide(alloca(pad));
		saves_rbp(w);
	}
	hide(w);
}

SITE static void look_alikes(void)
{
	struct way w = { .random = 8 };
	size_t frame_bytes;
	int k;

	look_alike(&w, 1, 16);
	frame_bytes = frame_at[1] - frame_at[0];
	for (k = 0; k < 64; k++) {
		w.depth = 0;
		w.random = 8;
		look_alike(&w, k % 4, 4096 - (size_t)(k % 4) * frame_bytes);
	}
}

static ucontext_t main_context, coroutine;

static void coroutine_body(void)
{
	rounds(99, ROUNDS / 4);
	swapcontext(&coroutine, &main_context);
	rounds(98, ROUNDS / 4);
}

int main(void)
{
	static char stack[1 << 20];
	char *other = malloc(1 << 16);
	stack_t alternate = { .ss_sp = other, .ss_size = 1 << 16 };
	struct sigaction act = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	struct way w = { .random = 3, .depth = 3 };
	pthread_t t;
	int k;

	rounds(1, ROUNDS);
	for (k = 0; k < 20; k++)
		deep(k * 20);
	look_alikes();

	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR2, &act, NULL);
	for (k = 0; k < 200; k++) {
		w.random = (uint64_t)k;
		w.depth = 3;
		signal_way = &w;
		raise(SIGUSR2);
	}

	for (k = 2; k < 6; k++) {
		pthread_create(&t, NULL, thread, (void *)(uintptr_t)k);
		pthread_join(t, NULL);
	}

	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = sizeof(stack);
	coroutine.uc_link = &main_context;
	makecontext(&coroutine, coroutine_body, 0);
	swapcontext(&main_context, &coroutine);
	rounds(7, ROUNDS / 4);
	swapcontext(&main_context, &coroutine);
	return 0;
}
