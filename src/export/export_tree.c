/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile's tree as forms need it: turned over, with children in order, with texts made once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/utf8.h"
#include "src/export/export_priv.h"

/* The same frames, then EXPORT_CUT. Its number or -errno. */
static int64_t copy_frames(const struct profile *p, struct profile *to)
{
	int64_t rc = 0;

	for (uint32_t i = 1; i < p->frames.nr && rc >= 0; i++)
		rc = profile_frame(to, &p->frames.v[i]);
	return rc < 0 ? rc : profile_frame(to, &(struct profile_frame){ .function = EXPORT_CUT });
}

static int64_t invert_stack(const struct profile *p, const struct export_path *path,
			    uint32_t cut_frame, struct profile *to, const int64_t *value)
{
	int64_t at = 0;

	for (size_t i = 0; i < path->nodes.nr && at >= 0; i++)
		at = profile_child(to, (uint32_t)at, p->nodes.v[path->nodes.v[i]].frame);
	if (path->cut && at >= 0)
		at = profile_child(to, (uint32_t)at, cut_frame);
	if (at >= 0)
		profile_add_to(to, (uint32_t)at, value);
	return at;
}

static int64_t invert_all(const struct profile *p, const unsigned *metric,
			  const struct stack_cut *cut, struct profile *to)
{
	struct export_path path = { 0 };
	int64_t value[PROFILE_MAX_METRICS], cut_frame = copy_frames(p, to), rc = cut_frame;

	for (uint32_t i = 0; i < p->nodes.nr && rc >= 0; i++) {
		bool any = false;

		for (unsigned m = 0; m < to->nr_metrics; m++) {
			value[m] = export_self(p, i, metric[m]);
			any |= value[m] != 0;
		}
		if (!any)
			continue;
		rc = export_path(&path, p, i, cut);
		if (!rc)
			rc = invert_stack(p, &path, (uint32_t)cut_frame, to, value);
	}
	vec_fini(&path.nodes);
	return rc < 0 ? rc : profile_sum(to);
}

int export_invert(const struct profile *p, const unsigned *metric, unsigned nr_metrics,
		  const struct stack_cut *cut, struct profile **out)
{
	struct profile_metric names[PROFILE_MAX_METRICS];
	int64_t rc;

	for (unsigned m = 0; m < nr_metrics; m++)
		names[m] = p->metric[metric[m]];
	*out = profile_new(names, nr_metrics);
	rc = *out ? invert_all(p, metric, cut, *out) : -ENOMEM;
	if (rc < 0) {
		profile_free(*out);
		*out = NULL;
	}
	return rc < 0 ? (int)rc : 0;
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
