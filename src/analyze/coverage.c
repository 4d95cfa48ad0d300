/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much of a tree of processes was looked at. */
#include "src/analyze/coverage.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/fmt.h"

#define MOST_NAMED	8	/* in a sentence */

static struct coverage_gap *find(struct coverage *c, const char *program, const char *why,
				 enum coverage_kind kind)
{
	vec_each(&c->gaps, g)
		if (g->kind == kind && !strcmp(g->program, program) && !strcmp(g->why, why))
			return g;
	return NULL;
}

static struct coverage_gap *add(struct coverage *c, const char *program, const char *why,
				enum coverage_kind kind)
{
	struct coverage_gap new = { .kind = kind, .program = strdup(program), .why = strdup(why) };

	if (new.program && new.why && !vec_push(&c->gaps, new))
		return vec_last(&c->gaps);
	free(new.program);
	free(new.why);
	c->failed = true;
	return NULL;
}

/* Those that there are too many of to tell them apart. */
static struct coverage_gap *rest(struct coverage *c, enum coverage_kind kind)
{
	struct coverage_gap *g;

	kind = kind == COVERAGE_ATTACHABLE ? COVERAGE_UNTRACKED : kind;
	g = find(c, "", "", kind);
	return g ? g : add(c, "", "", kind);
}

void coverage_miss_many(struct coverage *c, const char *program, const char *why,
			enum coverage_kind kind, uint64_t nr, uint32_t pid)
{
	struct coverage_gap *g = find(c, program, why, kind);

	if (!g)
		g = c->gaps.nr >= COVERAGE_MAX_GAPS ? rest(c, kind) : add(c, program, why, kind);
	c->processes += nr;
	if (!g)
		return;
	if (!g->nr)
		g->pid = pid;
	g->nr += nr;
}

void coverage_miss(struct coverage *c, const char *program, const char *why,
		   enum coverage_kind kind, uint32_t pid)
{
	coverage_miss_many(c, program, why, kind, 1, pid);
}

void coverage_add(struct coverage *c, const struct coverage *other)
{
	uint64_t gaps = 0;

	vec_each(&other->gaps, g) {
		coverage_miss_many(c, g->program, g->why, g->kind, g->nr, g->pid);
		gaps += g->nr;
	}
	c->processes += other->processes - gaps;
	c->covered += other->covered;
	c->partly += other->partly;
	c->idle += other->idle;
	c->replaced += other->replaced;
	c->blocks += other->blocks;
	c->bytes += other->bytes;
	c->failed |= other->failed;
}

uint64_t coverage_missed(const struct coverage *c, bool untracked)
{
	uint64_t nr = 0;

	vec_each(&c->gaps, g)
		if (coverage_untracked_gap(g) == untracked)
			nr += g->nr;
	return nr;
}

static int by_number(const void *a, const void *b)
{
	const struct coverage_gap *x = a, *y = b;

	if (x->nr != y->nr)
		return x->nr > y->nr ? -1 : 1;
	return strcmp(x->program, y->program) ? strcmp(x->program, y->program)
					      : strcmp(x->why, y->why);
}

void coverage_names(struct str *s, struct coverage *c, bool untracked)
{
	uint64_t shown = 0, rest = coverage_missed(c, untracked);

	vec_sort(&c->gaps, by_number);
	vec_each(&c->gaps, g) {
		if (coverage_untracked_gap(g) != untracked || !g->program[0] || shown >= MOST_NAMED)
			continue;
		str_add(s, shown ? ", " : "");
		if (g->nr > 1)
			str_addf(s, "%s of ", fmt_count(g->nr).s);
		str_addf(s, "%s (%s)", g->program, g->why);
		shown++;
		rest -= g->nr;
	}
	if (rest)
		str_addf(s, "%s%s more", shown ? " and " : "", fmt_count(rest).s);
}

void coverage_fini(struct coverage *c)
{
	vec_each(&c->gaps, g) {
		free(g->program);
		free(g->why);
	}
	vec_fini(&c->gaps);
	*c = (struct coverage){ 0 };
}
