/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of sizes: kinds folded into columns, classes into a total.
 */
#include "src/analyze/sizes.h"

#include <string.h>

#include "include/pmm/ledger.h"

static const uint64_t class_max[HEAP_NR_CLASSES] = {
	16, 256, 1024, 4096, 16384, 65536, UINT64_MAX
};

static const struct {
	const char *name;
	enum size_entry entry;
} kind_info[HEAP_NR_KINDS] = {
	[PMM_KIND_NONE] = { "?", SIZE_OTHER },
	[PMM_KIND_MALLOC] = { "malloc", SIZE_MALLOC },
	[PMM_KIND_CALLOC] = { "calloc", SIZE_CALLOC },
	[PMM_KIND_REALLOC] = { "realloc", SIZE_REALLOC },
	[PMM_KIND_REALLOCARRAY] = { "reallocarray", SIZE_REALLOC },
	[PMM_KIND_POSIX_MEMALIGN] = { "posix_memalign", SIZE_ALIGNED },
	[PMM_KIND_ALIGNED_ALLOC] = { "aligned_alloc", SIZE_ALIGNED },
	[PMM_KIND_MEMALIGN] = { "memalign", SIZE_ALIGNED },
	[PMM_KIND_VALLOC] = { "valloc", SIZE_ALIGNED },
	[PMM_KIND_PVALLOC] = { "pvalloc", SIZE_ALIGNED },
	[PMM_KIND_NEW] = { "new", SIZE_NEW },
	[PMM_KIND_NEW_ARRAY] = { "new[]", SIZE_NEW },
	[PMM_KIND_NEW_ALIGNED] = { "new(aligned)", SIZE_NEW },
	[PMM_KIND_NEW_ARRAY_ALIGNED] = { "new[](aligned)", SIZE_NEW },
	[PMM_KIND_MMAP] = { "mmap", SIZE_OTHER },
	[PMM_KIND_OTHER] = { "other", SIZE_OTHER },
};

_Static_assert(PMM_NR_KINDS == HEAP_NR_KINDS && PMM_NR_CLASSES == HEAP_NR_CLASSES,
	       "model follows the ledger");

const char *kind_name(unsigned kind)
{
	return kind < HEAP_NR_KINDS ? kind_info[kind].name : "?";
}

static void add_row(struct size_row *to, const struct size_row *r)
{
	for (unsigned i = 0; i < SIZE_NR_ENTRIES; i++)
		to->calls[i] += r->calls[i];
	to->all_calls += r->all_calls;
	to->frees += r->frees;
	to->bytes_in += r->bytes_in;
	to->bytes_out += r->bytes_out;
	to->in_use_bytes += r->in_use_bytes;
	to->failed += r->failed;
}

void sizes_sum(const struct heap *h, struct sizes *out)
{
	memset(out, 0, sizeof(*out));
	for (unsigned i = 0; i < HEAP_NR_CLASSES; i++) {
		const struct heap_class *c = &h->class[i];
		struct size_row *r = &out->row[i];

		r->max_bytes = class_max[i];
		for (unsigned k = 0; k < HEAP_NR_KINDS; k++) {
			r->calls[kind_info[k].entry] += c->calls[k];
			r->all_calls += c->calls[k];
		}
		r->frees = c->frees;
		r->bytes_in = c->bytes_in;
		r->bytes_out = c->bytes_out;
		r->in_use_bytes = c->bytes_in > c->bytes_out ? c->bytes_in - c->bytes_out : 0;
		r->failed = c->failed;
		add_row(&out->total, r);
	}
	out->untracked_frees = h->untracked_frees;
}
