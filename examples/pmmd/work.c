/* SPDX-License-Identifier: GPL-2.0-or-later */ /* All that the daemon holds memory for. */
#include "work.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "monitor.h"
#include "seconds.h"

void work_init(struct work *work)
{
	memset(work, 0, sizeof(*work));
	crew_init(&work->crew);
	work->since = seconds_now();
}

void work_fini(struct work *work)
{
	crew_fini(&work->crew);
	queue_drain(&work->queue);
	cache_fini(&work->cache);
	bugs_fini(&work->bugs);
}

void work_tell(struct work *work, void (*say)(void *ctx, const char *line), void *ctx)
{
	char line[256], monitor[192];

	snprintf(line, sizeof(line), "process  %ld, up %ld s", (long)getpid(),
		 (long)(seconds_now() - work->since));
	say(ctx, line);
	snprintf(line, sizeof(line), "cache    %zu values, %zu bytes", work->cache.nr,
		 work->cache.bytes);
	say(ctx, line);
	snprintf(line, sizeof(line), "queue    %zu records, %zu bytes%s", work->queue.nr,
		 work->queue.bytes, work->queue.tick < work->queue.ticks ? ", growing" : "");
	say(ctx, line);
	snprintf(line, sizeof(line), "crew     %u threads, %lu jobs", work->crew.nr,
		 crew_jobs(&work->crew));
	say(ctx, line);
	snprintf(line, sizeof(line), "lost     %zu replies, %zu bytes", work->bugs.nr_lost,
		 work->bugs.bytes_lost);
	say(ctx, line);
	monitor_stats(monitor, sizeof(monitor));
	snprintf(line, sizeof(line), "monitor  %s", monitor);
	say(ctx, line);
}
