/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that addresses of a profile are in, by lines of /proc/PID/maps. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/import/import_priv.h"
#include "src/proc/elf_place.h"
#include "src/proc/proc.h"

/*
 * The module of a mapping; its range, and what is noted in `module`, is that of all mappings of the
 * file side by side.
 */
static int64_t make_module(struct import *m, const struct proc_maps *maps, size_t number,
			   uint32_t *module)
{
	const struct proc_map *v = maps->v, *map = &v[number];
	size_t first = number, last = number;
	struct elf_place place;
	int64_t made;

	while (first && !strcmp(v[first - 1].path, map->path))
		first--;
	while (last + 1 < maps->nr && !strcmp(v[last + 1].path, map->path))
		last++;
	/* without the file its frames have no names */
	if (map->path[0] != '/' || elf_place_read(map->path, map, &place))
		place.bias = v[first].start;
	made = import_module(m, map->path, v[first].start, v[last].end, place.bias);
	for (size_t i = first; i <= last && made > 0; i++)
		module[i] = (uint32_t)made;
	return made;
}

/* `module`: of each mapping, 0: not made yet. */
static int64_t module_of(struct import *m, const struct proc_maps *maps, uint32_t *module,
			 uint64_t pc)
{
	size_t i = array_while(maps->v, maps->nr, map, map->end <= pc);

	if (i >= maps->nr || maps->v[i].start > pc || !maps->v[i].path[0])
		return 0;
	return module[i] ? module[i] : make_module(m, maps, i, module);
}

static int compare_maps(const void *a, const void *b)
{
	const struct proc_map *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

int import_modules(struct import *m, char *text)
{
	struct proc_maps maps;
	int64_t rc = proc_maps_parse(text, &maps);
	uint32_t *module = rc ? NULL : calloc(maps.nr + 1, sizeof(*module));

	if (!module) {
		if (!rc)
			proc_maps_fini(&maps);
		return import_no_memory(m);
	}
	/* the program comes first, as in the kernel's list */
	for (size_t i = 0; i < maps.nr && !m->h->comm[0] && rc >= 0; i++)
		if (maps.v[i].path[0] == '/')
			rc = import_command(m, maps.v[i].path);
	vec_qsort(maps.v, maps.nr, sizeof(*maps.v), compare_maps);
	for (uint32_t i = 1; i < m->nodes.nr && rc >= 0; i++) {
		struct heap_node *n = &m->nodes.v[i];

		if (n->module || n->pc <= HEAP_FRAME_MARK_MAX || n->pc >= HEAP_SRCLOC_PC)
			continue;
		rc = module_of(m, &maps, module, n->pc);
		if (rc > 0)
			n->module = (uint32_t)rc;
	}
	proc_maps_fini(&maps);
	free(module);
	return rc < 0 ? (int)rc : 0;
}
