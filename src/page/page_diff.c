/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A comparison's stacks as a call tree: each figure twice, first all of the second heap, then all
 * of the first one.
 */
#include "src/page/page_diff.h"

#include <errno.h>

#include "src/base/json.h"
#include "src/base/vec.h"
#include "src/page/page_priv.h"

#define MAX_FIGURES	8u

struct figure {
	enum diff_metric metric;
	enum diff_key key;
	const char *name, *unit;
};

static const struct figure all[MAX_FIGURES] = {
	{ DIFF_LIVE_BYTES, DIFF_LIVE, "live", "bytes" },
	{ DIFF_LIVE_BLOCKS, DIFF_LIVE, "live", "blocks" },
	{ DIFF_PEAK_BYTES, DIFF_PEAK, "peak", "bytes" },
	{ DIFF_PEAK_BLOCKS, DIFF_PEAK, "peak", "blocks" },
	{ DIFF_ALLOCATED_BYTES, DIFF_ALLOCATED, "allocated", "bytes" },
	{ DIFF_ALLOCATIONS, DIFF_CALLS, "allocations", "calls" },
	{ DIFF_TEMPORARY, DIFF_TEMPORARIES, "temporary", "calls" },
	{ DIFF_LEAKED_BYTES, DIFF_LEAKED, "leaked", "bytes" },
};
_Static_assert(2 * MAX_FIGURES <= PROFILE_MAX_METRICS, "before and after");

/* Those of the page: what both heaps know. */
struct figures {
	struct figure v[MAX_FIGURES];
	unsigned nr;
};

static struct figures figures_of(const struct heap *const heap[2])
{
	struct figures f = { .nr = 0 };

	for (unsigned m = 0; m < MAX_FIGURES; m++)
		if (diff_known(heap[0], all[m].key) && diff_known(heap[1], all[m].key))
			f.v[f.nr++] = all[m];
	return f;
}

struct frames {
	VEC(uint32_t) v;	/* outermost first */
};

static int find_frames(struct profile *profile, const struct diff *d, uint32_t row,
		       struct frames *frames)
{
	struct diff_name name;

	frames->v.nr = 0;
	for (uint32_t at = diff_next_frame(d, row, 0, &name); at;
	     at = diff_next_frame(d, row, at, &name)) {
		int64_t frame = profile_frame(profile, &(struct profile_frame){ name.function,
										name.file,
										name.module,
										name.line });

		if (frame < 0)
			return (int)frame;
		if (vec_push(&frames->v, (uint32_t)frame))
			return -ENOMEM;
	}
	for (size_t i = 0, k = frames->v.nr; i + 1 < k; i++) {
		uint32_t last = frames->v.v[--k];

		frames->v.v[k] = frames->v.v[i];
		frames->v.v[i] = last;
	}
	return 0;
}

static int fill(struct profile *profile, const struct diff *d,
		const struct figures *figures)
{
	struct frames frames = { { 0 } };
	int64_t value[2 * MAX_FIGURES], rc = 0;

	for (uint32_t i = 0; i < diff_rows(d, DIFF_STACKS) && rc >= 0; i++) {
		const int64_t *before = diff_values(d, DIFF_STACKS, i, 0),
			      *after = diff_values(d, DIFF_STACKS, i, 1);
		bool any = false;

		for (unsigned m = 0; m < figures->nr; m++) {
			value[m] = after[figures->v[m].metric];
			value[figures->nr + m] = before[figures->v[m].metric];
			any |= value[m] || value[figures->nr + m];
		}
		rc = any ? find_frames(profile, d, i, &frames) : 0;
		if (any && !rc)
			rc = profile_add(profile, frames.v.v, frames.v.nr, value);
	}
	vec_fini(&frames.v);
	return rc < 0 ? (int)rc : 0;
}

static struct profile *profile_of(struct page *p, const struct diff *d,
				  const struct figures *figures)
{
	struct profile_metric metric[2 * MAX_FIGURES];
	struct profile *profile;

	for (unsigned m = 0; m < 2 * figures->nr; m++)
		metric[m] = (struct profile_metric){ figures->v[m % figures->nr].name,
						     figures->v[m % figures->nr].unit };
	profile = profile_new(metric, 2 * figures->nr);
	p->rc = profile ? fill(profile, d, figures) : -ENOMEM;
	return profile;
}

static void put_about(struct page *p, const struct figures *figures,
		      const char *const source[2], const char *comm)
{
	FILE *f = page_part(p, "about");
	struct json j;

	if (!f)
		return;
	json_init(&j, f);
	json_object(&j, NULL);
	json_str(&j, "pmm", PMM_VERSION);
	json_bool(&j, "diff", true);
	json_str(&j, "comm", comm);
	json_str(&j, "before", source[0]);
	json_str(&j, "after", source[1]);
	json_array_flat(&j, "metrics");
	for (unsigned m = 0; m < 2 * figures->nr; m++) {
		json_str(&j, NULL, figures->v[m % figures->nr].name);
		json_str(&j, NULL, figures->v[m % figures->nr].unit);
	}
	json_end(&j);
	json_end(&j);
	if (json_finish(&j) && !p->rc)
		p->rc = -EIO;
	page_part_end(p, f);
}

void page_diff(struct page *p, const struct diff *d, const struct heap *const heap[2],
	       const char *const source[2])
{
	const struct figures figures = figures_of(heap);
	struct page_stacks k = { 0 };

	if (p->rc)
		return;
	k.profile = profile_of(p, d, &figures);
	if (!p->rc && intern_add(&k.strings, "") < 0)
		p->rc = -ENOMEM;
	if (!p->rc) {
		put_about(p, &figures, source, heap[1]->comm);
		page_put_profile(p, &k, (const uint64_t *[2]){ NULL, NULL });
	}
	page_stacks_fini(&k);
}
