/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records, counts and tables out of memory. */
#include "tests/fake/fake_kernel.h"

#include <errno.h>
#include <string.h>

struct fake_kernel *fake_kernel;

static int fake_open(const struct kernel_options *o, void **state, struct err *e)
{
	fake_kernel->asked = *o;
	if (fake_kernel->open_error)
		return err_set(e, fake_kernel->open_error, "the fake refuses");
	fake_kernel->opened++;
	fake_kernel->given = 0;
	*state = fake_kernel;
	return 0;
}

static int fake_step(void *state, kernel_take *take, void *arg)
{
	struct fake_kernel *f = state;
	size_t before = f->given;

	if (f->step_error)
		return f->step_error;
	while (f->given < f->nr_records && (!f->per_step || f->given < before + f->per_step)) {
		const struct fake_record *r = &f->records[f->given++];
		int rc = take(arg, &r->r, r->tail);

		if (rc)
			return rc;
	}
	return f->given - before;
}

static int fake_table(void *state, enum kernel_table table, kernel_entry *entry, void *arg)
{
	const struct fake_kernel *f = state;
	const struct kernel_table_info *info = &kernel_tables[table];
	int rc = 0;

	if (!f->keys[table])
		return -ENOENT;
	for (size_t i = 0; !rc && i < f->nr_rows[table]; i++)
		rc = entry(arg, (const char *)f->keys[table] + i * info->key_bytes,
			   (const char *)f->values[table] + i * info->value_bytes);
	return rc;
}

static int fake_find(void *state, enum kernel_table table, const void *key, void *value)
{
	const struct fake_kernel *f = state;
	const struct kernel_table_info *info = &kernel_tables[table];

	for (size_t i = 0; f->keys[table] && i < f->nr_rows[table]; i++) {
		if (memcmp((const char *)f->keys[table] + i * info->key_bytes, key,
			   info->key_bytes))
			continue;
		memcpy(value, (const char *)f->values[table] + i * info->value_bytes,
		       info->value_bytes);
		return 0;
	}
	return -ENOENT;
}

static void fake_forget(void *state, enum kernel_table table, const void *key)
{
	(void)key;
	((struct fake_kernel *)state)->forgotten[table]++;
}

static int fake_target(void *state, pid_t pid, bool add)
{
	(void)state;
	(void)pid;
	(void)add;
	return 0;
}

static int fake_counts(void *state, struct trace_counts counts[TRACE_NR_KINDS])
{
	memcpy(counts, ((struct fake_kernel *)state)->counts, TRACE_NR_KINDS * sizeof(*counts));
	return ((struct fake_kernel *)state)->counts_error;
}

static void fake_group(void *state, enum kernel_group group, struct kernel_group_state *out)
{
	*out = ((struct fake_kernel *)state)->groups[group];
}

static void fake_close(void *state)
{
	((struct fake_kernel *)state)->closed++;
}

const struct kernel_source_ops fake_source = {
	.name = "fake",
	.open = fake_open,
	.step = fake_step,
	.table = fake_table,
	.find = fake_find,
	.forget = fake_forget,
	.target = fake_target,
	.counts = fake_counts,
	.group = fake_group,
	.close = fake_close,
};
