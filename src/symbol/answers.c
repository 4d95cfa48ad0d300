/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of a symbolizer kept on disk between runs.
 *
 * Kept answers are used as long as no better or other source has turned up: each file found now
 * must be the one recorded, by size and time of change. A file that has gone since does no harm,
 * its build id names what it was. An unnamed frame is kept without text, for the text has the
 * module's path in it.
 */
#include <errno.h>
#include <stdlib.h>

#include "src/symbol/symbolizer.h"

#define ANSWERS_MAX	1000000		/* per object on disk; beyond that old ones are dropped */

static bool cacheable(const struct symbolizer *sym, const struct object *o)
{
	return sym->cache_dir && sym->options.full && o->build_id_len &&
	       o->build_id_len <= SYMCACHE_BUILD_ID_MAX;
}

static struct symcache_source source_of(const struct object *o)
{
	struct symcache_source s = { 0 };

	if (o->has_main) {
		s.main_bytes = o->main.size_bytes;
		s.main_mtime_ns = o->main.mtime_ns;
	}
	if (o->has_debug) {
		s.debug_bytes = o->debug.size_bytes;
		s.debug_mtime_ns = o->debug.mtime_ns;
	}
	return s;
}

static bool same(uint64_t bytes, int64_t mtime_ns, uint64_t bytes_kept, int64_t mtime_ns_kept)
{
	return bytes == bytes_kept && mtime_ns == mtime_ns_kept;
}

void symbol_answers_load(struct symbolizer *sym, struct symbol_object *o)
{
	const struct symcache_source *kept, *now = &o->source;

	if (o->cache_tried)
		return;
	o->cache_tried = true;
	if (!cacheable(sym, &o->object))
		return;
	object_open(&o->object, &sym->options);
	o->source = source_of(&o->object);
	if (symcache_read(&o->cache, sym->cache_dir, o->object.build_id, o->object.build_id_len))
		return;
	kept = &o->cache.header->source;
	if ((o->object.has_main &&
	     !same(now->main_bytes, now->main_mtime_ns, kept->main_bytes, kept->main_mtime_ns)) ||
	    (o->object.has_debug &&
	     !same(now->debug_bytes, now->debug_mtime_ns, kept->debug_bytes, kept->debug_mtime_ns)))
		symcache_fini(&o->cache);
}

int symbol_answers_find(const struct symbol_object *o, uint64_t address,
			struct symbol_frame *frames)
{
	const struct symcache_frame *kept;
	int nr = symcache_find(&o->cache, address, &kept);

	if (nr > SYMBOL_FRAMES_MAX)
		return 0;
	for (int i = 0; i < nr; i++) {
		const char *strings = o->cache.strings;

		frames[i] = (struct symbol_frame){
			.function = strings + kept[i].function,
			.linkage = kept[i].linkage ? strings + kept[i].linkage : NULL,
			.file = kept[i].file ? strings + kept[i].file : NULL,
			.line = kept[i].line,
			.offset = kept[i].offset,
			.inlined = kept[i].flags & SYMCACHE_INLINED,
			.named = kept[i].function != 0,
		};
	}
	return nr;
}

static void write_old(struct symcache_writer *w, const struct symcache *c, uint32_t i)
{
	symcache_add_address(w, c->addresses[i]);
	for (uint32_t f = c->first[i]; f < c->first[i + 1]; f++) {
		const struct symcache_frame *k = &c->frames[f];

		symcache_add_frame(w, c->strings + k->function, c->strings + k->linkage,
				   c->strings + k->file, k->line, k->offset, k->flags);
	}
}

static void write_new(struct symcache_writer *w, const struct symbolizer *sym,
		      const struct answer *a)
{
	symcache_add_address(w, a->address);
	for (uint32_t i = 0; i < a->nr_frames; i++) {
		const struct symbol_frame *f = &sym->frames.v[a->first + i];

		symcache_add_frame(w, f->named ? f->function : NULL, f->linkage, f->file, f->line,
				   f->offset, f->inlined ? SYMCACHE_INLINED : 0);
	}
}

static int by_address(const void *a, const void *b)
{
	const struct answer *x = *(const struct answer *const *)a,
			    *y = *(const struct answer *const *)b;

	return (x->address > y->address) - (x->address < y->address);
}

/* Merge the answers on disk with the new ones, in order of address. */
static int merge(struct symcache_writer *w, const struct symbolizer *sym, struct symbol_object *o)
{
	const struct symcache *old = &o->cache;
	uint32_t nr_old = old->header ? old->header->nr_addresses : 0, i = 0;
	VEC(const struct answer *) fresh = { 0 };

	vec_each(&o->answers, a) {
		if (vec_push(&fresh, a)) {
			vec_fini(&fresh);
			return -ENOMEM;
		}
	}
	vec_sort(&fresh, by_address);
	if (nr_old + fresh.nr > ANSWERS_MAX)
		nr_old = 0;
	vec_each(&fresh, a) {
		while (i < nr_old && old->addresses[i] < (*a)->address)
			write_old(w, old, i++);
		if (i < nr_old && old->addresses[i] == (*a)->address)
			i++;
		write_new(w, sym, *a);
	}
	while (i < nr_old)
		write_old(w, old, i++);
	vec_fini(&fresh);
	return 0;
}

int symbol_answers_save(struct symbolizer *sym, struct symbol_object *o)
{
	struct symcache_writer *w;
	int rc;

	if (!cacheable(sym, &o->object) || o->answers.nr == o->nr_saved)
		return 0;
	if (!o->source.main_bytes && !o->source.debug_bytes)
		return 0;
	w = symcache_writer_new();
	rc = w ? merge(w, sym, o) : -ENOMEM;
	if (!rc)
		rc = symcache_write(w, sym->cache_dir, o->object.build_id, o->object.build_id_len,
				    &o->source);
	symcache_writer_free(w);
	if (!rc)
		o->nr_saved = o->answers.nr;
	return rc;
}
