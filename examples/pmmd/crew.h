/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Worker threads that parse jobs all the time: short-lived memory, and one buffer each that lives
 * as long as its thread.
 */
#ifndef PMMD_CREW_H
#define PMMD_CREW_H

#include <pthread.h>

enum { CREW_MAX = 64 };

struct worker;

struct crew {
	struct worker *worker[CREW_MAX];
	unsigned nr;
	unsigned long jobs_before;	/* done by workers that are gone */
	pthread_mutex_t mutex;
	pthread_cond_t enough;		/* some worker shall end */
};

void crew_init(struct crew *crew);
/* So many work from now on, CREW_MAX at most. 0, or -errno and fewer do: crew->nr. */
int crew_resize(struct crew *crew, unsigned nr);
/* Jobs done by all so far. */
unsigned long crew_jobs(struct crew *crew);
/* All have ended. */
void crew_fini(struct crew *crew);

#endif
