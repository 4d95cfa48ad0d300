/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pages of a running process and of its copy, as the kernel tells; those of a core file.
 */
#ifndef ROOTS_SCENE_PAGES_H
#define ROOTS_SCENE_PAGES_H

#include "src/roots/scene_parts.h"
#include "src/core/core.h"

struct scene_pagemaps {
	struct scene_pages pages;	/* for scene_find.pages */
	pid_t pid;
	int process, copy;		/* their pagemaps, -1 = cannot be had */
	bool has_copy;
};

/* Of a core file: what it has, and what mapped files have. */
struct scene_core_pages {
	struct scene_pages pages;	/* for scene_find.pages */
	const struct core *core;
	uint64_t *unread_bytes;
};

/* `unread_bytes` grows with what is left out because it cannot be read. The struct must not move. */
void scene_core_pages_open(struct scene_core_pages *p, const struct core *core, uint64_t *unread_bytes);

/* `copy` 0: there is none. Does not fail: what cannot be had is not known. The struct must not move. */
void scene_pagemaps_open(struct scene_pagemaps *p, pid_t pid, pid_t copy);
void scene_pagemaps_close(struct scene_pagemaps *p);

#endif
