/*
 * What parts of the check form do that are not built into it.
 */
#include "agent/check/fault.h"
#include "agent/check/guard.h"

#define STUB __attribute__((weak))

STUB bool guard_start(const struct pmm_check *options) { (void)options; return false; }
STUB uint32_t guard_alloc(size_t size, size_t align, enum guard_refusal *why) { (void)size; (void)align; *why = GUARD_KERNEL; return UINT32_MAX; }
STUB void guard_publish(uint32_t run) { (void)run; }
STUB struct pmm_guard *guard_at(uint32_t run) { (void)run; return NULL; }
STUB bool guard_in_pool(uint64_t address) { (void)address; return false; }
STUB uint32_t guard_find(uint64_t address) { (void)address; return UINT32_MAX; }
STUB uint32_t guard_block(uint64_t address) { (void)address; return UINT32_MAX; }
STUB bool guard_damage(uint32_t run, uint64_t *at) { (void)run; (void)at; return false; }
STUB bool guard_release(uint32_t run) { (void)run; return false; }
STUB void guard_close(uint32_t run) { (void)run; }
STUB void guard_forked(void) { }
STUB void fault_start(void) { }
STUB void fault_thread(void) { }
