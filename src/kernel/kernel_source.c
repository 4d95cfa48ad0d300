/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A source is its operations and their state. */
#include "src/kernel/kernel_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct kernel_source {
	const struct kernel_source_ops *ops;
	void *state;
};

#define MAX_SAMPLE	(1u << 30)

uint32_t kernel_kmem_sample(const struct kernel_options *o)
{
	uint32_t wanted = o->sample ? o->sample : KERNEL_KMEM_SAMPLE, power = 1;

	while (power < wanted && power < MAX_SAMPLE)
		power *= 2;
	return power;
}

int kernel_source_open(const struct kernel_source_ops *ops, const struct kernel_options *o,
		       struct kernel_source **out, struct err *e)
{
	struct kernel_source *s = calloc(1, sizeof(*s));
	int rc;

	*out = NULL;
	if (!s)
		return err_set(e, -ENOMEM, "out of memory");
	s->ops = ops;
	rc = ops->open(o, &s->state, e);
	if (rc) {
		free(s);
		return rc;
	}
	*out = s;
	return 0;
}

int kernel_source_step(struct kernel_source *s, kernel_take *take, void *arg)
{
	return s->ops->step(s->state, take, arg);
}

int kernel_source_table(struct kernel_source *s, enum kernel_table table, kernel_entry *entry,
			void *arg)
{
	return s->ops->table(s->state, table, entry, arg);
}

int kernel_source_find(struct kernel_source *s, enum kernel_table table, const void *key,
		       void *value)
{
	return s->ops->find(s->state, table, key, value);
}

void kernel_source_forget(struct kernel_source *s, enum kernel_table table, const void *key)
{
	if (s->ops->forget)
		s->ops->forget(s->state, table, key);
}

int kernel_source_target(struct kernel_source *s, pid_t pid, bool add)
{
	return s->ops->target(s->state, pid, add);
}

int kernel_source_counts(struct kernel_source *s, struct trace_counts counts[TRACE_NR_KINDS])
{
	memset(counts, 0, TRACE_NR_KINDS * sizeof(*counts));
	return s->ops->counts(s->state, counts);
}

struct kernel_group_state kernel_source_group(struct kernel_source *s, enum kernel_group group)
{
	struct kernel_group_state state = { 0 };

	s->ops->group(s->state, group, &state);
	return state;
}

const char *kernel_source_name(const struct kernel_source *s)
{
	return s->ops->name;
}

int kernel_source_fd(const struct kernel_source *s)
{
	return s->ops->fd ? s->ops->fd(s->state) : -1;
}

bool kernel_source_by_process(const struct kernel_source *s)
{
	return s->ops->by_process;
}

void kernel_source_close(struct kernel_source *s)
{
	if (!s)
		return;
	s->ops->close(s->state);
	free(s);
}
