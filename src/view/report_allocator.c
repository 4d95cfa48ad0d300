/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The allocator's own figures: as it gave them itself, or as they were read out of the process's
 * memory; or why they are not known.
 */
#include <stdio.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/document/doc_record.h"
#include "src/document/facts.h"
#include "src/view/report_priv.h"

/* figures of a running process that are older than that show their age */
#define OLD_NS	100000000u
#define TICK_NS	10000000u

/* JSON's words for what is missing; NULL: nothing. */
static const char *const why_word[HEAP_NR_FIGURES] = {
	[HEAP_FIGURES_BUSY] = "busy",
	[HEAP_FIGURES_MANY] = "many_chunks",
	[HEAP_FIGURES_OTHER] = "other_allocator",
	[HEAP_FIGURES_SHAPE] = "not_found",
	[HEAP_FIGURES_SEVERAL] = "several",
	[HEAP_FIGURES_SENSELESS] = "written_over",
	[HEAP_FIGURES_DENIED] = "denied",
	[HEAP_FIGURES_GONE] = "gone",
	[HEAP_FIGURES_LONG] = "many_chunks_at_exit",
	[HEAP_FIGURES_LOCKED] = "locked_at_exit",
};

static const char *const why_text[HEAP_NR_FIGURES] = {
	[HEAP_FIGURES_BUSY] = "the program changed its lists too fast to count them",
	[HEAP_FIGURES_MANY] = "there are too many free chunks to count",
	[HEAP_FIGURES_SHAPE] = "no arena of glibc's was found in it: nothing allocated, another "
			       "allocator, or a version that pmm does not know",
	[HEAP_FIGURES_SEVERAL] = "the program uses several copies of the C library",
	[HEAP_FIGURES_SENSELESS] =
		"its lists of free chunks contradict each other: something has written over them",
	[HEAP_FIGURES_DENIED] = "the program's memory may not be read (see 'pmm doctor')",
	[HEAP_FIGURES_GONE] = "the program ended before they were read",
	[HEAP_FIGURES_LONG] = "counting its free chunks could have held up the program's exit",
	[HEAP_FIGURES_LOCKED] = "the allocator may have been locked when the program ended",
};

/* Where it could not be asked. */
static const char *const end_text[] = {
	[HEAP_RUNNING] = "it was not asked", [HEAP_EXITED] = "it gave none when the program ended",
	[HEAP_KILLED] = "the program was killed", [HEAP_GONE] = "the program ended without exit()",
	[HEAP_REPLACED] = "another program took its place",
};
_Static_assert(NR_COLUMNS(end_text) == HEAP_NR_ENDS, "a text for each");

static const char *end_word(const struct heap *h)
{
	static const char *const word[] = { [HEAP_RUNNING] = "not_asked",
					    [HEAP_EXITED] = "not_asked",
					    [HEAP_KILLED] = "killed",
					    [HEAP_GONE] = "gone",
					    [HEAP_REPLACED] = "replaced" };

	_Static_assert(NR_COLUMNS(word) == HEAP_NR_ENDS, "a word for each");
	return h->end <= HEAP_REPLACED ? word[h->end] : "not_asked";
}

static void record_figures(struct table *t, const struct heap *h)
{
	const struct heap_allocator *a = &h->allocator;
	bool counted = heap_figures_counted(a);

	record_duration(t, "taken_ns", heap_tick_time(h, a->taken_ns));
	record_bytes(t, "arena_bytes", a->arena_bytes);
	if (counted) {
		record_bytes(t, "used_bytes", a->used_bytes);
		record_bytes(t, "free_bytes", a->free_bytes);
		record_count(t, "free_chunks", a->free_chunks);
		record_bytes(t, "fast_bytes", a->fast_bytes);
		record_count(t, "fast_chunks", a->fast_chunks);
	}
	record_bytes(t, "mmapped_bytes", a->mmapped_bytes);
	record_count(t, "mmapped_chunks", a->mmapped_chunks);
	record_bytes(t, "top_bytes", a->top_bytes);
	if (a->nr_arenas)
		record_count(t, "arenas", a->nr_arenas);
	record_text(t, "source", a->outside ? "memory" : "mallinfo2");
	if (counted)
		record_bool(t, "approximate", a->why == HEAP_FIGURES_CHANGED);
}

