/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What heaptrack_interpret writes and heaptrack_print reads (file version 3, numbers in
 * hexadecimal, compressed with gzip): strings, frames, stacks, then one event for each allocation
 * and release.
 *
 * A heap has no events but sums, so events are made that have these sums, site by site:
 *
 *	1. blocks that were freed and were not there at the peak, one at a time
 *	2. blocks of the peak
 *	3. of these all that are not live are freed
 *	4. other live blocks
 *
 * A site's blocks of one kind all have the average size, or 1 byte more. That figures are estimates
 * is in a comment, which the import reads.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "src/base/utf8.h"
#include "src/export/export_priv.h"

/* Events beyond this many would be a file that takes heaptrack minutes. */
#define MAX_EVENTS	200000000ll

/* Blocks of a site with their bytes. */
struct kind {
	int64_t blocks, bytes;
};

struct site {
	struct kind gone, peak, kept, late;	/* kept: those of the peak that are live */
	uint32_t trace;
	uint32_t info[4][2];			/* by kind: of the average size, of 1 byte more */
};

struct heaptrack {
	const struct heap *heap;
	const struct profile *p;
	bool live_only;		/* blocks were selected: of those that are gone nothing is known */
	gzFile out;
	VEC(struct site) sites;
	uint32_t nr_infos;
	int64_t events;
	bool failed;
};

/* Both of a number of blocks, or neither. */
static bool possible(struct kind k)
{
	return k.blocks >= 0 && k.bytes >= 0 && (k.blocks || !k.bytes);
}

/*
 * Which blocks of a site are which: with as many as can be in both the peak and the end; where
 * sizes do not allow that, with none.
 */
static bool split(const int64_t *v, bool live_only, struct site *s)
{
	const struct kind all = { v[HEAP_PROFILE_ALLOCATIONS], v[HEAP_PROFILE_ALLOCATED_BYTES] },
			  peak = { v[HEAP_PROFILE_PEAK_BLOCKS], v[HEAP_PROFILE_PEAK_BYTES] },
			  live = { v[HEAP_PROFILE_LIVE_BLOCKS], v[HEAP_PROFILE_LIVE_BYTES] };

	if (live_only) {
		*s = (struct site){ .trace = s->trace, .late = live };
		return possible(live);
	}
	for (int both = 1; both >= 0; both--) {
		bool more = peak.blocks >= live.blocks;
		struct kind kept = !both ? (struct kind){ 0, 0 } : more ? live : peak;

		s->kept = kept;
		s->peak = (struct kind){ peak.blocks - kept.blocks, peak.bytes - kept.bytes };
		s->late = (struct kind){ live.blocks - kept.blocks, live.bytes - kept.bytes };
		s->gone = (struct kind){ all.blocks - kept.blocks - s->peak.blocks - s->late.blocks,
					 all.bytes - kept.bytes - s->peak.bytes - s->late.bytes };
		if (possible(s->kept) && possible(s->peak) && possible(s->late) &&
		    possible(s->gone))
			return true;
	}
	return false;
}

/* ---- strings, frames, stacks ---- */

static void put(struct heaptrack *t, const char *text)
{
	t->failed |= gzputs(t->out, text) < 0;
}

/* The number of a text, from 1 on, written when it is new; 0: none. */
static uint32_t string(struct heaptrack *t, struct intern *strings, const char *text)
{
	struct str clean = STR_INIT;
	size_t before = strings->nr;
	int64_t id;

	if (!text || !*text)
		return 0;
	utf8_add_clean(&clean, text);
	id = intern_add(strings, str_text(&clean));
	t->failed |= id < 0 || clean.failed;
	if (strings->nr > before)
		t->failed |= gzprintf(t->out, "s %zx ", clean.len) < 0 ||
			     gzputs(t->out, str_text(&clean)) < 0 || gzputs(t->out, "\n") < 0;
	str_fini(&clean);
	return id < 0 ? 0 : (uint32_t)id + 1;
}

/* An instruction pointer for each frame: its number. */
static void put_frames(struct heaptrack *t)
{
	struct intern strings = { 0 };

	for (uint32_t i = 1; i < t->p->frames.nr; i++) {
		const struct profile_frame *f = &t->p->frames.v[i];
		uint32_t module = string(t, &strings, f->module ? f->module : "[unknown]"),
			 function = string(t, &strings, f->function),
			 file = string(t, &strings, f->function ? f->file : NULL);

		gzprintf(t->out, "i %x %x", i, module);
		if (function)
			gzprintf(t->out, " %x", function);
		if (function && file)
			gzprintf(t->out, " %x %x", file, f->line);
		put(t, "\n");
	}
	/* stacks that are not known have one frame */
	gzprintf(t->out, "i %x %x\n", (unsigned)t->p->frames.nr,
		 string(t, &strings, EXPORT_NO_STACK));
	intern_fini(&strings);
}

/* A trace for each node, with its number; that of the unknown stack comes last. */
static void put_traces(struct heaptrack *t)
{
	for (uint32_t i = 1; i < t->p->nodes.nr; i++)
		gzprintf(t->out, "t %x %x\n", t->p->nodes.v[i].frame, t->p->nodes.v[i].parent);
	gzprintf(t->out, "t %x 0\n", (unsigned)t->p->frames.nr);
}

