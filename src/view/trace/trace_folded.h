/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks as flame graph tools read them: a line for each, "KIND;OUTERMOST;...;INNERMOST NUMBER".
 * The number is the count, or the bytes or ns by which the result is sorted.
 */
#ifndef VIEW_TRACE_TRACE_FOLDED_H
#define VIEW_TRACE_TRACE_FOLDED_H

#include "src/base/str.h"
#include "src/view/trace/trace_view.h"

void trace_folded(struct str *s, const struct trace_result *r);

#endif
