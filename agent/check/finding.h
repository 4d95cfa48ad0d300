/*
 * Findings: identical ones are one and counted, the first is shown to the monitor at once. Any thread, signal handlers included.
 */
#ifndef AGENT_CHECK_FINDING_H
#define AGENT_CHECK_FINDING_H

#include <stdint.h>

#include "agent/check/check.h"
#include "include/pmm/ledger.h"

/* Memory for the first findings, so that there is some when it is needed. */
void finding_start(void);

/*
 * Note `f`; count, ticks and thread are filled in here. Then what on_error says: does not return when the process is to end. Returns the
 * number it has in the ledger, UINT32_MAX when there was no room (counted).
 */
uint32_t finding_add(struct tctx *c, struct pmm_finding *f);

/* What is known of a block, into a finding. NULL = nothing. */
void finding_block(struct pmm_finding *f, const struct check_block *b);

#endif
