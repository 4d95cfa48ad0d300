/* SPDX-License-Identifier: MIT */
/*
 * What a new program inherits.
 *
 * Between the last system call here and the new program the thread has SIGSEGV blocked if the
 * program has: there is no other way to hand that on. Some microseconds, in which the C library
 * looks for the program's file.
 *
 * A child made by vfork has actions of its own and its parent's notes: what is not ours any more it
 * has set itself.
 */
#include "agent/preload/inherit.h"

#include "agent/guard/guard.h"
#include "agent/fault/reserved.h"
#include "agent/sys.h"


static __thread uint32_t lasts;		/* calls, of which one handler may interrupt another */

/* Does an access that is let through, in any other thread, need our handler for this? */
static bool others_need(int signal)
{
	return (signal == SIGSEGV || signal == SIGTRAP) && !*agent.single_threaded &&
	       guard_has_pool();
}

static void ignore(struct inherit *h, int signal)
{
	struct kernel_action now, ign = { .handler = (void *)SIG_IGN };

	if (sys_failed(sys4(rt_sigaction, signal, 0, &now, 8)) ||
	    now.handler != reserved_handler() ||
	    sys_failed(sys4(rt_sigaction, signal, &ign, 0, 8)))
		return;
	h->ignored |= SIGNAL_BIT(signal);
}

void inherit_begin_actions(struct inherit *h, bool lasting)
{
	*h = (struct inherit){ .ignored = 0 };
	if (!reserved_signals)
		return;
	for (int signal = 1; signal < NR_SIGNALS; signal++)
		if (reserved_signals->is_reserved(signal) && reserved_ignored(signal) &&
		    !(lasting && others_need(signal)))
			ignore(h, signal);
}

bool inherit_mask(uint64_t *mask)
{
	uint64_t real = 0;

	if (!reserved_signals || reserved_gone() ||
	    sys_failed(sys4(rt_sigprocmask, SYS_SIG_SETMASK, 0, &real, 8)))
		return false;
	*mask = mask_shown(real);
	return *mask != real;
}

void inherit_begin(struct inherit *h, bool lasting)
{
	uint64_t mask;

	inherit_begin_actions(h, lasting);
	h->lasting = lasting;
	lasts += lasting;
	if (inherit_mask(&mask))
		h->masked = !sys_failed(sys4(rt_sigprocmask, SYS_SIG_SETMASK, &mask, &h->mask, 8));
}

bool inherit_lasts(void)
{
	return lasts;
}

void inherit_end(const struct inherit *h)
{
	lasts -= h->lasting;
	for (int signal = 1; h->ignored && signal < NR_SIGNALS; signal++)
		if (h->ignored & SIGNAL_BIT(signal))
			reserved_install(signal);
	if (h->masked)
		sys4(rt_sigprocmask, SYS_SIG_SETMASK, &h->mask, 0, 8);
}
