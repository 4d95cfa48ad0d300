/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pages of a running process and of its copy, as the kernel reports them; those of a core file.
 */
#ifndef ROOTS_ROOTS_PAGES_H
#define ROOTS_ROOTS_PAGES_H

#include "src/roots/roots_priv.h"
#include "src/core/core.h"

struct roots_pagemaps {
	struct roots_pages pages;	/* for roots_find.pages */
	pid_t pid;
	int process, copy;		/* their pagemaps, -1 = cannot be had */
	bool has_copy;
};

/* Of a core file: what it has, and what mapped files have. */
struct roots_core_pages {
	struct roots_pages pages;	/* for roots_find.pages */
	const struct core *core;
	uint64_t *unread_bytes;
};

/*
 * `unread_bytes` grows with what is left out because it cannot be read. The struct must not move.
 */
void roots_core_pages_open(struct roots_core_pages *p, const struct core *core,
			   uint64_t *unread_bytes);

/*
 * `copy` 0: there is none. Does not fail: what cannot be had is not known. The struct must not
 * move.
 */
void roots_pagemaps_open(struct roots_pagemaps *p, pid_t pid, pid_t copy);
void roots_pagemaps_close(struct roots_pagemaps *p);

#endif
