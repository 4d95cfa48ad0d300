/*
 * Released canaried blocks, kept for a while.
 */
#include "agent/check/quarantine.h"
