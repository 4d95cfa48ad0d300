/*
 * The full form: its ledger's beginning and end. Beginning is the first call's business, from wherever that comes; a constructor makes it likely
 * that this is before there are threads.
 */
#include "shim/full.h"

#include <pthread.h>
#include <time.h>

#include "agent/clock.h"
#include "agent/core.h"
#include "agent/ctx.h"
#include "agent/env.h"
#include "agent/segment.h"
#include "agent/sys.h"
#include "agent/unwind.h"

extern char **environ;
extern char __libc_single_threaded __attribute__((weak));
extern void *__libc_malloc(size_t size) __attribute__((weak));
extern void *malloc(size_t size);
extern struct mallinfo2_result { size_t figure[10]; } mallinfo2(void) __attribute__((weak));
extern int _dl_find_object(void *pc, void *result) __attribute__((weak));

struct full_freed full_freed[1u << FULL_FREED_BITS];
uint32_t full_careful = 1;
uint32_t full_careful_free;
uint32_t full_number;

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

static long wall_clock(int clock, int64_t *ts)
{
	struct timespec now;

	if (clock_gettime(clock, &now))
		return -1;
	ts[0] = now.tv_sec;
	ts[1] = now.tv_nsec;
	return 0;
}

bool full_start(void)
{
	if (LOAD(A.state) != AGENT_UNKNOWN)
		return agent_on();
	A.compiled_in = true;
	A.vdso_clock = wall_clock;
	A.single_threaded = (const uint8_t *)&__libc_single_threaded;
	/* glibc's blocks are 32 bytes apart; whose they are where malloc is another one is not known */
	A.dense = !&__libc_malloc || (void *)__libc_malloc != (void *)malloc;
	A.next.mallinfo2 = A.dense ? NULL : (void *)mallinfo2;
	A.find_object = &_dl_find_object ? _dl_find_object : NULL;
	if (!agent_on())
		return false;
	pthread_atfork(segment_forking, NULL, segment_forked);
	return true;
}

static __attribute__((destructor(101))) void end(void)
{
	struct caller from = { 0, (uint64_t)__builtin_frame_address(0), 0 };

	agent_finish(&from);
}
