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
static void add_frame(struct str *to, const struct profile_frame *f)
{
	struct str name = STR_INIT, clean = STR_INIT;

	export_frame(&name, f->function, f->module);
	utf8_add_clean(&clean, str_text(&name));
	for (const char *c = str_text(&clean); *c; c++)
		str_addc(to, *c == ';' ? ':' : *c);
	to->failed |= name.failed || clean.failed;
	str_fini(&clean);
	str_fini(&name);
}

/* Frames' texts are made once, as a deep stack's may be in as many lines as it has frames. */
static int write_stack(const struct profile *p, const struct export_texts *t, uint32_t node,
		       int64_t value, const struct stack_cut *cut, struct export_path *path,
		       FILE *out)
{
	int rc = export_path(path, p, node, cut);

	if (path->cut)
		fputs(EXPORT_CUT ";", out);
	for (size_t i = path->nodes.nr; !rc && i-- > 0;) {
		fputs(t->v[p->nodes.v[path->nodes.v[i]].frame], out);
		if (i)
			putc_unlocked(';', out);
	}
	if (!node)
		fputs(EXPORT_NO_STACK, out);
	if (!rc && fprintf(out, " %lld\n", (long long)value) < 0)
		rc = errno ? -errno : -EIO;
	return rc;
}

int export_collapsed(const struct profile *p, const struct export_source *s,
		     const struct stack_cut *cut, FILE *out)
{
	enum heap_profile_metric metric = heap_profile_metric(s->key);
	struct export_path path = { 0 };
	struct export_texts texts;
	int rc = export_texts(p, add_frame, &texts);

	for (uint32_t i = 0; i < p->nodes.nr && !rc; i++)
		if (export_self(p, i, metric))
			rc = write_stack(p, &texts, i, export_self(p, i, metric), cut, &path, out);
	vec_fini(&path.nodes);
	export_texts_fini(&texts);
	return rc ? rc : export_flush(out);
}