/* ---- events ---- */

static void put_infos(struct heaptrack *t, struct site *s)
{
	const struct kind *kinds[4] = { &s->gone, &s->peak, &s->kept, &s->late };

	for (unsigned k = 0; k < 4; k++) {
		int64_t size = kinds[k]->blocks ? kinds[k]->bytes / kinds[k]->blocks : 0;

		for (int more = 0; more < 2 && kinds[k]->blocks; more++) {
			gzprintf(t->out, "a %" PRIx64 " %x\n", (uint64_t)(size + more), s->trace);
			s->info[k][more] = t->nr_infos++;
		}
	}
}

/* `events`: "+", "-", or both for blocks one at a time. */
static void put_events(struct heaptrack *t, const struct site *s, unsigned k, struct kind kind,
		       const char *events)
{
	int64_t larger = kind.blocks ? kind.bytes % kind.blocks : 0;
	char line[64];

	for (int64_t i = 0; i < kind.blocks && !t->failed; i++) {
		int n = 0;

		for (const char *c = events; *c; c++)
			n += snprintf(line + n, sizeof(line) - (size_t)n, "%c %x\n", *c,
				      s->info[k][i < larger]);
		t->failed |= gzwrite(t->out, line, (unsigned)n) != n;
	}
}

static void put_all(struct heaptrack *t)
{
	const struct heap *h = t->heap;
	struct str line = STR_INIT, estimates = STR_INIT;

	utf8_add_clean(&line, *h->cmdline ? h->cmdline : h->comm);
	put(t, "v 10400 3\n");
	if (export_estimates(&estimates, h))
		gzprintf(t->out, "# pmm: %s\n", str_text(&estimates));
	put(t, "X ");
	put(t, str_text(&line));
	put(t, "\nI 1000 0\n");
	t->failed |= line.failed || estimates.failed;
	str_fini(&line);
	str_fini(&estimates);
	put_frames(t);
	put_traces(t);
	vec_each(&t->sites, s)
		put_infos(t, s);
	vec_each(&t->sites, s)
		put_events(t, s, 0, s->gone, "+-");
	gzprintf(t->out, "c %" PRIx64 "\n", heap_since(h, h->peak_ns) / 1000000);
	vec_each(&t->sites, s) {
		put_events(t, s, 1, s->peak, "+");
		put_events(t, s, 2, s->kept, "+");
	}
	vec_each(&t->sites, s)
		put_events(t, s, 1, s->peak, "-");
	vec_each(&t->sites, s)
		put_events(t, s, 3, s->late, "+");
	for (uint32_t i = 0; i < h->nr_points; i++)
		if (h->points[i].rss_bytes)
			gzprintf(t->out, "R %" PRIx64 "\n", h->points[i].rss_bytes / 4096);
	gzprintf(t->out, "c %" PRIx64 "\n", heap_since(h, h->taken_ns) / 1000000);
}

static int collect(struct heaptrack *t)
{
	for (uint32_t i = 0; i < t->p->nodes.nr; i++) {
		struct site s = { .trace = i ? i : (uint32_t)t->p->nodes.nr };

		if (!export_self(t->p, i, HEAP_PROFILE_ALLOCATIONS) &&
		    !export_self(t->p, i, HEAP_PROFILE_LIVE_BLOCKS))
			continue;
		if (!split(&t->p->self.v[(size_t)i * t->p->nr_metrics], t->live_only, &s))
			return -EDOM;
		t->events += export_self(t->p, i,
					 t->live_only ? HEAP_PROFILE_LIVE_BLOCKS :
							HEAP_PROFILE_ALLOCATIONS);
		if (t->events > MAX_EVENTS)
			return -EFBIG;
		if (vec_push(&t->sites, s))
			return -ENOMEM;
	}
	return 0;
}

/* zlib writes to a descriptor of its own: to a file in memory's place, then on. */
static int write_through(struct heaptrack *t, FILE *out)
{
	FILE *between = tmpfile();
	char room[4096];
	size_t n;
	int rc = 0;

	if (!between)
		return -errno;
	t->out = gzdopen(dup(fileno(between)), "wb");
	if (!t->out) {
		fclose(between);
		return -ENOMEM;
	}
	put_all(t);
	t->failed |= gzclose(t->out) != Z_OK;
	if (t->failed)
		rc = errno ? -errno : -EIO;
	rewind(between);
	while (!rc && (n = fread(room, 1, sizeof(room), between)))
		if (fwrite(room, 1, n, out) < n)
			rc = errno ? -errno : -EIO;
	fclose(between);
	return rc ? rc : export_flush(out);
}

int export_heaptrack(const struct profile *p, const struct export_source *s, FILE *out)
{
	struct heaptrack t = { .heap = s->heap,
			       .p = p,
			       .live_only = s->selection && s->selection->from_blocks };
	int rc = collect(&t);

	errno = 0;
	if (!rc)
		rc = write_through(&t, out);
	vec_fini(&t.sites);
	return rc;
}
