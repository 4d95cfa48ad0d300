/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address -> function, file:line and inlined frames: the symbolizer itself.
 *
 * An address is looked for among the answers of this run, then among those kept on disk, then in
 * the object file; the answer is kept by ELF address, so a library mapped twice is read once.
 */
#include "src/symbol/symbolizer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/str.h"

#define OBJECT_MAX_BYTES	(64u << 20)	/* built-up DWARF memory that is given back */

_Static_assert(SYMBOL_MAX_BYTES == ELF_MAX_DEBUG_BYTES, "one bound");

static bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* A home that does not exist is not made: it may be meant not to be there ("/nonexistent"). */
static char *default_cache_dir(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct str s = STR_INIT;

	if (cache && cache[0] == '/')
		str_addf(&s, "%s/pmm/symbols", cache);
	else if (home && home[0] == '/' && is_directory(home))
		str_addf(&s, "%s/.cache/pmm/symbols", home);
	else
		return NULL;
	return str_steal(&s);
}

struct symbolizer *symbolizer_new(const struct symbolizer_options *opt)
{
	static const struct symbolizer_options none;
	struct symbolizer *sym = calloc(1, sizeof(*sym));

	if (!sym)
		return NULL;
	if (!opt)
		opt = &none;
	sym->options.full = opt->full;
	sym->options.search.error = &sym->error;
	sym->options.max_bytes = opt->max_bytes && opt->max_bytes < SYMBOL_MAX_BYTES
					 ? opt->max_bytes
					 : SYMBOL_MAX_BYTES;
	sym->options.held_bytes = &sym->held_bytes;
	sym->options.search.stop = opt->stop;
	sym->options.search.link_bytes = &sym->link_bytes;
	sym->options.search.server = opt->debuginfod ? &sym->server : NULL;
	sym->options.search.dirs = strdup(opt->debug_dirs ? opt->debug_dirs : "/usr/lib/debug");
	sym->options.root = strdup(opt->root ? opt->root : "");
	if (opt->use_cache)
		sym->cache_dir = opt->cache_dir ? strdup(opt->cache_dir) : default_cache_dir();
	if (!sym->options.search.dirs || !sym->options.root) {
		symbolizer_free(sym);
		return NULL;
	}
	return sym;
}

static void object_free(struct symbolizer *sym, struct symbol_object *o)
{
	object_close(&o->object, &sym->options);
	if (o->object.by_fd)
		close(o->object.fd);
	free(o->object.path);
	free(o->object.source);
	free(o->object.too_large);
	vec_fini(&o->answers);
	hash_fini(&o->by_address);
	symcache_fini(&o->cache);
	free(o);
}

void symbolizer_free(struct symbolizer *sym)
{
	if (!sym)
		return;
	vec_each(&sym->objects, o)
		object_free(sym, *o);
	vec_fini(&sym->objects);
	vec_fini(&sym->modules);
	vec_fini(&sym->frames);
	arena_fini(&sym->arena);
	intern_fini(&sym->strings);
	hash_fini(&sym->demangled);
	debug_server_fini(&sym->server);
	free(sym->options.search.dirs);
	free(sym->options.root);
	free(sym->cache_dir);
	free(sym);
}

