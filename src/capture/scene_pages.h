/*
 * The pages of a running process and of its copy, as the kernel tells.
 */
#ifndef CAPTURE_SCENE_PAGES_H
#define CAPTURE_SCENE_PAGES_H

#include "src/capture/scene_parts.h"

struct scene_pagemaps {
	struct scene_pages pages;	/* for scene_find.pages */
	pid_t pid;
	int process, copy;		/* their pagemaps, -1 = cannot be had */
	bool has_copy;
};

/* `copy` 0: there is none. Does not fail: what cannot be had is not known. The struct must not move. */
void scene_pagemaps_open(struct scene_pagemaps *p, pid_t pid, pid_t copy);
void scene_pagemaps_close(struct scene_pagemaps *p);

#endif
