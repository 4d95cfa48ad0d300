/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of `pmm attach`: each event in the form that was asked for. */
#include "src/cmd/attach_say.h"

static void put(struct say *s, struct event e)
{
	int rc = s->json ? event_print_json(&e, s->out) : event_print_text(&e, &s->style, s->out);

	s->failed |= rc == -ENOMEM;
	event_fini(&e);
}

void say_begin(struct say *s, const char *comm, const struct attach_info *info)
{
	put(s, attach_event_attached(&s->scope, comm, info));
}

void say_totals(struct say *s, const struct ledger_totals *t)
{
	put(s, attach_event_totals(&s->scope, t));
}

void say_event(struct say *s, const struct heap *h, struct names *n, const struct expiry_event *e)
{
	const struct attach_site at = { .heap = h, .names = n, .site = e->site };

	put(s, attach_event_expiry(&s->scope, &at, e));
}

void say_more(struct say *s, uint64_t now_ns, uint64_t nr)
{
	put(s, attach_event_more(&s->scope, now_ns, nr));
}

void say_growth(struct say *s, uint64_t now_ns, const struct growth *g, const struct limit *limit)
{
	put(s, attach_event_growth(&s->scope, now_ns, g, limit));
}

void say_outcome(struct say *s, struct names *n, const struct outcome *o)
{
	const struct attach_sites all = { .names = n, .outcome = o };

	for (size_t i = 0; i < o->nr_sites; i++) {
		const struct attach_site at = { o->heap, n, o->site[i].row.site };

		put(s, attach_event_site(&s->scope, &at, o, &o->site[i]));
	}
	put(s, attach_event_outcome(&s->scope, &all));
}
