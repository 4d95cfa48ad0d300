/* One search for leaks in a scene: reachability, entries, rows in the heap. */
#include "src/cmd/leaks_search.h"

#include <errno.h>
#include <time.h>

const struct leaks_search_options leaks_search_default = LEAKS_SEARCH_DEFAULT;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The first bytes of an example of each entry, while the memory is there. */
static void keep_contents(const struct scene *s, struct leaks *l)
{
	vec_each(&l->entries, e) {
		size_t want = e->example_bytes < sizeof(e->contents) ? (size_t)e->example_bytes : sizeof(e->contents);

		if (e->example && want)
			e->nr_contents = (uint8_t)s->memory.ops->read(s->memory.arg, e->example, e->contents, want);
	}
}

/* What of the scene is to be known later. Takes its heap, releases it. */
static void leave_scene(struct scene *s, const struct leaks_search_options *o, struct leaks_found *out)
{
	struct heap_search search = {
		.how = o->how ? o->how : s->stopped ? HEAP_SEARCH_STOPPED : HEAP_SEARCH_COPY,
		.complete = s->complete,
		.at_ns = s->heap->taken_ns,
		.read_bytes = out->reach.stats.read_bytes,
		.unread_bytes = out->reach.stats.unread_bytes,
	};

	out->held_bytes = s->held_bytes;
	out->late = s->late;
	if (s->stopped)
		out->why_stopped = s->why_stopped;
	out->heap = s->heap;
	s->heap = NULL;
	search.pause_ns = scene_free(s);
	out->heap->search = search;
	if (o->left)
		o->left(o->left_arg);
}

/* Again where the program's threads, asked, name as theirs what seemed lost. */
static int classify(struct scene *s, const struct reach_options *o, struct reach *r, struct err *e)
{
	int rc = reach_run(s->heap, &s->memory, o, r, e), found;

	if (rc)
		return rc;
	found = scene_ask(s, r->class);
	if (found < 0)
		return err_set(e, found, "not enough memory to search for leaks");
	if (!found)
		return 0;
	reach_fini(r);
	return reach_run(s->heap, &s->memory, o, r, e);
}

int leaks_search(struct scene *s, const struct leaks_search_options *o, struct leaks_found *out, struct err *e)
{
	struct reach_options options = o->reach;
	uint64_t begun_ns = now_ns();
	int rc;

	*out = (struct leaks_found){ 0 };
	options.want_parents = true;
	rc = classify(s, &options, &out->reach, e);
	if (!rc)
		rc = scene_intact(s, e);
	if (rc) {
		scene_free(s);
		return rc;
	}
	if (o->contents) {
		rc = leaks_collect(&out->leaks, s->heap, &out->reach, o->seen);
		keep_contents(s, &out->leaks);
		leave_scene(s, o, out);
	} else {
		leave_scene(s, o, out);
		rc = leaks_collect(&out->leaks, out->heap, &out->reach, o->seen);
	}
	if (!rc)
		rc = leaks_store(&out->leaks, out->heap);
	out->heap->search.took_ns = now_ns() - begun_ns;
	return rc ? err_set(e, rc, "not enough memory to sum up what was found") : 0;
}

void leaks_found_fini(struct leaks_found *f)
{
	leaks_fini(&f->leaks);
	reach_fini(&f->reach);
	heap_free(f->heap);
	*f = (struct leaks_found){ 0 };
}
