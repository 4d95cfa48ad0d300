/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kinds of memory that page faults are of, and what their tables and records consist of. */
#ifndef KERNEL_FAULT_AREA_H
#define KERNEL_FAULT_AREA_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/faults_abi.h"

/* "private_file" for machines; "private file" for people. */
const char *fault_area_name(enum fault_area area);
const char *fault_area_text(enum fault_area area);

/*
 * Does a fault there that has to wait wait for swap? What has a file may be in swap as well, once
 * it was written to.
 */
bool fault_area_is_swapped(enum fault_area area);

/* Of a record of a page fault. */
enum fault_area fault_area_of(const struct trace_record *r);

#endif
