/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's own words for how compaction, migration, throttling and collapse ended or came
 * about, in lower case, as its tracepoints print them. "unknown" for what these do not know.
 */
#ifndef KERNEL_STATUS_NAMES_H
#define KERNEL_STATUS_NAMES_H

#include <stdint.h>

const char *compaction_status_name(uint64_t status);	/* enum compact_result */
const char *migrate_mode_name(uint64_t mode);		/* enum migrate_mode, TRACE_MODE_SYNC */
const char *migrate_reason_name(uint64_t reason);	/* enum migrate_reason */
const char *throttle_reason_name(uint64_t reason);	/* enum vmscan_throttle_state */
const char *huge_status_name(uint64_t status);		/* enum huge_status */

#endif
