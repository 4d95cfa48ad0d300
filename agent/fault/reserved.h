/* SPDX-License-Identifier: MIT */
/*
 * Signals that the agent has a handler of its own for, always: those that an instruction can make
 * when it is let through to the pool. The program does not see it: what it wishes for them is
 * noted, and what is its own is given to it as the kernel would have, frame, stack and mask
 * (agent/fault/reserved.c).
 *
 * A fault whose signal is blocked kills. So SIGSEGV never is: where the program blocks it,
 * SIGSTKFLT, which no code sends, is blocked in its place. That is remembered in the mask itself
 * because masks are kept and put back by the kernel (handlers) and by the C library (siglongjmp,
 * swapcontext, new threads) unseen. What blocks signals by other ways than the hooks of
 * hooks_mask.c blocks SIGSEGV for good.
 */
#ifndef AGENT_FAULT_RESERVED_H
#define AGENT_FAULT_RESERVED_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/agent.h"
#include "agent/preload/reserved_signals.h"
#include "arch/agent_signal.h"

/* Put our handler in place, and an alternate stack for this thread. */
void reserved_start(void);

/*
 * An alternate stack for the calling thread, unless the program gave it one; ours from then on, so
 * that a later owner of context `c` gets it. Threads that have no context have none: theirs may run
 * over unseen, as without us.
 */
void signal_stack_take(struct tctx *c);

/* Its end, 0 = the thread has none; and is an address in it? */
uint64_t signal_stack_end(void);
bool signal_stack_holds(uint64_t address);

/*
 * In our handler: is the thread's alternate stack to be ours, though it was not yet when the signal
 * came?
 */
void signal_stack_late(struct arch_ucontext *uc);

/*
 * Does the program ignore a reserved signal? Our handler for it, as the kernel shows it, and put in
 * place again.
 */
bool reserved_ignored(int signal);
void *reserved_handler(void);
void reserved_install(int signal);

/*
 * Are our handlers still in place? Otherwise the program has made system calls of its own: what
 * they set is from now on what it wishes. Before an instruction is let through; and now and then
 * when pages are opened for blocks, whether SIGSEGV is ours, and open in the thread.
 */
void reserved_look(void);

/*
 * Are all signals the program's own again? Masks are then what they seem, but for those set before.
 */
bool reserved_gone(void);

/*
 * A mask as the program wishes it, and as it is to be; the second for the calling thread from now
 * on.
 */
uint64_t mask_shown(uint64_t real);
uint64_t mask_hidden(uint64_t shown);

/* The same for a mask that is to hold for some time only: of a handler, of a call. */
static inline uint64_t mask_for_handler(uint64_t shown)
{
	return shown & SIGNAL_BIT(SIGSEGV) && !reserved_gone()
		       ? (shown & ~SIGNAL_BIT(SIGSEGV)) | SIGNAL_BIT(SIGSTKFLT)
		       : shown;
}

/*
 * sigprocmask() as the program sees it, by such a function of the kernel's or the C library's.
 * `set` and `old` may be the same.
 */
struct sig_set {
	uint64_t word[16];
};

typedef int mask_function(int how, const struct sig_set *set, struct sig_set *old);

int mask_change(mask_function *real, int how, const struct sig_set *set, struct sig_set *old);

/* A signal that was waited for, or came, and its siginfo: as it was sent. */
int reserved_waited(int signal, int *info);

/* Does the program block SIGSEGV in such a mask? */
bool mask_blocks(uint64_t real);

/* The kernel made the signal because of an instruction. */
static inline bool reserved_forced(const void *info)
{
	return ((const int *)info)[2] > 0;
}

#endif
