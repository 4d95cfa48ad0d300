/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flame graph of one figure as a picture that needs nothing else: no script, no style sheet, no
 * font of its own. Outermost frames are at the top; a rectangle's title says its name and figure.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "src/base/fmt.h"
#include "src/base/utf8.h"
#include "src/base/xml.h"
#include "src/export/export_priv.h"

#define WIDTH		1200.0
#define ROW		17
#define TOP		40	/* above the first row */
#define LETTER		6.6	/* as wide, in the font of this size */
#define FONT		"font-family=\"monospace\" font-size=\"11\""
#define NARROW		0.1	/* narrower ones cannot be seen */

struct picture {
	const struct profile *p;
	const struct export_children *c;
	const struct export_texts *texts;	/* not escaped */
	enum heap_profile_metric metric;
	bool bytes;
	double scale;
	double *x;
	uint32_t *depth;
	uint32_t nr_narrow, levels;
	FILE *out;
};

/* Warm, and the same for the same module in every picture. */
static void colour(const char *module, unsigned rgb[3])
{
	uint32_t h = 2166136261u;

	for (const char *c = module ? str_basename(module) : ""; *c; c++)
		h = (h ^ (unsigned char)*c) * 16777619u;
	rgb[0] = 205 + h % 50;
	rgb[1] = 90 + (h >> 8) % 130;
	rgb[2] = 40 + (h >> 16) % 60;
}

/* The first `n` characters of a text that is clean, escaped. */
static void add_cut(struct str *s, const char *text, size_t n)
{
	struct str cut = STR_INIT;
	const char *at = text;

	for (size_t i = 0; *at && i < n; i++)
		for (at++; *at && !utf8_begins(*at); at++)
			;
	if (*at && n >= 3) {
		at = text;
		for (size_t i = 0; i + 2 < n; i++)
			for (at++; *at && !utf8_begins(*at); at++)
				;
		str_addn(&cut, text, (size_t)(at - text));
		str_add(&cut, "..");
	} else if (!*at) {
		str_add(&cut, text);
	}
	xml_add(s, str_text(&cut));
	s->failed |= cut.failed;
	str_fini(&cut);
}

static int put_node(struct picture *g, uint32_t node, const char *name, const char *module)
{
	int64_t value = export_total(g->p, node, g->metric), all = export_total(g->p, 0, g->metric);
	double width = (double)value * g->scale;
	unsigned rgb[3], y = TOP + g->depth[node] * ROW;
	struct str s = STR_INIT;
	int rc;

	colour(module, rgb);
	str_add(&s, "<g><title>");
	xml_add(&s, name);
	str_addf(&s, ": %s, ", fmt_many((uint64_t)value, g->bytes ? "byte" : "call").s);
	xml_add(&s, fmt_percent((uint64_t)value, (uint64_t)all).s);
	str_add(&s, "</title>");
	str_addf(&s, "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" "
		     "fill=\"rgb(%u,%u,%u)\" rx=\"1\"/>",
		 g->x[node], y, width, ROW - 1, rgb[0], rgb[1], rgb[2]);
	if (width >= 3 * LETTER) {
		str_addf(&s, "<text x=\"%.2f\" y=\"%u\">", g->x[node] + 2, y + 12);
		add_cut(&s, name, (size_t)((width - 4) / LETTER));
		str_add(&s, "</text>");
	}
	str_add(&s, "</g>\n");
	fputs(str_text(&s), g->out);
	rc = str_error(&s);
	str_fini(&s);
	return rc;
}

/* Places; parents come before their children. Returns how many rows there are. */
static void lay_out(struct picture *g)
{
	for (uint32_t i = 0; i < g->p->nodes.nr; i++) {
		double x = g->x[i];

		for (uint32_t k = g->c->first[i]; k < g->c->first[i + 1]; k++) {
			uint32_t n = g->c->list.v[k].node;

			g->x[n] = x;
			g->depth[n] = g->depth[i] + 1;
			x += (double)g->c->list.v[k].value * g->scale;
			if ((double)g->c->list.v[k].value * g->scale < NARROW)
				g->nr_narrow++;
			else if (g->depth[n] > g->levels)
				g->levels = g->depth[n];
		}
	}
}

