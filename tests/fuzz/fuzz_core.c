/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cores that say anything at all: what is listed is in order, what is read stays inside.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/core/core.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* larger files are not mapped by what the corpus has, nor fuzzed */
#define MAX_FILE	(64ull << 20)

struct there {
	uint64_t last, bytes;
	unsigned nr;
};

static int take(void *arg, uint64_t start, uint64_t end)
{
	struct there *t = arg;

	if (start >= end || start < t->last)
		abort();
	t->last = end;
	t->bytes += end - start;
	return ++t->nr > 1000 ? -1 : 0;
}

/* However large a mapping says that it is: what is there of it is no more than the files have. */
static void look_at_there(const struct core *c, const struct proc_map *m)
{
	struct there t = { .last = m->start };
	uint64_t absent = 0;

	core_there(c, m->start, m->end, take, &t, &absent);
	if (t.last > m->end || absent > m->end - m->start || t.bytes > m->end - m->start - absent ||
	    t.bytes > MAX_FILE)
		abort();
	if (core_untouched(c, m->start, m->end - m->start) > m->end - m->start)
		abort();
}

static void look(const struct core *c)
{
	uint64_t sum = 0;
	uint8_t to[300];

	if (!c->maps.nr || !c->threads.nr || strlen(c->comm) >= sizeof(c->comm))
		abort();
	for (size_t i = 0; i < c->maps.nr; i++) {
		const struct proc_map *m = &c->maps.v[i];

		if (m->start >= m->end || (i && m->start < c->maps.v[i - 1].end) || !m->path)
			abort();
		if (core_read(c, m->start, to, sizeof(to)) > sizeof(to) ||
		    core_read(c, m->end - 1, to, sizeof(to)) > sizeof(to))
			abort();
		look_at_there(c, m);
	}
	for (size_t i = 0; i < c->threads.nr; i++)
		for (size_t k = 0; k < c->threads.v[i].nr_words; k++)
			sum += c->threads.v[i].words[k];
	core_read(c, sum, to, sizeof(to));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzzed", MFD_CLOEXEC);
	struct core c;
	char path[64];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!core_open(path, &c, NULL))
		look(&c);
	core_close(&c);
	close(fd);
	return 0;
}
