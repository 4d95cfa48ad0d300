/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `pmm attach` says: the events of src/session/attach/attach_events.h as lines for a person, or as
 * lines of JSON. All goes to a stream in memory: who watches a process must not be kept waiting by
 * who reads.
 */
#ifndef CMD_ATTACH_SAY_H
#define CMD_ATTACH_SAY_H

#include <stdio.h>

#include "src/session/attach/attach_events.h"

struct say {
	FILE *out;
	bool json;
	struct style style;
	struct attach_scope scope;
	bool failed;			/* no memory for an event: it is not whole */
};

/* What was attached (JSON only; a person reads it on stderr). */
void say_begin(struct say *s, const char *comm, const struct attach_info *info);

/* Totals at a look (JSON only). */
void say_totals(struct say *s, const struct ledger_totals *t);

/* Blocks expired or were freed after that. */
void say_event(struct say *s, const struct heap *h, struct names *n, const struct expiry_event *e);

/* So many more events at this look (text only). */
void say_more(struct say *s, uint64_t now_ns, uint64_t nr);

/* The verdict on the heap has changed. */
void say_growth(struct say *s, uint64_t now_ns, const struct growth *g, const struct limit *limit);

/* The end: totals, verdict, sites. */
void say_outcome(struct say *s, struct names *n, const struct outcome *o);

#endif
