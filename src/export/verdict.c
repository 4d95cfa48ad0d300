/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list of verdicts, and what identifies each. */
#include "src/export/verdict.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/export/verdict_priv.h"

static const char *keep(struct verdicts *v, const char *text)
{
	const char *copy = text ? arena_strdup(&v->texts, text) : NULL;

	v->failed |= text && !copy;
	return copy;
}

void verdicts_init(struct verdicts *v, const char *command, const char *program)
{
	*v = (struct verdicts){ 0 };
	v->command = keep(v, command);
	v->program = keep(v, program);
}

void verdicts_fini(struct verdicts *v)
{
	vec_fini(&v->rules);
	vec_fini(&v->list);
	vec_fini(&v->frames);
	arena_fini(&v->texts);
}

void verdicts_cmdline(struct verdicts *v, const char *cmdline)
{
	v->cmdline = keep(v, cmdline);
}

void verdicts_root(struct verdicts *v, const char *root)
{
	v->root = keep(v, root);
}

uint32_t verdict_rule(struct verdicts *v, const char *id, const char *title, const char *help)
{
	for (uint32_t i = 0; i < v->rules.nr; i++)
		if (!strcmp(v->rules.v[i].id, id))
			return i;
	v->failed |= vec_push(&v->rules,
			      (struct verdict_rule){ id, title, help, VERDICT_NOTE }) != 0;
	return v->failed ? 0 : (uint32_t)v->rules.nr - 1;
}

void verdict_add(struct verdicts *v, uint32_t rule, enum verdict_level level,
		 enum verdict_state state)
{
	v->failed |= vec_push(&v->list, (struct verdict){ .rule = rule, .level = level,
							  .state = state,
							  .scheme = "stack/v1" }) != 0;
	if (!v->failed && level < v->rules.v[rule].level)
		v->rules.v[rule].level = level;
}

/* NULL when memory ran out. */
static struct verdict *last(struct verdicts *v)
{
	return v->failed || !v->list.nr ? NULL : vec_last(&v->list);
}

static const char *keep_format(struct verdicts *v, const char *fmt, va_list args)
{
	char *copy;
	int n;
	va_list again;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	copy = n < 0 ? NULL : arena_alloc(&v->texts, (size_t)n + 1);
	v->failed |= !copy;
	if (copy)
		vsnprintf(copy, (size_t)n + 1, fmt, args);
	return copy;
}

void verdict_title(struct verdicts *v, const char *fmt, ...)
{
	struct verdict *d = last(v);
	va_list args;

	if (!d)
		return;
	va_start(args, fmt);
	d->title = keep_format(v, fmt, args);
	va_end(args);
}

void verdict_message(struct verdicts *v, const char *fmt, ...)
{
	struct verdict *d = last(v);
	va_list args;

	if (!d)
		return;
	va_start(args, fmt);
	d->message = keep_format(v, fmt, args);
	va_end(args);
}

void verdict_message_str(struct verdicts *v, const struct str *s)
{
	struct verdict *d = last(v);

	v->failed |= s->failed;
	if (d)
		d->message = keep(v, str_text(s));
}

void verdict_text(struct verdicts *v, const struct str *s)
{
	struct verdict *d = last(v);

	v->failed |= s->failed;
	if (d)
		d->text = keep(v, str_text(s));
}

void verdict_identity(struct verdicts *v, const char *scheme, const char *fmt, ...)
{
	struct verdict *d = last(v);
	va_list args;

	if (!d)
		return;
	va_start(args, fmt);
	d->identity = keep_format(v, fmt, args);
	d->scheme = scheme;
	va_end(args);
}

void verdict_source(struct verdicts *v, const char *file, uint32_t line)
{
	struct verdict *d = last(v);

	if (!d)
		return;
	if (vec_push(&v->frames, (struct verdict_frame){ .file = keep(v, file), .line = line }))
		v->failed = true;
	else
		d->source = (uint32_t)v->frames.nr;
}

void verdict_figure(struct verdicts *v, const char *name, uint64_t value)
{
	struct verdict *d = last(v);

	if (d && d->nr_figures < VERDICT_MAX_FIGURES)
		d->figure[d->nr_figures++] = (struct verdict_figure){ name, value };
}

void verdict_stack(struct verdicts *v, const char *title)
{
	struct verdict *d = last(v);

	if (d && d->nr_stacks < VERDICT_MAX_STACKS)
		d->stack[d->nr_stacks++] =
			(struct verdict_stack){ keep(v, title), (uint32_t)v->frames.nr, 0 };
}

