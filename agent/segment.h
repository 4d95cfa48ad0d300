/*
 * The memory file the ledger lies in: mapping it, claiming a slot.
 */
#ifndef AGENT_SEGMENT_H
#define AGENT_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RLIMIT_AS	9

/* Find the tree's file and map it; each form of the agent has its own way. 0 or negative. */
int segment_open(void);

/*
 * A forked child for which its parent's file has no room: have a file of its own from now on. 0 or negative: it must do without. Each form
 * of the agent has its own way.
 */
int segment_renew(void);

/* Map the file behind fd as a whole, if it is a tree, and one with that cookie when one is given. Sets A.tree; 0 or -1. */
int segment_map(int fd, const uint64_t *cookie);

/* Map so much of a file without access, and `shared` bytes at its start for use; without a file (fd -1) memory that children share. Sets A.tree. */
int segment_map_pages(int fd, size_t bytes, size_t shared);

/* Undo segment_map(), the limit on address space included. */
void segment_unmap(void);

/*
 * Another mapping of ours is about to take so much address space, once: the program's limit is raised by it. False: that cannot be, what
 * it takes is the program's.
 */
bool segment_room(uint64_t bytes);

/* Say in the slot by what the limit is raised. */
void segment_note_limit(void);

/*
 * Claim a slot, make its fixed area usable and set A.base and A.ledger. new_image: we come from exec, an older slot of this
 * process is replaced. 0 or -1.
 */
int segment_claim(bool new_image);

/*
 * fork is about to happen / has happened in the child: tell the monitor at once that there is one more process. The child's
 * ledger is made at its first event.
 */
void segment_forking(void);
void segment_forked(void);

#endif
