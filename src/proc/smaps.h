/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mappings by the flags that /proc/PID/smaps has of them (VmFlags, proc_pid_smaps(5)). The kernel
 * goes through all page tables for it.
 */
#ifndef PROC_SMAPS_H
#define PROC_SMAPS_H

#include <stdio.h>
#include <sys/types.h>

#include "src/proc/pages.h"

/*
 * Append the mappings that have a flag of two letters, by address. 0, also when they cannot be
 * read; -ENOMEM.
 */
int smaps_flagged(pid_t pid, const char *flag, struct page_runs *to);

/* The same of a text in that form. */
int smaps_read(FILE *f, const char *flag, struct page_runs *to);

#endif
