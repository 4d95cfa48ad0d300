/*
 * Call stacks: from the caller of a hook to the outermost frame.
 */
#ifndef AGENT_UNWIND_H
#define AGENT_UNWIND_H

#include <stdint.h>

#include "agent/ctx.h"

/* One frame of a memo. */
struct frame {
	uint64_t id;		/* module:16 | pc:48, as in the ledger */
	uint64_t sp;		/* rsp of the frame: the CFA of the frame it called */
	uint64_t rbp;
	uint32_t node;		/* its node in the call tree */
	int16_t rbp_off;	/* where the caller's rbp is saved, as in struct cfi_rule */
	uint8_t kind;		/* enum cfi_kind: how its caller was found */
	uint8_t flags;		/* enum frame_flags */
	int32_t aux;		/* CFI_RBP_DEREF: offset of the word that holds the CFA */
	uint32_t reserved;
};

enum frame_flags {
	FRAME_NEEDS_RBP = 1,	/* frames from here outwards depend on rbp's value here */
	FRAME_CHECK_RBP = 2,	/* the saved rbp in this frame is depended on further out */
};

/* Where a hook was called from. */
struct caller {
	uint64_t ra;		/* return address into the program */
	uint64_t sp;		/* rsp after the return */
	uint64_t rbp;		/* the program's rbp */
};

/* Walk the stack and return its site. */
uint32_t unwind_site(struct tctx *c, const struct caller *from, uint32_t site_flags);

/* Does the stack go through a signal handler, or can that not be told? */
bool unwind_interrupted(struct tctx *c, const struct caller *from);

/* Forget what is known of the context's stacks. */
void unwind_forget(struct tctx *c);

#endif
