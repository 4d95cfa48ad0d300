/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Heaps as verdicts see them. */
#include "src/session/verdict_stack.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "src/names/naming.h"

void verdict_root(struct verdicts *v)
{
	char root[PATH_MAX];

	if (getcwd(root, sizeof(root)) && *root == '/')
		verdicts_root(v, root);
}

void verdict_heap(struct verdicts *v, const char *command, const struct heap *h)
{
	verdicts_init(v, command, *h->exe ? h->exe : h->comm);
	verdicts_cmdline(v, h->cmdline);
	verdict_root(v);
	v->start_realtime_ns = h->start_realtime_ns;
}

/* The absolute path of a file that is named from where it was compiled; false: not known. */
static bool add_compiled_path(struct str *path, const struct heap *h, struct names *n,
			      uint32_t node, const char *file)
{
	const struct heap_node *at = &h->nodes[node];
	const char *dir = NULL;

	if (!file || *file == '/' || n->resolve != naming_resolve || !n->ctx)
		return false;
	dir = symbol_directory(n->ctx, at->module, at->pc);
	if (!dir || *dir != '/')
		return false;
	str_addf(path, "%s/%s", dir, file);
	return true;
}

static void add_frame(struct verdicts *v, const struct heap *h, struct names *n, uint32_t node,
		      const struct frame_name *f)
{
	struct str path = STR_INIT;
	bool compiled = add_compiled_path(&path, h, n, node, f->file);

	verdict_frame(v, &(struct verdict_frame){ f->function,
						  compiled ? str_text(&path) : f->file,
						  f->module, f->line,
						  f->role == FRAME_PROGRAM });
	v->failed |= path.failed;
	str_fini(&path);
}

void verdict_site(struct verdicts *v, const char *title, const struct heap *h, struct names *n,
		  uint32_t site)
{
	if (site >= h->nr_sites || !h->sites[site].node)
		return;
	verdict_stack(v, title);
	for (uint32_t at = h->sites[site].node; at; at = h->nodes[at].parent) {
		unsigned nr;
		const struct frame_name *f = names_find(n, at, &nr);

		for (unsigned i = 0; i < nr; i++)
			if (f[i].role != FRAME_MARK)
				add_frame(v, h, n, at, &f[i]);
	}
}

/* The next function of the program that is another one than `inner`, from a node outward. */
static const char *caller(const struct heap *h, struct names *n, uint32_t at, const char *inner)
{
	bool seen = false;

	for (; at; at = h->nodes[at].parent) {
		unsigned nr;
		const struct frame_name *f = names_find(n, at, &nr);

		for (unsigned i = 0; i < nr; i++) {
			bool same = f[i].function && !strcmp(f[i].function, inner);

			if (seen && !same && f[i].function && f[i].role == FRAME_PROGRAM)
				return f[i].function;
			seen |= same;
		}
	}
	return NULL;
}

void verdict_site_title(struct str *s, const struct heap *h, struct names *n, uint32_t site)
{
	uint32_t node = site < h->nr_sites ? h->sites[site].node : 0;
	const struct frame_name *f = node ? names_responsible(n, node, NULL) : NULL;
	const char *by = f && f->function ? caller(h, n, node, f->function) : NULL;

	str_add(s, f && f->function ? f->function
		   : f && f->module ? str_basename(f->module)
				    : "[stack unknown]");
	if (by)
		str_addf(s, ", called by %s", by);
}
