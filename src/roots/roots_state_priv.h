/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What struct roots holds until roots_free(): the sources of its memory and blocks.
 */
#ifndef ROOTS_ROOTS_STATE_PRIV_H
#define ROOTS_ROOTS_STATE_PRIV_H

#include "src/ledger/precopy.h"
#include "src/ledger/ledger_map.h"
#include "src/roots/roots_priv.h"
#include "src/core/core.h"
#include "src/ptrace/process_copy.h"

struct roots_state {
	struct ledger_map *map;
	struct precopy precopy;
	struct process_copy copied;
	struct core core;
};

#endif
