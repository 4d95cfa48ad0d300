/*
 * Findings into the ledger.
 */
#include "agent/check/finding.h"
