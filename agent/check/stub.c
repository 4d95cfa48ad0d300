/*
 * What parts of the check form do that are not built into it.
 */
#include "agent/check/fault.h"

#define STUB __attribute__((weak))

STUB void fault_start(void)
{
}

STUB void fault_thread(void)
{
}
