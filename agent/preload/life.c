/* SPDX-License-Identifier: MIT */
/*
 * The program's beginning and end, where the agent was loaded by the program's own loader.
 */
#include "agent/env.h"
#include "agent/unwind/module.h"
#include "agent/preload/follow.h"
#include "agent/preload/leave.h"
#include "agent/preload/own_late.h"
#include "agent/preload/agent_preload.h"
#include "agent/segment.h"

__thread uint64_t hook_countdown;

uint64_t *ctx_countdown(struct tctx *c)
{
	(void)c;
	return &hook_countdown;
}

static __attribute__((constructor(101))) void begin(void)
{
	bool on = preload_on();

	follow_start();
	env_hide();
	if (!on)
		return;
	module_start(NULL);
	ctx_find();
	leave_start();
}

static __attribute__((destructor(101))) void end(void)
{
	struct caller from = CALLER_HERE();

	own_late_end();
	agent_finish(&from);
	leave_destructor();
}
