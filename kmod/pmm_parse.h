/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is written to /proc/pmm/cfg. */
#ifndef KMOD_PMM_PARSE_H
#define KMOD_PMM_PARSE_H

#include "pmm_os.h"

#define PMM_PARSE_MAX_BYTES	64	/* of a line, without the end of the string */

/*
 * What is written is one line, with or without a newline at its end:
 *	INTERVAL ms | SCAN 0|1 | START_PID n | STOP_PID n
 * one word, one or more blanks or tabs, one decimal number without leading zeros. Fills in `set`
 * and the field. `text` has `bytes` bytes and need not end with 0. 0 or -EINVAL, with nothing
 * changed.
 */
int pmm_parse_cfg(const char *text, size_t bytes, struct pmm_kmod_config *config);

/* Are the fields that `set` names in range? 0 or -EINVAL. */
int pmm_config_check(const struct pmm_kmod_config *config);

#define INTERVAL_MIN_MS	10
#define INTERVAL_MAX_MS	3600000
#define ENTRIES_MAX	16777216
#define KEEP_MAX_S	(30 * 86400)

#endif
