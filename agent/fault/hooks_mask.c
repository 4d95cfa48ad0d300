/* SPDX-License-Identifier: MIT */
/*
 * What blocks signals, as the program sees it: SIGSEGV stays open behind its back
 * (agent/fault/reserved.h).
 *
 * Each is the real function with another mask: errors, cancellation and waiting are its own. The
 * real ones are looked up when first used, which takes no lock.
 */
#include "agent/fault/reserved.h"
#include "agent/preload/reserved_signals.h"
#include "agent/preload/link.h"
#include "agent/preload/agent_preload.h"

#define EINTR		4
#define EINVAL		22
#define OURS		(SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGSTKFLT))

/*
 * Which of the two signals the program blocks, where SIGSTKFLT is blocked. Both, unless it said
 * something else and the mask was not changed unseen since: new threads have their maker's,
 * handlers that of their action, and these have most often all signals or neither.
 */
enum hides { HIDES_BOTH, HIDES_SEGV, HIDES_NONE };

static __thread enum hides hides;

bool mask_blocks(uint64_t real)
{
	return real & SIGNAL_BIT(SIGSTKFLT) && hides != HIDES_NONE;
}

uint64_t mask_shown(uint64_t real)
{
	uint64_t shown = real;

	if (!(real & SIGNAL_BIT(SIGSTKFLT)))
		return real;
	if (hides == HIDES_SEGV)
		shown &= ~SIGNAL_BIT(SIGSTKFLT);
	return mask_blocks(real) ? shown | SIGNAL_BIT(SIGSEGV) : shown;
}

uint64_t mask_hidden(uint64_t shown)
{
	bool segv = shown & SIGNAL_BIT(SIGSEGV), other = shown & SIGNAL_BIT(SIGSTKFLT);

	if (reserved_gone()) {
		hides = HIDES_NONE;
		return shown;
	}
	hides = segv == other ? HIDES_BOTH : segv ? HIDES_SEGV : HIDES_NONE;
	return segv ? (shown & ~SIGNAL_BIT(SIGSEGV)) | SIGNAL_BIT(SIGSTKFLT) : shown;
}

static uint64_t mask_now(void)
{
	uint64_t mask = 0;

	sys4(rt_sigprocmask, SYS_SIG_BLOCK, 0, &mask, 8);
	return mask;
}

/*
 * A mask for the time of a call: what stands in for SIGSEGV is the same as before. NULL as given.
 */
static const struct sig_set *for_call(const struct sig_set *set, struct sig_set *room)
{
	if (!set || !reserved_signals || !(set->word[0] & SIGNAL_BIT(SIGSEGV)))
		return set;
	room->word[0] = mask_for_handler(set->word[0]);
	return room;
}

/* ---- for good -------------------------------------------------------------------------------- */

int mask_change(mask_function *real, int how, const struct sig_set *set, struct sig_set *old)
{
	uint64_t shown, wish = set ? set->word[0] : 0;
	struct sig_set all;
	int ret;

	if (!reserved_signals || (unsigned)how > SYS_SIG_SETMASK)
		return real(how, set, old);
	shown = mask_shown(mask_now());
	if (set && (how == SYS_SIG_SETMASK || wish & OURS)) {
		wish = how == SYS_SIG_BLOCK	? shown | wish
		       : how == SYS_SIG_UNBLOCK ? shown & ~wish
						: wish;
		all.word[0] = mask_hidden(wish);
		set = &all;
		how = SYS_SIG_SETMASK;
	}
	ret = real(how, set, old);
	if (!ret && old)
		old->word[0] = shown;
	return ret;
}

