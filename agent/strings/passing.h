/* SPDX-License-Identifier: MIT */
/*
 * Buffers that a call passes on to the kernel, which does not fault where it may not read or write
 * but fails, or does a part.
 *
 * What is not in the guard pool is passed on as it is, and looked at only where it can be read:
 * programs ask the kernel whether memory is there by such calls. In the pool it is stood in for
 * unless it holds all that is asked for (agent/fault/bounce.h).
 *
 * Safe in signal handlers; errno is not touched.
 */
#ifndef AGENT_STRINGS_PASSING_H
#define AGENT_STRINGS_PASSING_H

#include "agent/fault/bounce.h"
#include "agent/strings/bounds.h"

#define PASS_IN		1u	/* the kernel reads it */
#define PASS_OUT	2u	/* ... writes it; both is reported as a write, before */

#define STAT_BYTES	144u		/* struct stat, of the kernel's and the C library's alike */
#define STATFS_BYTES	120u

struct passing {
	struct bounce b;
	size_t left;			/* bytes that the block holds; SIZE_MAX: enough */
	bool reported;
};

/* Does p hold that much, for all that may be looked at? */
bool passing_fits(const void *p, size_t bytes);

/* Can what the call itself points to be read at all, by us and not by the kernel? */
bool passing_readable(const void *p, size_t bytes);

/* What to pass on in place of `bytes` bytes at p. from: the program's call of `function`. */
void *passing_look(struct passing *w, const void *p, size_t bytes, unsigned how,
		   const char *function, const struct caller *from);

static inline void *passing_begin(struct passing *w, const void *p, size_t bytes, unsigned how,
				  const char *function, const struct caller *from)
{
	*w = (struct passing){ .left = SIZE_MAX };
	return likely(!bounds_suspect(p)) || !bytes
		       ? (void *)p
		       : passing_look(w, p, bytes, how, function, from);
}

/* The same for a string that is read. */
const char *passing_text(struct passing *w, const char *s, const char *function,
			 const struct caller *from);

/* The call is back and has written `got` bytes. */
void passing_done(struct passing *w, size_t got, const char *function, const struct caller *from);

static inline void passing_end(struct passing *w, size_t got, const char *function,
			       const struct caller *from)
{
	if (unlikely(w->left != SIZE_MAX))
		passing_done(w, got, function, from);
}

#endif
