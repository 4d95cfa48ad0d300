/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What Massif writes and ms_print reads: snapshots of the series, with a tree of who had allocated
 * what at the peak and at the end. Trees begin with the innermost frame. '#' begins a comment.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "src/analyze/history.h"
#include "src/base/utf8.h"
#include "src/export/export_priv.h"

/* Metrics of the profile that is turned over. */
enum { PEAK, LIVE };

struct massif {
	const struct heap *heap;
	struct profile *p;		/* innermost frame first */
	struct export_texts texts;
	FILE *out;
	uint64_t nr, last_ms;
	bool selected;			/* figures are of a part of the heap */
};

static void add_clean(struct str *s, const char *text)
{
	struct str clean = STR_INIT;

	utf8_add_clean(&clean, text);
	for (const char *c = str_text(&clean); *c; c++)
		if (*c == '#')
			str_add(s, "\\x23");
		else
			str_addc(s, *c);
	s->failed |= clean.failed;
	str_fini(&clean);
}

static void add_place(struct str *s, const struct profile_frame *f)
{
	struct str place = STR_INIT;

	export_place(&place, f);
	add_clean(s, str_text(&place));
	s->failed |= place.failed;
	str_fini(&place);
}

/* Time never runs backward. */
static void snapshot(struct massif *m, uint64_t ns, uint64_t bytes, const char *tree)
{
	uint64_t ms = heap_since(m->heap, ns) / 1000000;

	if (ms < m->last_ms)
		ms = m->last_ms;
	m->last_ms = ms;
	fprintf(m->out,
		"#-----------\nsnapshot=%" PRIu64 "\n#-----------\ntime=%" PRIu64
		"\nmem_heap_B=%" PRIu64 "\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=%s\n",
		m->nr++, ms, bytes, tree);
}

/* Spaces before a line, as many as its depth, within reason: nothing reads them. */
static void indent(FILE *out, uint32_t depth)
{
	fprintf(out, "%*s", depth < 40 ? (int)depth : 40, "");
}

/* The tree below the root, parents first. */
static void put_nodes(const struct massif *m, const struct export_children *c)
{
	uint32_t node = 0, depth = 0, at = c->first[0];

	for (;;) {
		if (at < c->first[node + 1]) {
			const struct export_child *k = &c->list.v[at];
			uint32_t n = k->node;

			indent(m->out, ++depth);
			fprintf(m->out, "n%" PRIu32 ": %" PRId64 " 0x0: %s\n",
				c->first[n + 1] - c->first[n], k->value,
				m->texts.v[m->p->nodes.v[n].frame]);
			node = n;
			at = c->first[n];
		} else if (node) {
			uint32_t parent = m->p->nodes.v[node].parent;

			/* the one behind this among its parent's */
			at = m->p->nodes.v[node].child;
			node = parent;
			depth--;
		} else {
			return;
		}
	}
}

static int put_tree(struct massif *m, unsigned metric, uint64_t bytes)
{
	struct export_children c;
	int rc = export_children(&c, m->p, metric);
	int64_t unknown = export_self(m->p, 0, metric), known = export_total(m->p, 0, metric);
	int64_t rest = (int64_t)bytes - known;

	/* what put_nodes() continues with: the profile is ours */
	for (size_t i = 0; !rc && i < c.list.nr; i++)
		m->p->nodes.v[c.list.v[i].node].child = (uint32_t)i + 1;
	if (!rc) {
		fprintf(m->out, "n%" PRIu32 ": %" PRIu64 " (heap allocation functions)\n",
			c.first[1] - c.first[0] + (unknown > 0) + (rest > 0), bytes);
		put_nodes(m, &c);
		if (unknown > 0)
			fprintf(m->out, " n0: %" PRId64 " " EXPORT_NO_STACK "\n", unknown);
		if (rest > 0)
			fprintf(m->out, " n0: %" PRId64 " [call site not known]\n", rest);
	}
	export_children_fini(&c);
	return rc;
}

static int put_peak(struct massif *m)
{
	const struct heap *h = m->heap;

	snapshot(m, h->peak_ns, h->peak_bytes, "peak");
	return put_tree(m, PEAK, h->peak_bytes);
}

static int put_series(struct massif *m)
{
	const struct heap *h = m->heap;
	struct history y;
	int rc = history_init(&y, h);

	if (!rc && !y.peak)
		rc = put_peak(m);
	for (size_t i = 1; !rc && i < y.nr; i++)
		if (i == y.peak)
			rc = put_peak(m);
		else if (y.point[i].time_ns < h->taken_ns)
			snapshot(m, y.point[i].time_ns, y.point[i].live_bytes, "empty");
	history_fini(&y);
	return rc;
}

static int put_all(struct massif *m)
{
	const struct heap *h = m->heap;
	struct str line = STR_INIT, description = STR_INIT;
	uint64_t live = m->selected
		? (uint64_t)export_total(m->p, 0, LIVE) : h->live_bytes;
	int rc;

	add_clean(&line, *h->cmdline ? h->cmdline : h->comm);
	str_add(&description, "pmm " PMM_VERSION);
	export_add_estimates(&description, ": ", h);
	fprintf(m->out, "desc: %s\ncmd: %s\ntime_unit: ms\n", str_text(&description),
		str_text(&line));
	rc = str_error(&line) ? str_error(&line) : str_error(&description);
	str_fini(&description);
	str_fini(&line);
	if (!m->selected) {
		snapshot(m, 0, 0, "empty");
		if (!rc)
			rc = put_series(m);
	}
	snapshot(m, h->taken_ns, live, m->selected ? "peak" : "detailed");
	if (!rc)
		rc = put_tree(m, LIVE, live);
	return rc ? rc : export_flush(m->out);
}

int export_massif(const struct profile *p, const struct export_source *s,
		  const struct stack_cut *cut, FILE *out)
{
	static const unsigned metrics[] = {
		[PEAK] = HEAP_PROFILE_PEAK_BYTES,
		[LIVE] = HEAP_PROFILE_LIVE_BYTES,
	};
	struct massif m = { .heap = s->heap, .out = out };
	int rc = export_invert(p, metrics, 2, cut, &m.p);

	if (rc)
		return rc == -ENOSPC ? -E2BIG : rc;
	m.selected = s->filtered;
	rc = export_texts(m.p, add_place, &m.texts);
	if (!rc)
		rc = put_all(&m);
	export_texts_fini(&m.texts);
	profile_free(m.p);
	return rc;
}
