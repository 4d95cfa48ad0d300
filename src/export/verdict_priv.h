/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of verdicts share: where each is shown.
 */
#ifndef EXPORT_VERDICT_PRIV_H
#define EXPORT_VERDICT_PRIV_H

#include "src/export/verdict.h"

/* Append a path without "//", "/./" and "/x/../". */
void verdict_path_add(struct str *s, const char *path);

/* Find the places of frames and of what was judged, and where each verdict is shown. */
void verdicts_place(struct verdicts *v);

#endif
