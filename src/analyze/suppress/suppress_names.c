/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames against the patterns of suppressions: which steps match this function, object, file?
 *
 * A name is compared with each different pattern once. Nearly all fail at one test of bits: a name
 * that matches has every pair of neighbouring characters that the pattern has between its wild
 * ones.
 */
#include "src/analyze/suppress/suppressions.h"

#include <stdlib.h>
#include <string.h>

#define NR(a) (sizeof(a) / sizeof((a)[0]))

/* What a string is of a frame, in the low bits of the key of suppress.by_text. */
enum text_of { TEXT_FUN, TEXT_SHORT, TEXT_OBJ, TEXT_SRC, TEXT_ANY, TEXT_BITS = 3 };

static bool is_wild(char c, bool question)
{
	return c == '*' || (question && c == '?');
}

/* Greedy: only the last star can need another try, so the work is at most pattern times text. */
bool suppress_text_matches(const char *pattern, const char *text, bool question)
{
	const char *star = NULL, *from = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
		} else if (*pattern == *text || (question && *pattern == '?')) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

uint64_t suppress_pairs(const char *text, bool wild, bool question)
{
	uint64_t pairs = 0;

	for (; text[0] && text[1]; text++) {
		unsigned a = (unsigned char)text[0], b = (unsigned char)text[1];

		if (!wild || (!is_wild(text[0], question) && !is_wild(text[1], question)))
			pairs |= 1ull << ((a * 37 + b * 11) & 63);
	}
	return pairs;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

struct members {
	VEC(uint32_t) of;
	int rc;
};

/* The set of what was gathered, which may hold members twice. Releases the list. */
static int64_t members_set(struct suppress_sets *sets, struct members *m)
{
	uint32_t nr = 0;
	int64_t set;

	vec_sort(&m->of, by_number);
	for (size_t i = 0; i < m->of.nr; i++)
		if (!i || m->of.v[i] != m->of.v[nr - 1])
			m->of.v[nr++] = m->of.v[i];
	set = m->rc ? m->rc : suppress_set_add(sets, m->of.v, nr);
	vec_fini(&m->of);
	return set;
}

static void add_set(struct suppress *s, struct members *m, int64_t set)
{
	if (set < 0) {
		m->rc = (int)set;
		return;
	}
	for (uint32_t i = 0; i < s->sets.list.v[set].nr && !m->rc; i++)
		m->rc = vec_push(&m->of, s->sets.members.v[s->sets.list.v[set].first + i]);
}

/* ---- names against patterns ------------------------------------------------------------------ */

static int by_pattern(const void *a, const void *b, void *steps)
{
	const struct suppress_step *of = steps, *x = &of[*(const uint32_t *)a],
				   *y = &of[*(const uint32_t *)b];

	return x->what != y->what ? (x->what > y->what) - (x->what < y->what)
				  : strcmp(x->pattern, y->pattern);
}

int suppress_order(struct suppress *s)
{
	for (uint32_t i = 0; i < s->steps.nr; i++)
		if (s->steps.v[i].what != SUPPRESS_FRAMES && vec_push(&s->order, i))
			return -ENOMEM;
	if (s->order.nr)
		qsort_r(s->order.v, s->order.nr, sizeof(*s->order.v), by_pattern, s->steps.v);
	for (uint32_t i = 0, what = 0; what <= SUPPRESS_NR_WHATS; what++) {
		while (i < s->order.nr && s->steps.v[s->order.v[i]].what < what)
			i++;
		s->begin[what] = i;
	}
	return 0;
}

static void add_matching(struct suppress *s, struct members *m, enum suppress_what what,
			 const char *text)
{
	bool question = what != SUPPRESS_ANY, matches = false;
	uint64_t pairs = suppress_pairs(text, false, question);
	const char *last = NULL;

	for (uint32_t i = s->begin[what]; i < s->begin[what + 1] && !m->rc; i++) {
		const struct suppress_step *step = &s->steps.v[s->order.v[i]];

		if (!last || strcmp(last, step->pattern)) {
			matches = !(step->need & ~pairs) &&
				  suppress_text_matches(step->pattern, text, question);
			last = step->pattern;
		}
		if (matches)
			m->rc = vec_push(&m->of, s->order.v[i]);
	}
}

/*
 * Valgrind names inlined functions as DWARF does: without namespace and parameters. Find that in a
 * readable name: the last part outside of brackets, with its template arguments.
 */
static void short_name(const char *function, char *out, size_t size)
{
	const char *start = function, *p;
	int depth = 0;

	for (p = function; *p && (depth || *p != '('); p++) {
		if (*p == '<')
			depth++;
		else if (*p == '>' && depth)
			depth--;
		else if (!depth && (*p == ' ' || (*p == ':' && p[1] == ':')))
			start = p + (*p == ' ' ? 1 : 2);
	}
	size = (size_t)(p - start) < size - 1 ? (size_t)(p - start) + 1 : size;
	memcpy(out, start, size - 1);
	out[size - 1] = '\0';
}

/*
 * The function's own name, where a symbol is its compiler's copy of it (f.part.0): patterns are cut
 * like this too (suppress_parse.c).
 */
static void add_own_name(struct suppress *s, struct members *m, const char *symbol)
{
	size_t n = 1 + strcspn(symbol + 1, ".@");
	char *own = symbol[n] ? strndup(symbol, n) : NULL;

	if (own)
		add_matching(s, m, SUPPRESS_FUN, own);
	else if (symbol[n])
		m->rc = -ENOMEM;
	free(own);
}

static void match_text(struct suppress *s, struct members *m, enum text_of of, const char *text)
{
	static const uint8_t what[] = { SUPPRESS_FUN, SUPPRESS_FUN, SUPPRESS_OBJ, SUPPRESS_SRC,
					SUPPRESS_ANY };
	const char *slash;
	char name[256];

	if (of == TEXT_SHORT) {
		short_name(text, name, sizeof(name));
		text = name;
	}
	add_matching(s, m, what[of], text);
	if (of == TEXT_FUN && text[0])
		add_own_name(s, m, text);
	slash = of == TEXT_SRC ? strrchr(text, '/') : NULL;
	if (slash)
		add_matching(s, m, what[of], slash + 1);
}

/*
 * Add the steps that match one of a frame's strings. They are looked for once: strings stay where
 * they are.
 */
static void add_text(struct suppress *s, struct members *m, enum text_of of, const char *text)
{
	uint64_t key = (uint64_t)(uintptr_t)text << TEXT_BITS | of;
	struct members own = { 0 };
	uint32_t *known = hash_find(&s->by_text, key);
	int64_t set;

	if (known) {
		add_set(s, m, *known);
		return;
	}
	match_text(s, &own, of, text);
	set = members_set(&s->sets, &own);
	if (set >= 0 && hash_put(&s->by_text, key, (uint32_t)set))
		set = -ENOMEM;
	add_set(s, m, set);
}

static bool is_mangled(const char *linkage)
{
	return linkage[0] == '_' && (linkage[1] == 'Z' || linkage[1] == 'R');
}

/* Is this what runs below main: _start and the C library's start? */
static bool is_below_main(const struct frame_name *f)
{
	return f->linkage &&
	       (str_starts(f->linkage, "__libc_start_") ||
		!strcmp(f->linkage, "generic_start_main") || !strcmp(f->linkage, "_start"));
}

static void add_source(struct suppress *s, struct members *m, const struct frame_name *f)
{
	size_t kept = m->of.nr;

	add_text(s, m, TEXT_SRC, f->file);
	for (size_t i = kept; i < m->of.nr; i++) {
		uint32_t line = s->steps.v[m->of.v[i]].line;

		if (!line || line == f->line)
			m->of.v[kept++] = m->of.v[i];
	}
	m->of.nr = kept;
}

static int64_t find_frame_set(struct suppress *s, const struct frame_name *f)
{
	static const char unknown[] = "???", below_main[] = "(below main)";
	struct members m = { 0 };

	add_text(s, &m, TEXT_FUN, f->linkage ? f->linkage : unknown);
	if (f->function && f->linkage && !is_mangled(f->linkage) && strcmp(f->function, f->linkage))
		add_text(s, &m, TEXT_FUN, f->function);
	if (is_below_main(f))
		add_text(s, &m, TEXT_FUN, below_main);
	if (f->inlined && f->function)
		add_text(s, &m, TEXT_SHORT, f->function);
	add_text(s, &m, TEXT_OBJ, f->module ? f->module : unknown);
	if (f->file)
		add_source(s, &m, f);
	if (f->function)
		add_text(s, &m, TEXT_ANY, f->function);
	if (f->file)
		add_text(s, &m, TEXT_ANY, f->file);
	if (f->module)
		add_text(s, &m, TEXT_ANY, f->module);
	return members_set(&s->sets, &m);
}

int64_t suppress_frame_set(struct suppress *s, const struct frame_name *f)
{
	uint32_t *known = hash_find(&s->by_frame, (uintptr_t)f);
	int64_t set;

	if (known)
		return *known;
	set = find_frame_set(s, f);
	if (set >= 0 && hash_put(&s->by_frame, (uintptr_t)f, (uint32_t)set))
		return -ENOMEM;
	return set;
}

/* ---- the allocator's function ---------------------------------------------------------------- */

/* Memcheck replaces these functions, so they are in its own module there. */
#define REPLACED "/usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so"

static const struct frame_name allocator[PMM_NR_KINDS] = {
	[PMM_KIND_MALLOC] = { .function = "malloc", .linkage = "malloc", .module = REPLACED },
	[PMM_KIND_CALLOC] = { .function = "calloc", .linkage = "calloc", .module = REPLACED },
	[PMM_KIND_REALLOC] = { .function = "realloc", .linkage = "realloc", .module = REPLACED },
	[PMM_KIND_POSIX_MEMALIGN] = { .function = "posix_memalign",
				      .linkage = "posix_memalign",
				      .module = REPLACED },
	[PMM_KIND_ALIGNED_ALLOC] = { .function = "aligned_alloc",
				     .linkage = "aligned_alloc",
				     .module = REPLACED },
	[PMM_KIND_MEMALIGN] = { .function = "memalign", .linkage = "memalign", .module = REPLACED },
	[PMM_KIND_VALLOC] = { .function = "valloc", .linkage = "valloc", .module = REPLACED },
	[PMM_KIND_PVALLOC] = { .function = "pvalloc", .linkage = "pvalloc", .module = REPLACED },
	[PMM_KIND_NEW] = { .function = "operator new(unsigned long)",
			   .linkage = "_Znwm",
			   .module = REPLACED },
	[PMM_KIND_NEW_ARRAY] = { .function = "operator new[](unsigned long)",
				 .linkage = "_Znam",
				 .module = REPLACED },
	[PMM_KIND_NEW_ALIGNED] = { .function = "operator new(unsigned long, std::align_val_t)",
				   .linkage = "_ZnwmSt11align_val_t",
				   .module = REPLACED },
	[PMM_KIND_NEW_ARRAY_ALIGNED] = { .function =
						 "operator new[](unsigned long, std::align_val_t)",
					 .linkage = "_ZnamSt11align_val_t",
					 .module = REPLACED },
};

/* Memcheck sees through reallocarray to the realloc that it calls. */
static const struct frame_name reallocarray_frames[] = {
	{ .function = "realloc", .linkage = "realloc", .module = REPLACED },
	{ .function = "reallocarray",
	  .linkage = "reallocarray",
	  .module = "/usr/lib/x86_64-linux-gnu/libc.so.6" },
};

unsigned suppress_allocator(unsigned kind, const struct frame_name **frames)
{
	if (kind == PMM_KIND_REALLOCARRAY) {
		*frames = reallocarray_frames;
		return NR(reallocarray_frames);
	}
	*frames = kind < PMM_NR_KINDS ? &allocator[kind] : NULL;
	return *frames && (*frames)->linkage;
}
