/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which form is written by whom. */
#include "src/export/export.h"

#include <errno.h>

#include "src/export/export_priv.h"

static int write_profile(enum export_form form, const struct export_source *s, FILE *out)
{
	struct profile *p;
	int rc = heap_profile(s->heap, s->names, s->selection, &p);

	if (rc)
		return rc == -ENOSPC ? -E2BIG : rc;	/* that is a full disk's */
	rc = form == EXPORT_COLLAPSED ? export_collapsed(p, s, out) : export_speedscope(p, s, out);
	profile_free(p);
	return rc;
}

int export_write(enum export_form form, const struct export_source *s, FILE *out)
{
	return form == EXPORT_PPROF ? export_pprof(s, out) : write_profile(form, s, out);
}
