/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a scene holds until scene_free(): the sources of its memory and blocks.
 */
#ifndef CAPTURE_SCENE_STATE_H
#define CAPTURE_SCENE_STATE_H

#include "src/capture/freeze.h"
#include "src/capture/ledger_map.h"
#include "src/capture/scene_parts.h"
#include "src/target/core.h"
#include "src/target/snapshot.h"

struct scene_state {
	struct ledger_map *map;
	struct freeze freeze;
	struct snapshot snapshot;
	struct core core;
};

#endif
