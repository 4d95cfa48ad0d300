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

static void note_search(struct scene *s, const struct leaks_search_options *o, const struct reach *r, uint64_t took_ns)
{
	s->heap->search = (struct heap_search){
		.how = o->how ? o->how : s->stopped ? HEAP_SEARCH_STOPPED : HEAP_SEARCH_COPY,
		.complete = s->complete,
		.at_ns = s->heap->taken_ns,
		.pause_ns = s->pause_ns,
		.took_ns = took_ns,
		.read_bytes = r->stats.read_bytes,
		.unread_bytes = r->stats.unread_bytes,
	};
}

int leaks_search(struct scene *s, const struct leaks_search_options *o, struct leaks *l, struct reach *reach, struct err *e)
{
	struct reach_options options = o->reach;
	struct leaks own = { 0 }, *leaks = l ? l : &own;
	struct reach classes = { 0 };
	uint64_t begun_ns = now_ns();
	int rc;

	options.want_parents = true;
	*leaks = (struct leaks){ 0 };
	rc = reach_run(s->heap, &s->memory, &options, &classes, e);
	if (!rc) {
		rc = leaks_collect(leaks, s->heap, &classes, o->seen);
		if (!rc)
			rc = leaks_store(leaks, s->heap);
		if (rc)
			err_set(e, rc, "not enough memory to sum up what was found");
	}
	if (!rc)
		note_search(s, o, &classes, now_ns() - begun_ns);
	if (!rc && reach)
		*reach = classes;
	else
		reach_fini(&classes);
	leaks_fini(&own);
	return rc;
}
