/* SPDX-License-Identifier: MIT */
/*
 * Threads get their context, and with it an alternate stack, before their own code begins: on a stack that has run over no handler can be called, and
 * a thread that has never allocated would have none.
 *
 * What the program wants run waits in a slot until the thread is there, which frees the slot and jumps to it: there is no frame of ours in the
 * thread's stacks. Where all slots are in use (or the agent is off) the thread begins as natively. A slot is lost in a child that is forked
 * between the two.
 */
#include "agent/check/fault.h"
#include "agent/check/ways.h"
#include "agent/preload/keeper.h"
#include "agent/preload/link.h"
#include "agent/preload/preload.h"

#define SLOTS		256u
#define NOT_THERE	38	/* ENOSYS */
#define THRD_ERROR	2	/* glibc's and musl's */

typedef void *start_function(void *arg);
typedef int create_function(void *thread, const void *attributes, start_function *start, void *arg);
typedef int c11_function(void *thread, start_function *start, void *arg);

EXPORT int pthread_create(void *thread, const void *attributes, start_function *start, void *arg);
EXPORT int thrd_create(void *thread, start_function *start, void *arg);

static struct slot {
	uint32_t used;
	start_function *start;
	void *arg;
} slots[SLOTS];
static uint32_t next;

static struct slot *slot_take(start_function *start, void *arg)
{
	if (!agent_on() || !signal_keeper)
		return NULL;
	for (unsigned tries = 0; tries < SLOTS; tries++) {
		struct slot *s = &slots[ADD(next, 1) % SLOTS];
		uint32_t no = 0;

		if (CAS(s->used, no, 1)) {
			s->start = start;
			s->arg = arg;
			return s;
		}
	}
	return NULL;
}

static void *thread_begin(void *arg)
{
	struct slot *s = arg;
	start_function *start = s->start;

	arg = s->arg;
	STORE_RELEASE(s->used, 0);
	fault_thread();
	return start(arg);	/* a jump */
}

int pthread_create(void *thread, const void *attributes, start_function *start, void *arg)
{
	static void *known;
	create_function *real = (create_function *)link_next(&known, "pthread_create");
	struct slot *s = real ? slot_take(start, arg) : NULL;
	int ret;

	if (!real)
		return NOT_THERE;
	if (!s)
		return real(thread, attributes, start, arg);
	ret = real(thread, attributes, thread_begin, s);
	if (ret)
		STORE_RELEASE(s->used, 0);
	return ret;
}

int thrd_create(void *thread, start_function *start, void *arg)
{
	static void *known;
	c11_function *real = (c11_function *)link_next(&known, "thrd_create");
	struct slot *s = real ? slot_take(start, arg) : NULL;
	int ret;

	if (!real)
		return THRD_ERROR;
	if (!s)
		return real(thread, start, arg);
	ret = real(thread, thread_begin, s);
	if (ret)
		STORE_RELEASE(s->used, 0);
	return ret;
}
