/* x86-64 register numbers and the layout of a signal frame. */
#ifndef AGENT_ARCH_X86_64_REGS_H
#define AGENT_ARCH_X86_64_REGS_H

/* DWARF numbers: x86-64 psABI 1.0, figure 3.36 */
#define REG_RAX		0
#define REG_RDX		1
#define REG_RCX		2
#define REG_RBX		3
#define REG_RSI		4
#define REG_RDI		5
#define REG_RBP		6
#define REG_RSP		7
#define REG_R8		8
#define REG_R12		12
#define REG_R15		15
#define REG_RA		16

/* rbx, rbp, r12 - r15: a callee leaves them as they were (psABI, 3.2.1) */
#define REGS_CALLEE_SAVED	(1u << REG_RBX | 1u << REG_RBP | 0xfu << REG_R12)

/*
 * In __restore_rt, when the handler has returned, rsp is at the frame's struct ucontext (arch/x86/include/asm/sigframe.h);
 * byte offsets from there of uc_mcontext.{bp,sp,ip} (arch/x86/include/uapi/asm/sigcontext.h).
 */
#define UCONTEXT_RBP	120
#define UCONTEXT_RSP	160
#define UCONTEXT_RIP	168

#endif
