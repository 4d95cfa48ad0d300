/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions of a heap are which of the comparison.
 *
 * In passes, each of which looks only at what the earlier ones left: name, file and module; name
 * and file (the module has another name); name and module (the file has another name, or is known
 * in one heap only). But for the first, only what is there once on both sides is matched. What has
 * no name is matched by its module's build ID and its offset there.
 */
#include "src/analyze/diff/diff_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/analyze/diff/diff_names.h"
#include "src/base/str.h"

enum part { PART_NAME = 1, PART_FILE = 2, PART_MODULE = 4 };

int64_t diff_textn(struct diff *d, const char *text, size_t bytes)
{
	int64_t n;

	if (!text)
		return 0;
	n = intern_addn(&d->texts, text, bytes);
	return n < 0 ? n : n >= UINT32_MAX - 1 ? -ENOSPC : n + 1;
}

int64_t diff_text(struct diff *d, const char *text)
{
	return text ? diff_textn(d, text, strlen(text)) : 0;
}

/* ---- what a heap has ------------------------------------------------------------------------- */

static int64_t build_text(struct diff *d, const struct heap_module *m)
{
	char hex[2 * HEAP_BUILD_ID_MAX + 1] = "";

	for (unsigned i = 0; i < m->build_id_len && i < HEAP_BUILD_ID_MAX; i++)
		snprintf(hex + 2 * (size_t)i, 3, "%02x", m->build_id[i]);
	return diff_text(d, *hex ? hex : NULL);
}

/* As which row a module is known: by its build, else by its name; DIFF_NONE: not yet. */
static uint32_t known_module(const struct diff *d, uint32_t key, uint32_t build)
{
	uint32_t found = DIFF_NONE;

	for (uint32_t i = DIFF_RESIDUE + 1; i < d->modules.nr; i++) {
		const struct diff_module *m = &d->modules.v[i];

		if (build && m->build == build && m->key == key)
			return i;
		if (m->key == key)
			found = i;
	}
	for (uint32_t i = DIFF_RESIDUE + 1; found == DIFF_NONE && build && i < d->modules.nr; i++)
		if (d->modules.v[i].build == build)
			found = i;
	return found;
}

static int64_t match_module(struct diff_local *l, uint32_t key, uint32_t build, uint32_t shown)
{
	struct diff *d = l->d;
	uint32_t row = known_module(d, key, build);
	struct diff_module *m;

	if (row == DIFF_NONE) {
		row = (uint32_t)d->modules.nr;
		if (vec_push(&d->modules, (struct diff_module){ .side = DIFF_NO_SIDE }))
			return -ENOMEM;
	}
	m = &d->modules.v[row];
	m->nr_sides += m->side != l->side;
	m->side = l->side;
	m->key = key;
	m->build = build;
	m->shown = shown;
	return row;
}

/* "app" of the program itself, whatever its file is called. */
static int64_t key_text(struct diff *d, const struct heap *h, const struct heap_module *m)
{
	size_t bytes;
	const char *part;

	if (h->exe[0] && !strcmp(m->path, h->exe))
		return diff_text(d, "\1program");
	part = diff_module_part(m->path, &bytes);
	return bytes ? diff_textn(d, part, bytes) : 0;
}

int diff_match_modules(struct diff_local *l, const struct heap *h)
{
	l->module_row = calloc(h->nr_modules + 1, sizeof(*l->module_row));
	l->module_build = calloc(h->nr_modules + 1, sizeof(*l->module_build));
	l->module_key = calloc(h->nr_modules + 1, sizeof(*l->module_key));
	if (!l->module_row || !l->module_build || !l->module_key)
		return -ENOMEM;
	for (uint32_t i = 0; i < h->nr_modules; i++) {
		int64_t build = build_text(l->d, &h->modules[i]),
			key = key_text(l->d, h, &h->modules[i]),
			shown = diff_text(l->d, h->modules[i].path);

		if (build < 0 || key < 0 || shown < 0)
			return -ENOMEM;
		if (build && hash_put(&l->d->builds, (uint64_t)l->side << 32 | (uint64_t)build, 0))
			return -ENOMEM;
		l->module_build[i] = (uint32_t)build;
		l->module_key[i] = (uint32_t)key;
		l->module_row[i] = DIFF_NONE;
	}
	return 0;
}

