/* SPDX-License-Identifier: MIT */
/*
 * x86-64, hooks of functions of any signature: the code around them that C cannot say.
 *
 * ARCH_ANY_HOOK(NAME, BEGIN, END) defines the hook NAME, entered by a jump with the entry in r11.
 * All argument registers are laid into a struct arch_call at the end of the caller's frame, and
 * BEGIN(call) is asked. When it returns 0 the function is jumped to as if nothing had been. Else it
 * is called with the same registers, its results are laid into the struct, END(call) runs, and the
 * results are returned. Arguments on the stack are therefore only right when BEGIN returns 0.
 *
 * The function is made to return to arch_borrow.code, an indirect jump or call through a register
 * that a frame there has saved, and the register leads to us: agent/inject/inject_borrow.c says
 * why. This frame is arch_borrow.room bytes larger than struct arch_call, and its saved registers
 * have the places that arch_borrow.slot says.
 */
#ifndef ARCH_X86_64_INJECT_ARCH_H
#define ARCH_X86_64_INJECT_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arch_call {
	uint64_t arg[6];		/* rdi rsi rdx rcx r8 r9 */
	uint64_t rax, r10;		/* number of vector arguments; static chain */
	uint64_t entry;			/* r11 */
	uint64_t result, result2;	/* rax rdx */
	uint64_t scratch[10];		/* what BEGIN has to tell END */
	uint64_t end;			/* END */
	uint64_t saved[6];		/* rbx rbp r12 r13 r14 r15 of the caller */
	uint64_t slot[7];		/* where a frame may have saved them */
	uint64_t ra;
};

#define ARCH_CALL_FP	1		/* in saved[] */
#define ARCH_CALL_SAVED	6

struct arch_borrow {
	uint64_t code;			/* what the function returns to */
	uint64_t back;			/* what the register there leads to */
	uint64_t room;
	uint8_t is_in[8];		/* which of saved[] the register is */
	/* place of each of saved[], from the frame's end; 0 = it keeps its value */
	int64_t slot[ARCH_CALL_SAVED];
};

extern struct arch_borrow arch_borrow __attribute__((visibility("hidden")));
/* jmp *%rbx */
extern const char arch_own_code[] __attribute__((visibility("hidden")));
/* from a jump */
extern const char arch_back[] __attribute__((visibility("hidden")));
/* from a call */
extern const char arch_back_called[] __attribute__((visibility("hidden")));

_Static_assert(offsetof(struct arch_call, entry) == 64 && offsetof(struct arch_call, end) == 168 &&
		       offsetof(struct arch_call, saved) == 176 &&
		       offsetof(struct arch_call, ra) == 280 && sizeof(struct arch_call) == 288 &&
		       offsetof(struct arch_borrow, is_in) == 24,
	       "offsets in assembly");

/* DWARF numbers of saved[], and how an indirect jump or call names them: REX.B, low three bits. */
static const uint8_t arch_saved_dwarf[ARCH_CALL_SAVED] = { 3, 6, 12, 13, 14, 15 };
static const uint8_t arch_saved_code[ARCH_CALL_SAVED] = { 3, 5, 8 + 4, 8 + 5, 8 + 6, 8 + 7 };

/*
 * Is there an indirect jump (call) at `code` through a register of saved[]? Its index, -1 = no.
 * *is_call says which.
 */
static inline int arch_indirect(const uint8_t code[3], bool *is_call)
{
	unsigned rex = code[0] == 0x41, kind = code[rex + 1] & 0xf8;

	if (code[rex] != 0xff || (kind != 0xe0 && kind != 0xd0))
		return -1;
	*is_call = kind == 0xd0;
	for (int i = 0; i < ARCH_CALL_SAVED; i++)
		if (arch_saved_code[i] == (code[rex + 1] & 7) + 8 * rex)
			return i;
	return -1;
}

#define ARCH_CALL_BYTES	5		/* of a direct call */
#define ARCH_INSN_MAX	15

