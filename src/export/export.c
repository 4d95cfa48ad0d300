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
	switch (form) {
	case EXPORT_COLLAPSED:
		rc = export_collapsed(p, s, out);
		break;
	case EXPORT_SVG:
		rc = export_svg(p, s, out);
		break;
	case EXPORT_MASSIF:
		rc = export_massif(p, s, out);
		break;
	case EXPORT_HEAPTRACK:
		rc = export_heaptrack(p, s, out);
		break;
	case EXPORT_DHAT:
		rc = export_dhat(p, s, out);
		break;
	default:
		rc = export_speedscope(p, s, out);
		break;
	}
	profile_free(p);
	return rc;
}

int export_write(enum export_form form, const struct export_source *s, FILE *out)
{
	switch (form) {
	case EXPORT_PPROF:
		return export_pprof(s, out);
	case EXPORT_CHROME:
		return export_chrome(s, out);
	case EXPORT_OPENMETRICS:
		return export_openmetrics(s, out);
	default:
		return write_profile(form, s, out);
	}
}
