/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles of other tools: which one a file is, and the heap of it. */
#include "src/import/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/import/import_priv.h"
#include "src/import/import_wire.h"

/* "v 10400 3": heaptrack's version and that of the format. */
static bool is_heaptrack(const char *text)
{
	size_t digits = strspn(text + 2, "0123456789abcdef");

	return text[0] == 'v' && text[1] == ' ' && digits && text[2 + digits] == ' ';
}

/* A ValueType: two numbers of strings. */
static bool is_value_type(const struct import_field *f)
{
	struct import_wire w = import_message(f);
	struct import_field part;
	unsigned nr = 0;

	while (import_field(&w, &part))
		nr += !part.bytes && (part.number == 1 || part.number == 2);
	return !w.bad && nr && nr <= 2;
}

/*
 * The message of a profile has its types of samples, field 1, before its tables; writers put a few
 * numbers and other types before them. Numbers of fields are below 16.
 */
static bool is_pprof(const char *bytes, size_t n)
{
	const uint8_t *start = (const uint8_t *)bytes;
	struct import_wire w = { start, start + n, false };
	struct import_field f;

	while (import_field(&w, &f) && f.number && f.number < 16)
		if (f.number == 1)
			return f.bytes && is_value_type(&f);
	return false;
}

static enum heap_tool tool_of(const char *start, size_t n)
{
	if (is_heaptrack(start))
		return HEAP_TOOL_HEAPTRACK;
	if (str_starts(start, "heap_v2/"))
		return HEAP_TOOL_JEMALLOC;
	if (str_starts(start, "heap profile:"))
		return HEAP_TOOL_GPERFTOOLS;
	return is_pprof(start, n) ? HEAP_TOOL_PPROF : HEAP_TOOL_PMM;
}

enum heap_tool import_recognise(const char *path)
{
	struct import_input *in;
	char start[256] = "", more;
	enum heap_tool tool;
	ssize_t n, rest;

	if (import_open(path, &in))
		return HEAP_TOOL_PMM;
	n = rest = import_bytes(in, start, sizeof(start) - 1);
	if (n > 0 && n < (ssize_t)sizeof(start) - 1)
		rest = import_bytes(in, &more, 1);
	tool = n > 0 ? tool_of(start, (size_t)n) : HEAP_TOOL_PMM;
	/* too little of it is there to know it by, which import_read() says */
	if (tool == HEAP_TOOL_PMM && import_packed(in) && (rest == -ENODATA || rest == -EBADMSG))
		tool = import_zstd(in) ? HEAP_TOOL_HEAPTRACK : HEAP_TOOL_PPROF;
	import_close(in);
	return tool;
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
