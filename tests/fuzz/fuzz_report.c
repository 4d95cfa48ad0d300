/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: reports of heaps whose numbers are anything at all.
 *
 * A capture that was read has its indices in range and its strings in order, but its numbers may be
 * any. Here the numbers of a small heap come from the input; its shape stays. The first two bytes
 * choose what is asked for.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/model/heap_lifetimes.h"
#include "src/view/report_view.h"
#include "tests/fake/fake.h"
#include "tests/fuzz/input.h"

static const char recipe[] =
	"thread main tid=7\nthread worker tid=8\n"
	"site main>parse>libc.so.6 allocs=9 frees=2 size=100\n"
	"site main>draw thread=worker allocs=3 size=5000\n"
	"site - allocs=2 size=9\n"
	"site main>map kind=mmap allocs=2 frees=1 size=4096\n"
	"point 1s live=10 blocks=1 allocs=1\npoint 2s live=10 blocks=1 allocs=1\n"
	"site-point 1s main>draw live=10 blocks=1\n"
	"kernel complete=3 stacks=4\n"
	"event fault main>draw of=block site=main>draw\nevent fault main of=mapping site=main>map\n"
	"event major - area=stack\nevent mmap main>map\nevent memcg_reclaim main\nevent 99 -\n"
	"kernel-kind fault lost=1\nkernel-bin 1s fault\nkernel-bin 2s 99\n";

static void scramble(struct heap *h, struct input *in)
{
	TAKE(in, h->allocs, h->skipped_bytes);
	TAKE(in, h->start_realtime_ns, h->taken_ns);
	TAKE(in, h->sample_bytes, h->dropped_bytes);
	take(in, h->class, sizeof(h->class));
	TAKE(in, h->mapping, h->mapping);
	for (uint32_t i = 0; i < h->nr_sites; i++)
		TAKE(in, h->sites[i].allocs, h->sites[i].at_once);
	for (uint32_t i = 0; i < h->nr_map_sites; i++)
		TAKE(in, h->map_sites[i].allocs, h->map_sites[i].at_once);
	for (uint32_t i = 0; i < h->nr_lifetimes; i++)
		TAKE(in, h->lifetimes[i].frees[1], h->lifetimes[i].frees[HEAP_NR_LIFETIMES - 1]);
	for (uint64_t i = 0; i < h->nr_blocks; i++)
		TAKE(in, h->blocks[i].address, h->blocks[i].birth_ns);
	for (uint32_t i = 0; i < h->nr_points; i++)
		take(in, &h->points[i], sizeof(h->points[i]));
	take(in, &h->end_status, sizeof(h->end_status));
	take(in, &h->off_reason, sizeof(h->off_reason));
	TAKE(in, h->kernel.sample, h->kernel.bins_lost);
	for (uint32_t i = 0; i < h->nr_kernel_kinds; i++)
		TAKE(in, h->kernel_kinds[i].events, h->kernel_kinds[i].dropped);
	for (uint32_t i = 0; i < h->nr_kernel_rows; i++) {
		take(in, &h->kernel_rows[i].detail, sizeof(h->kernel_rows[i].detail));
		TAKE(in, h->kernel_rows[i].events, h->kernel_rows[i].last_ns);
	}
	for (uint32_t i = 0; i < h->nr_kernel_bins; i++)
		TAKE(in, h->kernel_bins[i].events, h->kernel_bins[i].ns);
}

static struct report_options wish(unsigned bits)
{
	return (struct report_options){
		.sort = (enum rank_key)(bits % RANK_NR),
		.sort_given = true,
		.shape = (enum report_shape)(bits / 8 % 3),
		.top = bits / 32 % 2 ? 2 : 0,
		.blocks = bits / 64 % 2,
		.filter = { .by_size = bits / 128 % 2,
			    .size_bytes = { 9, UINT64_MAX },
			    .by_age = bits / 256 % 2,
			    .age_ns = { 1000, UINT64_MAX } },
	};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct style style = { .width = 100, .utf8 = true };
	struct input in = { data, size };
	uint16_t bits = 0;
	struct heap *h = NULL;
	struct report_options opt;
	struct report r;
	struct names n;
	FILE *out = fopen("/dev/null", "w");

	take(&in, &bits, sizeof(bits));
	opt = wish(bits);
	if (!out || fake_make(recipe, &h, NULL))
		abort();
	h->mode = bits & 0x8000 ? HEAP_SAMPLED : HEAP_EXACT;
	scramble(h, &in);
	names_init(&n, h, NULL, NULL);
	if (report_init(&r, h, &n, &opt, NULL) || doc_print_text(&r.doc, &style, out) ||
	    doc_print_json(&r.doc, out))
		abort();
	report_fini(&r);
	names_fini(&n);
	heap_free(h);
	fclose(out);
	return 0;
}
