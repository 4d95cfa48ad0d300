/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heaptrack's files after its interpreter: a line each, a letter and hexadecimal numbers, in the
 * order of what happened (heaptrack's docs, and what heaptrack 1.4 writes). Indices begin at 1, 0
 * is none, but those of `a` begin at 0.
 *
 *	v VERSION FORMAT	the tool's version; format 1 to 3
 *	X COMMAND LINE
 *	A			it was attached to a running process
 *	s [LENGTH] TEXT		a string; the length since format 3
 *	i IP MODULE [FUNCTION [FILE LINE]]...	an address; inlined functions innermost first
 *	t IP PARENT		a stack: an address called from another stack
 *	a SIZE STACK		what allocations of a size at a stack refer to
 *	+ A, - A		an allocation, a free
 *	c MS, R PAGES		time since the start; resident memory
 *	I PAGE_BYTES PAGES	of the machine
 *	# TEXT			a comment; of pmm's, that figures are estimates
 *
 * Frames become places in the source. What was live at the peak takes a second reading
 * (import_replay.c).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/arena.h"
#include "src/import/import_priv.h"

#define NEWEST_FORMAT	3u
#define MAX_POINTS	4096u
#define NONE		UINT32_MAX

/* A frame by its pc in the heap; those of an address stand one after the other, innermost first. */
struct ip {
	size_t first;
	uint32_t nr, module;
};

struct heaptrack {
	struct import *m;
	struct import_input *in;
	uint64_t line, format, page_bytes;
	struct arena text;
	VEC(const char *) strings;
	VEC(uint32_t) modules;		/* by string: its module, 0: none yet */
	VEC(uint64_t) frames;		/* pcs */
	VEC(struct ip) ips;
	VEC(uint32_t) nodes;		/* by stack */
	struct replay replay;
	/* number of its `a` while nothing came after it; else NONE */
	uint32_t last_alloc;
	uint64_t every;			/* one in so many moments is a point */
	uint64_t moments, now_ns, rss_bytes;
	bool kept;			/* the moment read last is a point */
	bool program_named;
};

static int bad_line(struct heaptrack *r)
{
	return import_damaged(r->m, "line %" PRIu64 " makes no sense", r->line);
}

static bool number(char **at, uint64_t *to)
{
	char *end;

	while (**at == ' ')
		++*at;
	if (!**at || **at == '-' || **at == '+')
		return false;
	errno = 0;
	*to = strtoull(*at, &end, 16);
	if (end == *at || errno)
		return false;
	*at = end;
	return true;
}

/* A string by its number, "" for 0. NULL: there is none. */
static const char *string(const struct heaptrack *r, uint64_t n)
{
	return !n ? "" : n <= r->strings.nr ? r->strings.v[n - 1] : NULL;
}

static int read_version(struct heaptrack *r, char *at)
{
	uint64_t version;

	if (!number(&at, &version) || !number(&at, &r->format))
		return bad_line(r);
	r->m->h->import.version = (uint32_t)version;
	if (r->format && r->format <= NEWEST_FORMAT)
		return 0;
	return err_set(r->m->e, -ENOTSUP,
		       "'%s' has format %" PRIu64 " of heaptrack's files; 1 to %u are read",
		       r->m->path, r->format, NEWEST_FORMAT);
}

static int read_string(struct heaptrack *r, char *at)
{
	uint64_t length = strlen(at);
	const char *copy;

	if (r->format >= 3) {
		if (!number(&at, &length) || *at++ != ' ')
			return bad_line(r);
		if (length > strlen(at))
			return bad_line(r);
	}
	length = length < IMPORT_MAX_NAME_BYTES ? length : IMPORT_MAX_NAME_BYTES;
	if (import_take(r->m, length + 32))
		return -EFBIG;
	copy = arena_strndup(&r->text, at, length);
	if (!copy || vec_push(&r->strings, copy) || vec_push(&r->modules, 0))
		return import_no_memory(r->m);
	return 0;
}

static int64_t module_of(struct heaptrack *r, uint64_t name)
{
	int64_t number;

	if (!name)
		return 0;
	if (name > r->strings.nr)
		return bad_line(r);
	if (r->modules.v[name - 1])
		return r->modules.v[name - 1];
	number = import_module(r->m, r->strings.v[name - 1], 0, 0, 0);
	if (number > 0)
		r->modules.v[name - 1] = (uint32_t)number;
	return number;
}

static int add_frame(struct heaptrack *r, const char *function, const char *file, uint64_t line)
{
	int64_t place;

	if (!function || !file)
		return bad_line(r);
	place = import_place(r->m, function, file, line < UINT32_MAX ? (uint32_t)line : 0);
	if (place < 0)
		return (int)place;
	if (import_take(r->m, sizeof(uint64_t)))
		return -EFBIG;
	return vec_push(&r->frames, import_place_pc(place)) ? import_no_memory(r->m) : 0;
}

static int read_ip(struct heaptrack *r, char *at)
{
	struct ip new = { .first = r->frames.nr };
	uint64_t ip, name, function, file, line;
	int64_t module;
	int rc = 0;

	if (!number(&at, &ip) || !number(&at, &name))
		return bad_line(r);
	module = module_of(r, name);
	if (module < 0)
		return (int)module;
	if (import_take(r->m, sizeof(new)))
		return -EFBIG;
	while (!rc && number(&at, &function)) {
		if (r->frames.nr - new.first == IMPORT_MAX_INLINED)
			return bad_line(r);
		if (!number(&at, &file) || !number(&at, &line))
			file = line = 0;
		rc = add_frame(r, string(r, function), string(r, file), line);
	}
	/* where it is in its file is not known: one frame for all of a module */
	if (!rc && r->frames.nr == new.first)
		rc = add_frame(r, "", "", 0);
	new.nr = (uint32_t)(r->frames.nr - new.first);
	new.module = (uint32_t)module;
	if (!rc && vec_push(&r->ips, new))
		rc = import_no_memory(r->m);
	return rc;
}

static int read_stack(struct heaptrack *r, char *at)
{
	uint64_t ip, parent;
	const struct ip *i;
	int64_t node;

	if (!number(&at, &ip) || !number(&at, &parent) || !ip || ip > r->ips.nr ||
	    parent > r->nodes.nr)
		return bad_line(r);
	i = &r->ips.v[ip - 1];
	node = parent ? r->nodes.v[parent - 1] : 0;
	for (uint32_t k = i->nr; k-- && node >= 0;)
		node = import_node(r->m, (uint32_t)node, r->frames.v[i->first + k], i->module);
	if (node < 0)
		return (int)node;
	if (import_take(r->m, sizeof(uint32_t)))
		return -EFBIG;
	return vec_push(&r->nodes, (uint32_t)node) ? import_no_memory(r->m) : 0;
}

static int read_kind(struct heaptrack *r, char *at)
{
	uint64_t size, stack;
	int64_t site;

	if (!number(&at, &size) || !number(&at, &stack) || stack > r->nodes.nr || size > INT64_MAX)
		return bad_line(r);
	site = import_site(r->m, stack ? r->nodes.v[stack - 1] : 0);
	if (site < 0)
		return (int)site;
	if (import_take(r->m, sizeof(size) + sizeof(uint32_t)))
		return -EFBIG;
	if (vec_push(&r->replay.sizes, size) || vec_push(&r->replay.sites, (uint32_t)site))
		return import_no_memory(r->m);
	return 0;
}

/* ---- what happened ---- */

static int allocated(struct heaptrack *r, uint64_t kind)
{
	const struct import_counts c = { .allocs = 1, .live_blocks = 1,
					 .bytes_in = r->replay.sizes.v[kind],
					 .live_bytes = r->replay.sizes.v[kind] };
	struct heap *h = r->m->h;
	struct heap_site *s;
	int rc = import_add(r->m, r->replay.sites.v[kind], &c);

	if (rc)
		return rc;
	s = &r->m->sites.v[r->replay.sites.v[kind]];
	s->max_bytes = c.bytes_in > s->max_bytes ? c.bytes_in : s->max_bytes;
	if (s->allocs == 1)
		s->first_ns = r->now_ns;
	s->last_ns = r->now_ns;
	r->last_alloc = (uint32_t)kind;
	if (h->live_bytes <= h->peak_bytes)
		return 0;
	h->peak_bytes = h->live_bytes;
	h->peak_ns = r->now_ns;
	r->replay.peak_event = r->replay.nr_events;
	return 0;
}

static int freed(struct heaptrack *r, uint64_t kind)
{
	uint64_t size = r->replay.sizes.v[kind];
	struct heap_site *s = &r->m->sites.v[r->replay.sites.v[kind]];
	struct heap *h = r->m->h;

	if (!s->live_blocks || s->live_bytes < (int64_t)size)
		return import_damaged(r->m, "line %" PRIu64 " frees what was not allocated",
				      r->line);
	s->frees++;
	s->bytes_out += size;
	s->live_blocks--;
	s->live_bytes -= (int64_t)size;
	h->frees++;
	h->bytes_out += size;
	h->live_blocks--;
	h->live_bytes -= size;
	if (r->last_alloc == kind) {
		s->temporary++;
		h->temporary++;
	}
	r->last_alloc = NONE;
	return 0;
}

static int read_event(struct heaptrack *r, char what, char *at)
{
	uint64_t kind;

	if (!number(&at, &kind) || kind >= r->replay.sizes.nr || kind >= NONE)
		return bad_line(r);
	r->replay.nr_events++;
	return what == '+' ? allocated(r, kind) : freed(r, kind);
}

/* Half of the points go, those between the others. */
static void thin(struct heaptrack *r)
{
	size_t to = 0;

	for (size_t i = 1; i < r->m->points.nr; i += 2, to++)
		r->m->points.v[to] = r->m->points.v[i];
	r->m->points.nr = to;
	r->every *= 2;
}

static int read_time(struct heaptrack *r, char *at)
{
	const struct heap *h = r->m->h;
	uint64_t ms;

	if (!number(&at, &ms) || ms > INT64_MAX / NS_PER_MS)
		return bad_line(r);
	if (ms * NS_PER_MS < r->now_ns)
		return import_damaged(r->m, "in line %" PRIu64 " time runs back", r->line);
	r->now_ns = ms * NS_PER_MS;
	r->kept = r->moments++ % r->every == 0;
	if (!r->kept)
		return 0;
	if (vec_push(&r->m->points, (struct heap_point){
			.time_ns = r->now_ns, .live_bytes = h->live_bytes,
			.live_blocks = h->live_blocks, .allocs = h->allocs,
			.rss_bytes = r->rss_bytes }))
		return import_no_memory(r->m);
	if (r->m->points.nr == MAX_POINTS)
		thin(r);
	return 0;
}

static int read_resident(struct heaptrack *r, char *at)
{
	uint64_t pages;

	if (!number(&at, &pages) ||
	    __builtin_mul_overflow(pages, r->page_bytes, &r->rss_bytes))
		return bad_line(r);
	if (r->kept && r->m->points.nr)
		vec_last(&r->m->points)->rss_bytes = r->rss_bytes;
	return 0;
}

/* ---- lines ---- */

/* pmm's own says that figures are estimates. */
static void read_comment(struct heaptrack *r, const char *line)
{
	struct heap *h = r->m->h;
	uint64_t bytes;

	if (sscanf(line, "# pmm: " HEAP_ESTIMATES_TEXT, &bytes) != 1 || bytes <= 1 ||
	    bytes > INT64_MAX)
		return;
	h->mode = HEAP_SAMPLED;
	h->sample_bytes = bytes;
}

static int read_line(struct heaptrack *r, char *line)
{
	char what = line[0], *at = line + !!line[0];

	if (r->line == 1)
		return what == 'v' ? read_version(r, at) : bad_line(r);
	if (what && what != '#' && *at && *at != ' ')
		return bad_line(r);
	switch (what) {
	case 's':
		return read_string(r, at + (*at == ' '));
	case 'i':
		return read_ip(r, at);
	case 't':
		return read_stack(r, at);
	case 'a':
		return read_kind(r, at);
	case '+':
	case '-':
		return read_event(r, what, at);
	case 'c':
		return read_time(r, at);
	case 'R':
		return read_resident(r, at);
	case 'I':
		return number(&at, &r->page_bytes) ? 0 : bad_line(r);
	case 'A':
		r->m->h->began = HEAP_BEGAN_ATTACH;
		return 0;
	case 'X':
		r->program_named = true;
		return import_command(r->m, at + strspn(at, " "));
	case 'm':
		err_set(r->m->e, -ENOTSUP, "'%s' is heaptrack's raw data", r->m->path);
		err_hint(r->m->e, "'heaptrack --interpret' makes a file with names of it");
		return -ENOTSUP;
	case '#':
		read_comment(r, line);
		return 0;
	default:	/* suppressions, embedded traces of other tools */
		return 0;
	}
}

static int read_lines(struct heaptrack *r)
{
	int rc = import_open(r->m->path, &r->in), got;
	char *line;

	if (rc)
		return import_unreadable(r->m, rc);
	while (!rc && (got = import_line(r->in, &line))) {
		r->line++;
		rc = got < 0 ? import_unreadable(r->m, got) : read_line(r, line);
		if (!rc && import_line_open(r->in))
			rc = import_damaged(r->m, "line %" PRIu64 " has no end", r->line);
	}
	r->m->h->import.whole = import_packed(r->in);
	import_close(r->in);
	return rc;
}

static void finish(struct heaptrack *r)
{
	struct heap *h = r->m->h;

	for (uint32_t i = 0; i < r->m->sites.nr; i++) {
		const struct heap_site *s = &r->m->sites.v[i];

		import_guess_samples(r->m, i, (uint64_t)s->live_blocks, (uint64_t)s->live_bytes);
	}
	h->taken_ns = r->now_ns;
	h->tick_ns = NS_PER_MS;
	h->import.allocated = h->import.history = h->import.duration = true;
}

int import_heaptrack(struct import *m)
{
	struct heaptrack r = { .m = m, .last_alloc = NONE, .every = 1, .page_bytes = 4096 };
	int rc = read_lines(&r);

	if (!rc && !r.program_named)
		rc = import_command(m, "program");
	r.replay.end_ns = r.now_ns;
	if (!rc)
		rc = import_replay(m, &r.replay);
	finish(&r);
	arena_fini(&r.text);
	vec_fini(&r.strings);
	vec_fini(&r.modules);
	vec_fini(&r.frames);
	vec_fini(&r.ips);
	vec_fini(&r.nodes);
	vec_fini(&r.replay.sizes);
	vec_fini(&r.replay.sites);
	return rc;
}
