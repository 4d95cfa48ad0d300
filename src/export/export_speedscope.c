/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Speedscope's own form (https://www.speedscope.app/file-format-schema.json): one list of frames,
 * and a profile of samples for each figure that is not 0 throughout. A sample is a stack, outermost
 * frame first; its weight is the figure.
 */
#include "src/export/export_priv.h"

#include <errno.h>

#include "src/base/json.h"

static const struct {
	const char *name, *unit;
} form[HEAP_PROFILE_NR] = {
	[HEAP_PROFILE_LIVE_BYTES] = { "live bytes", "bytes" },
	[HEAP_PROFILE_LIVE_BLOCKS] = { "live blocks", "none" },
	[HEAP_PROFILE_PEAK_BYTES] = { "bytes at the peak", "bytes" },
	[HEAP_PROFILE_PEAK_BLOCKS] = { "blocks at the peak", "none" },
	[HEAP_PROFILE_ALLOCATED_BYTES] = { "allocated bytes", "bytes" },
	[HEAP_PROFILE_ALLOCATIONS] = { "allocations", "none" },
	[HEAP_PROFILE_TEMPORARY] = { "temporary allocations", "none" },
};

/*
 * Frame 0 of a profile is no frame: here it stands for stacks that are not known. One more stands
 * for frames that are left out, where there are some.
 */
static int write_frames(struct json *j, const struct profile *p, const struct stack_cut *cut)
{
	struct str name = STR_INIT;
	bool failed = false;

	json_array(j, "frames");
	for (uint32_t i = 0; i < p->frames.nr; i++) {
		const struct profile_frame *f = &p->frames.v[i];

		str_clear(&name);
		if (i)
			export_frame(&name, f->function, f->module);
		failed |= name.failed;
		json_object_flat(j, NULL);
		json_str(j, "name", i ? str_text(&name) : EXPORT_NO_STACK);
		if (i && f->file)
			json_str(j, "file", f->file);
		if (i && f->file && f->line)
			json_u64(j, "line", f->line);
		json_end(j);
	}
	if (cut->stacks) {
		json_object_flat(j, NULL);
		json_str(j, "name", EXPORT_CUT);
		json_end(j);
	}
	json_end(j);
	str_fini(&name);
	return failed ? -ENOMEM : 0;
}

static int write_samples(struct json *j, const struct profile *p, const struct stack_cut *cut,
			 unsigned metric)
{
	struct export_path path = { 0 };
	int rc = 0;

	json_array(j, "samples");
	for (uint32_t i = 0; i < p->nodes.nr && !rc; i++) {
		if (!export_self(p, i, metric))
			continue;
		rc = export_path(&path, p, i, cut);
		json_array_flat(j, NULL);
		if (path.cut)
			json_u64(j, NULL, p->frames.nr);
		if (!i)
			json_u64(j, NULL, 0);
		for (size_t k = path.nodes.nr; k-- > 0;)
			json_u64(j, NULL, p->nodes.v[path.nodes.v[k]].frame);
		json_end(j);
	}
	json_end(j);
	vec_fini(&path.nodes);
	return rc;
}

static int write_metric(struct json *j, const struct profile *p, const struct stack_cut *cut,
			unsigned metric)
{
	int rc;

	json_object(j, NULL);
	json_str(j, "type", "sampled");
	json_str(j, "name", form[metric].name);
	json_str(j, "unit", form[metric].unit);
	json_u64(j, "startValue", 0);
	json_i64(j, "endValue", p->total.v[metric]);
	rc = write_samples(j, p, cut, metric);
	json_array_flat(j, "weights");
	for (uint32_t i = 0; i < p->nodes.nr; i++)
		if (export_self(p, i, metric))
			json_i64(j, NULL, export_self(p, i, metric));
	json_end(j);
	json_end(j);
	return rc;
}

/* Another tool's profile may not know it; then what is there says nothing. */
static bool known(const struct heap *h, unsigned metric)
{
	switch (metric) {
	case HEAP_PROFILE_LIVE_BYTES:
	case HEAP_PROFILE_LIVE_BLOCKS:
		return true;
	case HEAP_PROFILE_ALLOCATED_BYTES:
	case HEAP_PROFILE_ALLOCATIONS:
		return heap_import_allocated(h);
	default:
		return heap_import_history(h);
	}
}

/* Of a heap with nothing in it the one that was asked for. */
static bool shown(const struct profile *p, const struct heap *h, unsigned metric, unsigned asked)
{
	return (p->total.v[metric] && known(h, metric)) || metric == asked;
}

/* What the viewer has as its title. */
static void write_name(struct json *j, const struct heap *h)
{
	struct str name = STR_INIT;

	str_add(&name, h->comm);
	export_add_estimates(&name, ": ", h);
	json_str(j, "name", str_text(&name));
	str_fini(&name);
}

int export_speedscope(const struct profile *p, const struct export_source *s,
		      const struct stack_cut *cut, FILE *out)
{
	unsigned asked = heap_profile_metric(s->key), before = 0;
	struct json j;
	int rc, end;

	for (unsigned m = 0; m < asked; m++)
		before += shown(p, s->heap, m, asked);
	json_init(&j, out);
	json_object(&j, NULL);
	json_str(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_str(&j, "exporter", "pmm " PMM_VERSION);
	write_name(&j, s->heap);
	json_u64(&j, "activeProfileIndex", before);
	json_object(&j, "shared");
	rc = write_frames(&j, p, cut);
	json_end(&j);
	json_array(&j, "profiles");
	for (unsigned m = 0; m < HEAP_PROFILE_NR && !rc; m++)
		if (shown(p, s->heap, m, asked))
			rc = write_metric(&j, p, cut, m);
	json_end(&j);
	json_end(&j);
	end = json_finish(&j);
	return rc ? rc : end;
}
