/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: suppression files, of either form, and the stacks of a small heap matched against
 * them.
 *
 * What was read must give the same answers when asked again, and what is written for a site must be
 * readable and match it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "include/pmm/ledger.h"
#include "src/analyze/suppress/suppress.h"
#include "tests/fake/fake.h"

static const char recipe[] =
	"site main>parse>node kind=new size=10\nsite main>/lib/libx.so+0x1234 kind=calloc size=9\n"
	"site - size=3\nsite !truncated>a>b>a>b>a>b kind=reallocarray size=4\n";

static unsigned resolve(void *ctx, const struct heap *h, uint32_t node, struct frame_name *out,
			unsigned max)
{
	const char *path = h->modules[h->nodes[node].module].path;

	(void)ctx;
	if (max < 2 || !*path || strchr(path, '/'))
		return 0;
	out[0] = (struct frame_name){ .function = "net::cache::add(int)",
				      .linkage = "_ZN3net5cache3addEi",
				      .file = "/src/net.cc",
				      .line = 7 };
	out[1] = (struct frame_name){ .function = path, .linkage = path, .file = "x.c", .line = 3 };
	return 2;
}

static void read_back(struct names *n, uint32_t site, unsigned form)
{
	struct suppress *s = suppress_new();
	struct str out = STR_INIT;

	suppress_write(&out, form, n, site, PMM_KIND_MALLOC, REACH_DEFINITE, "name");
	if (!s || suppress_parse(s, "out", str_text(&out), out.len, NULL))
		abort();
	suppress_free(s);
	str_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct suppress *s = suppress_new();
	struct err e = { 0 };
	struct heap *h = NULL;
	struct names n;

	if (!s || fake_make(recipe, &h, NULL))
		abort();
	names_init(&n, h, resolve, NULL);
	if (suppress_parse(s, "fuzz", (const char *)data, size, &e)) {
		if (!e.text[0] || suppress_nr(s))
			abort();
	}
	if (suppress_begin(s, &n))
		abort();
	for (uint32_t i = 0; i < h->nr_sites; i++)
		for (unsigned class = 0; class < REACH_NR_CLASSES; class++)
			if (suppress_match(s, i, class, 1, 1) != suppress_match(s, i, class, 1, 1))
				abort();
	for (uint32_t i = 0; i < h->nr_sites; i++)
		read_back(&n, i, size & 1);
	names_fini(&n);
	heap_free(h);
	suppress_free(s);
	return 0;
}
