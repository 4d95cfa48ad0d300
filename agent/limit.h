/* SPDX-License-Identifier: MIT */
/*
 * The limit on address space (RLIMIT_AS) is the program's: it is raised by what the agent maps, so
 * that the program keeps what it had.
 */
#ifndef AGENT_LIMIT_H
#define AGENT_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#define RLIMIT_FSIZE	1
#define RLIMIT_AS	9

/* The soft limit of this process. */
uint64_t limit_of(int which);

/*
 * A mapping of so many bytes is about to be made for the ledger. Where the limit cannot be raised
 * for it, it takes of the program's or, where there is no room, fails.
 */
void limit_make_room(uint64_t bytes);

/* It was not made after all, or is gone. */
void limit_restore(void);

/*
 * Another mapping of ours is about to take so much address space, once: the program's limit is
 * raised by it. False: that cannot be, what it takes is the program's.
 */
bool limit_room(uint64_t bytes);

/* What of the limit an image after this one must know: enum pmm_limit. */
uint32_t limit_state(void);

/* Say in the slot by what the limit is raised. */
void limit_note(void);

/*
 * Was the limit raised before this image was begun by exec: by the one before it or, where a child
 * did not stop to say so, by its parent? enum pmm_limit. Each form of the agent has its own way to
 * know. Asked only where there is a limit.
 */
uint32_t limit_inherited(void);

#endif
