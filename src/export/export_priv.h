/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the forms share. */
#ifndef EXPORT_EXPORT_PRIV_H
#define EXPORT_EXPORT_PRIV_H

#include "src/analyze/heap_profile.h"
#include "src/base/str.h"
#include "src/base/vec.h"
#include "src/export/export.h"

/* Stands for the frames of the root; the report calls it so as well. */
#define EXPORT_NO_STACK		"[stack unknown]"

/*
 * Of collapsed, speedscope, massif and dhat, `cut` says how many innermost frames of each stack are
 * written.
 */
int export_collapsed(const struct profile *p, const struct export_source *s,
		     const struct stack_cut *cut, FILE *out);
int export_speedscope(const struct profile *p, const struct export_source *s,
		      const struct stack_cut *cut, FILE *out);
/* Finds its cut by itself: a location is a node of the heap. */
int export_pprof(const struct export_source *s, struct stack_cut *cut, FILE *out);
int export_svg(const struct profile *p, const struct export_source *s, FILE *out);
int export_massif(const struct profile *p, const struct export_source *s,
		  const struct stack_cut *cut, FILE *out);
int export_heaptrack(const struct profile *p, const struct export_source *s, FILE *out);
int export_dhat(const struct profile *p, const struct export_source *s,
		const struct stack_cut *cut, FILE *out);
int export_chrome(const struct export_source *s, FILE *out);
int export_openmetrics(const struct export_source *s, FILE *out);

/* export_estimates(), behind other text. */
void export_add_estimates(struct str *s, const char *separator, const struct heap *h);

/* A frame for people: the function, else "[module]". */
void export_frame(struct str *s, const char *function, const char *module);

/* The nodes from one up to the root, which is not among them, or to where stacks are cut. */
struct export_path {
	VEC(uint32_t) nodes;
	bool cut;
};

/* 0 or -ENOMEM; the caller frees the nodes in any case. */
int export_path(struct export_path *path, const struct profile *p, uint32_t node,
		const struct stack_cut *cut);

/* Is there any figure of stacks that end at a node? */
bool export_any(const struct profile *p, uint32_t node);

/* 0, or -errno when something written to `out` did not get there. */
int export_flush(FILE *out);

/*
 * A profile's stacks innermost frame first, with these of its metrics; frames have the same
 * numbers, that of EXPORT_CUT comes after them. *out: profile_free().
 */
int export_invert(const struct profile *p, const unsigned *metric, unsigned nr_metrics,
		  const struct stack_cut *cut, struct profile **out);

static inline int64_t export_total(const struct profile *p, uint32_t node, unsigned metric)
{
	return p->total.v[(size_t)node * p->nr_metrics + metric];
}

static inline int64_t export_self(const struct profile *p, uint32_t node, unsigned metric)
{
	return p->self.v[(size_t)node * p->nr_metrics + metric];
}

struct export_child {
	uint32_t parent, node;
	int64_t value;
};

/* Children of which there is something, by parent, the largest first. */
struct export_children {
	VEC(struct export_child) list;
	uint32_t *first;	/* by parent: index of its first, up to that of the next parent */
};

/* 0 or -ENOMEM; export_children_fini() in any case. */
int export_children(struct export_children *c, const struct profile *p, unsigned metric);
void export_children_fini(struct export_children *c);

/* A text for each frame by number, made once; none for 0. */
struct export_texts {
	char **v;
	size_t nr;
};

/* 0 or -ENOMEM; export_texts_fini() in any case. */
int export_texts(const struct profile *p, void (*add)(struct str *s, const struct profile_frame *f),
		 struct export_texts *out);
void export_texts_fini(struct export_texts *t);

/* "parse (doc.c:41)", "parse (in libx.so)", "[libx.so]", without what could drive a terminal. */
void export_place(struct str *s, const struct profile_frame *f);

#endif