#define MASK_FORM(NAME)                                                                            \
	EXPORT int NAME(int how, const struct sig_set *set, struct sig_set *old);                  \
	EXPORT int NAME(int how, const struct sig_set *set, struct sig_set *old)                   \
	{                                                                                          \
		static void *known;                                                                \
		mask_function *real = (mask_function *)link_next(&known, #NAME);                   \
                                                                                                   \
		return real ? mask_change(real, how, set, old) : -1;                          \
	}

MASK_FORM(sigprocmask)
MASK_FORM(pthread_sigmask)

EXPORT int sigblock(int mask);
EXPORT int sigsetmask(int mask);
EXPORT int siggetmask(void);
EXPORT int sighold(int signal);
EXPORT int sigrelse(int signal);
EXPORT int sigignore(int signal);

/* The old forms; a mask has 32 signals there. */
static int change_words(int how, int mask)
{
	struct sig_set set = { .word = { (uint32_t)mask } }, old;

	return sigprocmask(how, &set, &old) ? -1 : (int)old.word[0];
}

int sigblock(int mask)
{
	return change_words(SYS_SIG_BLOCK, mask);
}

int sigsetmask(int mask)
{
	return change_words(SYS_SIG_SETMASK, mask);
}

int siggetmask(void)
{
	return change_words(SYS_SIG_BLOCK, 0);
}

static int change_one(int how, int signal, const char *name, void **known)
{
	struct sig_set set = { .word = { 0 } };
	int (*real)(int);

	if (signal > 0 && signal < NR_SIGNALS && SIGNAL_BIT(signal) & OURS) {
		set.word[0] = SIGNAL_BIT(signal);
		return sigprocmask(how, &set, NULL);
	}
	real = (int (*)(int))link_next(known, name);
	return real ? real(signal) : -1;
}

int sighold(int signal)
{
	static void *known;

	return change_one(SYS_SIG_BLOCK, signal, "sighold", &known);
}

int sigrelse(int signal)
{
	static void *known;

	return change_one(SYS_SIG_UNBLOCK, signal, "sigrelse", &known);
}

int sigignore(int signal)
{
	struct sig_action a = { .handler = SIG_IGN };
	static void *known;
	int (*real)(int);

	if (reserved_signals && reserved_signals->is_reserved(signal))
		return reserved_signals->action(signal, &a, NULL);
	real = (int (*)(int))link_next(&known, "sigignore");
	return real ? real(signal) : -1;
}

/* ---- for the time of a call ------------------------------------------------------------------ */

#define CALL_FORM(NAME, SET, PARAMS, ARGS)						\
EXPORT int NAME PARAMS;									\
EXPORT int NAME PARAMS									\
{											\
	int (*real) PARAMS;								\
	static void *known;								\
	struct sig_set room;								\
											\
	real = (int (*) PARAMS)link_next(&known, #NAME);					\
	SET = for_call(SET, &room);							\
	return real ? real ARGS : -1;							\
}

CALL_FORM(sigsuspend, set, (const struct sig_set *set), (set))
CALL_FORM(ppoll, set, (void *fds, unsigned long nr, const void *time, const struct sig_set *set),
	  (fds, nr, time, set))
CALL_FORM(__ppoll_chk, set,
	  (void *fds, unsigned long nr, const void *time, const struct sig_set *set, size_t bytes),
	  (fds, nr, time, set, bytes))
CALL_FORM(pselect, set,
	  (int nr, void *in, void *out, void *except, const void *time, const struct sig_set *set),
	  (nr, in, out, except, time, set))
CALL_FORM(epoll_pwait, set, (int fd, void *events, int nr, int time, const struct sig_set *set),
	  (fd, events, nr, time, set))
CALL_FORM(epoll_pwait2, set,
	  (int fd, void *events, int nr, const void *time, const struct sig_set *set),
	  (fd, events, nr, time, set))
CALL_FORM(pthread_attr_setsigmask_np, set, (void *attr, const struct sig_set *set), (attr, set))

/* ---- waiting --------------------------------------------------------------------------------- */

extern int *__errno_location(void) __attribute__((weak));	/* glibc and musl */

struct signal_info {
	int word[32];			/* siginfo_t: the signal, its errno, its code */
};

typedef int wait_function(const struct sig_set *set, struct signal_info *info, const void *time);

/*
 * sigtimedwait() of glibc and musl, by the real one. What was sent while the program blocks SIGSEGV
 * waits under another name (reserved.c); who waits for it at that moment may also get it from the
 * kernel itself.
 */
static int wait_for(const struct sig_set *set, struct signal_info *info, const void *time)
{
	static void *known;
	wait_function *real = (wait_function *)link_next(&known, "sigtimedwait");
	struct signal_info own;
	struct sig_set both;
	int signal;

	if (!real)
		return -1;
	if (!reserved_signals || !(set->word[0] & SIGNAL_BIT(SIGSEGV)) || !mask_blocks(mask_now()))
		return real(set, info, time);
	both = *set;
	both.word[0] |= SIGNAL_BIT(SIGSTKFLT);
	signal = real(&both, &own, time);
	if (signal > 0) {
		signal = reserved_waited(signal, own.word);
		if (info)
			*info = own;
	}
	return signal;
}

EXPORT int sigtimedwait(const struct sig_set *set, struct signal_info *info, const void *time);
EXPORT int sigwaitinfo(const struct sig_set *set, struct signal_info *info);
EXPORT int sigwait(const struct sig_set *set, int *signal);
EXPORT int sigpending(struct sig_set *set);

int sigtimedwait(const struct sig_set *set, struct signal_info *info, const void *time)
{
	return wait_for(set, info, time);
}

int sigwaitinfo(const struct sig_set *set, struct signal_info *info)
{
	return wait_for(set, info, NULL);
}

int sigwait(const struct sig_set *set, int *signal)
{
	static void *known;
	int (*real)(const struct sig_set *, int *), got;

	if (!(set->word[0] & SIGNAL_BIT(SIGSEGV))) {
		real = (int (*)(const struct sig_set *, int *))link_next(&known, "sigwait");
		return real ? real(set, signal) : EINVAL;
	}
	do
		got = wait_for(set, NULL, NULL);
	while (got < 0 && *__errno_location() == EINTR);
	if (got < 0)
		return *__errno_location();
	*signal = got;
	return 0;
}

int sigpending(struct sig_set *set)
{
	static void *known;
	int (*real)(struct sig_set *) = (int (*)(struct sig_set *))link_next(&known, "sigpending");
	int ret = real ? real(set) : -1;

	if (!ret && reserved_signals && set->word[0] & SIGNAL_BIT(SIGSTKFLT) &&
	    mask_blocks(mask_now()))
		set->word[0] = (set->word[0] & ~SIGNAL_BIT(SIGSTKFLT)) | SIGNAL_BIT(SIGSEGV);
	return ret;
}

EXPORT int pthread_attr_getsigmask_np(const void *attr, struct sig_set *set);

int pthread_attr_getsigmask_np(const void *attr, struct sig_set *set)
{
	static void *known;
	int (*real)(const void *, struct sig_set *) = (int (*)(
		const void *, struct sig_set *))link_next(&known, "pthread_attr_getsigmask_np");
	int ret = real ? real(attr, set) : -1;

	if (!ret && reserved_signals && set->word[0] & SIGNAL_BIT(SIGSTKFLT))
		set->word[0] |= SIGNAL_BIT(SIGSEGV);
	return ret;
}
