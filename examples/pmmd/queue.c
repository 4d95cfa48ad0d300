/* A queue of records for a journal whose disk does not keep up. */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "queue.h"

#include <pmm.h>

#include <errno.h>
#include <string.h>

struct record {
	struct record *next;
	size_t bytes;
	char *text;
};

void queue_grow(struct queue *queue, uint64_t rate, uint64_t seconds)
{
	queue->rate = rate;
	queue->tick = 0;
	queue->ticks = seconds * QUEUE_TICKS;
}

static struct record *record_new(size_t bytes)
{
	struct record *record = malloc(sizeof(*record));

	if (!record)
		return NULL;
	record->next = NULL;
	record->bytes = bytes;
	record->text = malloc(bytes);
	if (!record->text) {
		free(record);
		return NULL;
	}
	memset(record->text, 'r', bytes);
	return record;
}

static int queue_add(struct queue *queue, size_t bytes)
{
	struct record *record = record_new(bytes);

	if (!record)
		return -ENOMEM;
	if (queue->last)
		queue->last->next = record;
	else
		queue->first = record;
	queue->last = record;
	queue->nr++;
	queue->bytes += bytes;
	return 0;
}

int queue_tick(struct queue *queue, uint64_t nr)
{
	int result = 0;

	for (; nr && queue->tick < queue->ticks; nr--) {
		uint64_t before = queue->rate * queue->tick / QUEUE_TICKS;

		/* what is left of a division comes with later records: the sum is exact */
		queue->tick++;
		if (queue_add(queue, queue->rate * queue->tick / QUEUE_TICKS - before) < 0)
			result = -ENOMEM;
	}
	return result;
}

size_t queue_drain(struct queue *queue)
{
	size_t nr = queue->nr;
	struct record *record;

	while ((record = queue->first)) {
		queue->first = record->next;
		free(record->text);
		free(record);
	}
	memset(queue, 0, sizeof(*queue));
	return nr;
}
