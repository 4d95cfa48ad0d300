/*
 * What guarding may cost: a bucket of cycles, filled in proportion to the CPU time that the process uses for itself, as the kernel counts
 * it. A full bucket at the start lets small programs be guarded wholly.
 */
#ifndef AGENT_CHECK_BUDGET_H
#define AGENT_CHECK_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct tctx;

/* permille: of the process's own CPU time; UINT64_MAX = any. */
void budget_start(uint64_t permille);

/* May one more block be guarded? preferred: it is one of the first of its call site, for which some is held back. */
bool budget_allows(struct tctx *c, bool preferred);

/* So many cycles went into it. */
void budget_spent(uint64_t cycles);

/* In a forked child, whose CPU time begins again. */
void budget_forked(void);

#endif
