/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heap profiles as text: stacks as addresses, with what is live and what was allocated, then the
 * mappings that the addresses are in.
 *
 * gperftools (docs of its heap profiler; pprof, legacy_profile.go):
 *	heap profile:   LIVE:   BYTES [ ALLOCS:   BYTES] @ heapprofile | heap_v2/PERIOD
 *	  LIVE:   BYTES [ ALLOCS:   BYTES] @ 0xPC 0xPC ...
 * jemalloc (doc of opt.prof; src/prof_data.c):
 *	heap_v2/PERIOD
 *	@ 0xPC 0xPC ...
 *	  t*: LIVE: BYTES [ALLOCS: BYTES]
 * both then:
 *	MAPPED_LIBRARIES:
 *	lines of /proc/PID/maps
 *
 * Addresses are those that calls return to, innermost first. What was allocated in all is 0 where
 * it was not recorded (jemalloc without prof_accum).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/import/import_priv.h"

#define MAX_MAPS_BYTES	(16u << 20)

struct counting {
	struct import *m;
	struct import_input *in;
	uint64_t period;
	int64_t site;		/* of the stack read last, -1: none yet */
	bool in_maps, any_allocs;
	uint64_t line;
	struct str maps;
	VEC(uint64_t) pcs;	/* of a stack */
};

static bool skip(const char **at, const char *what)
{
	while (**at == ' ')
		++*at;
	if (strncmp(*at, what, strlen(what)))
		return false;
	*at += strlen(what);
	return true;
}

static bool number(const char **at, uint64_t *to)
{
	char *end;

	while (**at == ' ')
		++*at;
	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*to = strtoull(*at, &end, 10);
	*at = end;
	return !errno;
}

/* "LIVE: BYTES [ALLOCS: BYTES]" */
static bool read_counts(const char **at, struct import_counts *c)
{
	return number(at, &c->live_blocks) && skip(at, ":") && number(at, &c->live_bytes) &&
	       skip(at, "[") && number(at, &c->allocs) && skip(at, ":") &&
	       number(at, &c->bytes_in) && skip(at, "]");
}

static int bad_line(struct counting *r)
{
	return import_damaged(r->m, "line %" PRIu64 " makes no sense", r->line);
}

/* " 0xPC 0xPC ...": its site. */
static int64_t read_stack(struct counting *r, const char *at)
{
	int64_t node = 0;

	r->pcs.nr = 0;
	while (skip(&at, "0x") && r->pcs.nr <= IMPORT_MAX_DEPTH) {
		char *end;
		uint64_t pc = strtoull(at, &end, 16);

		if (end == at)
			return bad_line(r);
		at = end;
		/* inside the call instruction */
		if (pc > HEAP_FRAME_MARK_MAX + 1 && pc < HEAP_SRCLOC_PC &&
		    vec_push(&r->pcs, pc - 1))
			return import_no_memory(r->m);
	}
	for (size_t i = r->pcs.nr; i-- && node >= 0;)
		node = import_node(r->m, (uint32_t)node, r->pcs.v[i], 0);
	return node < 0 ? node : import_site(r->m, (uint32_t)node);
}

static int add_counts(struct counting *r, struct import_counts *c)
{
	struct heap_site *s = &r->m->sites.v[r->site];

	r->any_allocs |= c->allocs != 0;
	if (r->m->h->mode == HEAP_SAMPLED) {
		s->samples_in += c->allocs > c->live_blocks ? c->allocs : c->live_blocks;
		s->samples_out += c->allocs > c->live_blocks ? c->allocs - c->live_blocks : 0;
	}
	import_unsample(c, r->period);
	return import_add(r->m, (uint32_t)r->site, c);
}

static int gperftools_line(struct counting *r, const char *line)
{
	struct import_counts c;

	if (!line[strspn(line, " ")])
		return 0;
	if (!read_counts(&line, &c) || !skip(&line, "@"))
		return bad_line(r);
	r->site = read_stack(r, line);
	return r->site < 0 ? (int)r->site : add_counts(r, &c);
}

static int jemalloc_line(struct counting *r, const char *line)
{
	struct import_counts c;

	if (*line == '@') {
		r->site = read_stack(r, line + 1);
		return r->site < 0 ? (int)r->site : 0;
	}
	/* of single threads, and sums that come before all stacks */
	if (!skip(&line, "t*:") || r->site < 0)
		return 0;
	return read_counts(&line, &c) ? add_counts(r, &c) : bad_line(r);
}

static int read_head(struct counting *r, const char *line)
{
	struct import_counts c;

	if (r->m->tool == HEAP_TOOL_JEMALLOC) {
		line += strlen("heap_v2/");
		if (!number(&line, &r->period))
			return bad_line(r);
	} else {
		line += strlen("heap profile:");
		if (!read_counts(&line, &c) || !skip(&line, "@"))
			return bad_line(r);
		if (skip(&line, "heap_v2/") && !number(&line, &r->period))
			return bad_line(r);
		if (str_starts(line, "growth") || str_starts(line, " growth"))
			return err_set(r->m->e, -ENOTSUP,
				       "'%s' is a profile of the heap's growth, not of what is in it",
				       r->m->path);
	}
	if (r->period > 1) {
		r->m->h->mode = HEAP_SAMPLED;
		r->m->h->sample_bytes = r->period;
	}
	return 0;
}

static int read_line(struct counting *r, const char *line)
{
	if (r->line == 1)
		return read_head(r, line);
	if (!strcmp(line, "MAPPED_LIBRARIES:")) {
		r->in_maps = true;
		return 0;
	}
	if (r->in_maps) {
		if (r->maps.len > MAX_MAPS_BYTES)
			return import_damaged(r->m, "it has too many mappings");
		str_addf(&r->maps, "%s\n", line);
		return str_error(&r->maps) ? import_no_memory(r->m) : 0;
	}
	return r->m->tool == HEAP_TOOL_JEMALLOC ? jemalloc_line(r, line) : gperftools_line(r, line);
}

int import_counts(struct import *m)
{
	struct counting r = { .m = m, .site = -1 };
	int rc = import_open(m->path, &r.in), got;
	char *line;

	if (rc)
		return import_unreadable(m, rc);
	while (!rc && (got = import_line(r.in, &line))) {
		r.line++;
		rc = got < 0 ? import_unreadable(m, got) : read_line(&r, line);
	}
	import_close(r.in);
	if (!rc && !r.in_maps)	/* they come last */
		rc = import_unreadable(m, -ENODATA);
	if (!rc && r.maps.s)
		rc = import_modules(m, r.maps.s);
	m->h->import.allocated = r.any_allocs;
	str_fini(&r.maps);
	vec_fini(&r.pcs);
	return rc;
}
