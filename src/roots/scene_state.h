/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a scene holds until scene_free(): the sources of its memory and blocks.
 */
#ifndef ROOTS_SCENE_STATE_H
#define ROOTS_SCENE_STATE_H

#include "src/ledger/freeze.h"
#include "src/ledger/ledger_map.h"
#include "src/roots/scene_parts.h"
#include "src/core/core.h"
#include "src/ptrace/snapshot.h"

struct scene_state {
	struct ledger_map *map;
	struct freeze freeze;
	struct snapshot snapshot;
	struct core core;
};

#endif
