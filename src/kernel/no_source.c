/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A source without events, for what needs none of the kernel's. */
#include "src/kernel/kernel_source.h"

#include <errno.h>

static int none_open(const struct kernel_options *o, void **state, struct err *e)
{
	(void)o, (void)e;
	*state = NULL;
	return 0;
}

static int none_step(void *state, kernel_take *take, void *arg)
{
	(void)state, (void)take, (void)arg;
	return 0;
}

static int none_table(void *state, enum kernel_table table, kernel_entry *entry, void *arg)
{
	(void)state, (void)table, (void)entry, (void)arg;
	return -ENOENT;
}

static int none_find(void *state, enum kernel_table table, const void *key, void *value)
{
	(void)state, (void)table, (void)key, (void)value;
	return -ENOENT;
}

static int none_target(void *state, pid_t pid, bool add)
{
	(void)state, (void)pid, (void)add;
	return 0;
}

static int none_counts(void *state, struct trace_counts counts[TRACE_NR_KINDS])
{
	(void)state, (void)counts;	/* zero as they are given */
	return 0;
}

static void none_group(void *state, enum kernel_group group, struct kernel_group_state *out)
{
	(void)state, (void)group;
	out->status = KERNEL_GROUP_UNUSED;
}

static void none_close(void *state)
{
	(void)state;
}

const struct kernel_source_ops no_source = {
	.name = "none",
	.open = none_open,
	.step = none_step,
	.table = none_table,
	.find = none_find,
	.target = none_target,
	.counts = none_counts,
	.group = none_group,
	.close = none_close,
};
