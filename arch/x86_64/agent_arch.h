/* SPDX-License-Identifier: MIT */
/*
 * x86-64, seen from inside a traced process: system calls, the thread pointer, registers, the cycle
 * counter.
 *
 * Every architecture has a file of this name with the same functions; nothing else in agent/ knows
 * the machine.
 */
#ifndef ARCH_X86_64_AGENT_ARCH_H
#define ARCH_X86_64_AGENT_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARCH_SYS_read		0
#define ARCH_SYS_close		3
#define ARCH_SYS_mmap		9
#define ARCH_SYS_mprotect	10
#define ARCH_SYS_munmap		11
#define ARCH_SYS_brk		12
#define ARCH_SYS_rt_sigaction	13
#define ARCH_SYS_rt_sigprocmask	14
#define ARCH_SYS_rt_sigreturn	15
#define ARCH_SYS_pread64	17
#define ARCH_SYS_sched_yield	24
#define ARCH_SYS_madvise	28
#define ARCH_SYS_getpid		39
#define ARCH_SYS_socket		41
#define ARCH_SYS_connect	42
#define ARCH_SYS_sendmsg	46
#define ARCH_SYS_recvmsg	47
#define ARCH_SYS_setsockopt	54
#define ARCH_SYS_getsockopt	55
#define ARCH_SYS_clone		56
#define ARCH_SYS_fork		57
#define ARCH_SYS_vfork		58
#define ARCH_SYS_execve		59
#define ARCH_SYS_uname		63
#define ARCH_SYS_fcntl		72
#define ARCH_SYS_ftruncate	77
#define ARCH_SYS_readlink	89
#define ARCH_SYS_getuid		102
#define ARCH_SYS_getgid		104
#define ARCH_SYS_getppid	110
#define ARCH_SYS_fgetxattr	193
#define ARCH_SYS_sigaltstack	131
#define ARCH_SYS_munlock	150
#define ARCH_SYS_prctl		157
#define ARCH_SYS_gettid		186
#define ARCH_SYS_futex		202
#define ARCH_SYS_clock_gettime	228
#define ARCH_SYS_exit_group	231
#define ARCH_SYS_tgkill		234
#define ARCH_SYS_openat		257
#define ARCH_SYS_ppoll		271
#define ARCH_SYS_rt_tgsigqueueinfo 297
#define ARCH_SYS_rt_sigqueueinfo 129
#define ARCH_SYS_prlimit	302
#define ARCH_SYS_process_vm_readv 310
#define ARCH_SYS_process_vm_writev 311
#define ARCH_SYS_seccomp	317
#define ARCH_SYS_getrandom	318
#define ARCH_SYS_memfd_create	319
#define ARCH_SYS_execveat	322
#define ARCH_SYS_statx		332
#define ARCH_SYS_process_madvise 440

/* One system call; returns the kernel's result, -errno on failure. errno is not touched. */
static inline long arch_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

/* Address of the thread control block: psABI, the word at %fs:0 points to itself. */
static inline uintptr_t arch_thread_pointer(void)
{
	uintptr_t tp;

	__asm__("mov %%fs:0, %0" : "=r"(tp));
	return tp;
}

/*
 * Fetch the line at p into the caches; p may be anything. Not gcc's, which is nothing where no
 * vector registers may be used.
 */
static inline void arch_prefetch(const void *p)
{
	__asm__ volatile("prefetcht0 %0" : : "m"(*(const char *)p));
}

/*
 * A counter that rises steadily, some 10^9 a second; only used to tell whether about a millisecond
 * has passed.
 */
static inline uint64_t arch_cycles(void)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (uint64_t)hi << 32 | lo;
}

/*
 * Does Valgrind run the program? To a processor this is nothing: rotations by 128 bits in all, and
 * a register exchanged with itself. Valgrind takes it for a request, here the one that asks for
 * this (its manual, "The Client Request mechanism").
 */
static inline bool arch_valgrind(void)
{
	uint64_t request[6] = { 0x1001 }, answer = 0;

	__asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, "
			 "%%rdi\n\txchgq %%rbx, %%rbx"
			 : "+d"(answer)
			 : "a"(request)
			 : "cc", "memory");
	return answer;
}

/* Copy and fill, each by one instruction: in C the compiler makes a call of memcpy out of it. */
static inline __attribute__((always_inline)) void arch_copy(void *to, const void *from,
							    size_t bytes)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

static inline __attribute__((always_inline)) void arch_fill(void *to, int byte, size_t bytes)
{
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(byte) : "memory");
}