/* Is the code at `at` a direct call of `to`, or a jump there? */
static inline bool arch_goes_to(const uint8_t code[ARCH_CALL_BYTES], uint64_t at, uint64_t to)
{
	uint32_t by = code[1] | code[2] << 8 | code[3] << 16 | (uint32_t)code[4] << 24;

	return (code[0] & 0xfe) == 0xe8 && at + ARCH_CALL_BYTES + (uint64_t)(int32_t)by == to;
}

/* Does it set a byte in thread-local storage to 1: movb $1, %fs:... ? */
static inline bool arch_sets_thread_byte(const uint8_t code[ARCH_INSN_MAX])
{
	const uint8_t *p = code + 1 + ((code[1] & 0xf0) == 0x40);
	unsigned mod = p[1] >> 6, base = p[1] & 7, skip = 2;

	if (code[0] != 0x64 || p[0] != 0xc6 || p[1] & 0x38 || mod == 3)
		return false;
	if (base == 4)
		base = p[skip++] & 7;
	skip += mod == 1 ? 1 : mod == 2 || base == 5 ? 4 : 0;
	return p[skip] == 1;
}

#define ARCH_VECTORS(OP, A, B)                                                                     \
	OP(0, A, B)                                                                                \
	OP(1, A, B) OP(2, A, B) OP(3, A, B) OP(4, A, B) OP(5, A, B) OP(6, A, B) OP(7, A, B)
#define ARCH_VECTOR_SAVE(N, A, B)	"movups %xmm" #N ", 16*" #N "(%rsp)\n"
#define ARCH_VECTOR_LOAD(N, A, B)	"movups 16*" #N "(%rsp), %xmm" #N "\n"
#define ARCH_SAVED_CFI								\
	".cfi_offset %rbx, -112\n.cfi_offset %rbp, -104\n.cfi_offset %r12, -96\n" \
	".cfi_offset %r13, -88\n.cfi_offset %r14, -80\n.cfi_offset %r15, -72\n"

#define ARCH_ANY_HOOK(NAME, BEGIN, END) __asm__(				\
	".text\n.p2align 4\n.globl " #NAME "\n.hidden " #NAME "\n"		\
	".type " #NAME ", @function\n" #NAME ":\n.cfi_startproc\n"		\
	"sub $280, %rsp\n.cfi_def_cfa_offset 288\n"				\
	"mov %rdi, (%rsp)\nmov %rsi, 8(%rsp)\nmov %rdx, 16(%rsp)\n"		\
	"mov %rcx, 24(%rsp)\nmov %r8, 32(%rsp)\nmov %r9, 40(%rsp)\n"		\
	"mov %rax, 48(%rsp)\nmov %r10, 56(%rsp)\nmov %r11, 64(%rsp)\n"		\
	"lea " #END "(%rip), %rax\nmov %rax, 168(%rsp)\n"			\
	"mov %rbx, 176(%rsp)\nmov %rbp, 184(%rsp)\nmov %r12, 192(%rsp)\n"	\
	"mov %r13, 200(%rsp)\nmov %r14, 208(%rsp)\nmov %r15, 216(%rsp)\n"	\
	"sub $128, %rsp\n.cfi_def_cfa_offset 416\n"				\
	ARCH_VECTORS(ARCH_VECTOR_SAVE, , )					\
	"lea 128(%rsp), %rdi\ncall " #BEGIN "\n"				\
	"test %eax, %eax\n"			/* nothing below changes flags */ \
	ARCH_VECTORS(ARCH_VECTOR_LOAD, , )					\
	"lea 128(%rsp), %rsp\n.cfi_def_cfa_offset 288\n"			\
	"mov (%rsp), %rdi\nmov 8(%rsp), %rsi\nmov 16(%rsp), %rdx\n"		\
	"mov 24(%rsp), %rcx\nmov 32(%rsp), %r8\nmov 40(%rsp), %r9\n"		\
	"mov 48(%rsp), %rax\nmov 56(%rsp), %r10\nmov 64(%rsp), %r11\n"		\
	"jz 1f\n"								\
	"cmpb $0, arch_borrow+24(%rip)\ncmovne arch_borrow+8(%rip), %rbx\n"	\
	"cmpb $0, arch_borrow+25(%rip)\ncmovne arch_borrow+8(%rip), %rbp\n"	\
	"cmpb $0, arch_borrow+26(%rip)\ncmovne arch_borrow+8(%rip), %r12\n"	\
	"cmpb $0, arch_borrow+27(%rip)\ncmovne arch_borrow+8(%rip), %r13\n"	\
	"cmpb $0, arch_borrow+28(%rip)\ncmovne arch_borrow+8(%rip), %r14\n"	\
	"cmpb $0, arch_borrow+29(%rip)\ncmovne arch_borrow+8(%rip), %r15\n"	\
	ARCH_SAVED_CFI								\
	"sub arch_borrow+16(%rip), %rsp\n"					\
	"push arch_borrow(%rip)\n"						\
	"jmp *(%r11)\n"								\
	"1:\n.cfi_restore %rbx\n.cfi_restore %rbp\n.cfi_restore %r12\n"		\
	".cfi_restore %r13\n.cfi_restore %r14\n.cfi_restore %r15\n"		\
	"lea 280(%rsp), %rsp\n.cfi_def_cfa_offset 8\njmp *(%r11)\n"		\
	".cfi_endproc\n.size " #NAME ", .-" #NAME "\n")

