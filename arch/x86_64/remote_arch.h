/* SPDX-License-Identifier: MIT */
/*
 * x86-64: registers and memory by which a stopped thread of another process is made to execute
 * something and come back by itself.
 *
 * The way back is the one out of a signal handler: rt_sigreturn takes all registers, the signal
 * mask and the vector registers from a frame on the stack (arch/x86/include/asm/sigframe.h,
 * uapi/asm/sigcontext.h).
 */
#ifndef ARCH_X86_64_REMOTE_ARCH_H
#define ARCH_X86_64_REMOTE_ARCH_H

#include <cpuid.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include "arch/stop_arch.h"

#define ARCH_NT_XSTATE		0x202
#define ARCH_NT_SHSTK		0x204
#define ARCH_XSTATE_BYTES	16384	/* more than any processor has (AMX: 11008) */

/* ---- instructions looked for in the program ------------------------------------------------- */

/* syscall; ret */
static const uint8_t arch_syscall_ret[] = { 0x0f, 0x05, 0xc3 };
/* mov $15, %rax; syscall, and its short form: what signal handlers return to */
static const uint8_t arch_sigreturn[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
static const uint8_t arch_sigreturn_short[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };
/*
 * pop %rax; ret: where there is no signal handler and so no such call, the end of many a function
 * (pop %r8; ret) serves
 */
static const uint8_t arch_pop_rax_ret[] = { 0x58, 0xc3 };
/* the longest way back: address of that, number of rt_sigreturn, address of a system call */
#define ARCH_WAY_WORDS	3

/*... and those put into a page of our own, to call a function: call *%rbx; mov %rax, %rdi; mov
 * $15, %eax; syscall; ud2. The function's result is rt_sigreturn's unused argument.
 */
static const uint8_t arch_call_code[] = { 0xff, 0xd3, 0x48, 0x89, 0xc7, 0xb8, 0x0f,
					  0,	0,    0,    0x0f, 0x05, 0x0f, 0x0b };
#define ARCH_CALL_END	12	/* offset behind its syscall */

/* ---- the frame ------------------------------------------------------------------------------ */

struct arch_ucontext {
	uint64_t flags, link;
	uint64_t stack_sp;
	uint32_t stack_flags, pad;
	uint64_t stack_size;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip,
		eflags;
	uint16_t cs, gs, fs, ss;
	uint64_t err, trapno, oldmask, cr2;
	uint64_t fpstate;
	uint64_t reserved[8];
	uint64_t sigmask;
};

_Static_assert(offsetof(struct arch_ucontext, r8) == 40, "uapi/asm/ucontext.h");
_Static_assert(offsetof(struct arch_ucontext, sigmask) == 296, "uapi/asm/ucontext.h");

#define ARCH_UC_FLAGS		7u	/* UC_FP_XSTATE | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS */
/* a mode that sigaltstack refuses, which rt_sigreturn overlooks: it stays as it is */
#define ARCH_STACK_KEEP		3u

#define ARCH_XSTATE_SW		464	/* struct _fpx_sw_bytes in the image */
#define ARCH_XSTATE_BV		512	/* which components are not in their initial state */
#define ARCH_XSTATE_MIN		576
#define ARCH_XSTATE_MAGIC1	0x46505853u
#define ARCH_XSTATE_MAGIC2	0x46505845u

struct arch_xstate {
	_Alignas(64) uint8_t image[ARCH_XSTATE_BYTES + 8];
	size_t nr;	/* bytes as the kernel gave them */
};

static inline uint64_t arch_load(const void *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return value;
}

/*
 * The part of an image that holds anything (Intel SDM 1, 13.4: leaf 0xd gives size and place of
 * each component).
 */
static inline size_t arch_xstate_used(const struct arch_xstate *x)
{
	uint64_t in_use = arch_load(x->image + ARCH_XSTATE_BV);
	size_t end = ARCH_XSTATE_MIN;

	for (unsigned i = 2; i < 63; i++) {
		unsigned size = 0, offset = 0, c, d;

		if (in_use >> i & 1 && __get_cpuid_count(0xd, i, &size, &offset, &c, &d) &&
		    offset + size > end)
			end = offset + size;
	}
	return end < x->nr ? end : x->nr;
}

/*
 * An image for calling a function with: all components in their initial state, but for protection
 * keys.
 */
static inline void arch_xstate_fresh(const struct arch_xstate *from, struct arch_xstate *to)
{
	const uint64_t keep = arch_load(from->image + ARCH_XSTATE_BV) & 1u << 9;	/* PKRU */
	const uint16_t fcw = 0x37f;
	const uint32_t mxcsr = 0x1f80;

	memcpy(to, from, sizeof(*to));
	memset(to->image, 0, ARCH_XSTATE_SW);
	memcpy(to->image, &fcw, sizeof(fcw));
	memcpy(to->image + 24, &mxcsr, sizeof(mxcsr));
	memcpy(to->image + ARCH_XSTATE_BV, &keep, sizeof(keep));
}

/* A frame as bytes, to be written below a stack pointer. */
struct arch_frame {
	/* of bytes[0]: where the way back to rt_sigreturn begins, a return address */
	uint64_t address;
	/* of the ucontext: the stack pointer with which rt_sigreturn is called */
	uint64_t context;
	size_t nr;
	uint8_t bytes[ARCH_WAY_WORDS * sizeof(uint64_t) + sizeof(struct arch_ucontext) + 64 +
		      ARCH_XSTATE_BYTES + 16];
};

static inline struct arch_ucontext arch_context(const struct user_regs_struct *r, uint64_t mask,
						uint64_t fpstate)
{
	return (struct arch_ucontext){
		.flags = ARCH_UC_FLAGS,
		.stack_flags = ARCH_STACK_KEEP,
		.r8 = r->r8,
		.r9 = r->r9,
		.r10 = r->r10,
		.r11 = r->r11,
		.r12 = r->r12,
		.r13 = r->r13,
		.r14 = r->r14,
		.r15 = r->r15,
		.rdi = r->rdi,
		.rsi = r->rsi,
		.rbp = r->rbp,
		.rbx = r->rbx,
		.rdx = r->rdx,
		.rax = r->rax,
		.rcx = r->rcx,
		.rsp = r->rsp,
		.rip = r->rip,
		.eflags = r->eflags,
		.cs = (uint16_t)r->cs,
		.ss = (uint16_t)r->ss,
		.fpstate = fpstate,
		.sigmask = mask,
	};
}

/* A frame of a thread that is to end its process. */
struct arch_end_frame {
	uint64_t address;
	size_t nr;
	uint8_t bytes[ARCH_WAY_WORDS * sizeof(uint64_t) + sizeof(struct arch_ucontext)];
};

/* more than one takes with what aligns it */
#define ARCH_END_ROOM	(sizeof(struct arch_end_frame) + 128)

/*
 * Below the red zone of the thread with `regs`, above that thread's own frame: another borrower,
 * while the thread is about to use it, takes no memory above the stack pointer. All signals are
 * blocked; vector registers are in their initial state.
 */
static inline void arch_end_frame(const struct user_regs_struct *regs, const uint64_t *way,
				  unsigned nr_way, uint64_t syscall_ret, unsigned status,
				  struct arch_end_frame *f)
{
	const uint64_t end = regs->rsp - ARCH_RED_ZONE - 64;
	const struct user_regs_struct ending = {
		.rip = syscall_ret,
		.rax = SYS_exit_group,
		.rdi = status,
		.rsp = end,
		.eflags = 0x202,
		.cs = regs->cs,
		.ss = regs->ss,
	};
	const struct arch_ucontext context = arch_context(&ending, ~0ull, 0);
	const uint64_t at = (end - sizeof(context)) & ~15ull;

	f->address = at - nr_way * sizeof(*way);
	f->nr = nr_way * sizeof(*way) + sizeof(context);
	memcpy(f->bytes, way, nr_way * sizeof(*way));
	memcpy(f->bytes + nr_way * sizeof(*way), &context, sizeof(context));
}

/*
 * The frame that brings a thread back to `regs`, `mask` and `x`, below the red zone of its stack
 * and room for an arch_end_frame. What returns into it goes the `way` of nr_way words to
 * rt_sigreturn.
 */
static inline void arch_frame(const struct user_regs_struct *regs, uint64_t mask,
			      const struct arch_xstate *x, const uint64_t *way, unsigned nr_way,
			      struct arch_frame *f)
{
	const uint32_t used = (uint32_t)arch_xstate_used(x), extended = used + 4;
	const uint32_t magic1 = ARCH_XSTATE_MAGIC1, magic2 = ARCH_XSTATE_MAGIC2;
	/* all that the image could hold */
	uint64_t features = arch_load(x->image + ARCH_XSTATE_SW);
	uint64_t fpstate = (regs->rsp - ARCH_RED_ZONE - ARCH_END_ROOM - extended) & ~63ull;
	struct user_regs_struct back = *regs;
	struct arch_ucontext context;
	uint8_t *sw;

	arch_rewind(&back);
	context = arch_context(&back, mask, fpstate);
	f->context = (fpstate - sizeof(context)) & ~15ull;
	f->address = f->context - nr_way * sizeof(*way);
	f->nr = fpstate + extended - f->address;
	memset(f->bytes, 0, f->nr);
	memcpy(f->bytes, way, nr_way * sizeof(*way));
	memcpy(f->bytes + (f->context - f->address), &context, sizeof(context));
	memcpy(f->bytes + (fpstate - f->address), x->image, used);
	sw = f->bytes + (fpstate - f->address) + ARCH_XSTATE_SW;
	features &= arch_load(x->image + ARCH_XSTATE_BV) | 3;
	memset(sw, 0, ARCH_XSTATE_BV - ARCH_XSTATE_SW);
	memcpy(sw, &magic1, 4);
	memcpy(sw + 4, &extended, 4);
	memcpy(sw + 8, &features, 8);
	memcpy(sw + 16, &used, 4);
	memcpy(f->bytes + (fpstate - f->address) + used, &magic2, 4);
}

/* ---- registers ------------------------------------------------------------------------------ */

/* About to call rt_sigreturn on the frame. */
static inline void arch_regs_return(struct user_regs_struct *r, uint64_t syscall_ret,
				    const struct arch_frame *f)
{
	r->rip = syscall_ret;
	r->rax = SYS_rt_sigreturn;
	r->rsp = f->context;
	r->orig_rax = (unsigned long)-1;
	r->eflags = 0x202;
}

/* About to make a system call, and then that. */
static inline void arch_regs_syscall(struct user_regs_struct *r, uint64_t syscall_ret,
				     const struct arch_frame *f, long nr, const uint64_t args[6])
{
	r->rip = syscall_ret;
	r->rsp = f->address;
	r->orig_rax = (unsigned long)-1;
	r->eflags = 0x202;
	r->rax = (unsigned long)nr;
	r->rdi = args[0];
	r->rsi = args[1];
	r->rdx = args[2];
	r->r10 = args[3];
	r->r8 = args[4];
	r->r9 = args[5];
}

/* About to run arch_call_code at `code`, with a copy of the frame's context at `context`. */
static inline void arch_regs_call(struct user_regs_struct *r, uint64_t code, uint64_t context,
				  uint64_t function, uint64_t arg)
{
	r->rip = code;
	r->rsp = context;
	r->rbp = 0;
	r->orig_rax = (unsigned long)-1;
	r->eflags = 0x202;
	r->rbx = function;
	r->rdi = arg;
}

#endif
