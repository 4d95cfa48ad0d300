/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's figures of a process over time. */
#include "src/track/usage_series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/nanotime.h"
#include "src/base/thread.h"
#include "src/ledger/usage_point.h"
#include "src/proc/process_figures.h"

#define KIB	1024u

void usage_series_begin(struct usage_series *u, uint64_t now_ns, uint64_t interval_ns)
{
	u->points = calloc(USAGE_MAX_POINTS, sizeof(*u->points));
	u->whole = (struct heap_usage){ .sampled = true, .pss_why = HEAP_USAGE_DEAR };
	u->interval_ns = interval_ns ? interval_ns : USAGE_FIRST_NS;
	u->start_ns = u->next_ns = now_ns;
	u->next_pss_ns = now_ns + USAGE_PSS_FIRST_NS;
	if (!u->points)
		u->whole = (struct heap_usage){ .sampled = true,
						.why = HEAP_USAGE_FAILED,
						.pss_why = HEAP_USAGE_FAILED };
}

void usage_series_fini(struct usage_series *u)
{
	free(u->points);
	*u = (struct usage_series){ .points = NULL };
}

/* ---- points ---------------------------------------------------------------------------------- */

/* The point that thinning must not lose: the highest of a figure, the first of several. */
static uint32_t highest(const struct usage_series *u, size_t figure)
{
	uint64_t most = 0, value;
	uint32_t at = u->nr_points;

	for (uint32_t i = 0; i < u->nr_points; i++) {
		memcpy(&value, (const char *)&u->points[i] + figure, sizeof(value));
		if (value <= most)
			continue;
		most = value;
		at = i;
	}
	return at;
}

/* One of each two stays, both where each is the highest of something. */
static void thin(struct usage_series *u)
{
	const uint32_t swap = highest(u, offsetof(struct heap_usage_point, swap_bytes)),
		       pss = highest(u, offsetof(struct heap_usage_point, pss_bytes));
	uint32_t to = 0;

	for (uint32_t i = 0; i < u->nr_points; i += 2) {
		const struct heap_usage_point *pair = &u->points[i];
		const bool both = i + 1 < u->nr_points;
		const bool first = i == swap || i == pss,
			   second = both && (i + 1 == swap || i + 1 == pss);
		const bool second_knows = both && pair[1].known & HEAP_USAGE_PSS &&
					  !(pair[0].known & HEAP_USAGE_PSS);
		const struct heap_usage_point one = pair[0], two = pair[both];

		if (first || !(second || second_knows))
			u->points[to++] = one;
		if (second || (second_knows && !first))
			u->points[to++] = two;
	}
	u->nr_points = to;
	if (u->interval_ns < USAGE_LONGEST_NS)
		u->interval_ns *= 2;
}

