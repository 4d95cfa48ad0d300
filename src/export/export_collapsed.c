/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collapsed stacks, as flame graph scripts read them: a line for each stack, its frames from the
 * outermost to the innermost separated by ';', a space, a number.
 */
#include "src/export/export_priv.h"

#include <errno.h>

#include "src/base/utf8.h"
#include "src/base/vec.h"

/* A frame may have what separates frames in it. */
static void add_frame(struct str *line, const struct profile_frame *f)
{
	struct str name = STR_INIT, clean = STR_INIT;

	export_frame(&name, f->function, f->module);
	utf8_add_clean(&clean, str_text(&name));
	for (const char *c = str_text(&clean); *c; c++)
		str_addc(line, *c == ';' ? ':' : *c);
	line->failed |= name.failed || clean.failed;
	str_fini(&clean);
	str_fini(&name);
}

static int write_stack(const struct profile *p, uint32_t node, int64_t value, FILE *out)
{
	struct export_path path = { 0 };
	struct str line = STR_INIT;
	int rc = export_path(&path, p, node);

	for (size_t i = path.nodes.nr; i-- > 0;) {
		add_frame(&line, &p->frames.v[p->nodes.v[path.nodes.v[i]].frame]);
		if (i)
			str_addc(&line, ';');
	}
	if (!node)
		str_add(&line, EXPORT_NO_STACK);
	rc = rc ? rc : str_error(&line);
	if (!rc && fprintf(out, "%s %lld\n", str_text(&line), (long long)value) < 0)
		rc = errno ? -errno : -EIO;
	str_fini(&line);
	vec_fini(&path.nodes);
	return rc;
}

int export_collapsed(const struct profile *p, const struct export_source *s, FILE *out)
{
	enum heap_profile_metric metric = heap_profile_metric(s->key);
	int rc = 0;

	for (uint32_t i = 0; i < p->nodes.nr && !rc; i++) {
		int64_t value = p->self.v[(size_t)i * p->nr_metrics + metric];

		if (value)
			rc = write_stack(p, i, value, out);
	}
	return rc ? rc : export_flush(out);
}
