/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pprof profile (https://github.com/google/pprof/blob/main/doc/README.md): Profile, a Protocol
 * Buffers message, compressed with gzip. Fields are named as there.
 *
 * Four figures a site, those of Go's heap profiles: what was allocated and what is live, in
 * number and bytes; the former not of another tool's profile that does not know it. A location
 * is a node of the heap's call tree, whose number it has, plus 1: 0 is none. Frames without a
 * name get one, MODULE+OFFSET: pprof would look for names in the files by itself, where
 * addresses without the mappings' offsets mislead it.
 */
#include "src/export/export_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "src/base/hash.h"
#include "src/base/utf8.h"
#include "src/export/wire.h"

enum { TYPE = 1, UNIT };					/* ValueType */
enum { LOCATION_ID = 1, VALUE, LABEL };				/* Sample */
enum { KEY = 1, NUM = 3, NUM_UNIT };				/* Label */
enum { START = 2, LIMIT, FILENAME = 5, BUILD_ID, HAS_FUNCTIONS, HAS_FILENAMES, HAS_LINE_NUMBERS,
       HAS_INLINE_FRAMES };					/* Mapping */
enum { ID = 1, MAPPING_ID, ADDRESS, LINE };			/* Location */
enum { FUNCTION_ID = 1, LINE_NUMBER };				/* Line */
enum { NAME = 2, SYSTEM_NAME, SOURCE };				/* Function */
enum { SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING_TABLE, TIME_NANOS = 9,
       DURATION_NANOS, PERIOD_TYPE, PERIOD, COMMENT, DEFAULT_SAMPLE_TYPE };	/* Profile */

#define NR_VALUES	4

struct writer {
	const struct export_source *s;
	struct str out, part, inner;
	struct intern strings, functions;
	uint8_t *node, *module;		/* 1: is needed */
	VEC(uint64_t) ids;
	struct stack_cut *cut;
	bool failed;
};

/* The number of a text, 0 for an empty one: the first string has to be that. */
static uint64_t text(struct writer *w, const char *s)
{
	int64_t n = s ? intern_add(&w->strings, s) : 0;

	w->failed |= n < 0;
	return n < 0 ? 0 : (uint64_t)n;
}

/* Strings of the format are UTF-8. */
static uint64_t clean_text(struct writer *w, const char *s)
{
	struct str clean = STR_INIT;
	uint64_t n;

	if (!s)
		return 0;
	utf8_add_clean(&clean, s);
	w->failed |= clean.failed;
	n = text(w, str_text(&clean));
	str_fini(&clean);
	return n;
}

/* The part that has been made goes into the profile. */
static void end_part(struct writer *w, unsigned field)
{
	w->failed |= w->part.failed || w->inner.failed;
	wire_bytes(&w->out, field, str_text(&w->part), w->part.len);
	str_clear(&w->part);
}

static void end_inner(struct writer *w, unsigned field)
{
	wire_bytes(&w->part, field, str_text(&w->inner), w->inner.len);
	w->failed |= w->inner.failed;
	str_clear(&w->inner);
}

static void value_type(struct writer *w, unsigned field, const char *type, const char *unit)
{
	wire_number(&w->part, TYPE, text(w, type));
	wire_number(&w->part, UNIT, text(w, unit));
	end_part(w, field);
}

static void write_types(struct writer *w)
{
	const struct heap *h = w->s->heap;

	if (heap_import_allocated(h)) {
		value_type(w, SAMPLE_TYPE, "alloc_objects", "count");
		value_type(w, SAMPLE_TYPE, "alloc_space", "bytes");
	}
	value_type(w, SAMPLE_TYPE, "inuse_objects", "count");
	value_type(w, SAMPLE_TYPE, "inuse_space", "bytes");
	value_type(w, PERIOD_TYPE, "space", "bytes");
	wire_number(&w->out, PERIOD, h->mode == HEAP_SAMPLED ? h->sample_bytes : 1);
	wire_number(&w->out, TIME_NANOS, h->start_realtime_ns + h->attach_ns);
	wire_number(&w->out, DURATION_NANOS, heap_since(h, h->taken_ns));
	wire_number(&w->out, DEFAULT_SAMPLE_TYPE,
		    text(w, w->s->key == RANK_ALLOCATED ? "alloc_space"
			    : w->s->key == RANK_CALLS	? "alloc_objects"
							: "inuse_space"));
}

/* Its number: stands for frames that are left out. */
static uint64_t cut_location(const struct writer *w)
{
	return (uint64_t)w->s->heap->nr_nodes + 1;
}

static void write_sample(struct writer *w, uint32_t site)
{
	const struct heap *h = w->s->heap;
	const struct weight live = rank_weight(h, w->s->selection, RANK_LIVE, site),
			    all = rank_weight(h, w->s->selection, RANK_ALLOCATED, site);
	const uint64_t value[NR_VALUES] = {
		(uint64_t)heap_profile_value(all.count), (uint64_t)heap_profile_value(all.bytes),
		(uint64_t)heap_profile_value(live.count), (uint64_t)heap_profile_value(live.bytes),
	};
	const unsigned first = heap_import_allocated(h) ? 0 : 2;
	uint32_t node = h->sites[site].node;

	if (!value[0] && !value[1] && !value[2] && !value[3])
		return;
	w->ids.nr = 0;
	do {
		w->node[node] = 1;
		w->module[h->nodes[node].module] = 1;
		w->failed |= vec_push(&w->ids, (uint64_t)node + 1) != 0;
		node = node ? h->nodes[node].parent : 0;
	} while (node && w->ids.nr < w->cut->frames);
	if (node)
		w->failed |= vec_push(&w->ids, cut_location(w)) != 0;
	wire_numbers(&w->part, LOCATION_ID, w->ids.v, w->ids.nr);
	wire_numbers(&w->part, VALUE, value + first, NR_VALUES - first);
	/* of the blocks that pass a filter alone it is not known */
	if ((!w->s->selection || !w->s->selection->live_bytes) && heap_import_history(h)) {
		wire_number(&w->inner, KEY, text(w, "largest_request"));
		wire_number(&w->inner, NUM, (uint64_t)heap_profile_value(h->sites[site].max_bytes));
		wire_number(&w->inner, NUM_UNIT, text(w, "bytes"));
		end_inner(w, LABEL);
	}
	end_part(w, SAMPLE);
}

static void write_mapping(struct writer *w, uint32_t i)
{
	const struct heap_module *m = &w->s->heap->modules[i];
	char build_id[2 * HEAP_BUILD_ID_MAX + 1] = "";

	for (unsigned k = 0; k < m->build_id_len; k++)
		snprintf(&build_id[2 * k], 3, "%02x", m->build_id[k]);
	wire_number(&w->part, ID, i);
	wire_number(&w->part, START, m->start);
	wire_number(&w->part, LIMIT, m->end);
	wire_number(&w->part, FILENAME, clean_text(w, m->path));
	wire_number(&w->part, BUILD_ID, text(w, build_id));
	wire_number(&w->part, HAS_FUNCTIONS, 1);
	wire_number(&w->part, HAS_FILENAMES, 1);
	wire_number(&w->part, HAS_LINE_NUMBERS, 1);
	wire_number(&w->part, HAS_INLINE_FRAMES, 1);
	end_part(w, MAPPING);
}

/* The program's own file comes first: viewers take that for the program. */
static void write_mappings(struct writer *w)
{
	const struct heap *h = w->s->heap;
	uint32_t first = 0;

	for (uint32_t i = 1; i < h->nr_modules && !first; i++)
		if (*h->exe && !strcmp(h->modules[i].path, h->exe))
			first = i;
	if (first)
		write_mapping(w, first);
	for (uint32_t i = 1; i < h->nr_modules; i++)
		if (w->module[i] && i != first)
			write_mapping(w, i);
}

/* The number of a function, which is written when it is new. */
static uint64_t function(struct writer *w, const struct frame_name *f)
{
	struct str name = STR_INIT, key = STR_INIT;
	uint64_t number, linkage, source;
	size_t before = w->functions.nr;
	int64_t id;

	if (f->function || !f->module)
		export_frame(&name, f->function, NULL);
	else
		str_addf(&name, "%s+0x%llx", str_basename(f->module),
			 (unsigned long long)f->offset);
	number = clean_text(w, str_text(&name));
	linkage = f->linkage ? clean_text(w, f->linkage) : number;
	source = clean_text(w, f->file);
	str_addf(&key, "%llu %llu %llu", (unsigned long long)number, (unsigned long long)linkage,
		 (unsigned long long)source);
	id = intern_add(&w->functions, str_text(&key));
	w->failed |= id < 0 || name.failed || key.failed;
	if (w->functions.nr > before) {
		struct str part = STR_INIT;

		wire_number(&part, ID, (uint64_t)id + 1);
		wire_number(&part, NAME, number);
		wire_number(&part, SYSTEM_NAME, linkage);
		wire_number(&part, SOURCE, source);
		w->failed |= part.failed;
		wire_bytes(&w->out, FUNCTION, str_text(&part), part.len);
		str_fini(&part);
	}
	str_fini(&name);
	str_fini(&key);
	return (uint64_t)id + 1;
}

static void write_location(struct writer *w, uint32_t node)
{
	const struct heap_node *at = &w->s->heap->nodes[node];
	unsigned nr;
	const struct frame_name *name = names_find(w->s->names, node, &nr);
	bool is_address = at->pc > HEAP_FRAME_MARK_MAX && at->pc < HEAP_SRCLOC_PC;

	wire_number(&w->part, ID, (uint64_t)node + 1);
	wire_number(&w->part, MAPPING_ID, at->module);
	wire_number(&w->part, ADDRESS, is_address ? at->pc : 0);
	for (unsigned i = 0; i < nr; i++) {
		wire_number(&w->inner, FUNCTION_ID, function(w, &name[i]));
		wire_number(&w->inner, LINE_NUMBER, name[i].line);
		end_inner(w, LINE);
	}
	end_part(w, LOCATION);
}

static void write_cut_location(struct writer *w)
{
	wire_number(&w->part, ID, cut_location(w));
	wire_number(&w->inner, FUNCTION_ID,
		    function(w, &(struct frame_name){ .function = EXPORT_CUT }));
	end_inner(w, LINE);
	end_part(w, LOCATION);
}

/* 0 or -ENOMEM. */
static int find_cut(struct writer *w)
{
	const struct heap *h = w->s->heap;
	uint32_t *depth = heap_depths(h);
	uint32_t *listed = calloc((size_t)h->nr_sites + 1, sizeof(*listed));
	int64_t value[HEAP_PROFILE_NR];
	int rc = depth && listed ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < h->nr_sites && !rc; i++)
		if (heap_profile_weigh(h, w->s->selection, i, value))
			listed[i] = depth[h->sites[i].node];
	if (!rc)
		rc = stack_cut(listed, h->nr_sites, w->cut);
	free(depth);
	free(listed);
	return rc;
}

