/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An index of a program's .eh_frame, for programs that have none themselves: gcc -static links
 * without .eh_frame_hdr.
 *
 * Made outside of the process, from its memory, so that a stripped or deleted file makes no
 * difference. The agent gets it as if it were the missing .eh_frame_hdr.
 */
#ifndef ENTRIES_FRAMES_H
#define ENTRIES_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "src/entries/objects.h"

struct frames {
	uint64_t start, end;	/* the segment that .eh_frame is in, run-time addresses */
	/* as .eh_frame_hdr; NULL = none is needed, or there is nothing to make one of */
	uint8_t *index;
	size_t nr_bytes;
};

/* Of the program among the objects. 0 or -ENOMEM. Release with frames_fini() in any case. */
int frames_find(struct objects *o, struct frames *f);
void frames_fini(struct frames *f);

/*
 * The same of a segment's bytes that are at `start`, with code in [code_start, code_end): the
 * longest list of frame descriptions in there. 0 or -ENOMEM.
 */
int frames_index(const uint8_t *bytes, size_t nr, uint64_t start, uint64_t code_start,
		 uint64_t code_end, struct frames *f);

#endif
