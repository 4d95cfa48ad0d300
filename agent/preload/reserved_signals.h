/* SPDX-License-Identifier: MIT */
/*
 * Signals that a form of the agent reserves for itself: what hooks_signal.c leaves to it.
 */
#ifndef AGENT_PRELOAD_RESERVED_SIGNALS_H
#define AGENT_PRELOAD_RESERVED_SIGNALS_H

#include <stdbool.h>

#include "agent/next.h"

#define NR_SIGNALS	65
#define SIGNAL_BIT(n)	(1ull << ((n) - 1))
#define SIGILL		4
#define SIGTRAP		5
#define SIGBUS		7
#define SIGFPE		8
#define SIGSEGV		11
#define SIGSTKFLT	16
#define SIG_DFL		((sig_handler *)0)
#define SIG_IGN		((sig_handler *)1)
#define SIG_HOLD	((sig_handler *)2)
#define SIG_ERR		((sig_handler *)-1)
#define SA_SIGINFO	0x00000004
#define SA_RESTORER	0x04000000	/* the C library adds it, and shows it */
#define SA_ONSTACK	0x08000000
#define SA_RESTART	0x10000000
#define SA_NODEFER	0x40000000
#define SA_RESETHAND	0x80000000u
#define SS_DISABLE	2

/* struct sigaction as the kernel has it. */
struct kernel_action {
	void *handler;
	uint64_t flags;
	void *restorer;
	uint64_t mask;
};

struct reserved_signals {
	/*
	 * sigaction() for any signal, the real one being there; signals_action() is the rest of it.
	 */
	int (*action)(int signal, const struct sig_action *new, struct sig_action *old);

	/* signal() and its relatives for a reserved signal. */
	bool (*is_reserved)(int signal);
	sig_handler *(*handler)(int signal, sig_handler *new, unsigned flags);

	/* The program is about to enter seccomp, and agent.no_guards says how. */
	void (*confined)(void);

	/* What is to be called in place of syscall(nr, ...); NULL: the real one, which is known. */
	void *(*syscall)(long nr);

	/*
	 * sigaltstack() returned 0: `new` was set (flags: its own), *old was there; NULL as given.
	 */
	void (*stack)(const int *new_flags, struct sig_stack *old);
};

/* NULL in the forms that reserve none. */
extern const struct reserved_signals *reserved_signals __attribute__((visibility("hidden")));

/* sigaction() of signals that are not reserved. */
int signals_action(int signal, const struct sig_action *new, struct sig_action *old);

/*
 * In a handler: a signal whose default action is death is to kill, as it came, when the handler
 * returns.
 */
void signals_die(int signal, void *info, void *context);

#endif
