/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cells as JSON: the same in documents and in events. */
#ifndef RENDER_RENDER_JSON_H
#define RENDER_RENDER_JSON_H

#include "src/base/json.h"
#include "src/document/table.h"

/* Write a member, in a list without a key. Text that is not set is null. nr_bars: of UNIT_BARS. */
void render_json_cell(struct json *j, const char *key, enum unit unit, const struct cell *c,
		      unsigned nr_bars);

#endif