void report_allocator_record(struct report *r)
{
	const struct heap_allocator *a = &r->heap->allocator;
	struct table *t = record_new("allocator");

	if (a->path && a->path[0])
		record_text(t, "path", a->path);
	if (a->valid)
		record_figures(t, r->heap);
	if (why_word[a->why] || !a->valid)
		record_text(t, "unknown", why_word[a->why] ? why_word[a->why] : end_word(r->heap));
	doc_add(&r->doc, t);
}

/* ---- for people ---- */

static void unknown_row(struct table *t, const struct heap *h)
{
	const struct heap_allocator *a = &h->allocator;
	const char *name = a->path && a->path[0] ? report_basename(a->path) : NULL;

	if (a->why == HEAP_FIGURES_OTHER && name && str_starts(name, "libc.so"))
		name = a->path;			/* the name alone could be glibc's */
	if (a->why == HEAP_FIGURES_OTHER)
		facts_add(t, "allocator",
			  "figures not known, because the program uses %s, and pmm can read "
			  "glibc's only",
			  name ? name : "another allocator");
	else
		facts_add(t, "allocator", "%s%sfigures not known, because %s", name ? name : "",
			  name ? ": " : "",
			  why_text[a->why]	    ? why_text[a->why]
			  : !heap_end_known(h)	    ? why_text[HEAP_FIGURES_GONE]
			  : h->end <= HEAP_REPLACED ? end_text[h->end]
						    : "it was not asked");
}

/* What there is beside that and in it; what there is none of is left out. */
static void more_row(struct table *t, const struct heap_allocator *a)
{
	struct str s = STR_INIT;

	if (a->mmapped_chunks)
		str_addf(&s, "%s more in %s of mmap", fmt_bytes(a->mmapped_bytes).s,
			 fmt_many(a->mmapped_chunks, "chunk").s);
	if (a->fast_chunks)
		str_addf(&s, "%s%s in %s of the fast lists", s.len ? "; " : "",
			 fmt_bytes(a->fast_bytes).s, fmt_many(a->fast_chunks, "chunk").s);
	if (a->top_bytes)
		str_addf(&s, "%s%s at the top", s.len ? "; " : "", fmt_bytes(a->top_bytes).s);
	if (s.len || str_error(&s))
		facts_text(t, "", &s);
	str_fini(&s);
}

static void counted_row(struct table *t, const struct heap_allocator *a, const char *name,
			const char *arenas)
{
	const char *about = a->why == HEAP_FIGURES_CHANGED ? "about " : "";

	facts_add(t, "allocator", "%s%s%s from the system%s, %s%s used, %s%s free in %s%s", name,
		  *name ? ": " : "", fmt_bytes(a->arena_bytes).s, arenas, about,
		  fmt_bytes(a->used_bytes).s, about, fmt_bytes(a->free_bytes).s, about,
		  fmt_many(a->free_chunks, "chunk").s);
	more_row(t, a);
}

static void uncounted_row(struct table *t, const struct heap_allocator *a, const char *name,
			  const char *arenas)
{
	facts_add(t, "allocator", "%s%s%s from the system%s", name, *name ? ": " : "",
		  fmt_bytes(a->arena_bytes).s, arenas);
	more_row(t, a);
	facts_add(t, "", "what is used and free is not known, because %s", why_text[a->why]);
}

/* Those that were read from outside are not of a process's very end. */
static void age_row(struct table *t, const struct heap *h)
{
	const struct heap_allocator *a = &h->allocator;
	uint64_t age_ns = h->taken_ns > a->taken_ns ? h->taken_ns - a->taken_ns : 0;
	bool running = h->end == HEAP_RUNNING;

	if (running ? age_ns < OLD_NS : !a->outside && age_ns < OLD_NS)
		return;
	if (age_ns < 2 * TICK_NS)
		facts_add(t, "", "(as it was shortly before the end)");
	else
		facts_add(t, "", "(as it was about %s before %s)", fmt_duration(age_ns).s,
			  running ? "the rest of this report" : "the end");
}

void report_allocator_rows(struct table *t, const struct heap *h)
{
	const struct heap_allocator *a = &h->allocator;
	const char *name = a->path && a->path[0] ? report_basename(a->path) : "";
	char arenas[64] = "";

	if (!a->valid) {
		unknown_row(t, h);
		return;
	}
	if (a->nr_arenas)
		snprintf(arenas, sizeof(arenas), " in %s", fmt_many(a->nr_arenas, "arena").s);
	if (heap_figures_counted(a))
		counted_row(t, a, name, arenas);
	else
		uncounted_row(t, a, name, arenas);
	age_row(t, h);
}
