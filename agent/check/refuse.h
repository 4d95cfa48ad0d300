/* SPDX-License-Identifier: MIT */
/*
 * Requests that fail: on purpose (--fail-after, --fail-rate, --limit), or because there is no
 * memory; and those whose size is an error.
 */
#ifndef AGENT_CHECK_REFUSE_H
#define AGENT_CHECK_REFUSE_H

#include "agent/check/checker.h"
#include "agent/record.h"

/* A finding: the size of this request is odd. */
void refuse_odd(struct tctx *c, size_t size, uint32_t kind, const struct caller *from);

/* Is the next request to fail? Counts it. */
bool refuse_on_purpose(size_t size);

static inline bool is_odd(size_t size, uint32_t kind)
{
	return size > PTRDIFF_MAX ||
	       (!size && checker.o.flags & PMM_CHECK_ZERO && kind < PMM_KIND_NEW);
}

/* Is this the C++ library's operator new asking again after ours failed? */
static inline bool asks_again(const struct tctx *c, const struct caller *from)
{
	return unlikely(from->sp < c->failing_new);
}

/* Is this request to fail? One of operator new does so until the library has given up. */
static inline bool refused(struct tctx *c, size_t size, uint32_t kind, const struct caller *from)
{
	bool again = asks_again(c, from) && c->refusing;

	if (unlikely(is_odd(size, kind)) && !asks_again(c, from))
		refuse_odd(c, size, kind, from);
	if (likely(!checker.refuses))
		return false;
	c->refusing = false;
	if (!again && !refuse_on_purpose(size))
		return false;
	c->refusing = kind >= PMM_KIND_NEW;
	return true;
}

/* A request failed: record it. NULL. */
static inline void *failed(struct tctx *c, size_t size, uint32_t kind, const struct caller *from)
{
	if (!asks_again(c, from))
		record_failed(c, size, kind, from);
	if (kind >= PMM_KIND_NEW)
		c->failing_new = from->sp;
	else if (!asks_again(c, from))
		c->failing_new = 0;
	return NULL;
}

#endif
