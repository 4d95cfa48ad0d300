/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of two heaps that are compared. Where both have the same build of a module, names that only
 * one of the two files has serve for both: one was stripped, or is no longer there.
 */
#ifndef SESSION_DIFF_DIFF_NAMING_H
#define SESSION_DIFF_DIFF_NAMING_H

#include "src/names/naming.h"

struct diff_naming {
	struct naming naming;
	const struct diff_naming *other;
};

/* Names of both heaps; diff_naming_close() for each. They must not be moved. */
void diff_naming_open(struct diff_naming n[2], const struct heap *const h[2],
		      const struct naming_options *o);
void diff_naming_close(struct diff_naming *n);

#endif
