/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The source locations in the source that a ledger names (pmm.h). */
#include "src/ledger/ledger_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>


/* *room: bytes that texts may still take: each is in the arena once. */
static int srcloc_read(struct ledger_reader *r, uint32_t nr, uint64_t *room, struct heap_srcloc *to)
{
	struct pmm_srcloc p = { 0 };
	uint32_t index;
	pmm_ref chunk;

	/*
	 * number 0 is in use without being one; one that had no room for its texts has a number all
	 * the same
	 */
	if (nr && (!ledger_reader_entry(r->l->srcloc_dir, nr, PMM_SRCLOC_SHIFT, &chunk, &index) ||
		   ledger_map_read_at(r->m, chunk, index, &p, sizeof(p))))
		ledger_reader_odd(r);
	if (p.file_len > PMM_MAX_SRCLOC_TEXT || p.function_len > PMM_MAX_SRCLOC_TEXT ||
	    p.file_len + p.function_len > *room) {
		ledger_reader_odd(r);
		p = (struct pmm_srcloc){ 0 };
	}
	*room -= p.file_len + p.function_len;
	to->line = p.line;
	to->file = ledger_reader_string(r, p.file, p.file_len);
	to->function = ledger_reader_string(r, p.function, p.function_len);
	return to->file && to->function ? 0 : -ENOMEM;
}

int ledger_read_srclocs(struct ledger_reader *r)
{
	uint64_t room = ledger_reader_arena(r), most = room / sizeof(struct pmm_srcloc) + 1;
	uint32_t nr = r->l->nr_srclocs < most ? r->l->nr_srclocs : (uint32_t)most;
	struct heap *h = r->h;

	if (nr > 1 && !(h->srclocs = calloc(nr, sizeof(*h->srclocs))))
		return -ENOMEM;
	for (uint32_t i = 0; nr > 1 && i < nr; i++) {
		int rc;

		h->nr_srclocs = i + 1;
		rc = srcloc_read(r, i, &room, &h->srclocs[i]);
		if (rc)
			return rc;
	}
	if (h->nr_srclocs)
		h->srclocs[0].line = r->l->compiled_in == 1;
	for (uint32_t i = 1; i < h->nr_nodes; i++)
		if (h->nodes[i].pc - HEAP_SRCLOC_PC < HEAP_MAX_SRCLOCS &&
		    !heap_srcloc(h, &h->nodes[i])) {
			h->nodes[i].pc = PMM_FRAME_NONE;
			ledger_reader_odd(r);
		}
	return 0;
}
