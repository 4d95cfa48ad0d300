/* SPDX-License-Identifier: MIT */
/*
 * Buffers that a call passes on to the kernel.
 */
#include "agent/strings/passing.h"

#include "agent/strings/strings.h"

#define GONE_THROUGH	512u		/* bytes that bounds_fits() may go through */

static bool ends_readable(const void *p, size_t bytes)
{
	uint64_t at = (uint64_t)p, last = at + bytes - 1;

	return sys_readable(at) &&
	       (at / ARCH_PAGE == last / ARCH_PAGE || sys_readable(last & ~(ARCH_PAGE - 1)));
}

/*
 * Is the memory there that is looked at, to know what is right? In the pool nothing is looked at.
 */
static bool may_look(const void *p, size_t bytes)
{
	return bounds_guarded(p) ||
	       (!agent.no_asking && ends_readable(p, least(bytes, GONE_THROUGH)));
}

bool passing_fits(const void *p, size_t bytes)
{
	return !bounds_suspect(p) || !bytes || !may_look(p, bytes) ||
	       bytes <= bounds_left(p, bytes);
}

bool passing_readable(const void *p, size_t bytes)
{
	return bounds_guarded(p) || agent.no_asking || ends_readable(p, bytes);
}

SLOW void *passing_look(struct passing *w, const void *p, size_t bytes, unsigned how,
			const char *function, const struct caller *from)
{
	size_t left;

	if (!may_look(p, bytes))
		return (void *)p;
	if (how & PASS_IN) {
		if (bounds_fits(p, bytes))
			return (void *)p;
		left = bounds_check(p, bytes, how & PASS_OUT ? PMM_ACCESS_WRITE : PMM_ACCESS_READ,
				    function, from);
		w->reported = true;
	} else {
		left = bounds_left(p, 1);
	}
	if (left >= bytes)
		return (void *)p;
	w->left = left;
	return bounce_begin(&w->b, p, bytes, how & PASS_IN ? left : 0);
}

const char *passing_text(struct passing *w, const char *s, const char *function,
			 const struct caller *from)
{
	*w = (struct passing){ .left = SIZE_MAX };
	if (likely(!bounds_suspect(s)) || !may_look(s, 1))
		return s;
	s = string_begin(&w->b, s, SIZE_MAX, function, from);
	if (w->b.memory) {
		w->left = 0;
		w->reported = true;
	}
	return s;
}

void passing_done(struct passing *w, size_t got, const char *function, const struct caller *from)
{
	size_t may = least(got, w->left);

	if (!w->reported && got > w->left)
		may = least(got, bounds_over(w->b.block, got, PMM_ACCESS_WRITE, function, from));
	bounce_end(&w->b, may);
}
