/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of freezing (precopy.h) share. For precopy*.c only.
 *
 * Offsets are in the arena, places are the 1 << shift bytes that one mark stands for. The copy
 * covers as much of the arena as there are marks for; an arena that outgrows it is copied on from
 * there by precopy_now(). What is neither copied nor marked has not been used, and is zero in the
 * arena as well as in the copy.
 *
 * The process may have scribbled on its ledger: marks are only ever read as "copy this place", and
 * all copying is bounded by what the map found to have backing.
 */
#ifndef LEDGER_PRECOPY_PRIV_H
#define LEDGER_PRECOPY_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/base/vec.h"
#include "src/ledger/precopy.h"

struct precopy_open_event {
	uint64_t seq_off;		/* of the context's seq in the slot */
	uint64_t seq;			/* odd */
};

struct precopy_state {
	uint8_t *marks;			/* [nr_marks] in the ledger */
	uint32_t nr_marks, shift;
	bool locked, raised, frozen;
	bool failed;			/* a part could not be copied */
	unsigned char *copy;
	uint64_t copy_bytes;
	VEC(struct precopy_open_event) open;	/* events that may store without a mark */
	struct pmm_ledger header;	/* latest copy */
	struct ledger_frozen result;
};

/*
 * Be the only scanner, make room for marks and copy, raise the word, and wait for the events from
 * before to end, for half a second at most: those that are left are in state->open. 0 or -errno
 * with `e`.
 */
int precopy_raise(struct precopy *f, struct err *e);

/* The agent need not mark any more, and another scanner may come. */
void precopy_lower(struct precopy *f);

/* Lower the word and release all of the state. NULL is fine. */
void precopy_state_free(struct precopy *f);

/*
 * Copy the header; add the contexts in the middle of an event, nested ones as well, to state->open.
 * 0 or -errno.
 */
int precopy_events_note(struct precopy *f);

/* Forget those whose event has ended. */
void precopy_events_look(struct precopy *f);

/* -ENOMEM, with `e`. */
int precopy_no_memory(struct err *e, const char *what);

#endif
