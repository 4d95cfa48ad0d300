/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code run from a state of the processor to another: state_run.h. */
#include "tests/unit/state_run.h"

#include <signal.h>
#include <ucontext.h>

#include "src/entries/undo.h"

static const int greg_of[NR_REGS] = {
	REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
	REG_R8,	 REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

uint64_t state_stack[STACK_WORDS] __attribute__((aligned(16)));
static struct state *ended;
struct state *state_run_from;
uint64_t state_run_pc, state_run_sp;
void state_run_enter(void);
extern const char state_run_leave[];

/*
 * All registers as *state_run_from says, then to state_run_pc. The handler of the signal that
 * ends it goes to state_run_leave.
 */
__asm__(".globl state_run_enter\n"
	"state_run_enter:\n"
	"	push %rbx\n	push %rbp\n	push %r12\n	push %r13\n	push %r14\n	"
	"push %r15\n"
	"	mov %rsp, state_run_sp(%rip)\n"
	"	mov state_run_from(%rip), %rax\n"
	"	push 128(%rax)\n"
	"	popfq\n"
	"	mov 32(%rax), %rsp\n"
	"	mov 8(%rax), %rcx\n	mov 16(%rax), %rdx\n	mov 24(%rax), %rbx\n	mov "
	"40(%rax), %rbp\n"
	"	mov 48(%rax), %rsi\n	mov 56(%rax), %rdi\n	mov 64(%rax), %r8\n	mov "
	"72(%rax), %r9\n"
	"	mov 80(%rax), %r10\n	mov 88(%rax), %r11\n	mov 96(%rax), %r12\n	mov "
	"104(%rax), %r13\n"
	"	mov 112(%rax), %r14\n	mov 120(%rax), %r15\n	mov (%rax), %rax\n"
	"	jmp *state_run_pc(%rip)\n"
	".globl state_run_leave\n"
	"state_run_leave:\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbp\n	"
	"pop %rbx\n"
	"	ret\n");

static void on_end(int signal, siginfo_t *info, void *context)
{
	greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)info;
	if (!ended) {			/* a fault of our own */
		struct sigaction plain = { .sa_handler = SIG_DFL };

		sigaction(signal, &plain, NULL);
		return;
	}
	for (unsigned i = 0; i < NR_REGS; i++)
		ended->reg[i] = (uint64_t)g[greg_of[i]];
	ended->flags = (uint64_t)g[REG_EFL];
	ended->pc = (uint64_t)g[REG_RIP];
	ended->signal = signal;
	g[REG_RIP] = (greg_t)state_run_leave;
	g[REG_RSP] = (greg_t)state_run_sp;
	g[REG_EFL] = 0x202;
}

void state_run(uint64_t pc, const struct state *from, struct state *to)
{
	struct state begin = *from;

	memcpy(state_stack, from->stack, sizeof(state_stack));
	ended = to;
	state_run_from = &begin;
	state_run_pc = pc;
	state_run_enter();
	ended = NULL;
	memcpy(to->stack, state_stack, sizeof(state_stack));
}

void state_runs(void)
{
	static char other_stack[64 << 10];
	struct sigaction a = { .sa_sigaction = on_end, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	assert_int_equal(
		sigaltstack(&(stack_t){ .ss_sp = other_stack, .ss_size = sizeof(other_stack) },
			    NULL),
		0);
	assert_int_equal(sigaction(SIGTRAP, &a, NULL) | sigaction(SIGSEGV, &a, NULL) |
				 sigaction(SIGBUS, &a, NULL) | sigaction(SIGILL, &a, NULL),
			 0);
}

uint64_t random_seed;

uint64_t random64(void)
{
	random_seed ^= random_seed << 13;
	random_seed ^= random_seed >> 7;
	return random_seed ^= random_seed << 17;
}

void state_make(struct state *s, unsigned which)
{
	static uint64_t memory[8192];

	*s = (struct state){ .flags = which & 1 ? 0x202 : 0x202 | ARITHMETIC };
	for (unsigned i = 0; i < NR_REGS; i++)
		s->reg[i] = random64() | 1;
	for (unsigned i = 0; i < STACK_WORDS; i++)
		s->stack[i] = random64();
	for (unsigned i = 0; i < NR(arg_of); i++)
		if (which >> 1 & 1)
			s->reg[arg_of[i]] = (uint64_t)&memory[4096 + i];
		else if (which >> 2 & 1)
			s->reg[arg_of[i]] = random64() >> (random64() & 63);
	if (!(which & 7))
		s->reg[RDI] = 0;
	s->reg[RSP] = (uint64_t)&state_stack[STACK_WORDS / 2 + 1];
}

void state_trash(struct state *s, unsigned keep)
{
	static const unsigned others[] = { RAX, R10, R11 };

	for (unsigned i = 0; i < NR(arg_of); i++)
		if (!(keep & UNDO_ARG(i)))
			s->reg[arg_of[i]] = random64();
	for (unsigned i = 0; i < NR(others); i++)
		s->reg[others[i]] = random64();
	for (uint64_t *p = state_stack; (uint64_t)p < s->reg[RSP]; p++)
		s->stack[p - state_stack] = random64();
	s->flags ^= random64() & ARITHMETIC;
}
