/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Evidence: one pass over the blocks of sites that grow, then each piece by itself. */
#include "src/analyze/evidence.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "src/analyze/lifetimes.h"

#define LEAST_SHARE	0.25	/* of the mean, in each part of the time */
#define LEAST_PACE	0.7	/* of the whole's, in the last third */
#define LEAST_LATE	0.9	/* of the blocks of parts 1 to 3, in parts 5 to 7 ... */
#define MIN_Z		3.0	/* ... unless chance would take so many away once in 700 times */
#define MAX_FREED	20	/* one old block in so many may have been freed */

static uint64_t moment_of(const struct heap *h)
{
	return h->search.how ? h->search.at_ns : h->taken_ns;
}

/* What has lived so long counts as kept: an eighth of the time of growth, and old in any case. */
static uint64_t aged_ns(const struct evidence *e, uint64_t old_ns)
{
	return e->grown_ns / EVIDENCE_PARTS > old_ns ? e->grown_ns / EVIDENCE_PARTS : old_ns;
}

static void count_block(const struct heap *h, struct evidence *e, uint64_t birth_ns,
			uint64_t old_ns)
{
	const struct growth *g = &e->growth;
	uint64_t now_ns = moment_of(h);

	if (birth_ns <= now_ns && now_ns - birth_ns >= aged_ns(e, old_ns))
		e->aged++;
	if (birth_ns < g->since_ns)
		return;
	/* What is born after the last look belongs to the last part. */
	e->born[birth_ns >= g->until_ns ? EVIDENCE_PARTS - 1
					: (unsigned)((unsigned __int128)(birth_ns - g->since_ns) *
						     EVIDENCE_PARTS / e->grown_ns)]++;
}

/* Frees of blocks at least that old; of the bucket in which the age is, all. */
static uint64_t freed_at(const struct heap *h, const struct heap_site *s, uint64_t age_ns)
{
	uint64_t nr = 0;

	for (unsigned k = 0; k < HEAP_NR_LIFETIMES; k++)
		if (lifetime_from_ns(h, k + 1) > age_ns)
			nr += heap_lifetime(h, s, k);
	return nr;
}

/*
 * Of a process that is sampled from some moment on it is not known whether what is new replaces
 * what was there before.
 */
static bool all_frees_are_seen(const struct heap *h)
{
	return h->mode != HEAP_SAMPLED || h->began == HEAP_BEGAN_EXEC;
}

/*
 * Does it continue as it began? What a program makes at its start is in the first part, which does
 * not count.
 */
static bool keeps_pace(const struct evidence *e)
{
	double early = (double)(e->born[1] + e->born[2] + e->born[3]),
	       late = (double)(e->born[5] + e->born[6] + e->born[7]);

	return e->growth.late_slope >= LEAST_PACE * e->growth.slope &&
	       (late >= LEAST_LATE * early || early - late <= MIN_Z * sqrt(early + late));
}

static void weigh(const struct heap *h, struct evidence *e, uint64_t old_ns)
{
	uint64_t sum = 0, least = UINT64_MAX;

	for (unsigned i = 0; i < EVIDENCE_PARTS; i++) {
		sum += e->born[i];
		least = e->born[i] < least ? e->born[i] : least;
	}
	e->freed_aged = freed_at(h, &h->sites[e->site], aged_ns(e, old_ns));
	e->has = EVIDENCE_STEADY;
	if (sum >= EVIDENCE_MANY_BLOCKS)
		e->has |= EVIDENCE_MANY;
	if (sum && (double)least >= LEAST_SHARE * (double)sum / EVIDENCE_PARTS)
		e->has |= EVIDENCE_SPREAD;
	if (keeps_pace(e))
		e->has |= EVIDENCE_PACE;
	if (e->aged && e->freed_aged <= e->aged / MAX_FREED && all_frees_are_seen(h))
		e->has |= EVIDENCE_KEPT;
	if (e->grown_ns >= e->long_ns)
		e->has |= EVIDENCE_LONG;
}

int evidence_find(const struct heap *h, uint64_t old_ns, struct evidence *e, size_t nr)
{
	uint32_t *row = calloc(h->nr_sites, sizeof(*row));	/* number + 1, by site */

	if (!row)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		const struct growth *g = &e[i].growth;

		e[i] = (struct evidence){ .site = e[i].site,
					  .growth = *g,
					  .long_ns = EVIDENCE_LONG_OLD * old_ns };
		if (g->verdict != GROWTH_STEADY || g->until_ns <= g->since_ns)
			continue;
		e[i].grown_ns = g->until_ns - g->since_ns;
		row[e[i].site] = (uint32_t)i + 1;
	}
	for (uint64_t i = 0; i < h->nr_blocks; i++)
		if (row[h->blocks[i].site])
			count_block(h, &e[row[h->blocks[i].site] - 1], h->blocks[i].birth_ns,
				    old_ns);
	for (size_t i = 0; i < nr; i++)
		if (row[e[i].site] == i + 1)
			weigh(h, &e[i], old_ns);
	free(row);
	return 0;
}

void evidence_names(struct str *s, const struct evidence *e)
{
	static const char *const names[] = { "steady", "many", "spread", "pace", "kept", "long" };
	const char *between = "";

	_Static_assert(EVIDENCE_ALL >> sizeof(names) / sizeof(*names) == 0, "a name for each");
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!(e->has & 1u << i))
			continue;
		str_addf(s, "%s%s", between, names[i]);
		between = " ";
	}
}
