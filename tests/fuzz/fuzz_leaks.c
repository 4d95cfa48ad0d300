/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: verdicts on what a capture says of a search, whatever its numbers are.
 *
 * Indices and order of the rows are sound, as heap_check() has seen to that; here their numbers,
 * and those that growth is judged by, come from the input. The first two bytes choose what is asked
 * for.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/analyze/suppress/suppress.h"
#include "src/view/leaks_view.h"
#include "tests/fake/fake.h"
#include "tests/fuzz/input.h"

static const char recipe[] =
	"process end=running taken=60s\n"
	"site main>lost>libc.so.6 allocs=9 frees=2 size=100\n"
	"site main>grow allocs=40 size=50 first=0s last=60s\n"
	"site - allocs=2 size=9\n"
	"site-point 1s main>lost>libc.so.6 live=10\nsite-point 2s main>lost>libc.so.6 live=11\n"
	"search copy complete\n"
	"leak main>lost>libc.so.6 definite blocks=3 indirect-blocks=1\n"
	"leak - indirect holder=main>lost>libc.so.6\n"
	"leak main>grow possible holder=-\nleak main>grow reachable blocks=3 "
	"holder=main>lost>libc.so.6 held=2\n"
	"leak - reachable\n";

static const char suppressions[] = "leak:lost\n";

static void scramble(struct heap *h, struct input *in)
{
	TAKE(in, h->search.at_ns, h->search.unread_bytes);
	for (uint64_t i = 0; i < h->nr_leaks; i++)
		TAKE(in, h->leaks[i].blocks, h->leaks[i].chained_blocks);
	TAKE(in, h->start_realtime_ns, h->taken_ns);
	for (uint32_t i = 0; i < h->nr_sites; i++)
		TAKE(in, h->sites[i].allocs, h->sites[i].last_ns);
	for (uint64_t i = 0; i < h->nr_blocks; i++)
		TAKE(in, h->blocks[i].size_bytes, h->blocks[i].birth_ns);
	take(in, &h->untracked_frees, sizeof(h->untracked_frees));
}

static struct suppress *make_suppressions(void)
{
	struct suppress *s = suppress_new();

	if (!s || suppress_parse(s, "fuzz", suppressions, strlen(suppressions), NULL))
		abort();
	return s;
}

static void print_all(const struct heap *h, struct names *n, const struct leaks *l,
		      const struct suppress *s, unsigned bits)
{
	const struct style style = { .width = 100, .utf8 = true };
	struct leaks_view_options o = { .show = bits & LEAKS_SHOW_ALL,
					.top = bits >> 6 & 3,
					.depth = bits >> 8 & 1 };
	FILE *out = fopen("/dev/null", "w");
	struct leaks_view v;

	if (!out || leaks_view_init(&v, h, n, l, &o) || doc_print_text(&v.doc, &style, out) ||
	    doc_print_json(&v.doc, out) || leaks_print_xml(h, n, l, &o, s, out))
		abort();
	leaks_view_fini(&v);
	fclose(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct suppress *s = make_suppressions();
	struct input in = { data, size };
	struct leaks_options o = { 0 };
	struct growing past = { 0 };
	struct heap *h = NULL;
	uint16_t bits = 0;
	struct leaks l;
	struct names n;

	take(&in, &bits, sizeof(bits));
	if (fake_make(recipe, &h, NULL))
		abort();
	scramble(h, &in);
	names_init(&n, h, NULL, NULL);
	if (leaks_load(&l, h) || growing_past(&past, h))
		abort();
	o.past = &past;
	o.names = &n;
	o.suppress = bits & 0x8000 ? s : NULL;
	if (leaks_judge(&l, h, &o) || leaks_store(&l, h))
		abort();
	print_all(h, &n, &l, o.suppress, bits);
	leaks_fini(&l);
	growing_fini(&past);
	names_fini(&n);
	suppress_free(s);
	heap_free(h);
	return 0;
}