static inline __attribute__((always_inline)) void arch_fill_words(uint64_t *to, uint64_t value,
								  size_t nr)
{
	__asm__ volatile("rep stosq" : "+D"(to), "+c"(nr) : "a"(value) : "memory");
}

static inline void arch_pause(void)
{
	__asm__ volatile("pause");
}

/*
 * Compare and swap that is atomic against signal handlers of the same thread only: one instruction,
 * no bus lock. For words that a single-threaded process alone writes.
 */
static inline bool arch_cas_local(uint64_t *p, uint64_t *expected, uint64_t desired)
{
	bool ok;

	__asm__ volatile("cmpxchg %3, %1"
			 : "=@ccz"(ok), "+m"(*p), "+a"(*expected)
			 : "r"(desired)
			 : "memory");
	return ok;
}

/*
 * Does the word at `p`, which may be anybody's, hold this value? Loaded once, in the order of these
 * calls.
 */
static inline bool arch_word_is(const void *p, uint64_t value)
{
	typedef uint64_t __attribute__((may_alias)) word;
	bool same;

	__asm__ volatile("cmpq %2, %1" : "=@cce"(same) : "m"(*(const word *)p), "r"(value));
	return same;
}

/*
 * syscall(), interposed: it may be the program's vfork or clone, which must not return into a frame
 * of ours, so it is a jump to the real one with all arguments in place. syscall_next(nr) says where
 * that is.
 */
#define ARCH_HOOK_SYSCALL __asm__(						\
	".text\n.globl syscall\n.type syscall, @function\nsyscall:\n"	\
	".cfi_startproc\n"							\
	"push %rdi\n.cfi_adjust_cfa_offset 8\npush %rsi\n.cfi_adjust_cfa_offset 8\n" \
	"push %rdx\n.cfi_adjust_cfa_offset 8\npush %rcx\n.cfi_adjust_cfa_offset 8\n" \
	"push %r8\n.cfi_adjust_cfa_offset 8\npush %r9\n.cfi_adjust_cfa_offset 8\n"	\
	"sub $8, %rsp\n.cfi_adjust_cfa_offset 8\n"				\
	"call syscall_next\n"							\
	"add $8, %rsp\n.cfi_adjust_cfa_offset -8\n"				\
	"pop %r9\n.cfi_adjust_cfa_offset -8\npop %r8\n.cfi_adjust_cfa_offset -8\n"	\
	"pop %rcx\n.cfi_adjust_cfa_offset -8\npop %rdx\n.cfi_adjust_cfa_offset -8\n" \
	"pop %rsi\n.cfi_adjust_cfa_offset -8\npop %rdi\n.cfi_adjust_cfa_offset -8\n" \
	"jmp *%rax\n.cfi_endproc\n.size syscall, .-syscall\n");

/*
 * A function of two arguments, interposed: a bit is taken out of the second one, then it is a jump
 * to the real one, which NEXT() returns, so that the real one sees the program's return address.
 */
#define ARCH_HOOK_WITHOUT_FLAG(NAME, FLAG, NEXT) __asm__(			\
	".text\n.globl " NAME "\n.type " NAME ", @function\n" NAME ":\n"	\
	".cfi_startproc\n"							\
	"push %rdi\n.cfi_adjust_cfa_offset 8\npush %rsi\n.cfi_adjust_cfa_offset 8\n" \
	"sub $8, %rsp\n.cfi_adjust_cfa_offset 8\n"				\
	"call " NEXT "\n"							\
	"add $8, %rsp\n.cfi_adjust_cfa_offset -8\n"				\
	"pop %rsi\n.cfi_adjust_cfa_offset -8\npop %rdi\n.cfi_adjust_cfa_offset -8\n"	\
	"and $~" #FLAG ", %esi\n"						\
	"jmp *%rax\n.cfi_endproc\n.size " NAME ", .-" NAME "\n");

/*
 * A function of up to three arguments, interposed: NEXT(the same arguments) returns the real one,
 * which is jumped to, so that it sees the program's return address.
 */
#define ARCH_HOOK_JUMP(NAME, NEXT) __asm__(					\
	".text\n.globl " NAME "\n.type " NAME ", @function\n" NAME ":\n"	\
	".cfi_startproc\n"							\
	"push %rdi\n.cfi_adjust_cfa_offset 8\npush %rsi\n.cfi_adjust_cfa_offset 8\n" \
	"push %rdx\n.cfi_adjust_cfa_offset 8\n"				\
	"call " NEXT "\n"							\
	"pop %rdx\n.cfi_adjust_cfa_offset -8\n"				\
	"pop %rsi\n.cfi_adjust_cfa_offset -8\npop %rdi\n.cfi_adjust_cfa_offset -8\n"	\
	"jmp *%rax\n.cfi_endproc\n.size " NAME ", .-" NAME "\n");

