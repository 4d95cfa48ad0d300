/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which groups of programs work here: all of them opened and closed. */
#include "src/session/trace/trace_session.h"

#include <stdio.h>
#include <unistd.h>

#include "src/kernel/libc/libc_probes.h"

void trace_session_try(const struct kernel_source_ops *source, struct kernel_group_state *groups)
{
	struct kernel_options o = { .groups = (1u << KERNEL_NR_GROUPS) - 1, .by_targets = true,
				    .stack_bytes = KERNEL_STACK_BYTES,
				    .kinds = { UINT64_MAX, UINT64_MAX } };
	struct libc_files libc = { 0 };
	struct kernel_source *s;
	struct err e = { 0 };

	libc_files_of(&libc, getpid());		/* none: the group says so */
	o.libc = &libc;
	if (kernel_source_open(source, &o, &s, &e)) {
		for (int i = 0; i < KERNEL_NR_GROUPS; i++) {
			groups[i] = (struct kernel_group_state){ .status = KERNEL_GROUP_FAILED };
			snprintf(groups[i].why, sizeof(groups[i].why), "%.150s", e.text);
			snprintf(groups[i].remedy, sizeof(groups[i].remedy), "%.150s", e.hint);
		}
		libc_files_fini(&libc);
		return;
	}
	for (int i = 0; i < KERNEL_NR_GROUPS; i++)
		groups[i] = kernel_source_group(s, i);
	kernel_source_close(s);
	libc_files_fini(&libc);
}
