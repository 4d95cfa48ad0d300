/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which form is written by whom. */
#include "src/export/export.h"

#include <errno.h>
#include <stdlib.h>

#include "src/export/export_priv.h"

/* A line of massif's is indented by its depth: deep stacks have room for fewer frames. */
static uint64_t room_of(enum export_form form, const uint32_t *depth, size_t nr)
{
	uint32_t deepest = 0;

	for (size_t i = 0; i < nr; i++)
		deepest = depth[i] > deepest ? depth[i] : deepest;
	return form == EXPORT_MASSIF ? STACKS_ROOM / (1 + deepest / STACK_WHOLE) : STACKS_ROOM;
}

/* Where stacks are cut; by forms that are a tree nowhere. 0 or -ENOMEM. */
static int find_cut(enum export_form form, const struct profile *p, struct stack_cut *out)
{
	VEC(uint32_t) listed = { 0 };
	uint32_t *depth = NULL;
	int rc = 0;

	*out = (struct stack_cut){ .frames = UINT32_MAX };
	if (form == EXPORT_SVG || form == EXPORT_HEAPTRACK)
		return 0;
	depth = calloc(p->nodes.nr, sizeof(*depth));
	for (uint32_t i = 0; depth && i < p->nodes.nr && !rc; i++) {
		depth[i] = i ? depth[p->nodes.v[i].parent] + 1 : 0;
		if (export_any(p, i))
			rc = vec_push(&listed, depth[i]);
	}
	if (!depth)
		rc = -ENOMEM;
	if (!rc)
		rc = stack_cut_within(listed.v, listed.nr, room_of(form, listed.v, listed.nr), out);
	vec_fini(&listed);
	free(depth);
	return rc;
}

static int write_form(enum export_form form, const struct profile *p,
		      const struct export_source *s, const struct stack_cut *cut, FILE *out)
{
	switch (form) {
	case EXPORT_COLLAPSED:
		return export_collapsed(p, s, cut, out);
	case EXPORT_SVG:
		return export_svg(p, s, out);
	case EXPORT_MASSIF:
		return export_massif(p, s, cut, out);
	case EXPORT_HEAPTRACK:
		return export_heaptrack(p, s, out);
	case EXPORT_DHAT:
		return export_dhat(p, s, cut, out);
	default:
		return export_speedscope(p, s, cut, out);
	}
}

static int write_profile(enum export_form form, const struct export_source *s,
			 struct stack_cut *cut, FILE *out)
{
	struct profile *p;
	int rc = heap_profile(s->heap, s->names, s->selection, &p);

	if (rc)
		return rc == -ENOSPC ? -E2BIG : rc;	/* that is a full disk's */
	rc = find_cut(form, p, cut);
	if (!rc)
		rc = write_form(form, p, s, cut, out);
	profile_free(p);
	return rc;
}

int export_write(enum export_form form, const struct export_source *s, FILE *out)
{
	struct stack_cut here, *cut = s->cut ? s->cut : &here;

	*cut = (struct stack_cut){ .frames = UINT32_MAX };
	switch (form) {
	case EXPORT_PPROF:
		return export_pprof(s, cut, out);
	case EXPORT_CHROME:
		return export_chrome(s, out);
	case EXPORT_OPENMETRICS:
		return export_openmetrics(s, out);
	default:
		return write_profile(form, s, cut, out);
	}
}