static int put_head(struct picture *g, const struct heap *h)
{
	static const char *const what[HEAP_PROFILE_NR] = {
		[HEAP_PROFILE_LIVE_BYTES] = "live bytes",
		[HEAP_PROFILE_LIVE_BLOCKS] = "live blocks",
		[HEAP_PROFILE_PEAK_BYTES] = "bytes at the peak",
		[HEAP_PROFILE_PEAK_BLOCKS] = "blocks at the peak",
		[HEAP_PROFILE_ALLOCATED_BYTES] = "allocated bytes",
		[HEAP_PROFILE_ALLOCATIONS] = "allocations",
		[HEAP_PROFILE_TEMPORARY] = "temporary allocations",
	};
	unsigned height = TOP + (g->levels + 1) * ROW + 24;
	struct str s = STR_INIT;
	int rc;

	str_addf(&s,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
		 "version=\"1.1\" width=\"%.0f\" height=\"%u\" viewBox=\"0 0 %.0f %u\" " FONT ">\n",
		 WIDTH, height, WIDTH, height);
	str_add(&s, "<title>");
	xml_add(&s, *h->cmdline ? h->cmdline : h->comm);
	str_addf(&s, "</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fffdf8\"/>\n"
		     "<text x=\"4\" y=\"24\" font-size=\"14\">%s%s: ", what[g->metric],
		 h->mode == HEAP_SAMPLED ? " (estimate)" : "");
	add_cut(&s, *h->comm ? h->comm : "?", 60);
	str_addf(&s, ", process %u</text>\n", h->pid);
	if (g->nr_narrow)
		str_addf(&s, "<text x=\"4\" y=\"%u\">%s too narrow to be drawn</text>\n",
			 height - 8, fmt_many(g->nr_narrow, "frame").s);
	fputs(str_text(&s), g->out);
	rc = str_error(&s);
	str_fini(&s);
	return rc;
}

static int draw(struct picture *g, const struct heap *h)
{
	int rc;

	lay_out(g);
	rc = put_head(g, h);
	if (!rc)
		rc = put_node(g, 0, "all", NULL);
	for (size_t i = 0; i < g->c->list.nr && !rc; i++) {
		const struct export_child *c = &g->c->list.v[i];
		const uint32_t frame = g->p->nodes.v[c->node].frame;

		if ((double)c->value * g->scale >= NARROW)
			rc = put_node(g, c->node, g->texts->v[frame],
				      g->p->frames.v[frame].module);
	}
	fputs("</svg>\n", g->out);
	return rc ? rc : export_flush(g->out);
}

int export_svg(const struct profile *p, const struct export_source *s, FILE *out)
{
	struct export_children c = { 0 };
	struct export_texts t = { 0 };
	struct picture g = { .p = p, .c = &c, .texts = &t, .out = out,
			     .metric = heap_profile_metric(s->key) };
	int rc = export_children(&c, p, g.metric);

	g.bytes = !rank_by_count(s->key);
	g.scale = export_total(p, 0, g.metric) > 0
			  ? WIDTH / (double)export_total(p, 0, g.metric) : 0;
	g.x = calloc(p->nodes.nr + 1, sizeof(*g.x));
	g.depth = calloc(p->nodes.nr + 1, sizeof(*g.depth));
	if (!g.x || !g.depth)
		rc = -ENOMEM;
	if (!rc)
		rc = export_texts(p, export_place, &t);
	if (!rc)
		rc = draw(&g, s->heap);
	free(g.x);
	free(g.depth);
	export_children_fini(&c);
	export_texts_fini(&t);
	return rc;
}
