/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modules out of /proc/PID/maps. */
#include "src/kmod/kmod_maps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/utf8.h"
#include "src/base/vec.h"
#include "src/proc/elf_place.h"
#include "src/proc/proc.h"

/* What a file says of a mapping of it: bias and build id. Else its frames have no names. */
static void read_file(const char *path, const struct proc_map *map, struct heap_module *m)
{
	struct elf_place place;

	if (elf_place_read(path, map, &place))
		return;
	m->bias = place.bias;
	if (place.build_id_len > sizeof(m->build_id))
		return;
	memcpy(m->build_id, place.build_id, place.build_id_len);
	m->build_id_len = (uint8_t)place.build_id_len;
}

/* The module of a mapping of code; its range is that of all mappings of the file side by side. */
static int make_module(pid_t pid, const struct proc_maps *maps, size_t number,
		       struct heap_module *m)
{
	const struct proc_map *v = maps->v, *map = &v[number];
	size_t first = number, last = number;
	char *path;

	*m = (struct heap_module){ .path = strdup(map->path) };
	if (!m->path)
		return -ENOMEM;
	utf8_mask(m->path, strlen(m->path), '?');
	while (first && !strcmp(v[first - 1].path, map->path))
		first--;
	while (last + 1 < maps->nr && !strcmp(v[last + 1].path, map->path))
		last++;
	m->start = v[first].start;
	m->end = v[last].end;
	m->bias = m->start;
	if (map->path[0] != '/')
		return 0;
	/* in the process's own file system tree */
	if (asprintf(&path, "/proc/%d/root%s", (int)pid, map->path) < 0)
		return -ENOMEM;
	read_file(path, map, m);
	free(path);
	return 0;
}

/* Add it to the heap's. Its number or -ENOMEM. */
static int64_t add_module(struct heap *h, const struct heap_module *m)
{
	struct heap_module *more = realloc(h->modules, (h->nr_modules + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	h->modules = more;
	h->modules[h->nr_modules] = *m;
	return h->nr_modules++;
}

static int64_t module_of(struct heap *h, pid_t pid, const struct proc_maps *maps, uint64_t pc)
{
	struct heap_module m;
	size_t i;
	int64_t rc;

	for (uint32_t k = 1; k < h->nr_modules; k++)
		if (pc >= h->modules[k].start && pc < h->modules[k].end)
			return k;
	i = array_while(maps->v, maps->nr, map, map->end <= pc);
	if (i >= maps->nr || maps->v[i].start > pc || !maps->v[i].path[0] ||
	    !(maps->v[i].perms & PROC_MAP_EXEC))
		return 0;
	rc = make_module(pid, maps, i, &m);
	if (!rc)
		rc = add_module(h, &m);
	if (rc < 0)
		free(m.path);
	return rc;
}

int kmod_maps_add(struct heap *h, pid_t pid)
{
	struct proc_maps maps = { 0 };
	struct err ignored;
	int64_t rc = proc_maps_read(pid, &maps, &ignored);

	if (rc)
		return rc == -ENOMEM ? -ENOMEM : 0;
	for (uint32_t i = 1; i < h->nr_nodes && rc >= 0; i++) {
		struct heap_node *n = &h->nodes[i];

		if (n->module || n->pc <= HEAP_FRAME_MARK_MAX || n->pc >= HEAP_SRCLOC_PC)
			continue;
		rc = module_of(h, pid, &maps, n->pc);
		if (rc > 0)
			n->module = (uint32_t)rc;
	}
	proc_maps_fini(&maps);
	return rc < 0 ? (int)rc : 0;
}
