/* SPDX-License-Identifier: MIT */
/*
 * Memory that stands in for a buffer of the guard pool which holds less than is asked for: the
 * kernel does not fault on a guard page but fails, or does part of what it is to do, as it would
 * not without us. With memory of its own the call goes as it would have gone, and the block gets,
 * or gives, no more than it has.
 *
 * Safe in signal handlers; errno is not touched. Who leaves in the midst by a jump or by being
 * cancelled leaves the memory behind.
 */
#ifndef AGENT_FAULT_BOUNCE_H
#define AGENT_FAULT_BOUNCE_H

#include <stddef.h>

struct bounce {
	void *block;		/* what the program named */
	void *memory;		/* NULL: nothing stands in for it */
	size_t bytes;
};

/*
 * What to use instead of `block`: zeroed memory of so many bytes with the first `filled` of it; the
 * block itself where there is none.
 */
void *bounce_begin(struct bounce *b, const void *block, size_t bytes, size_t filled);

/* Copy so many bytes to the block, and be done. */
void bounce_end(struct bounce *b, size_t back);

#endif
