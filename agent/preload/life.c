/*
 * The program's beginning and end, where the agent was loaded by the program's own loader.
 */
#include "agent/module.h"
#include "agent/preload/leave.h"
#include "agent/preload/preload.h"
#include "agent/segment.h"

__thread uint64_t hook_countdown;

uint64_t *ctx_countdown(struct tctx *c)
{
	(void)c;
	return &hook_countdown;
}

/* glibc's pthread_atfork; runs for the forks inside libc (system, popen, daemon) as well. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso)
	__attribute__((weak));

static __attribute__((constructor(101))) void begin(void)
{
	if (!A.next.malloc && !resolve())
		return;
	if (!agent_on())
		return;
	module_start(NULL);
	ctx_find();
	if (&__register_atfork)
		__register_atfork(segment_forking, NULL, segment_forked, NULL);
	leave_start();
}

static __attribute__((destructor(101))) void end(void)
{
	struct caller from = CALLER_HERE();

	agent_finish(&from);
	leave_destructor();
}
