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

int export_collapsed(const struct profile *p, const struct export_source *s, FILE *out);
int export_speedscope(const struct profile *p, const struct export_source *s, FILE *out);
int export_pprof(const struct export_source *s, FILE *out);

/* A frame for people: the function, else "[module]". */
void export_frame(struct str *s, const char *function, const char *module);

/* The nodes from one up to the root, which is not among them. */
struct export_path {
	VEC(uint32_t) nodes;
};

/* 0 or -ENOMEM; the caller frees the nodes in any case. */
int export_path(struct export_path *path, const struct profile *p, uint32_t node);

/* 0, or -errno when something written to `out` did not get there. */
int export_flush(FILE *out);

#endif
