/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Documents: a list of owned sections.
 */
#include "src/document/doc.h"

#include <errno.h>

void doc_add(struct doc *d, struct table *t)
{
	if (!t || table_error(t) || vec_push(&d->sections, (struct section){ .table = t })) {
		d->failed = true;
		table_free(t);
	}
}

void doc_add_series(struct doc *d, struct series *s)
{
	if (!s || vec_push(&d->sections, (struct section){ .series = s })) {
		d->failed = true;
		series_free(s);
	}
}

int doc_error(const struct doc *d)
{
	return d->failed ? -ENOMEM : 0;
}

void doc_fini(struct doc *d)
{
	vec_each (&d->sections, s) {
		table_free(s->table);
		series_free(s->series);
	}
	vec_fini(&d->sections);
}
