/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The symbols of a heap: from symbol/ to what analyze/ and view/ ask of names. */
#include "src/names/naming.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "src/proc/limits.h"
#include "src/proc/task.h"

unsigned naming_frames(const struct symbol_frame *frame, int nr, struct frame_name *out)
{
	for (int i = 0; i < nr; i++) {
		out[i].function = frame[i].named ? frame[i].function : NULL;
		out[i].linkage = frame[i].linkage;
		out[i].file = frame[i].file;
		out[i].line = frame[i].line;
	}
	return nr > 0 ? (unsigned)nr : 0;
}

unsigned naming_resolve(void *sym, const struct heap *h, uint32_t node, struct frame_name *out,
			unsigned max)
{
	const struct heap_node *n = &h->nodes[node];
	struct symbol_frame frame[SYMBOL_FRAMES_MAX];
	int nr = symbol_lookup(sym, n->module, n->pc, frame,
			       max < SYMBOL_FRAMES_MAX ? (int)max : SYMBOL_FRAMES_MAX);

	return naming_frames(frame, nr, out);
}

struct symbolizer *naming_symbols(const struct heap *h, const struct symbolizer_options *options)
{
	struct symbolizer_options o = options ? *options : (struct symbolizer_options){ 0 };
	struct symbolizer *sym;

	if (!o.max_bytes)
		o.max_bytes = limits_share("");
	sym = symbolizer_new(&o);

	for (uint32_t i = 0; sym && i < h->nr_modules; i++) {
		const struct heap_module *m = &h->modules[i];
		struct symbol_module module = {
			.path = m->path,
			.build_id = m->build_id,
			.build_id_len = m->build_id_len,
			.bias = m->bias,
			.start = m->start,
			.end = m->end,
		};

		if (symbolizer_add(sym, &module) < 0) {
			symbolizer_free(sym);
			return NULL;
		}
	}
	return sym;
}

void naming_open(struct naming *n, const struct heap *h, const struct naming_options *o)
{
	char root[64] = "";
	const struct symbolizer_options options = {
		.full = o->full,
		.debuginfod = o->debuginfod,
		.use_cache = o->full,
		.root = root,
		.max_bytes = o->max_bytes,
	};

	*n = (struct naming){ .heap = h, .wanted = !o->none && !o->resolve, .full = o->full };
	if (n->wanted && o->pid)
		naming_root(o->pid, h, root);
	if (n->wanted)
		n->sym = naming_symbols(h, &options);
	if (o->resolve)
		names_init(&n->names, h, o->resolve, o->resolve_ctx);
	else
		names_init(&n->names, h, n->sym ? naming_resolve : NULL, n->sym);
}

void naming_close(struct naming *n)
{
	names_fini(&n->names);
	symbolizer_free(n->sym);
}

void naming_root(pid_t pid, const struct heap *h, char root[64])
{
	struct stat ours, its, file;
	char path[PATH_MAX];

	snprintf(root, 64, "/proc/%d/root", (int)task_proc(pid));
	for (uint32_t i = 0; i < h->nr_modules; i++) {
		if (h->modules[i].path[0] != '/')
			continue;
		snprintf(path, sizeof(path), "%s%s", root, h->modules[i].path);
		if (stat("/", &ours) == 0 && stat(root, &its) == 0 &&
		    (ours.st_dev != its.st_dev || ours.st_ino != its.st_ino) &&
		    stat(path, &file) == 0)
			return;
		break;
	}
	root[0] = '\0';
}
