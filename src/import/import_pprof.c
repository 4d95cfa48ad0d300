/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pprof profile of memory (https://github.com/google/pprof/blob/main/proto/profile.proto):
 * samples, each a stack of locations with a value for each type of sample. What is live is called
 * inuse_space or space, in number inuse_objects or objects; what was allocated alloc_space and
 * alloc_objects. Values are of all memory already, not of the sampled part.
 *
 * Functions with a name become places in the source; other locations stay addresses in a mapping's
 * file, which is looked at for names.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/import/import_priv.h"
#include "src/import/import_wire.h"
#include "src/proc/elf_place.h"

enum { SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING_TABLE, TIME_NANOS = 9,
       DURATION_NANOS, PERIOD_TYPE, PERIOD, COMMENT };		/* Profile */
enum { TYPE = 1, UNIT };					/* ValueType */
enum { LOCATION_ID = 1, VALUE };				/* Sample */
enum { ID = 1, START, LIMIT, OFFSET, FILENAME, BUILD_ID };	/* Mapping */
enum { MAPPING_ID = 2, ADDRESS, LINE };				/* Location; id as above */
enum { FUNCTION_ID = 1, LINE_NUMBER };				/* Line */
enum { NAME = 2, FILE_ = 4 };					/* Function; id as above */

#define MAX_TYPES	32u
#define MAX_BYTES	(1ull << 32)	/* of the message */

struct text {
	const uint8_t *bytes;
	uint64_t nr;
};

struct function {
	uint64_t name, file;		/* strings */
};

struct line {
	uint64_t function, number;
	int64_t place;			/* once it is asked for; 0: not yet */
};

struct location {
	uint64_t mapping, address;	/* id */
	size_t first_line;		/* innermost first */
	uint32_t nr_lines;
};

struct profile {
	struct import *m;
	uint8_t *bytes;
	size_t nr_bytes;
	VEC(struct text) strings;
	VEC(struct function) functions;
	VEC(struct line) lines;
	VEC(struct location) locations;
	VEC(uint32_t) modules;		/* by mapping: number of its module */
	struct hash_map function_of, location_of, mapping_of;	/* by id */
	uint64_t types[MAX_TYPES], units[MAX_TYPES];	/* strings */
	uint64_t period_unit, period, command;
	unsigned nr_types;
	/* which value is which, MAX_TYPES: none */
	unsigned live_bytes, live_blocks, alloc_bytes, allocs;
	struct str scratch[2];
	VEC(uint64_t) ids, values;
};

/* ---- reading ---- */

static int nonsense(struct profile *p)
{
	return import_damaged(p->m, "its messages make no sense");
}

static int read_all(struct profile *p)
{
	struct import_input *in;
	size_t room = 0;
	ssize_t n;
	int rc = import_open(p->m->path, &in);

	if (rc)
		return import_unreadable(p->m, rc);
	do {
		uint8_t *more;

		if (p->nr_bytes == room) {
			size_t wanted = room ? 2 * room : 1u << 20;

			rc = import_take(p->m, wanted - room);
			more = rc || wanted > MAX_BYTES ? NULL : realloc(p->bytes, wanted);
			if (!more) {
				n = rc ? rc : -ENOMEM;
				break;
			}
			p->bytes = more;
			room = wanted;
		}
		n = import_bytes(in, (char *)p->bytes + p->nr_bytes, room - p->nr_bytes);
		p->nr_bytes += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	import_close(in);
	return n < 0 && n != -EFBIG ? import_unreadable(p->m, (int)n) : (int)n;
}

/* A string, NUL-terminated, in one of the two scratch buffers; "" where there is none. */
static const char *string(struct profile *p, uint64_t number, unsigned scratch)
{
	struct str *s = &p->scratch[scratch];

	str_clear(s);
	if (number < p->strings.nr) {
		const struct text *t = &p->strings.v[number];

		str_addn(s, (const char *)t->bytes,
			 t->nr < IMPORT_MAX_NAME_BYTES ? t->nr : IMPORT_MAX_NAME_BYTES);
	}
	return str_text(s);
}

static bool is_string(const struct profile *p, uint64_t number, const char *text)
{
	size_t n = strlen(text);

	return number < p->strings.nr && p->strings.v[number].nr == n &&
	       !memcmp(p->strings.v[number].bytes, text, n);
}

/* Two numbers of a message: fields a and b. */
static bool two(struct import_wire w, unsigned a, uint64_t *to_a, unsigned b, uint64_t *to_b)
{
	struct import_field f;

	*to_a = *to_b = 0;
	while (import_field(&w, &f)) {
		if (f.number == a)
			*to_a = f.value;
		if (f.number == b)
			*to_b = f.value;
	}
	return !w.bad;
}

/* A list of numbers, in one field or in one each. */
static int add_numbers(struct profile *p, const struct import_field *f, bool ids)
{
	struct import_wire w = import_message(f);
	uint64_t n = f->value;

	if (!f->bytes)
		return (ids ? vec_push(&p->ids, n) : vec_push(&p->values, n)) ?
			       import_no_memory(p->m) : 0;
	while (w.at < w.end) {
		if (!import_varint(&w, &n) || p->values.nr > MAX_TYPES)
			return nonsense(p);
		if (p->ids.nr > IMPORT_MAX_DEPTH)
			return import_damaged(p->m, "a stack has more than %u frames",
					      IMPORT_MAX_DEPTH);
		if (ids ? vec_push(&p->ids, n) : vec_push(&p->values, n))
			return import_no_memory(p->m);
	}
	return 0;
}

static int put(struct profile *p, struct hash_map *map, uint64_t id, size_t number)
{
	return hash_put(map, id, (uint32_t)number) ? import_no_memory(p->m)
						   : import_take(p->m, 64);
}

static int read_function(struct profile *p, const struct import_field *f)
{
	struct function new;
	uint64_t id, file;

	if (!two(import_message(f), ID, &id, NAME, &new.name) ||
	    !two(import_message(f), ID, &id, FILE_, &file))
		return nonsense(p);
	new.file = file;
	if (import_take(p->m, sizeof(new)))
		return -EFBIG;
	if (vec_push(&p->functions, new))
		return import_no_memory(p->m);
	return put(p, &p->function_of, id, p->functions.nr - 1);
}

static int read_location(struct profile *p, const struct import_field *field)
{
	struct import_wire w = import_message(field);
	struct location new = { .first_line = p->lines.nr };
	struct import_field f;
	uint64_t id = 0;

	while (import_field(&w, &f)) {
		struct line line = { 0 };

		if (f.number == ID)
			id = f.value;
		else if (f.number == MAPPING_ID)
			new.mapping = f.value;
		else if (f.number == ADDRESS)
			new.address = f.value;
		if (f.number != LINE)
			continue;
		if (!two(import_message(&f), FUNCTION_ID, &line.function, LINE_NUMBER,
			 &line.number))
			return nonsense(p);
		if (new.nr_lines == IMPORT_MAX_INLINED)
			return import_damaged(p->m, "a location has more than %u functions",
					      IMPORT_MAX_INLINED);
		if (import_take(p->m, sizeof(line)))
			return -EFBIG;
		if (vec_push(&p->lines, line))
			return import_no_memory(p->m);
		new.nr_lines++;
	}
	if (w.bad)
		return nonsense(p);
	if (import_take(p->m, sizeof(new)))
		return -EFBIG;
	if (vec_push(&p->locations, new))
		return import_no_memory(p->m);
	return put(p, &p->location_of, id, p->locations.nr - 1);
}

static int read_type(struct profile *p, const struct import_field *f)
{
	if (p->nr_types == MAX_TYPES)
		return import_damaged(p->m, "it has more than %u types of samples", MAX_TYPES);
	if (!two(import_message(f), TYPE, &p->types[p->nr_types], UNIT, &p->units[p->nr_types]))
		return nonsense(p);
	p->nr_types++;
	return 0;
}

/* All but samples and mappings, which need the rest. */
static int read_tables(struct profile *p)
{
	struct import_wire w = { p->bytes, p->bytes + p->nr_bytes, false };
	struct import_field f;
	uint64_t unused;
	int rc = 0;

	while (!rc && import_field(&w, &f)) {
		if (f.number == STRING_TABLE)
			rc = vec_push(&p->strings, (struct text){ f.bytes, f.nr_bytes }) ?
				     import_no_memory(p->m) :
				     import_take(p->m, sizeof(struct text));
		else if (f.number == SAMPLE_TYPE)
			rc = read_type(p, &f);
		else if (f.number == FUNCTION)
			rc = read_function(p, &f);
		else if (f.number == LOCATION)
			rc = read_location(p, &f);
		else if (f.number == TIME_NANOS)
			p->m->h->start_realtime_ns = f.value;
		else if (f.number == DURATION_NANOS)
			p->m->h->taken_ns = f.value;
		else if (f.number == PERIOD)
			p->period = f.value;
		else if (f.number == COMMENT && !p->command)
			p->command = f.value;
		else if (f.number == PERIOD_TYPE && !two(import_message(&f), TYPE, &unused, UNIT,
							  &p->period_unit))
			rc = nonsense(p);
	}
	return rc ? rc : w.bad ? nonsense(p) : 0;
}

/* ---- mappings ---- */

static void add_build_id(struct heap_module *m, const char *hex)
{
	unsigned byte;

	for (; m->build_id_len < sizeof(m->build_id) && sscanf(hex, "%2x", &byte) == 1 && hex[1];
	     hex += 2)
		m->build_id[m->build_id_len++] = (uint8_t)byte;
}

static int read_mapping(struct profile *p, const struct import_field *field)
{
	struct import_wire w = import_message(field);
	struct import_field f;
	struct elf_place place;
	uint64_t value[BUILD_ID + 1] = { 0 };
	struct proc_map map;
	const char *path;
	int64_t number;

	while (import_field(&w, &f))
		if (f.number <= BUILD_ID)
			value[f.number] = f.value;
	if (w.bad)
		return nonsense(p);
	map = (struct proc_map){ .start = value[START], .end = value[LIMIT],
				 .offset = value[OFFSET] };
	path = string(p, value[FILENAME], 0);
	if (map.end < map.start)
		return nonsense(p);
	/* without the file its frames have no names but those of the profile */
	if (path[0] != '/' || elf_place_read(path, &map, &place))
		place.bias = map.start - map.offset;
	number = import_module(p->m, path, map.start, map.end, place.bias);
	if (number < 0)
		return (int)number;
	if (number)
		add_build_id(&p->m->modules.v[number], string(p, value[BUILD_ID], 1));
	if (vec_push(&p->modules, (uint32_t)number))
		return import_no_memory(p->m);
	return put(p, &p->mapping_of, value[ID], p->modules.nr - 1);
}

/* ---- samples ---- */

static int64_t line_place(struct profile *p, struct line *line)
{
	const uint32_t *number = hash_find(&p->function_of, line->function);
	const struct function *f = number ? &p->functions.v[*number] : &(struct function){ 0 };

	if (!line->place)
		line->place = import_place(p->m, string(p, f->name, 0), string(p, f->file, 1),
					   line->number < UINT32_MAX ? (uint32_t)line->number : 0);
	return line->place;
}

/* The node of a location called from `parent`. */
static int64_t location_node(struct profile *p, uint32_t parent, const struct location *l)
{
	const uint32_t *mapping = hash_find(&p->mapping_of, l->mapping);
	uint32_t module = mapping ? p->modules.v[*mapping] : 0;
	int64_t node = parent, place;

	if (!l->nr_lines) {
		if (l->address <= HEAP_FRAME_MARK_MAX || l->address >= HEAP_SRCLOC_PC)
			return parent;
		return import_node(p->m, parent, l->address, module);
	}
	for (uint32_t i = l->nr_lines; i-- && node >= 0;) {
		place = line_place(p, &p->lines.v[l->first_line + i]);
		if (place < 0)
			return place;
		node = import_node(p->m, (uint32_t)node, import_place_pc(place), module);
	}
	return node;
}

static uint64_t value(const struct profile *p, unsigned which)
{
	/* negative ones are of differences of profiles */
	return which < p->values.nr && (int64_t)p->values.v[which] > 0 ? p->values.v[which] : 0;
}

static bool any_negative(const struct profile *p)
{
	vec_each(&p->values, v)
		if ((int64_t)*v < 0)
			return true;
	return false;
}

static int add_sample(struct profile *p)
{
	const struct import_counts c = {
		.live_blocks = value(p, p->live_blocks), .live_bytes = value(p, p->live_bytes),
		.allocs = value(p, p->allocs), .bytes_in = value(p, p->alloc_bytes),
	};
	int64_t node = 0, site;

	if (any_negative(p))
		return err_set(p->m->e, -ENOTSUP,
			       "'%s' is a difference of two profiles: it has values below 0",
			       p->m->path);
	for (size_t i = p->ids.nr; i-- && node >= 0;) {
		const uint32_t *number = hash_find(&p->location_of, p->ids.v[i]);

		if (!number)
			return import_damaged(p->m, "a stack names a location that is not there");
		node = location_node(p, (uint32_t)node, &p->locations.v[*number]);
	}
	site = node < 0 ? node : import_site(p->m, (uint32_t)node);
	if (site < 0)
		return (int)site;
	p->m->h->import.allocated |= c.allocs || c.bytes_in;
	import_guess_samples(p->m, (uint32_t)site, c.live_blocks, c.live_bytes);
	return import_add(p->m, (uint32_t)site, &c);
}

static int read_sample(struct profile *p, const struct import_field *field)
{
	struct import_wire w = import_message(field);
	struct import_field f;
	int rc = 0;

	p->ids.nr = p->values.nr = 0;
	while (!rc && import_field(&w, &f)) {
		if (f.number == LOCATION_ID)
			rc = add_numbers(p, &f, true);
		else if (f.number == VALUE)
			rc = add_numbers(p, &f, false);
	}
	return rc ? rc : w.bad ? nonsense(p) : add_sample(p);
}

static int read_list(struct profile *p, unsigned field,
		     int (*read)(struct profile *p, const struct import_field *f))
{
	struct import_wire w = { p->bytes, p->bytes + p->nr_bytes, false };
	struct import_field f;
	int rc = 0;

	while (!rc && import_field(&w, &f))
		if (f.number == field)
			rc = read(p, &f);
	return rc;
}

/* ---- what it is ---- */

static unsigned type_named(const struct profile *p, const char *name, const char *other)
{
	for (unsigned i = 0; i < p->nr_types; i++)
		if (is_string(p, p->types[i], name) || (other && is_string(p, p->types[i], other)))
			return i;
	return MAX_TYPES;
}

static int find_types(struct profile *p)
{
	struct str names = STR_INIT;

	p->live_bytes = type_named(p, "inuse_space", "space");
	p->live_blocks = type_named(p, "inuse_objects", "objects");
	p->alloc_bytes = type_named(p, "alloc_space", NULL);
	p->allocs = type_named(p, "alloc_objects", NULL);
	if (p->live_bytes < MAX_TYPES || p->alloc_bytes < MAX_TYPES)
		return 0;
	for (unsigned i = 0; i < p->nr_types; i++)
		str_addf(&names, "%s%s", i ? ", " : "", string(p, p->types[i], 0));
	err_set(p->m->e, -ENOTSUP, "'%s' is no profile of memory: its samples are of %s",
		p->m->path, names.len ? str_text(&names) : "nothing");
	err_hint(p->m->e, "profiles of memory have inuse_space or alloc_space");
	str_fini(&names);
	return -ENOTSUP;
}

static int read_head(struct profile *p)
{
	struct heap *h = p->m->h;
	int rc = find_types(p);

	if (rc)
		return rc;
	h->import.start = h->start_realtime_ns && h->start_realtime_ns <= INT64_MAX;
	h->import.duration = h->taken_ns && h->taken_ns <= INT64_MAX;
	if (!h->import.start)
		h->start_realtime_ns = 0;
	if (!h->import.duration)
		h->taken_ns = 0;
	if (is_string(p, p->period_unit, "bytes") && p->period > 1 && p->period <= INT64_MAX) {
		h->mode = HEAP_SAMPLED;
		h->sample_bytes = p->period;
	}
	return 0;
}

/*
 * The first mapping is the program's; the first comment may be its command line, which pmm's own
 * profiles have behind their number of the process.
 */
static int name_program(struct profile *p)
{
	const char *comment = string(p, p->command, 0);
	int behind = 0, rc;
	char *line;

	rc = import_command(p->m, p->m->modules.nr > 1 ? p->m->modules.v[1].path : "program");
	if (rc || !*comment)
		return rc;
	sscanf(comment, "pmm %*[0-9.], process %*u: %n", &behind);
	line = import_text(comment + behind);
	if (!line)
		return import_no_memory(p->m);
	free(p->m->h->cmdline);
	p->m->h->cmdline = line;
	return 0;
}

int import_pprof(struct import *m)
{
	struct profile p = { .m = m };
	int rc = read_all(&p);

	if (!rc)
		rc = read_tables(&p);
	if (!rc)
		rc = read_head(&p);
	if (!rc)
		rc = read_list(&p, MAPPING, read_mapping);
	if (!rc)
		rc = read_list(&p, SAMPLE, read_sample);
	if (!rc)
		rc = name_program(&p);
	free(p.bytes);
	vec_fini(&p.strings);
	vec_fini(&p.functions);
	vec_fini(&p.lines);
	vec_fini(&p.locations);
	vec_fini(&p.modules);
	vec_fini(&p.ids);
	vec_fini(&p.values);
	hash_fini(&p.function_of);
	hash_fini(&p.location_of);
	hash_fini(&p.mapping_of);
	str_fini(&p.scratch[0]);
	str_fini(&p.scratch[1]);
	return rc;
}
