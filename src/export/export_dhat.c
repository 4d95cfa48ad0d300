/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What DHAT writes and dh_view.html reads, version 2 (dh_view.js of Valgrind lists the fields).
 * Times are in microseconds. A site's own highest point is not known, and the time that its blocks
 * lived only by powers of two of the clock's step.
 */
#include <errno.h>
#include <stdlib.h>

#include "src/base/json.h"
#include "src/export/export_priv.h"
#include "src/model/heap_lifetimes.h"

/* The middle of each class of lifetimes, times its blocks, in microseconds. */
static uint64_t lived_us(const struct heap *h, const struct heap_site *site)
{
	double sum = 0, low = 0, high = (double)h->tick_ns;

	for (unsigned i = 0; i < HEAP_NR_LIFETIMES; i++) {
		sum += (double)heap_lifetime(h, site, i) * (low + high) / 2;
		low = high;
		high *= 2;
	}
	sum /= 1000;
	return sum < 1e18 ? (uint64_t)sum : (uint64_t)1e18;
}

static void number(struct json *j, const char *key, int64_t n)
{
	json_u64(j, key, n > 0 ? (uint64_t)n : 0);
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Frame 0 is the root; those of a point begin with the innermost. */
static void point(struct json *j, const struct profile *p, const struct stack_cut *cut,
		  uint32_t node, uint64_t us)
{
	const int64_t *v = &p->self.v[(size_t)node * p->nr_metrics];
	uint32_t n = node;

	json_object_flat(j, NULL);
	number(j, "tb", v[HEAP_PROFILE_ALLOCATED_BYTES]);
	number(j, "tbk", v[HEAP_PROFILE_ALLOCATIONS]);
	json_u64(j, "tl", us);
	number(j, "mb", most(v[HEAP_PROFILE_PEAK_BYTES], v[HEAP_PROFILE_LIVE_BYTES]));
	number(j, "mbk", most(v[HEAP_PROFILE_PEAK_BLOCKS], v[HEAP_PROFILE_LIVE_BLOCKS]));
	number(j, "gb", v[HEAP_PROFILE_PEAK_BYTES]);
	number(j, "gbk", v[HEAP_PROFILE_PEAK_BLOCKS]);
	number(j, "eb", v[HEAP_PROFILE_LIVE_BYTES]);
	number(j, "ebk", v[HEAP_PROFILE_LIVE_BLOCKS]);
	json_array_flat(j, "fs");
	if (!node)
		json_u64(j, NULL, p->frames.nr);
	for (uint32_t nr = 0; n && nr < cut->frames; nr++, n = p->nodes.v[n].parent)
		json_u64(j, NULL, p->nodes.v[n].frame);
	if (n)
		json_u64(j, NULL, p->frames.nr + 1);
	json_end(j);
	json_end(j);
}

static void points(struct json *j, const struct profile *p, const struct stack_cut *cut,
		   const uint64_t *us)
{
	json_array(j, "pps");
	for (uint32_t i = 0; i < p->nodes.nr; i++)
		if (export_any(p, i))
			point(j, p, cut, i, us[i]);
	json_end(j);
}

/* Behind the profile's own: the root's, and that of stacks that are cut, where there are some. */
static int frames(struct json *j, const struct profile *p, const struct stack_cut *cut)
{
	struct export_texts t;
	int rc = export_texts(p, export_place, &t);

	json_array(j, "ftbl");
	json_str(j, NULL, "[root]");
	for (uint32_t i = 1; i < p->frames.nr && !rc; i++) {
		struct str s = STR_INIT;

		str_addf(&s, "0x0: %s", t.v[i]);
		json_str(j, NULL, str_text(&s));
		rc = str_error(&s);
		str_fini(&s);
	}
	json_str(j, NULL, "0x0: " EXPORT_NO_STACK);
	if (cut->stacks)
		json_str(j, NULL, "0x0: " EXPORT_CUT);
	json_end(j);
	export_texts_fini(&t);
	return rc;
}

/* How long blocks lived is no figure of a profile: each node has the average of the heap. */
static int lifetimes(const struct profile *p, const struct export_source *s, uint64_t **out)
{
	uint64_t *us = calloc(p->nodes.nr + 1, sizeof(*us));
	int64_t allocations = 0;
	uint64_t all = 0;

	*out = us;
	if (!us)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->heap->nr_sites; i++)
		all += lived_us(s->heap, &s->heap->sites[i]);
	for (uint32_t i = 0; i < p->nodes.nr; i++)
		allocations += export_self(p, i, HEAP_PROFILE_ALLOCATIONS);
	/* by their share of allocations: an average of the whole heap */
	for (uint32_t i = 0; allocations > 0 && i < p->nodes.nr; i++)
		us[i] = (uint64_t)((double)all *
				   (double)export_self(p, i, HEAP_PROFILE_ALLOCATIONS) /
				   (double)allocations);
	return 0;
}

/* Its viewer shows the text, and does no more with it. */
static void write_mode(struct json *j, const struct heap *h)
{
	struct str mode = STR_INIT;

	str_add(&mode, "heap");
	export_add_estimates(&mode, "; ", h);
	json_str(j, "mode", str_text(&mode));
	str_fini(&mode);
}

int export_dhat(const struct profile *p, const struct export_source *s,
		const struct stack_cut *cut, FILE *out)
{
	const struct heap *h = s->heap;
	uint64_t *us;
	struct json j;
	int rc = lifetimes(p, s, &us), end;

	json_init(&j, out);
	json_object(&j, NULL);
	json_u64(&j, "dhatFileVersion", 2);
	write_mode(&j, h);
	json_str(&j, "verb", "Allocated");
	json_bool(&j, "bklt", true);
	json_bool(&j, "bkacc", false);
	json_str(&j, "tu", "us");
	json_str(&j, "Mtu", "s");
	json_u64(&j, "tuth", 500);
	json_str(&j, "cmd", *h->cmdline ? h->cmdline : h->comm);
	json_u64(&j, "pid", h->pid);
	json_u64(&j, "te", heap_since(h, h->taken_ns) / 1000);
	json_u64(&j, "tg", heap_since(h, h->peak_ns) / 1000);
	if (!rc)
		points(&j, p, cut, us);
	if (!rc)
		rc = frames(&j, p, cut);
	json_end(&j);
	free(us);
	end = json_finish(&j);
	return rc ? rc : end;
}
