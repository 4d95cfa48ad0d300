/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A weighted call tree and the difference of two.
 *
 * A node is found by its parent and frame, whose numbers together are the key of a hash table; that
 * is exact, so no chain is walked. Parents are made before their children: one pass from the last
 * node to the first makes all totals.
 */
#include "src/model/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* a + b, at the end of the range where it leaves it */
static int64_t add_within(int64_t a, int64_t b)
{
	int64_t sum;

	return !__builtin_add_overflow(a, b, &sum) ? sum : b < 0 ? INT64_MIN : INT64_MAX;
}

static int64_t negated(int64_t a)
{
	return a == INT64_MIN ? INT64_MAX : -a;
}

struct profile *profile_new(const struct profile_metric *metric, uint32_t nr_metrics)
{
	struct profile *p;

	if (!nr_metrics || nr_metrics > PROFILE_MAX_METRICS)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->nr_metrics = nr_metrics;
	for (uint32_t i = 0; i < nr_metrics; i++) {
		p->metric[i].name = strdup(metric[i].name);
		p->metric[i].unit = strdup(metric[i].unit);
		if (!p->metric[i].name || !p->metric[i].unit)
			goto failed;
	}
	if (vec_resize(&p->nodes, 1) || vec_resize(&p->self, nr_metrics) ||
	    vec_resize(&p->frames, 1))
		goto failed;
	return p;
failed:
	profile_free(p);
	return NULL;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->nr_metrics; i++) {
		free((char *)p->metric[i].name);
		free((char *)p->metric[i].unit);
	}
	vec_fini(&p->nodes);
	vec_fini(&p->self);
	vec_fini(&p->total);
	vec_fini(&p->frames);
	intern_fini(&p->texts);
	intern_fini(&p->keys);
	hash_fini(&p->node_of);
	free(p);
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* The number of a text, + 1; 0 = there is none. */
static int64_t number_of(struct profile *p, const char *text)
{
	int64_t n = text ? intern_add(&p->texts, text) : -1;

	return n < 0 && text ? n : n + 1;
}

static const char *copy_of(const struct profile *p, int64_t number)
{
	return number ? intern_text(&p->texts, (uint32_t)number - 1) : NULL;
}

