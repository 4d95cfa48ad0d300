/*
 * What checking may cost: purses of cycles, filled in proportion to the CPU time that the process uses for itself, as the kernel counts
 * it. Full purses at the start let small programs be checked wholly.
 */
#ifndef AGENT_CHECK_BUDGET_H
#define AGENT_CHECK_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/sys.h"

struct tctx;

enum budget_for {
	BUDGET_GUARDS,		/* opening and closing pages */
	BUDGET_CANARIES,	/* all else: recording, canaries, quarantine, string functions */
	BUDGET_NR,
};

/* permille: of the process's own CPU time, for each; UINT64_MAX = any. */
void budget_start(uint64_t guards_permille, uint64_t canaries_permille);

/*
 * May one more block be guarded, or have a canary? preferred: it is one of the first of its call site, for which some is held back of the
 * one purse, and the other may be overdrawn.
 */
bool budget_allows(struct tctx *c, enum budget_for what, bool preferred);

/* So many cycles went into it. */
void budget_spent(enum budget_for what, uint64_t cycles);

/* Is the purse of canaries empty, so that checks that can be left out should be? Any thread; changes all the time. */
extern bool budget_tight __attribute__((visibility("hidden")));

/* ... it is: has it been filled meanwhile? For who is not about to ask budget_allows() soon. */
void budget_tend(void);

/* In a forked child, whose CPU time begins again. */
void budget_forked(void);

/*
 * What canaries cost is measured at one event in BUDGET_EVERY, which stands for the others: the counter at its beginning, 0 for those that
 * are not measured. events: the context's number of this one.
 */
#define BUDGET_EVERY	64u

static inline uint64_t budget_watch(uint32_t events)
{
	return unlikely(events % BUDGET_EVERY == 0) ? arch_cycles() : 0;
}

void budget_watched(uint64_t from);

static inline void budget_watch_end(uint64_t from)
{
	if (unlikely(from))
		budget_watched(from);
}

#endif
