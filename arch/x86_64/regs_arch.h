/* SPDX-License-Identifier: MIT */
/*
 * x86-64: a stopped thread's registers by what they are for, and what signals leave of them on its
 * stack.
 */
#ifndef ARCH_X86_64_REGS_ARCH_H
#define ARCH_X86_64_REGS_ARCH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#define ARCH_RED_ZONE		128	/* below the stack pointer, in use (psABI 3.2.2) */

static inline uint64_t arch_pc(const struct user_regs_struct *r)
{
	return r->rip;
}

static inline void arch_set_pc(struct user_regs_struct *r, uint64_t pc)
{
	r->rip = pc;
}

static inline uint64_t arch_sp(const struct user_regs_struct *r)
{
	return r->rsp;
}

/* The thread pointer. */
static inline uint64_t arch_tp(const struct user_regs_struct *r)
{
	return r->fs_base;
}

/* What a system call has returned. */
static inline int64_t arch_result(const struct user_regs_struct *r)
{
	return (int64_t)r->rax;
}

/* The first argument of a function or a system call. */
static inline uint64_t arch_first_arg(const struct user_regs_struct *r)
{
	return r->rdi;
}

/* The system call that the thread is in, negative = none. */
static inline long arch_in_syscall(const struct user_regs_struct *r)
{
	return (long)r->orig_rax;
}

/* Registers that a function gives back to its caller as they were (psABI 3.2.1). */
#define ARCH_NR_CALLEE_SAVED	6

static inline void arch_callee_saved(const struct user_regs_struct *r,
				     uint64_t word[ARCH_NR_CALLEE_SAVED])
{
	const uint64_t all[] = { r->rbx, r->rbp, r->r12, r->r13, r->r14, r->r15 };

	for (unsigned i = 0; i < ARCH_NR_CALLEE_SAVED; i++)
		word[i] = all[i];
}

/* DWARF's numbers of registers (psABI, figure 3.36); the last one is the return address. */
#define ARCH_DWARF_REGISTERS	17
#define ARCH_DWARF_STACK	7
#define ARCH_DWARF_RETURN	16

static inline const char *arch_dwarf_name(unsigned number)
{
	static const char name[ARCH_DWARF_REGISTERS][4] = {
		"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
		"r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip",
	};

	return name[number];
}

static inline void arch_dwarf_values(const struct user_regs_struct *r,
				     uint64_t value[ARCH_DWARF_REGISTERS])
{
	const uint64_t all[] = {
		r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8,
		r->r9,	r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip,
	};

	for (unsigned i = 0; i < ARCH_DWARF_REGISTERS; i++)
		value[i] = all[i];
}

/*
 * Parts of an XSAVE image (Intel SDM 1, 13.4) that are registers, not control words: x87 and SSE,
 * all of it or nothing; AVX and later, as far as there is of it.
 */
static const struct arch_vectors {
	size_t begin, end;
} arch_vectors[] = { { 32, 416 }, { 576, SIZE_MAX } };

/*
 * Words of a stack that look like a part of the kernel's signal frame (struct sigcontext,
 * arch/x86/include/uapi/asm/sigcontext.h): stack pointer and program counter of what was
 * interrupted, flags, segment registers, of which that of the code is 0x33 in 64-bit programs. A
 * word that only looks like the program counter, a return address left behind by an earlier call
 * for instance, has not these neighbours.
 */
#define ARCH_SIGNAL_WORDS	4
#define ARCH_SIGNAL_SP		0
#define ARCH_SIGNAL_PC		1

static inline bool arch_is_signal_frame(const uint64_t words[ARCH_SIGNAL_WORDS])
{
	return words[2] < 1u << 22 && (words[3] & 0xffff) == 0x33 && words[0] >> 47 == 0 &&
	       words[1] >> 47 == 0;
}

#endif
