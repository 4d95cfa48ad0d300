/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `pmm attach` says: lines for a person, or lines of JSON, from the same data. All goes to a
 * stream in memory: who watches a process must not be kept waiting by who reads.
 */
#ifndef CMD_ATTACH_SAY_H
#define CMD_ATTACH_SAY_H

#include <stdio.h>

#include "src/analyze/expiry.h"
#include "src/analyze/growth.h"
#include "src/track/track_attach.h"
#include "src/proc/limits.h"
#include "src/view/watch.h"

struct say {
	FILE *out;
	bool json;
	struct style style;
	pid_t pid;
	uint64_t start_ns;		/* time 0 of what is said, on the tree's clock */
	uint64_t expire_ns;
};

/* Why watching ended. */
enum say_end { SAY_SIGNAL, SAY_DURATION, SAY_ENDED, SAY_EXECED, SAY_MUTE, SAY_TROUBLE };

struct outcome {
	enum say_end end;
	uint64_t seen_ns;		/* watched for that long */
	const struct heap *heap;	/* the last one; NULL = none was ever read */
	struct growth growth;		/* of the whole heap */
	struct limit limit;
	bool limited;			/* there is one */
	bool sampled;
	struct expiry_count expired;	/* alive */
	uint32_t nr_expired_sites, nr_silent_sites;	/* of those */
	const struct watch_site *site;	/* shown */
	size_t nr_sites, nr_all_sites;
	uint64_t nr_unjudged_sites;	/* too many to follow their growth */
	uint64_t detach_pause_ns;
	bool removed;
	int nr_guarded_left;
	struct attach_late late;	/* what could not be hooked to the end */
	uint64_t nr_errors;		/* heap errors */
	enum pmm_check_stop check_stopped;
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