static const char *hex_text(struct symbolizer *sym, const uint8_t *id, size_t len)
{
	char *text = arena_alloc(&sym->arena, 2 * len + 1);

	for (size_t i = 0; text && i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
	return text ? text : "";
}

static struct symbol_object *find_object(struct symbolizer *sym, const char *path,
					 const uint8_t *id, size_t len)
{
	vec_each(&sym->objects, p) {
		struct object *o = &(*p)->object;

		if (o->build_id_len == len && !memcmp(o->build_id, id, len) &&
		    !strcmp(o->path, path))
			return *p;
	}
	return NULL;
}

static struct symbol_object *new_object(struct symbolizer *sym, const char *path, const uint8_t *id,
					size_t len)
{
	struct symbol_object *o = calloc(1, sizeof(*o));
	const char *slash = strrchr(path, '/');

	if (!o)
		return NULL;
	o->object.path = strdup(path);
	o->object.state = SYMBOL_FILE_GONE;
	memcpy(o->object.build_id, id, len);
	o->object.build_id_len = len;
	o->build_id_text = hex_text(sym, id, len);
	o->basename = o->object.path ? o->object.path + (slash ? slash + 1 - path : 0) : NULL;
	if (!o->object.path || vec_push(&sym->objects, o)) {
		object_free(sym, o);
		return NULL;
	}
	return o;
}

/* Without a descriptor to spare the file is looked for at its path. */
static void hold_file(struct object *o, int fd)
{
	o->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	o->by_fd = o->fd >= 0;
}

int symbolizer_add(struct symbolizer *sym, const struct symbol_module *mod)
{
	struct symbol_slot slot = { .bias = mod->bias, .start = mod->start, .end = mod->end };
	size_t len = mod->build_id && mod->build_id_len <= ELF_FILE_BUILD_ID_MAX ? mod->build_id_len
										 : 0;
	const uint8_t *id = len ? mod->build_id : (const uint8_t *)"";

	if (mod->path && *mod->path) {
		slot.object = find_object(sym, mod->path, id, len);
		if (!slot.object || mod->open)
			slot.object = new_object(sym, mod->path, id, len);
		if (!slot.object)
			return -ENOMEM;
		if (mod->open)
			hold_file(&slot.object->object, mod->fd);
	}
	if (sym->modules.nr == INT_MAX || vec_push(&sym->modules, slot))
		return -ENOMEM;
	return (int)sym->modules.nr - 1;
}

static void failed(struct symbolizer *sym)
{
	if (!sym->error)
		sym->error = -ENOMEM;
}

/*
 * The number of a string that is kept, cut to what a name may have. -ENOMEM, also when there are
 * too many.
 */
static int64_t intern_number(struct symbolizer *sym, const char *text)
{
	size_t nr = sym->strings.nr, bytes = strnlen(text, SYMBOL_MAX_NAME_BYTES);
	int64_t number = sym->strings_bytes < SYMBOL_MAX_NAMES_BYTES
				 ? intern_addn(&sym->strings, text, bytes)
				 : -ENOMEM;

	if (sym->strings.nr > nr)
		sym->strings_bytes += bytes;
	return number;
}

static const char *intern(struct symbolizer *sym, const char *text)
{
	int64_t number = intern_number(sym, text);

	if (number < 0)
		failed(sym);
	return number < 0 ? NULL : intern_text(&sym->strings, (uint32_t)number);
}

/* The readable form of a linkage name, kept. NULL = it is not mangled. */
static const char *readable(struct symbolizer *sym, const char *linkage)
{
	int64_t number = intern_number(sym, linkage), form = 0;
	uint32_t *known;
	char *buf;

	if (number < 0) {
		failed(sym);
		return NULL;
	}
	known = hash_find(&sym->demangled, (uint64_t)number);
	if (!known) {
		buf = malloc(SYMBOL_MAX_NAME_BYTES);
		if (!buf) {
			failed(sym);
			return NULL;
		}
		if (symbol_demangle(linkage, buf, SYMBOL_MAX_NAME_BYTES))
			form = intern_number(sym, buf) + 1;
		free(buf);
		if (form < 0 || hash_put(&sym->demangled, (uint64_t)number, (uint32_t)form)) {
			failed(sym);
			return NULL;
		}
	} else {
		form = *known;
	}
	return form ? intern_text(&sym->strings, (uint32_t)form - 1) : NULL;
}

static void name_unknown(struct symbolizer *sym, const char *basename, uint64_t address,
			 struct symbol_frame *frame)
{
	struct str s = STR_INIT;

	str_addf(&s, "%s%s0x%llx", basename ? basename : "", basename ? "+" : "",
		 (unsigned long long)address);
	frame->function = str_error(&s) ? NULL : intern(sym, str_text(&s));
	if (!frame->function) {
		frame->function = "??";
		failed(sym);
	}
	frame->offset = address;
	frame->linkage = NULL;
	frame->named = false;
	str_fini(&s);
}

/* A frame as DWARF or the symbol table has it -> a frame to hand out, with strings that stay. */
static void finish_frame(struct symbolizer *sym, const struct symbol_object *o, uint64_t address,
			 const struct dwarf_frame *raw, struct symbol_frame *frame)
{
	const char *linkage = raw->linkage ? raw->linkage : raw->name;
	char *plain = NULL;

	*frame = (struct symbol_frame){ .line = raw->line, .inlined = raw->inlined };
	if (raw->file)
		frame->file = intern(sym, raw->file);
	if (raw->linkage && strchr(linkage + 1, '@')) {
		plain = strndup(linkage, strcspn(linkage, "@"));	/* symbol version */
		if (!plain)
			failed(sym);
		linkage = plain ? plain : linkage;
	}
	if (linkage) {
		frame->linkage = intern(sym, linkage);
		frame->function = raw->linkage ? readable(sym, linkage) : NULL;
		if (!frame->function)
			frame->function = intern(sym, raw->name ? raw->name : linkage);
		frame->offset = raw->entry && address >= raw->entry ? address - raw->entry : 0;
		frame->named = true;
	}
	if (!frame->function || !frame->linkage)
		name_unknown(sym, o->basename, address, frame);
	free(plain);
}

/* Look in the object file. At least one frame. */
static int resolve(struct symbolizer *sym, struct symbol_object *o, uint64_t address,
		   struct symbol_frame *frames)
{
	struct dwarf_frame *raw = calloc(SYMBOL_FRAMES_MAX, sizeof(*raw));
	int nr = raw ? object_find(&o->object, &sym->options, address, raw, SYMBOL_FRAMES_MAX) : 0;

	if (!raw)
		failed(sym);
	if (stop_asked(&sym->options.search.stop)) {
		/* what it has found out may be less than there is */
		object_close(&o->object, &sym->options);
		nr = 0;
	}
	if (!nr) {
		finish_frame(sym, o, address, &(struct dwarf_frame){ 0 }, &frames[0]);
		nr = 1;
	} else {
		for (int i = 0; i < nr; i++)
			finish_frame(sym, o, address, &raw[i], &frames[i]);
	}
	free(raw);
	if (o->object.dwarf && dwarf_info_bytes(o->object.dwarf) > OBJECT_MAX_BYTES)
		object_trim(&o->object);
	return nr;
}

static void remember(struct symbolizer *sym, struct symbol_object *o, uint64_t address,
		     const struct symbol_frame *frames, int nr)
{
	struct answer a = { .address = address,
			    .first = (uint32_t)sym->frames.nr,
			    .nr_frames = (uint32_t)nr };

	if (vec_reserve(&sym->frames, sym->frames.nr + (size_t)nr) || vec_push(&o->answers, a))
		return;
	if (hash_put(&o->by_address, address, (uint32_t)o->answers.nr - 1)) {
		o->answers.nr--;
		return;
	}
	for (int i = 0; i < nr; i++)
		vec_push(&sym->frames, frames[i]);
}

static int find_frames(struct symbolizer *sym, struct symbol_object *o, uint64_t address,
		       struct symbol_frame *frames)
{
	uint32_t *known = hash_find(&o->by_address, address);
	int nr;

	if (known) {
		const struct answer *a = &o->answers.v[*known];

		memcpy(frames, &sym->frames.v[a->first], a->nr_frames * sizeof(*frames));
		return (int)a->nr_frames;
	}
	if (stop_asked(&sym->options.search.stop)) {
		frames[0] = (struct symbol_frame){ 0 };
		name_unknown(sym, o->basename, address, &frames[0]);
		return 1;
	}
	symbol_answers_load(sym, o);
	nr = symbol_answers_find(o, address, frames);
	for (int i = 0; i < nr; i++) {
		if (!frames[i].named)
			name_unknown(sym, o->basename, address, &frames[i]);
	}
	if (!nr) {
		nr = resolve(sym, o, address, frames);
		if (!stop_asked(&sym->options.search.stop))
			remember(sym, o, address, frames, nr);
	}
	return nr;
}

const char *symbol_directory(struct symbolizer *sym, uint32_t module, uint64_t address)
{
	struct symbol_slot *m = module < sym->modules.nr ? &sym->modules.v[module] : NULL;
	const char *dir;

	if (!m || !m->object || (m->end && (address < m->start || address >= m->end)))
		return NULL;
	dir = object_directory(&m->object->object, &sym->options, address - m->bias);
	return dir ? intern(sym, dir) : NULL;
}

int symbol_lookup(struct symbolizer *sym, uint32_t module, uint64_t address,
		  struct symbol_frame *frames, int max)
{
	struct symbol_slot *m = module < sym->modules.nr ? &sym->modules.v[module] : NULL;
	struct symbol_frame *found = sym->found;
	int nr;

	if (max < 1)
		return 0;
	if (!m || !m->object || (m->end && (address < m->start || address >= m->end))) {
		frames[0] = (struct symbol_frame){ 0 };
		name_unknown(sym, NULL, address, &frames[0]);
		return 1;
	}
	nr = find_frames(sym, m->object, address - m->bias, found);
	if (nr > max) {
		found[max - 1] = found[nr - 1];
		nr = max;
	}
	memcpy(frames, found, (size_t)nr * sizeof(*frames));
	return nr;
}

struct symbol_module_info symbolizer_module(struct symbolizer *sym, uint32_t module)
{
	struct symbol_object *o = module < sym->modules.nr ? sym->modules.v[module].object : NULL;

	if (o)
		object_open(&o->object, &sym->options);
	return symbolizer_module_seen(sym, module);
}

struct symbol_module_info symbolizer_module_seen(struct symbolizer *sym, uint32_t module)
{
	struct symbol_object *o = module < sym->modules.nr ? sym->modules.v[module].object : NULL;
	const char *source;

	if (!o)
		return (struct symbol_module_info){ .state = SYMBOL_FILE_GONE,
						    .source = "",
						    .build_id = "" };
	source = o->object.source ? intern(sym, o->object.source) : NULL;
	return (struct symbol_module_info){
		.state = o->object.state,
		.quality = o->object.quality,
		.source = source ? source : "",
		.build_id = o->build_id_text,
		.too_large = o->object.too_large,
		.too_large_bytes = o->object.too_large_bytes,
	};
}

int symbolizer_error(const struct symbolizer *sym)
{
	return sym->error;
}

int symbolizer_save(struct symbolizer *sym)
{
	int first = sym->error;

	if (first)
		return first;		/* what is not known now may be found the next time */
	vec_each(&sym->objects, o) {
		int rc = symbol_answers_save(sym, *o);

		if (rc && !first)
			first = rc;
	}
	return first;
}
