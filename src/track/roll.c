/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes under watch. */
#include "src/track/roll.h"

#include "src/base/hash.h"

#define LEAST 64

static struct watched **chain_of(const struct roll *r, pid_t pid)
{
	return &r->chain[hash_u64((uint64_t)pid) & (r->nr_chains - 1)];
}

static void link_in(struct roll *r, struct watched *w)
{
	struct watched **head = chain_of(r, w->pid);

	w->next_same = *head;
	*head = w;
}

/* At least as many lists as processes. */
static int grow(struct roll *r)
{
	size_t nr = r->nr_chains ? 2 * r->nr_chains : LEAST;
	struct watched **chain;

	if (r->all.nr < r->nr_chains)
		return 0;
	chain = calloc(nr, sizeof(*chain));
	if (!chain)
		return -ENOMEM;
	free(r->chain);
	r->chain = chain;
	r->nr_chains = nr;
	vec_each(&r->all, w)
		link_in(r, *w);
	return 0;
}

int roll_add(struct roll *r, struct watched *w)
{
	if (grow(r) || vec_push(&r->all, w))
		return -ENOMEM;
	w->at = r->all.nr - 1;
	link_in(r, w);
	return 0;
}

void roll_del(struct roll *r, struct watched *w)
{
	struct watched **in = chain_of(r, w->pid), *last = *vec_last(&r->all);

	while (*in != w)
		in = &(*in)->next_same;
	*in = w->next_same;
	last->at = w->at;
	r->all.v[w->at] = last;
	r->all.nr--;
	watched_free(w);
}

struct watched *roll_same(const struct roll *r, pid_t pid, const struct watched *after)
{
	struct watched *w = after ? after->next_same : r->nr_chains ? *chain_of(r, pid) : NULL;

	while (w && w->pid != pid)
		w = w->next_same;
	return w;
}

struct watched *roll_find(const struct roll *r, pid_t pid)
{
	struct watched *first = roll_same(r, pid, NULL);

	for (struct watched *w = first; w; w = roll_same(r, pid, w))
		if (!w->ended)
			return w;
	return first;
}

void roll_fini(struct roll *r)
{
	vec_each(&r->all, w)
		watched_free(*w);
	vec_fini(&r->all);
	free(r->chain);
	r->chain = NULL;
	r->nr_chains = 0;
}
