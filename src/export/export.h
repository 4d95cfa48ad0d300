/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A heap in the forms of other tools: profiles that their viewers read. What can be read by whom,
 * and what of a heap each form has: doc/formats.md.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include <stdio.h>

#include "src/analyze/rank.h"
#include "src/base/str.h"
#include "src/model/stack_cut.h"
#include "src/names/names.h"

enum export_form {
	EXPORT_COLLAPSED,
	EXPORT_SPEEDSCOPE,
	EXPORT_PPROF,
	EXPORT_SVG,
	EXPORT_MASSIF,
	EXPORT_DHAT,
	EXPORT_HEAPTRACK,
	EXPORT_CHROME,
	EXPORT_OPENMETRICS,
	EXPORT_NR
};

/* Stands for frames that are left out. */
#define EXPORT_CUT		"[stack cut here: too many frames for this form]"

struct export_source {
	const struct heap *heap;
	struct names *names;
	const struct selection *selection;	/* NULL: all sites */
	/* of a form that has one figure: this one; of others what they begin with */
	enum rank_key key;
	bool filtered;	/* the selection leaves something out */
	struct stack_cut *cut;	/* NULL, or where to say which frames are left out */
};

/* "figures are estimates, sampled every 4096 bytes" is appended if so; else nothing, false. */
bool export_estimates(struct str *s, const struct heap *h);

/*
 * Write a heap. Forms that list each stack's frames leave some out where these are very many
 * (stack_cut.h), with EXPORT_CUT in their place. Sums of a form's figures are those of the report
 * with the same selection. 0, -ENOMEM, -E2BIG (more frames or stacks than a profile takes), or
 * -errno of writing.
 */
int export_write(enum export_form form, const struct export_source *s, FILE *out);

#endif