/* The row of a module of the heap, made on demand: modules that hold nothing have none. */
static int64_t module_row(struct diff_local *l, const struct heap *h, uint32_t module)
{
	int64_t row;

	if (l->module_row[module] != DIFF_NONE)
		return l->module_row[module];
	row = diff_text(l->d, h->modules[module].path[0] ? h->modules[module].path : NULL);
	if (row >= 0)
		row = match_module(l, l->module_key[module], l->module_build[module],
				   (uint32_t)row);
	if (row >= 0)
		l->module_row[module] = (uint32_t)row;
	return row;
}

static int64_t identify(struct diff_local *l, uint32_t module, const struct frame_name *f,
			struct diff_local_function *out)
{
	struct diff *d = l->d;
	int64_t part[] = {
		f->function ? diff_textn(d, f->function, diff_function_bytes(f->function)) : 0,
		f->file ? diff_text(d, str_basename(f->file)) : 0,
		diff_text(d, f->function),
		diff_text(d, f->file),
		diff_text(d, f->module),
	};

	for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++)
		if (part[i] < 0)
			return part[i];
	*out = (struct diff_local_function){
		.id = { (uint32_t)part[0], (uint32_t)part[1], l->module_key[module],
			l->module_build[module],
			f->function ? 0
			: module    ? f->offset
				    : f->address },
		.shown = { (uint32_t)part[2], (uint32_t)part[3], (uint32_t)part[4],
			   f->role == FRAME_MARK },
		.function = DIFF_NONE,
		.first_line = DIFF_NONE,
	};
	return 0;
}

static int64_t local_function(struct diff_local *l, const struct diff_local_function *f)
{
	char key[96];
	int64_t n;

	snprintf(key, sizeof(key), "%x %x %x %x %" PRIx64, f->id.name, f->id.file, f->id.module,
		 f->id.name ? 0 : f->id.build, f->id.offset);
	n = intern_add(&l->function_of, key);
	if (n == (int64_t)l->functions.nr && vec_push(&l->functions, *f))
		return -ENOMEM;
	return n;
}

static int64_t local_line(struct diff_local *l, uint32_t function, uint32_t number)
{
	bool added;
	uint32_t *at = hash_add(&l->line_of, (uint64_t)function << 32 | number,
				(uint32_t)l->lines.nr, &added);
	struct diff_local_function *f = &l->functions.v[function];

	if (!at)
		return -ENOMEM;
	if (!added)
		return *at;
	if (vec_push(&l->lines, (struct diff_local_line){ function, number, DIFF_NONE,
							   f->first_line }))
		return -ENOMEM;
	f->first_line = (uint32_t)l->lines.nr - 1;
	return f->first_line;
}

int64_t diff_local_frame(struct diff_local *l, const struct heap *h, uint32_t node,
			 const struct frame_name *f)
{
	const uint32_t *known = hash_find(&l->frame_of, (uint64_t)(uintptr_t)f);
	struct diff_local_function function;
	int64_t n, row;

	if (known)
		return *known;
	row = module_row(l, h, h->nodes[node].module);
	n = row < 0 ? row : identify(l, h->nodes[node].module, f, &function);
	function.module_row = (uint32_t)row;
	if (n >= 0)
		n = local_function(l, &function);
	if (n < 0)
		return n;
	n = local_line(l, (uint32_t)n, f->line);
	if (n >= 0 && hash_put(&l->frame_of, (uint64_t)(uintptr_t)f, (uint32_t)n))
		return -ENOMEM;
	return n;
}

/* ---- passes ---------------------------------------------------------------------------------- */

/* What has a key: how many on either side, and one of them. */
struct bucket {
	uint32_t nr_ours, nr_theirs, ours, theirs;
};

