/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pointers to what the heaps of a trace are. */
#include "src/session/trace/trace_heaps_result.h"

int trace_heaps_result(struct trace_heaps_result *r, const struct trace_heaps *t)
{
	int rc = 0;

	r->v.nr = 0;
	for (size_t i = 0; t && !rc && i < t->heaps.nr; i++) {
		struct trace_heap *h = t->heaps.v[i];

		rc = vec_push(&r->v, (struct trace_heap_result){
					     .pid = h->pid,
					     .comm = h->comm,
					     .heap = h->heap,
					     .names = h->heap ? &h->naming.names : NULL,
					     .rows = &h->rows,
					     .why = *h->why.text ? h->why.text
								 : "it has no ledger" });
	}
	return rc;
}