void usage_series_add(struct usage_series *u, const struct heap_usage_point *p)
{
	if (!u->points)
		return;
	if (u->nr_points == USAGE_MAX_POINTS)
		thin(u);
	u->points[u->nr_points++] = *p;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* What has been known once is known. */
static void note(uint8_t *why, bool known_before, int rc)
{
	if (!known_before)
		*why = usage_why(rc);
}

static bool knows(const struct usage_series *u, uint8_t what)
{
	for (uint32_t i = 0; i < u->nr_points; i++)
		if (u->points[i].known & what)
			return true;
	return false;
}

static uint64_t share_of(const struct usage_series *u)
{
	return u->share ? u->share : 1;
}

static uint64_t higher(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The same process as at the first look? */
static bool is_same(const struct usage_series *u, const struct process_figures *f)
{
	return !u->start_ticks || u->start_ticks == f->start_ticks;
}

static void note_cpu(struct usage_series *u, const struct process_figures *f, uint64_t now_ns)
{
	const uint64_t cpu_ns = f->user_ns + f->system_ns;

	if (!u->start_ticks)
		u->cpu_before_ns = cpu_ns;
	u->cpu_ns = cpu_ns > u->cpu_before_ns ? cpu_ns - u->cpu_before_ns : 0;
	u->cpu_in_ns = now_ns - u->start_ns;
}

unsigned usage_series_idle(const struct usage_series *u)
{
	if (u->cpu_in_ns < USAGE_IDLE_FROM_NS || u->cpu_ns >= u->cpu_in_ns)
		return 1;
	if (u->cpu_ns <= u->cpu_in_ns / USAGE_MOST_IDLE)
		return USAGE_MOST_IDLE;
	return (unsigned)((u->cpu_in_ns + u->cpu_ns / 2) / u->cpu_ns);
}

/* Before the first time: has it run for so long that what it may take is but its share? */
static bool may_begin_pss(const struct usage_series *u, const struct heap_usage_point *p,
			  uint64_t now_ns)
{
	const uint64_t resident = p->anon_bytes + p->file_bytes + p->shmem_bytes;
	const uint64_t guess_ns = USAGE_PSS_LEAST_NS + resident / KIB * USAGE_PSS_KIB_NS +
				  u->nr_mappings * USAGE_PSS_MAPPING_NS;

	return u->whole.pss_took_ns ||
	       (p->known & HEAP_USAGE_SIZES && u->mappings_asked &&
		(now_ns - u->start_ns) / USAGE_PSS_REST / share_of(u) >= guess_ns);
}

static void look_at_pss(struct usage_series *u, pid_t pid, uint64_t now_ns,
			struct heap_usage_point *p)
{
	struct process_figures f;
	uint64_t took_ns;
	int rc;

	if (now_ns < u->next_pss_ns || !may_begin_pss(u, p, now_ns))
		return;
	took_ns = nanotime();
	rc = process_figures_rollup("", pid, &f);
	took_ns = nanotime() - took_ns;
	note(&u->whole.pss_why, u->whole.pss_why == HEAP_USAGE_KNOWN, rc);
	if (!rc)
		usage_point_fill(p, &f, HEAP_USAGE_PSS);
	u->whole.pss_took_ns += took_ns;
	u->next_pss_ns = rc && rc != -ESRCH
				 ? UINT64_MAX
				 : now_ns + higher(took_ns * USAGE_PSS_REST * share_of(u),
						   u->interval_ns);
}

void usage_series_tick(struct usage_series *u, pid_t pid, uint64_t now_ns)
{
	struct heap_usage_point p = { .time_ns = now_ns };
	struct process_figures f;
	uint64_t start_ns, cost_ns;
	int rc, sizes;

	if (!u->points || u->ended || pid <= 0 || now_ns < u->next_ns)
		return;
	start_ns = thread_cpu_ns();
	rc = process_figures_stat("", pid, &f);
	if (!rc && !is_same(u, &f))
		rc = -ESRCH;
	else if (!rc)
		note_cpu(u, &f, now_ns);
	if (!rc)
		u->start_ticks = f.start_ticks;
	/* one that has ended has none, and no thread to ask instead */
	sizes = rc ? rc : f.threads ? usage_sizes(&pid, &f) : -ESRCH;
	if (!rc && f.threads)
		usage_point_fill(&p, &f, HEAP_USAGE_TIMES);
	if (!sizes)
		usage_point_fill(&p, &f, HEAP_USAGE_SIZES);
	note(&u->whole.why, knows(u, HEAP_USAGE_TIMES), rc);
	cost_ns = thread_cpu_ns() - start_ns;
	if (!rc)
		look_at_pss(u, pid, now_ns, &p);
	u->whole.took_ns += thread_cpu_ns() - start_ns;
	if (p.known)
		usage_series_add(u, &p);
	cost_ns *= share_of(u) *
		   (now_ns - u->start_ns < USAGE_EARLY_NS ? USAGE_REST_EARLY : USAGE_REST);
	u->next_ns = rc && rc != -ESRCH ? UINT64_MAX : now_ns + higher(cost_ns, u->interval_ns);
}

void usage_series_last(struct usage_series *u, const struct process_figures *f, uint64_t now_ns)
{
	struct heap_usage_point p = { .time_ns = now_ns };

	/* with threads, or begun later, it is another process that has got the number */
	if (!u->points || u->ended || f->threads || !is_same(u, f))
		return;
	usage_point_fill(&p, f, HEAP_USAGE_TIMES);
	usage_series_add(u, &p);
	u->ended = true;
}

void usage_series_end(struct usage_series *u, pid_t pid, uint64_t now_ns)
{
	struct process_figures f;

	if (!u->ended && pid > 0 && !process_figures_stat("", pid, &f))
		usage_series_last(u, &f, now_ns);
}

int usage_series_give(const struct usage_series *u, uint64_t until_ns, struct heap *h)
{
	struct heap_usage_point *points = NULL;

	if (!u->whole.sampled)
		return 0;
	if (u->nr_points) {
		points = malloc(u->nr_points * sizeof(*points));
		if (!points)
			return -ENOMEM;
		memcpy(points, u->points, u->nr_points * sizeof(*points));
	}
	for (uint32_t i = 0; i < u->nr_points; i++)
		if (points[i].time_ns > until_ns)
			points[i].time_ns = until_ns;
	free(h->usage_points);
	h->usage_points = points;
	h->nr_usage_points = u->nr_points;
	h->usage = u->whole;
	return 0;
}