struct pass {
	struct intern keys;
	VEC(struct bucket) buckets;
};

/* The bucket of an identity by some of its parts; NULL: it lacks one, or there is -errno in *rc. */
static struct bucket *bucket_of(struct pass *p, const struct diff_identity *id, unsigned parts,
				int *rc)
{
	char key[96];
	int64_t n;

	/* with all parts, what both do not know is the same; else each must be known */
	if (parts != (PART_NAME | PART_FILE | PART_MODULE) &&
	    (!id->name || (parts & PART_FILE && !id->file)))
		return NULL;
	snprintf(key, sizeof(key), "%x %x %x %x %" PRIx64, id->name,
		 parts & PART_FILE ? id->file : 0,
		 parts & PART_MODULE && (id->name || !id->build) ? id->module : 0,
		 id->name ? 0 : id->build, id->offset);
	n = intern_add(&p->keys, key);
	if (n < 0 || (n == (int64_t)p->buckets.nr &&
		      vec_push(&p->buckets, (struct bucket){ 0 }))) {
		*rc = -ENOMEM;
		return NULL;
	}
	return &p->buckets.v[n];
}

static void claim(struct diff_local *l, uint32_t ours, uint32_t theirs)
{
	struct diff_local_function *f = &l->functions.v[ours];
	struct diff_function *known = &l->d->functions.v[theirs];

	f->function = theirs;
	known->nr_sides++;
	known->side = l->side;
}

static int run_pass(struct diff_local *l, unsigned parts)
{
	struct diff *d = l->d;
	struct pass p = { 0 };
	int rc = 0;

	for (uint32_t i = 0; i < l->functions.nr && !rc; i++) {
		struct bucket *b = l->functions.v[i].function != DIFF_NONE
					   ? NULL
					   : bucket_of(&p, &l->functions.v[i].id, parts, &rc);

		if (b) {
			b->nr_ours++;
			b->ours = i;
		}
	}
	for (uint32_t i = DIFF_RESIDUE + 1; i < d->functions.nr && !rc; i++) {
		struct bucket *b = d->functions.v[i].side == l->side
					   ? NULL
					   : bucket_of(&p, &d->functions.v[i].id, parts, &rc);

		if (b) {
			b->nr_theirs++;
			b->theirs = i;
		}
	}
	vec_each(&p.buckets, b)
		if (!rc && b->nr_ours == 1 && b->nr_theirs == 1)
			claim(l, b->ours, b->theirs);
	intern_fini(&p.keys);
	vec_fini(&p.buckets);
	return rc;
}

/* Names and files are those of the latest heap; what it does not know stays. */
static void renew(struct diff_function *known, const struct diff_local_function *f)
{
	uint32_t file = f->id.file ? f->id.file : known->id.file,
		 shown = f->shown.file ? f->shown.file : known->shown.file;

	known->id = f->id;
	known->module_row = f->module_row;
	known->id.file = file;
	known->shown = f->shown;
	known->shown.file = shown;
}

static int enter_rest(struct diff_local *l)
{
	struct diff *d = l->d;

	vec_each(&l->functions, f) {
		if (f->function == DIFF_NONE) {
			f->function = (uint32_t)d->functions.nr;
			if (f->function >= DIFF_NONE - 1)
				return -ENOSPC;
			if (vec_push(&d->functions,
				     (struct diff_function){ .id = f->id, .shown = f->shown,
							     .side = l->side, .nr_sides = 1,
							     .first_line = DIFF_NONE }))
				return -ENOMEM;
		}
		renew(&d->functions.v[f->function], f);
	}
	return 0;
}

int diff_match_functions(struct diff_local *l)
{
	static const unsigned parts[] = { PART_NAME | PART_FILE | PART_MODULE,
					  PART_NAME | PART_FILE, PART_NAME | PART_MODULE };
	int rc = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && !rc; i++)
		rc = run_pass(l, parts[i]);
	return rc ? rc : enter_rest(l);
}
