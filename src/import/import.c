/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles of other tools: which one a file is, and the heap of it. */
#include "src/import/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/import/import_priv.h"

static const char *const tool_name[HEAP_NR_TOOLS] = {
	[HEAP_TOOL_PMM] = "pmm",
	[HEAP_TOOL_HEAPTRACK] = "heaptrack",
	[HEAP_TOOL_JEMALLOC] = "jemalloc",
	[HEAP_TOOL_GPERFTOOLS] = "gperftools",
	[HEAP_TOOL_PPROF] = "pprof",
};

const char *import_tool_name(enum heap_tool tool)
{
	return tool_name[tool];
}

/* "v 10400 3": heaptrack's version and that of the format. */
static bool is_heaptrack(const char *text)
{
	size_t digits = strspn(text + 2, "0123456789abcdef");

	return text[0] == 'v' && text[1] == ' ' && digits && text[2 + digits] == ' ';
}

/*
 * The message of a profile begins with its types of samples, a field of a few bytes that begins
 * with a field of its own: the number of a string.
 */
static bool is_pprof(const unsigned char *bytes, size_t n)
{
	return n > 4 && bytes[0] == 0x0a && bytes[1] >= 2 && bytes[1] < 24 && bytes[2] == 0x08 &&
	       bytes[3] && bytes[3] < 0x80;
}

enum heap_tool import_recognise(const char *path)
{
	struct import_input *in;
	char start[64] = "";
	ssize_t n;

	if (import_open(path, &in))
		return HEAP_TOOL_PMM;
	n = import_bytes(in, start, sizeof(start) - 1);
	import_close(in);
	if (n <= 0)
		return HEAP_TOOL_PMM;
	if (is_heaptrack(start))
		return HEAP_TOOL_HEAPTRACK;
	if (str_starts(start, "heap_v2/"))
		return HEAP_TOOL_JEMALLOC;
	if (str_starts(start, "heap profile:"))
		return HEAP_TOOL_GPERFTOOLS;
	return is_pprof((const unsigned char *)start, (size_t)n) ? HEAP_TOOL_PPROF : HEAP_TOOL_PMM;
}

#define HAND_OVER(m, array) do {						\
	(m)->h->array = (m)->array.v;						\
	(m)->h->nr_##array = (uint32_t)(m)->array.nr;				\
	(m)->array.v = NULL;							\
	(m)->array.nr = (m)->array.room = 0;					\
} while (0)

/* The arrays go into the heap, in place of its own. */
static int hand_over(struct import *m)
{
	struct heap *h = m->h;
	char why[160];

	free(h->modules[0].path);
	free(h->modules);
	free(h->nodes);
	free(h->sites);
	HAND_OVER(m, modules);
	HAND_OVER(m, nodes);
	HAND_OVER(m, sites);
	HAND_OVER(m, srclocs);
	HAND_OVER(m, points);
	HAND_OVER(m, site_points);
	return heap_check(h, why, sizeof(why)) ? import_damaged(m, "%s", why) : 0;
}

int import_read(const char *path, enum heap_tool tool, uint64_t max_bytes, struct heap **out,
		struct err *e)
{
	struct err unread;
	struct import m = { .path = path, .tool = tool, .max_bytes = max_bytes,
			    .e = e ? e : &unread };
	int rc = import_begin(&m);

	if (!rc)
		rc = tool == HEAP_TOOL_HEAPTRACK ? import_heaptrack(&m)
		     : tool == HEAP_TOOL_PPROF	 ? import_pprof(&m)
						 : import_counts(&m);
	if (!rc)
		rc = hand_over(&m);
	if (!rc) {
		*out = m.h;
		m.h = NULL;
	}
	import_end(&m);
	return rc;
}
