/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile's tree as forms need it: turned over, with children in order, with texts made once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/utf8.h"
#include "src/export/export_priv.h"

int export_invert(const struct profile *p, struct profile **out)
{
	VEC(uint32_t) frames = { 0 };
	int64_t rc = 0;

	*out = profile_new(p->metric, p->nr_metrics);
	for (uint32_t i = 1; *out && i < p->frames.nr && rc >= 0; i++)
		rc = profile_frame(*out, &p->frames.v[i]);	/* the same numbers */
	for (uint32_t i = 0; *out && i < p->nodes.nr && rc >= 0; i++) {
		const int64_t *self = &p->self.v[(size_t)i * p->nr_metrics];
		bool any = false;

		for (unsigned m = 0; m < p->nr_metrics; m++)
			any |= self[m] != 0;
		if (!any)
			continue;
		frames.nr = 0;
		for (uint32_t n = i; n && rc >= 0; n = p->nodes.v[n].parent)
			rc = vec_push(&frames, p->nodes.v[n].frame);
		if (rc >= 0)
			rc = profile_add(*out, frames.v, frames.nr, self);
	}
	vec_fini(&frames);
	if (*out && rc >= 0)
		rc = profile_sum(*out);
	if (!*out)
		return -ENOMEM;
	if (rc >= 0)
		return 0;
	profile_free(*out);
	*out = NULL;
	return (int)rc;
}

static int compare_children(const void *a, const void *b)
{
	const struct export_child *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

int export_children(struct export_children *c, const struct profile *p, unsigned metric)
{
	*c = (struct export_children){ .first = calloc(p->nodes.nr + 1, sizeof(*c->first)) };
	if (!c->first)
		return -ENOMEM;
	for (uint32_t i = 1; i < p->nodes.nr; i++) {
		struct export_child child = { p->nodes.v[i].parent, i, export_total(p, i, metric) };

		if (child.value <= 0)
			continue;
		if (vec_push(&c->list, child))
			return -ENOMEM;
		c->first[child.parent + 1]++;
	}
	for (uint32_t i = 0; i < p->nodes.nr; i++)
		c->first[i + 1] += c->first[i];
	vec_sort(&c->list, compare_children);
	return 0;
}

void export_children_fini(struct export_children *c)
{
	free(c->first);
	vec_fini(&c->list);
}

int export_texts(const struct profile *p, void (*add)(struct str *s, const struct profile_frame *f),
		 struct export_texts *out)
{
	int rc = 0;

	*out = (struct export_texts){ .nr = p->frames.nr };
	out->v = calloc(p->frames.nr + 1, sizeof(*out->v));
	if (!out->v)
		return -ENOMEM;
	for (uint32_t i = 1; i < p->frames.nr && !rc; i++) {
		struct str s = STR_INIT;

		add(&s, &p->frames.v[i]);
		out->v[i] = str_error(&s) ? NULL : strdup(str_text(&s));
		rc = out->v[i] ? 0 : -ENOMEM;
		str_fini(&s);
	}
	return rc;
}

void export_texts_fini(struct export_texts *t)
{
	for (size_t i = 0; t->v && i < t->nr; i++)
		free(t->v[i]);
	free(t->v);
}

void export_place(struct str *s, const struct profile_frame *f)
{
	struct str name = STR_INIT;

	export_frame(&name, f->function, f->module);
	if (f->function && f->file && f->line)
		str_addf(&name, " (%s:%u)", str_basename(f->file), f->line);
	else if (f->function && f->module && *f->module)
		str_addf(&name, " (in %s)", str_basename(f->module));
	utf8_add_clean(s, str_text(&name));
	s->failed |= name.failed;
	str_fini(&name);
}
