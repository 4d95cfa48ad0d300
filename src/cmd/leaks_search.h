/*
 * One search for leaks: what can be reached of a scene's blocks, as entries and as rows in the scene's heap. The same for a running
 * process, for one about to end and for a core file.
 *
 * Here nothing is named, judged or printed: the program may stand still. Afterwards, when it runs again:
 *
 *	leaks_search(&scene, &o, &leaks, &e);
 *	h = scene.heap; scene.heap = NULL;
 *	h->search.pause_ns = scene_free(&scene);
 *	leaks_report(h, &leaks, ...)		src/cmd/leaks_report.h: names, verdicts, text
 *
 * or leaks_carry() (src/analyze/leaks.h) what is in `h` into the heap that becomes the capture; then `pmm leaks FILE` and leaks_report(h,
 * NULL, ...) show it.
 */
#ifndef CMD_LEAKS_SEARCH_H
#define CMD_LEAKS_SEARCH_H

#include "src/analyze/leaks.h"
#include "src/base/err.h"
#include "src/capture/scene.h"

struct leaks_search_options {
	struct reach_options reach;	/* want_parents is set here */
	enum heap_search_how how;	/* HEAP_SEARCH_EXIT, _CORE; else told by the scene: copy or stopped */
	const struct leaks_seen *seen;	/* the search before; NULL = none */
};

/* What is meant when nobody says otherwise: all heuristics, all processors. */
#define LEAKS_SEARCH_DEFAULT	{ .reach.heuristics = REACH_ALL_HEURISTICS }
extern const struct leaks_search_options leaks_search_default;

/*
 * Search; entries in `l` (leaks_fini() in any case; may be NULL when only the rows are wanted), rows in s->heap->leaks and
 * s->heap->search. `reach` (may be NULL) gets the classes, the caller's to reach_fini(). 0 or -errno with `e`.
 */
int leaks_search(struct scene *s, const struct leaks_search_options *o, struct leaks *l, struct reach *reach, struct err *e);

#endif
