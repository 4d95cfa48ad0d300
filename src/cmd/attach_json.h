/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The JSON lines of `pmm attach --json`, schema WATCH_SCHEMA (doc/watching.md): an object a line,
 * each with its `event`.
 */
#ifndef CMD_ATTACH_JSON_H
#define CMD_ATTACH_JSON_H

#include "src/cmd/attach_say.h"

void attach_json_begin(struct say *s, const char *comm, const struct attach_info *info);
void attach_json_totals(struct say *s, const struct ledger_totals *t);
void attach_json_event(struct say *s, const struct heap *h, struct names *n,
		       const struct expiry_event *e);
void attach_json_growth(struct say *s, uint64_t now_ns, const struct growth *g,
			const struct limit *limit);
void attach_json_outcome(struct say *s, struct names *n, const struct outcome *o);

#endif