static void write_all(struct writer *w)
{
	const struct heap *h = w->s->heap;
	struct str comment = STR_INIT;

	text(w, "");
	write_types(w);
	for (uint32_t i = 0; i < h->nr_sites; i++)
		write_sample(w, i);
	write_mappings(w);
	for (uint32_t i = 0; i < h->nr_nodes; i++)
		if (w->node[i])
			write_location(w, i);
	if (w->cut->stacks)
		write_cut_location(w);
	str_addf(&comment, "pmm " PMM_VERSION ", process %u: ", h->pid);
	str_add(&comment, h->cmdline && *h->cmdline ? h->cmdline : h->comm);
	wire_number(&w->out, COMMENT, clean_text(w, str_text(&comment)));
	str_clear(&comment);
	if (export_estimates(&comment, h))
		wire_number(&w->out, COMMENT, text(w, str_text(&comment)));
	w->failed |= comment.failed;
	str_fini(&comment);
	for (size_t i = 0; i < w->strings.nr; i++)
		wire_bytes(&w->out, STRING_TABLE, w->strings.text[i], strlen(w->strings.text[i]));
	w->failed |= w->out.failed;
}

static int write_compressed(const struct str *s, FILE *out)
{
	unsigned char room[4096];
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)str_text(s) };
	size_t left = s->len;
	int rc;

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return -ENOMEM;
	do {
		if (!z.avail_in) {
			z.avail_in = left > 1 << 30 ? 1 << 30 : (unsigned)left;
			left -= z.avail_in;
		}
		z.next_out = room;
		z.avail_out = sizeof(room);
		rc = deflate(&z, left ? Z_NO_FLUSH : Z_FINISH);
		if (fwrite(room, 1, sizeof(room) - z.avail_out, out) <
		    sizeof(room) - z.avail_out) {
			rc = errno ? -errno : -EIO;
			deflateEnd(&z);
			return rc;
		}
	} while (rc == Z_OK);
	deflateEnd(&z);
	return rc == Z_STREAM_END ? export_flush(out) : -ENOMEM;
}

int export_pprof(const struct export_source *s, struct stack_cut *cut, FILE *out)
{
	const struct heap *h = s->heap;
	struct writer w = { .s = s, .cut = cut };
	int rc = -ENOMEM;

	w.node = calloc(h->nr_nodes ? h->nr_nodes : 1, 1);
	w.module = calloc(h->nr_modules ? h->nr_modules : 1, 1);
	if (w.node && w.module && !find_cut(&w)) {
		write_all(&w);
		rc = w.failed ? -ENOMEM : write_compressed(&w.out, out);
	}
	free(w.node);
	free(w.module);
	vec_fini(&w.ids);
	intern_fini(&w.strings);
	intern_fini(&w.functions);
	str_fini(&w.out);
	str_fini(&w.part);
	str_fini(&w.inner);
	return rc;
}
