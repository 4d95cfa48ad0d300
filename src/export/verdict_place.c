/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a verdict is shown: in the program's own code, by a path below the root of the sources.
 *
 * The paths are those that debug information has. A relative one is below the root only if it is
 * there: that of a C library, "./malloc/malloc.c", is not.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/hash.h"
#include "src/export/verdict_priv.h"

void verdict_path_add(struct str *s, const char *path)
{
	struct str whole = STR_INIT;
	bool absolute = *path == '/';

	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && !strncmp(path, "..", 2) && whole.len &&
		    !str_ends(str_text(&whole), "../")) {
			whole.len--;	/* the slash, then the name before it */
			while (whole.len && whole.s[whole.len - 1] != '/')
				whole.len--;
			whole.s[whole.len] = '\0';
		} else if (n && !(n == 1 && *path == '.') &&
			   !(n == 2 && !strncmp(path, "..", 2) && absolute)) {
			str_addn(&whole, path, n);
			if (path[n])
				str_addc(&whole, '/');
		}
		path += n;
		path += *path == '/';
	}
	if (absolute)
		str_addc(s, '/');
	str_add(s, str_text(&whole));
	s->failed |= whole.failed;
	str_fini(&whole);
}

/* The part of a path that is below the root; NULL: it is not there. */
static const char *below(const char *path, const char *root)
{
	size_t n = strlen(root);

	n -= n && root[n - 1] == '/';
	return !strncmp(path, root, n) && path[n] == '/' && path[n + 1] ? path + n + 1 : NULL;
}

/* The same of a file that is reached by other names: folders may be links. */
static const char *below_linked(const char *path, const char *root, char **real)
{
	char *top = realpath(root, NULL);
	const char *in;

	*real = realpath(path, NULL);
	in = top && *real ? below(*real, top) : NULL;
	free(top);
	return in;
}

/* The path of a file for people and readers, and whether it is there; NULL: it has no place. */
static const char *place_of(struct verdicts *v, const char *file, bool *in_root, bool *there)
{
	struct str root = STR_INIT, path = STR_INIT, whole = STR_INIT;
	const char *in, *out = NULL;
	char *real = NULL;
	struct stat st;

	if (v->root)
		verdict_path_add(&root, v->root);
	if (*file != '/')
		str_addf(&whole, "%s/", str_text(&root));
	str_add(&whole, file);
	verdict_path_add(&path, str_text(&whole));
	*there = (*file == '/' || v->root) && !stat(str_text(&path), &st) && S_ISREG(st.st_mode);
	in = v->root ? below(str_text(&path), str_text(&root)) : NULL;
	if (!in && v->root && *there)
		in = below_linked(str_text(&path), str_text(&root), &real);
	*in_root = in && (*there || *file == '/');
	if (*in_root || *file == '/')
		out = arena_strdup(&v->texts, *in_root ? in : str_text(&path));
	v->failed |= root.failed || whole.failed || path.failed ||
		     ((*in_root || *file == '/') && !out);
	*there &= *in_root;
	free(real);
	str_fini(&root);
	str_fini(&path);
	str_fini(&whole);
	return out;
}

static void place_frame(struct verdicts *v, struct verdict_frame *f)
{
	const char *file = f->file && *f->file ? f->file : f->module;

	f->lined = f->file && *f->file;
	f->path = file && *file ? place_of(v, file, &f->in_root, &f->there) : NULL;
	f->there &= f->lined;
	if (f->path || !f->lined)
		return;
	/* its file is nowhere: the module */
	f->lined = false;
	f->path = f->module && *f->module ? place_of(v, f->module, &f->in_root, &f->there) : NULL;
	f->there = false;
}

/* Frames of one file are many: what is known of one is copied. */
static void place_frames(struct verdicts *v)
{
	struct hash_map seen = { 0 };

	for (uint32_t i = 0; i < v->frames.nr && !v->failed; i++) {
		struct verdict_frame *f = &v->frames.v[i];
		const char *file = f->file ? f->file : "", *module = f->module ? f->module : "";
		uint64_t key = hash_u64(hash_bytes(file, strlen(file)) + 1) ^
			       hash_bytes(module, strlen(module));
		uint32_t *at = hash_add(&seen, key, i, NULL);
		const struct verdict_frame *was;

		v->failed |= !at;
		if (!at)
			break;
		was = &v->frames.v[*at];
		if (*at != i && !strcmp(was->file ? was->file : "", file) &&
		    !strcmp(was->module ? was->module : "", module)) {
			f->path = was->path;
			f->lined = was->lined;
			f->in_root = was->in_root;
			f->there = was->there;
		} else {
			place_frame(v, f);
		}
	}
	hash_fini(&seen);
}

/* How well a frame shows where it is. */
enum good { GOOD_NOT, GOOD_MODULE, GOOD_FILE, GOOD_IN_ROOT, GOOD_THERE };

static enum good goodness(const struct verdict_frame *f)
{
	if (!f->own || !f->path)
		return GOOD_NOT;
	return f->there			? GOOD_THERE
	       : f->lined && f->in_root ? GOOD_IN_ROOT
	       : f->lined		? GOOD_FILE
					: GOOD_MODULE;
}

/* Of equally good frames the innermost of the first stack. */
static void place(const struct verdicts *v, struct verdict *d)
{
	enum good best = GOOD_NOT;

	for (uint32_t i = 0; i < d->nr_stacks; i++)
		for (uint32_t k = 0; k < d->stack[i].nr; k++) {
			uint32_t n = d->stack[i].first + k;

			if (goodness(&v->frames.v[n]) <= best)
				continue;
			best = goodness(&v->frames.v[n]);
			d->at = n + 1;
		}
	if (!d->source || !v->frames.v[d->source - 1].path)
		return;
	if (!best || (best < GOOD_IN_ROOT && v->frames.v[d->source - 1].in_root))
		d->at = d->source;
}

void verdicts_place(struct verdicts *v)
{
	struct verdict_frame program = { .module = v->program };

	place_frames(v);
	place_frame(v, &program);
	v->program_frame = program;
	vec_each(&v->list, d)
		place(v, d);
}