void verdict_frame(struct verdicts *v, const struct verdict_frame *f)
{
	struct verdict *d = last(v);
	struct verdict_frame copy = *f;

	if (!d || !d->nr_stacks)
		return;
	copy.function = keep(v, f->function);
	copy.file = keep(v, f->file);
	copy.module = keep(v, f->module);
	if (vec_push(&v->frames, copy))
		v->failed = true;
	else
		d->stack[d->nr_stacks - 1].nr++;
}

uint64_t verdicts_count(const struct verdicts *v, enum verdict_state state)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < v->list.nr; i++)
		nr += v->list.v[i].state == state;
	return nr;
}

void verdict_frame_text(struct str *s, const struct verdict_frame *f)
{
	if (f->function || !f->module || !*f->module)
		str_add(s, f->function ? f->function : "[unknown]");
	if (f->lined && f->line)
		str_addf(s, " (%s:%" PRIu32 ")", f->path, f->line);
	else if (f->lined)
		str_addf(s, " (%s)", f->path);
	if (f->module && *f->module)
		str_addf(s, "%s[%s]", f->function ? " " : "", str_basename(f->module));
}

/* ---- what identifies it ---- */

/* FNV-1a of 64 bits: the same on every machine and in every version. */
static uint64_t fnv(uint64_t h, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001b3ull;
	return (h ^ 0xff) * 0x100000001b3ull;	/* where it ends */
}

/*
 * Without what a compiler appends to the name of a part or a clone, which the next build may not
 * have: ".part.0", " [clone .cold]".
 */
static size_t function_length(const char *name)
{
	static const char *const marks[] = { " [clone ", ".constprop.", ".isra.", ".part.",
					     ".cold", ".lto_priv." };
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		const char *at = strstr(name, marks[i]);

		if (at && at > name && (size_t)(at - name) < n)
			n = (size_t)(at - name);
	}
	return n;
}

/* "libfoo.so" of "/usr/lib/libfoo.so.1.2": the version is no part of it. */
static uint64_t add_module(uint64_t h, const char *path)
{
	const char *name = path ? str_basename(path) : "", *so = strstr(name, ".so.");

	return fnv(h, name, so ? (size_t)(so - name) + 3 : strlen(name));
}

static const struct verdict_stack *first_stack(const struct verdict *d)
{
	for (uint32_t i = 0; i < d->nr_stacks; i++)
		if (d->stack[i].nr)
			return &d->stack[i];
	return NULL;
}

static bool any_own(const struct verdicts *v, const struct verdict_stack *s)
{
	for (uint32_t i = 0; s && i < s->nr; i++)
		if (v->frames.v[s->first + i].own && v->frames.v[s->first + i].function)
			return true;
	return false;
}

static void identify(const struct verdicts *v, struct verdict *d)
{
	const char *id = v->rules.v[d->rule].id;
	const struct verdict_stack *s = d->identity ? NULL : first_stack(d);
	bool own = any_own(v, s);
	uint64_t h = fnv(0xcbf29ce484222325ull, id, strlen(id));

	for (uint32_t i = 0; s && i < s->nr; i++) {
		const struct verdict_frame *f = &v->frames.v[s->first + i];

		if (own && !f->own)
			continue;
		h = add_module(h, f->module);
		h = fnv(h, f->function ? f->function : "",
			f->function ? function_length(f->function) : 0);
	}
	if (!s) {
		const char *name = d->identity ? d->identity : d->title ? d->title : "";

		h = fnv(h, name, strlen(name));
	}
	snprintf(d->fingerprint, sizeof(d->fingerprint), "%016" PRIx64, h);
}

int verdicts_finish(struct verdicts *v)
{
	struct hash_map seen = { 0 }, titles = { 0 };

	if (v->failed || v->finished)
		return v->failed ? -ENOMEM : 0;
	verdicts_place(v);
	vec_each(&v->list, d) {
		const char *id = v->rules.v[d->rule].id;
		uint32_t *nr, *nr_titles;
		uint64_t h;

		if (!d->title)
			d->title = v->rules.v[d->rule].title;
		if (!d->message)
			d->message = d->title;
		identify(v, d);
		nr = hash_add(&seen, strtoull(d->fingerprint, NULL, 16), 0, NULL);
		h = fnv(0xcbf29ce484222325ull, id, strlen(id));
		nr_titles = hash_add(&titles, fnv(h, d->title, strlen(d->title)), 0, NULL);
		if (nr && nr_titles) {
			d->number = ++*nr;
			d->title_number = ++*nr_titles;
		} else {
			v->failed = true;
		}
	}
	hash_fini(&seen);
	hash_fini(&titles);
	v->finished = !v->failed;
	return v->failed ? -ENOMEM : 0;
}
