/* SPDX-License-Identifier: MIT */
/*
 * x86-64, seen from a signal handler: what the kernel put on the stack, continuing from it, and
 * what there is to know of instructions that are to be run by themselves.
 */
#ifndef ARCH_X86_64_AGENT_SIGNAL_H
#define ARCH_X86_64_AGENT_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/agent_arch.h"

/*
 * The frame that the kernel makes for a signal handler: return address, this, the signal's siginfo,
 * and, aligned to 64 and named by `fpstate`, the other registers. arch/x86/include/asm/sigframe.h
 * and uapi/asm/ucontext.h of Linux.
 */
struct arch_ucontext {
	uint64_t flags, link;
	struct {
		uint64_t start;
		int32_t flags;
		uint32_t pad;
		uint64_t bytes;
	} stack;				/* the alternate one */
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t rdi, rsi, fp, rbx, rdx, rax, rcx, sp, pc;	/* rbp, rsp, rip */
	uint64_t cpu_flags, segments;	/* eflags; ss, fs, gs, cs */
	uint64_t err, trapno, oldmask, cr2;	/* of the fault */
	uint64_t fpstate;			/* 0 = none: as after a start */
	uint64_t reserved[8];
	uint64_t mask;				/* signals blocked when the handler returns */
};

/* General registers by their numbers, then the program counter (PMM_DEATH_REGS). */
#define ARCH_REGS(UC)                                                                              \
	{                                                                                          \
		(UC)->rax, (UC)->rcx, (UC)->rdx, (UC)->rbx, (UC)->sp, (UC)->fp, (UC)->rsi,         \
			(UC)->rdi, (UC)->r8, (UC)->r9, (UC)->r10, (UC)->r11, (UC)->r12, (UC)->r13, \
			(UC)->r14, (UC)->r15, (UC)->pc,                                            \
	}

#define ARCH_SIGINFO_BYTES	128u
#define ARCH_SIGFRAME_BYTES	(8u + sizeof(struct arch_ucontext) + ARCH_SIGINFO_BYTES)
#define ARCH_RED_ZONE		128u
#define ARCH_FAULT_WRITE	0x2u		/* in `err` */
#define ARCH_FAULT_FETCH	0x10u
#define ARCH_FLAG_TRAP		0x100ull	/* in `cpu_flags`: SIGTRAP after one instruction */
#define ARCH_FLAGS_HANDLER	0x10500ull	/* cleared for a handler: resume, direction, trap */

/* Bytes of the other registers at `fpstate`: "software bytes" of the XSAVE area's legacy part. */
static inline uint64_t arch_fpstate_bytes(uint64_t fpstate)
{
	const uint32_t *words = (const uint32_t *)(fpstate + 464);

	return !fpstate ? 0 : words[0] == 0x46505853 ? words[1] : 512;
}

/*
 * Where the frame of a handler begins whose stack is free below `sp`; *fpstate: where the other
 * registers go.
 */
static inline uint64_t arch_sigframe_below(uint64_t sp, uint64_t fpstate_bytes, uint64_t *fpstate)
{
	*fpstate = (sp - fpstate_bytes) & ~63ull;
	return ((*fpstate - ARCH_SIGFRAME_BYTES) & ~15ull) - 8;
}

/* Make `uc` the start of a handler(signal, info, context); the stack pointer is set already. */
static inline void arch_handler_start(struct arch_ucontext *uc, uint64_t handler, int signal,
				      uint64_t info, uint64_t context)
{
	uc->pc = handler;
	uc->rdi = (uint64_t)signal;
	uc->rsi = info;
	uc->rdx = context;
	uc->rax = 0;
	uc->fpstate = 0;
	uc->cpu_flags &= ~ARCH_FLAGS_HANDLER;
}

/* Go on with all of a context, signal mask included. */
static inline __attribute__((noreturn)) void arch_sigreturn(const struct arch_ucontext *uc)
{
	__asm__ volatile("mov %0, %%rsp\n\tmov %1, %%eax\n\tsyscall\n\thlt"
			 : : "r"(uc), "i"(ARCH_SYS_rt_sigreturn) : "memory");
	__builtin_unreachable();
}

/* Call a function on another stack, whose end is `top` (a multiple of 16). */
static inline void arch_call_on(uint64_t top, void (*fn)(void *arg), void *arg)
{
	__asm__ volatile("mov %%rsp, %%rbx\n\tmov %0, %%rsp\n\tcall *%1\n\tmov %%rbx, %%rsp"
			 : "+r"(top), "+r"(fn), "+D"(arg)
			 :
			 : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory",
			   "cc");
}

/*
 * A signal handler NAME that continues in HANDLER(signal, info, context), on the stack whose end
 * the thread's variable TOP names if that is not 0, unless it is there already. A return address
 * below the kernel's frame leads back, as usual.
 */
