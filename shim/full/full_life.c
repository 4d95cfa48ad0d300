/* SPDX-License-Identifier: MIT */
/*
 * The full form: its ledger's beginning and end. Beginning is the first call's business, from
 * wherever that comes.
 */
#include "shim/full/full.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "agent/clock.h"
#include "agent/agent_core.h"
#include "agent/ctx.h"
#include "agent/env.h"
#include "agent/unwind/module.h"
#include "agent/segment.h"
#include "agent/agent_shim.h"
#include "agent/sys.h"
#include "agent/unwind/unwind.h"

extern char **environ;
extern char __libc_single_threaded __attribute__((weak));
extern void *__libc_malloc(size_t size) __attribute__((weak));
extern struct mallinfo2_result { size_t figure[10]; } mallinfo2(void) __attribute__((weak));
extern int _dl_find_object(void *pc, void *result) __attribute__((weak));

struct full_freed full_freed[1u << FULL_FREED_BITS];
uint32_t full_careful = 1;
uint32_t full_careful_free;
uint32_t full_kmod = FULL_KMOD_ASK;

const char *env_get(const char *name)
{
	size_t n = str_length(name);

	for (char **env = environ; env && *env; env++)
		if (str_starts(*env, name) && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

uint64_t *ctx_countdown(struct tctx *c)
{
	return &c->bytes_left;
}

const struct pmm_shim_table full_own_table = {
	SHIM_TABLE(full_ready), .is_copy = true,    .malloc = malloc,
	.calloc = calloc,	.realloc = realloc, .aligned_alloc = aligned_alloc,
	.free = free,		.log = full_log,    .log_switch = full_log_switch,
};

PMM_SHIM_NOTE(PMM_SHIM_NOTE_COPY, full_own_table);

static bool start_own(void)
{
	agent.compiled_in = true;
	agent.valgrind = arch_valgrind();
	agent.taken = full_taken;
	/* 0 in all of the register where it succeeds */
	agent.vdso_clock = (long (*)(int, int64_t *))(void *)clock_gettime;
	agent.single_threaded = (const uint8_t *)&__libc_single_threaded;
	/*
	 * glibc's blocks are 32 bytes apart; whose they are where malloc is another one is not
	 * known
	 */
	agent.dense = !&__libc_malloc || (void *)__libc_malloc != (void *)malloc;
	agent.next.mallinfo2 = agent.dense ? NULL : (void *)mallinfo2;
	agent.find_object = &_dl_find_object ? _dl_find_object : NULL;
	return agent_on();
}

/* It is as we know it. */
static bool is_known(const struct pmm_shim_table *table)
{
	return table && table->version == PMM_SHIM_VERSION && table->bytes == sizeof(*table);
}

const struct pmm_shim_table *full_start(bool *own, const struct pmm_shim_table **program)
{
	const struct pmm_shim_table *other;
	struct full_tables found;

	full_find(&found);
	*program = found.program != &full_own_table && is_known(found.program) ? found.program
									       : NULL;
	other = found.agent ? found.agent : found.program;
	*own = !other || other == &full_own_table;
	if (*own)
		return start_own() ? &full_own_table : NULL;
	return is_known(other) && other->ready() ? other : NULL;
}

/*
 * Which files the stacks' code is in is read now: the program may confine itself, so that it could
 * not be later.
 */
void full_note_stacks(bool now)
{
	struct module_at m;

	if (now && LOAD(agent.state) == AGENT_ON)
		module_find((uint64_t)full_note_stacks, &m);
	STORE(agent.stacks, now);
}

static __attribute__((destructor(101))) void end(void)
{
	struct caller from = { 0, (uint64_t)__builtin_frame_address(0), 0 };

	agent_finish(&from);
}