/*
 * A hook with the entry in register `REG`: goes to WITH where the word at ENTRY_OFF of the entry is
 * not 0, else to the any-hook WITHOUT.
 */
#define ARCH_ARG2	rsi		/* REG: a function's second argument */
#define ARCH_ARG3	rdx
#define ARCH_HOOK_CHOICE(NAME, REG, ENTRY_OFF, WITH, WITHOUT)			\
	ARCH_HOOK_CHOICE_(NAME, REG, ENTRY_OFF, WITH, WITHOUT)
#define ARCH_HOOK_CHOICE_(NAME, REG, ENTRY_OFF, WITH, WITHOUT) __asm__(		\
	".text\n.p2align 4\n.globl " #NAME "\n.hidden " #NAME "\n"		\
	".type " #NAME ", @function\n" #NAME ":\n.cfi_startproc\n"		\
	"cmpq $0, " #ENTRY_OFF "(%" #REG ")\njne " #WITH "\n"			\
	"mov %" #REG ", %r11\njmp " #WITHOUT "\n"				\
	".cfi_endproc\n.size " #NAME ", .-" #NAME "\n")

/* Once: where the functions come back to. */
#define ARCH_ANY_HOOK_RETURN __asm__(						\
	".text\n.p2align 4\n.globl arch_own_code, arch_back, arch_back_called\n" \
	".hidden arch_own_code, arch_back, arch_back_called\n"			\
	".cfi_startproc\n.cfi_def_cfa %rsp, 288\n" ARCH_SAVED_CFI		\
	"nop\narch_own_code:\njmp *%rbx\n"					\
	"arch_back_called:\nadd $8, %rsp\n"					\
	"arch_back:\nadd arch_borrow+16(%rip), %rsp\n"				\
	"mov %rax, 72(%rsp)\nmov %rdx, 80(%rsp)\n"				\
	"sub $32, %rsp\n.cfi_def_cfa_offset 320\n"				\
	"movups %xmm0, (%rsp)\nmovups %xmm1, 16(%rsp)\n"			\
	"lea 32(%rsp), %rdi\ncall *200(%rsp)\n"					\
	"movups (%rsp), %xmm0\nmovups 16(%rsp), %xmm1\n"			\
	"add $32, %rsp\n.cfi_def_cfa_offset 288\n"				\
	"mov 72(%rsp), %rax\nmov 80(%rsp), %rdx\n"				\
	"mov 176(%rsp), %rbx\nmov 184(%rsp), %rbp\nmov 192(%rsp), %r12\n"	\
	"mov 200(%rsp), %r13\nmov 208(%rsp), %r14\nmov 216(%rsp), %r15\n"	\
	"add $280, %rsp\n.cfi_def_cfa_offset 8\n"				\
	".cfi_restore %rbx\n.cfi_restore %rbp\n.cfi_restore %r12\n"		\
	".cfi_restore %r13\n.cfi_restore %r14\n.cfi_restore %r15\n"		\
	"ret\n.cfi_endproc\n")

#endif
