/*
 * The memory file the ledger lies in: finding it, mapping it, claiming a slot.
 */
#ifndef AGENT_SEGMENT_H
#define AGENT_SEGMENT_H

#include <stdbool.h>

/* Find the tree: environment, monitor, or an own one. Sets A.tree; 0 or -errno. */
int segment_open(void);

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