#define ARCH_SIGNAL_ENTRY(NAME, HANDLER, TOP, BYTES) ARCH_SIGNAL_ENTRY_(NAME, HANDLER, TOP, BYTES)
#define ARCH_SIGNAL_ENTRY_(NAME, HANDLER, TOP, BYTES) __asm__(			\
	".text\n.globl " NAME "\n.hidden " NAME "\n.type " NAME ", @function\n" NAME ":\n" \
	".cfi_startproc\n"							\
	"push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %rbp, 0\n"	\
	"mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"			\
	"mov " TOP "@gottpoff(%rip), %rax\n"					\
	"mov %fs:(%rax), %rax\n"						\
	"test %rax, %rax\n"							\
	"jz 1f\n"								\
	"mov %rax, %rcx\n"							\
	"sub %rsp, %rcx\n"							\
	"cmp $" #BYTES ", %rcx\n"						\
	"jbe 1f\n"								\
	"mov %rax, %rsp\n"							\
	"1: and $-16, %rsp\n"							\
	"call " HANDLER "\n"							\
	"mov %rbp, %rsp\n"							\
	"pop %rbp\n.cfi_def_cfa %rsp, 8\n"					\
	"ret\n.cfi_endproc\n.size " NAME ", .-" NAME "\n");

/* What sets an instruction apart; Intel SDM volume 2. */
struct arch_insn {
	bool pushes_flags, pops_flags;
	int rep_stub;			/* number of its copy in ARCH_REP_STUBS, -1 = none */
	unsigned bytes;			/* known where rep_stub is */
};

/* The instruction at an address, which can be read as far as it goes. */
static inline struct arch_insn arch_insn_at(uint64_t rip)
{
	const uint8_t *p = (const uint8_t *)rip;
	bool rep = false, half = false, plain = true, wide, store;
	struct arch_insn insn = { .rep_stub = -1 };
	unsigned n = 0;

	for (;; n++) {
		if ((p[n] & 0xfe) == 0xf2)
			rep = true;
		else if (p[n] == 0x66)
			half = true;
		else if (p[n] == 0x67 || p[n] == 0xf0 || p[n] == 0x2e || p[n] == 0x36 ||
			 p[n] == 0x3e || p[n] == 0x26 || (p[n] & 0xfe) == 0x64)
			plain = false;
		else
			break;
		if (n == 14)
			return insn;
	}
	wide = (p[n] & 0xf8) == 0x48;
	if ((p[n] & 0xf0) == 0x40)
		n++;
	insn.pushes_flags = p[n] == 0x9c;
	insn.pops_flags = p[n] == 0x9d || p[n] == 0xcf;
	store = (p[n] & 0xfe) == 0xaa;
	if (rep && plain && (store || (p[n] & 0xfe) == 0xa4)) {
		insn.rep_stub = (store ? 4 : 0) + (!(p[n] & 1) ? 0 : wide ? 3 : half ? 1 : 2);
		insn.bytes = n + 1;
	}
	return insn;
}

/*
 * Copies of rep movs and rep stos of 1, 2, 4 and 8 bytes, a breakpoint behind each, from the symbol
 * NAME on.
 */
#define ARCH_REP_STUB_BYTES	8u
#define ARCH_REP_STUBS(NAME) __asm__(						\
	".text\n.globl " NAME "\n.hidden " NAME "\n.balign 8\n" NAME ":\n"	\
	".byte 0xf3, 0xa4, 0xcc\n.balign 8\n.byte 0x66, 0xf3, 0xa5, 0xcc\n.balign 8\n" \
	".byte 0xf3, 0xa5, 0xcc\n.balign 8\n.byte 0xf3, 0x48, 0xa5, 0xcc\n.balign 8\n" \
	".byte 0xf3, 0xaa, 0xcc\n.balign 8\n.byte 0x66, 0xf3, 0xab, 0xcc\n.balign 8\n" \
	".byte 0xf3, 0xab, 0xcc\n.balign 8\n.byte 0xf3, 0x48, 0xab, 0xcc\n.balign 8\n");

/* Bytes of a copy, without the breakpoint. */
static inline unsigned arch_rep_bytes(int stub)
{
	return (stub & 3) == 0 || (stub & 3) == 2 ? 2 : 3;
}

/*
 * A signal handler NAME that asks DECIDE(signal, info, context) and jumps to where that says, with
 * all as it was at the entry, or, at 0, returns; and a function RESTORER for it to return to.
 */
#define ARCH_FAULT_ENTRY(NAME, DECIDE, RESTORER)                                                   \
	__asm__(".text\n.p2align 4\n.globl " NAME "\n.hidden " NAME "\n.type " NAME                \
		", @function\n" NAME ":\n"                                                         \
		".cfi_startproc\n"                                                                 \
		"push %rdi\npush %rsi\npush %rdx\n.cfi_adjust_cfa_offset 24\n"                     \
		"call " DECIDE "\n"                                                                \
		"pop %rdx\npop %rsi\npop %rdi\n.cfi_adjust_cfa_offset -24\n"                       \
		"mov %rax, %r11\n"                                                                 \
		"xor %eax, %eax\n"                                                                 \
		"test %r11, %r11\n"                                                                \
		"jz 1f\n"                                                                          \
		"jmp *%r11\n"                                                                      \
		"1: ret\n.cfi_endproc\n.size " NAME ", .-" NAME "\n"                               \
		".p2align 4\n.globl " RESTORER "\n.hidden " RESTORER "\n.type " RESTORER           \
		", @function\n"                                                                    \
		"nop\n" RESTORER ":\npush $15\npop %rax\nsyscall\n.size " RESTORER ", .-" RESTORER \
		"\n");

#endif