/*
 * Relocations that hold the address of a function of another object: by name, of a call, of a
 * pointer in data.
 */
#define ARCH_RELOC_GLOBAL	6	/* R_X86_64_GLOB_DAT */
#define ARCH_RELOC_CALL		7	/* R_X86_64_JUMP_SLOT */
#define ARCH_RELOC_WORD		1	/* R_X86_64_64 */

/*
 * A function that ends the process, interposed. The registers that a caller may have things of its
 * own in are put on the stack, just below its frame; leave_hook(status, where they are, WHICH) says
 * which function to call. That one does not return, so the stack keeps them.
 */
#define ARCH_HOOK_LEAVE(NAME, WHICH) __asm__(					\
	".text\n.globl " NAME "\n.type " NAME ", @function\n" NAME ":\n"	\
	".cfi_startproc\n"							\
	"push %r15\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %r15, 0\n"	\
	"push %r14\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %r14, 0\n"	\
	"push %r13\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %r13, 0\n"	\
	"push %r12\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %r12, 0\n"	\
	"push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %rbp, 0\n"	\
	"push %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %rbx, 0\n"	\
	"push %rdi\n.cfi_adjust_cfa_offset 8\n"					\
	"lea 8(%rsp), %rsi\n"							\
	"mov $" #WHICH ", %edx\n"						\
	"call leave_hook\n"							\
	"mov (%rsp), %rdi\n"							\
	"call *%rax\n"								\
	"hlt\n.cfi_endproc\n.size " NAME ", .-" NAME "\n");

/* Of its `sp` (which counts the registers it saved): the call of the hook. */
#define ARCH_LEAVE_CALLER(SP) {							\
	.ra = ((const uint64_t *)(SP))[6], .sp = (SP) + 56, .fp = ((const uint64_t *)(SP))[1],	\
}

/*
 * The registers an unwinder starts from, at the call of this macro's place. DWARF numbers: x86-64
 * psABI figure 3.36.
 */
#define ARCH_DWARF_FP	6
#define ARCH_DWARF_SP	7
#define ARCH_DWARF_RA	16
#define ARCH_DWARF_NR	17
/* rbx, rbp, r12 - r15: a callee leaves them as they were (psABI, 3.2.1) */
#define ARCH_DWARF_CALLEE_SAVED	(1u << 3 | 1u << ARCH_DWARF_FP | 0xfu << 12)

#define ARCH_CAPTURE_REGS(r) do {						\
	__asm__ volatile("mov %%rbx, %0" : "=m"((r)[3]));			\
	__asm__ volatile("mov %%rbp, %0" : "=m"((r)[6]));			\
	__asm__ volatile("mov %%rsp, %0" : "=m"((r)[7]));			\
	__asm__ volatile("mov %%r12, %0" : "=m"((r)[12]));			\
	__asm__ volatile("mov %%r13, %0" : "=m"((r)[13]));			\
	__asm__ volatile("mov %%r14, %0" : "=m"((r)[14]));			\
	__asm__ volatile("mov %%r15, %0" : "=m"((r)[15]));			\
	__asm__ volatile("lea 0(%%rip), %%rax; mov %%rax, %0" : "=m"((r)[16]) : : "rax"); \
} while (0)

/*
 * Offsets in the kernel's rt_sigframe from the stack pointer inside the signal trampoline
 * (ucontext.uc_mcontext).
 */
#define ARCH_SIGFRAME_FP	120
#define ARCH_SIGFRAME_SP	160
#define ARCH_SIGFRAME_PC	168
#define ARCH_SIGFRAME_SEGMENTS	184
/* what is there in 64-bit processes, since Linux 4.6: ss, cs */
#define ARCH_SEGMENTS		0x002b000000000033ull

/*
 * Are these the last bytes of what fills a gap between functions (nop of any length, int3), and not
 * of a call? The last byte of a long nop is 0, as that of a call forward may be.
 */
#define ARCH_GAP_BYTES	7		/* the longest such call: ff /2 with an index */

static inline bool arch_fills_gap(const uint8_t code[ARCH_GAP_BYTES])
{
	uint8_t last = code[ARCH_GAP_BYTES - 1];

	if (last == 0x90 || last == 0xcc)
		return true;
	return !last && code[2] != 0xe8 && (code[1] != 0xff || (code[2] & 0x38) != 0x10) &&
	       (code[0] != 0xff || (code[1] & 0x3f) != 0x14);
}

/* AT_SYSINFO and friends are not needed here; the page size of x86-64 is fixed. */
#define ARCH_PAGE	4096ul

#endif
