/*
 * Canaried blocks: heads and tails.
 */
#include "agent/check/canary.h"