int64_t profile_frame(struct profile *p, const struct profile_frame *f)
{
	int64_t part[] = { number_of(p, f->function), number_of(p, f->file),
			   number_of(p, f->module) };
	int64_t n;
	char key[64];

	if (part[0] < 0 || part[1] < 0 || part[2] < 0)
		return -ENOMEM;
	snprintf(key, sizeof(key), "%x %x %x %x", (unsigned)part[0], (unsigned)part[1],
		 (unsigned)part[2], f->line);
	if (p->keys.nr >= PROFILE_MAX_FRAMES)
		return -ENOSPC;
	/* room first: a key that is entered has its frame */
	if (vec_reserve(&p->frames, p->frames.nr + 1))
		return -ENOMEM;
	n = intern_add(&p->keys, key);
	if (n < 0)
		return n;
	if ((size_t)n + 1 == p->frames.nr)
		vec_push(&p->frames,
			 (struct profile_frame){ copy_of(p, part[0]), copy_of(p, part[1]),
						 copy_of(p, part[2]), f->line });
	return n + 1;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static uint64_t key_of(uint32_t parent, uint32_t frame)
{
	return (uint64_t)parent << 32 | frame;
}

int64_t profile_child(struct profile *p, uint32_t parent, uint32_t frame)
{
	const uint32_t *found = hash_find(&p->node_of, key_of(parent, frame));
	uint32_t node = (uint32_t)p->nodes.nr;

	if (found)
		return *found;
	if (!frame || frame >= p->frames.nr)
		return -EINVAL;
	if (p->nodes.nr >= PROFILE_MAX_NODES)
		return -ENOSPC;
	if (vec_resize(&p->self, (p->nodes.nr + 1) * p->nr_metrics) ||
	    vec_reserve(&p->nodes, p->nodes.nr + 1) ||
	    hash_put(&p->node_of, key_of(parent, frame), node))
		return -ENOMEM;
	vec_push(&p->nodes, (struct profile_node){ .parent = parent,
						   .frame = frame,
						   .next = p->nodes.v[parent].child });
	p->nodes.v[parent].child = node;
	return node;
}

void profile_add_to(struct profile *p, uint32_t node, const int64_t *value)
{
	for (uint32_t m = 0; m < p->nr_metrics; m++) {
		int64_t *self = &p->self.v[(size_t)node * p->nr_metrics + m];

		*self = add_within(*self, value[m]);
	}
}

int64_t profile_add(struct profile *p, const uint32_t *frame, size_t nr, const int64_t *value)
{
	int64_t node = 0;

	for (size_t i = 0; i < nr; i++)
		if (!frame[i] || frame[i] >= p->frames.nr)
			return -EINVAL;
	for (size_t i = 0; i < nr && node >= 0; i++)
		node = profile_child(p, (uint32_t)node, frame[i]);
	if (node >= 0)
		profile_add_to(p, (uint32_t)node, value);
	return node;
}

int profile_sum(struct profile *p)
{
	size_t nr = p->nr_metrics;

	if (vec_resize(&p->total, p->self.nr))
		return -ENOMEM;
	memcpy(p->total.v, p->self.v, p->self.nr * sizeof(*p->self.v));
	for (size_t i = p->nodes.nr; i-- > 1;) {
		int64_t *to = &p->total.v[p->nodes.v[i].parent * nr];

		for (size_t m = 0; m < nr; m++)
			to[m] = add_within(to[m], p->total.v[i * nr + m]);
	}
	return 0;
}

/* ---- differences ----------------------------------------------------------------------------- */

/* Enter all stacks of `from` into `to`, taken off it where `less`. */
static int enter(struct profile *to, const struct profile *from, bool less)
{
	uint32_t *frame_of = calloc(from->frames.nr, sizeof(*frame_of));
	uint32_t *node_of = calloc(from->nodes.nr, sizeof(*node_of));
	int64_t n = frame_of && node_of ? 0 : -ENOMEM;

	for (size_t i = 1; i < from->frames.nr && n >= 0; i++) {
		n = profile_frame(to, &from->frames.v[i]);
		if (n >= 0)
			frame_of[i] = (uint32_t)n;
	}
	for (size_t i = 0; i < from->nodes.nr && n >= 0; i++) {
		const struct profile_node *node = &from->nodes.v[i];

		n = i ? profile_child(to, node_of[node->parent], frame_of[node->frame]) : 0;
		if (n < 0)
			break;
		node_of[i] = (uint32_t)n;
		for (uint32_t m = 0; m < to->nr_metrics; m++) {
			int64_t *self = &to->self.v[(size_t)n * to->nr_metrics + m];
			int64_t value = from->self.v[i * to->nr_metrics + m];

			*self = add_within(*self, less ? negated(value) : value);
		}
	}
	free(frame_of);
	free(node_of);
	return n < 0 ? (int)n : 0;
}

static bool same_metrics(const struct profile *a, const struct profile *b)
{
	bool same = a->nr_metrics == b->nr_metrics;

	for (uint32_t i = 0; same && i < a->nr_metrics; i++)
		same = !strcmp(a->metric[i].name, b->metric[i].name) &&
		       !strcmp(a->metric[i].unit, b->metric[i].unit);
	return same;
}

int profile_diff(const struct profile *before, const struct profile *after, struct profile **out)
{
	int rc;

	*out = NULL;
	if (!same_metrics(before, after))
		return -EINVAL;
	*out = profile_new(after->metric, after->nr_metrics);
	rc = *out ? enter(*out, after, false) : -ENOMEM;
	if (!rc)
		rc = enter(*out, before, true);
	if (!rc)
		rc = profile_sum(*out);
	if (rc) {
		profile_free(*out);
		*out = NULL;
	}
	return rc;
}
