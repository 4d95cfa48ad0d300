/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the forms share. */
#include <errno.h>
#include <inttypes.h>

#include "src/export/export_priv.h"

void export_frame(struct str *s, const char *function, const char *module)
{
	if (function)
		str_add(s, function);
	else
		str_addf(s, "[%s]", module && *module ? str_basename(module) : "unknown");
}

bool export_estimates(struct str *s, const struct heap *h)
{
	if (h->mode != HEAP_SAMPLED)
		return false;
	str_addf(s, HEAP_ESTIMATES_TEXT, h->sample_bytes);
	return true;
}

void export_add_estimates(struct str *s, const char *separator, const struct heap *h)
{
	if (h->mode == HEAP_SAMPLED)
		str_add(s, separator);
	export_estimates(s, h);
}

int export_path(struct export_path *path, const struct profile *p, uint32_t node,
		const struct stack_cut *cut)
{
	path->nodes.nr = 0;
	for (; node && path->nodes.nr < cut->frames; node = p->nodes.v[node].parent)
		if (vec_push(&path->nodes, node))
			return -ENOMEM;
	path->cut = node != 0;
	return 0;
}

bool export_any(const struct profile *p, uint32_t node)
{
	for (unsigned m = 0; m < p->nr_metrics; m++)
		if (export_self(p, node, m))
			return true;
	return false;
}

int export_flush(FILE *out)
{
	errno = 0;
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}
