/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What perf events show of each group of events. */
#ifndef KERNEL_PERF_PERF_STATE_PRIV_H
#define KERNEL_PERF_PERF_STATE_PRIV_H

#include "src/kernel/kernel_source.h"

/* Of a group that was asked for; `failed`: a counter of the hardware could not be opened. */
void perf_state(enum kernel_group group, bool failed, struct kernel_group_state *out);

#endif
