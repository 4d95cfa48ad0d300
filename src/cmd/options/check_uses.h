/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each option of `pmm check` is for: none is ignored in silence.
 */
#ifndef CMD_OPTIONS_CHECK_USES_H
#define CMD_OPTIONS_CHECK_USES_H

#include "src/base/err.h"

/*
 * A COMMAND at a level (1 << its number among the choices of --level) or under Valgrind, or
 * something that is looked at: struct opt.uses.
 */
enum check_use {
	FOR_LIGHT = 1 << 0,
	FOR_GUARD = 1 << 1,
	FOR_SAMPLED = 1 << 2,
	FOR_COMMAND = FOR_LIGHT | FOR_GUARD | FOR_SAMPLED,
	FOR_GUARDED = FOR_GUARD | FOR_SAMPLED,
	FOR_CANARIES = FOR_LIGHT | FOR_GUARD,
	FOR_VALGRIND = 1 << 3,
	FOR_PROCESS = 1 << 4,
	FOR_CAPTURE = 1 << 5,
};

/*
 * `what` is to be done with `operand`, one bit: a usage error, with `e`, for the first option given
 * that is not for it; else 0.
 */
int check_uses(unsigned what, const char *operand, struct err *e);

#endif
