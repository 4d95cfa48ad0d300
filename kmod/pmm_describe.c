// SPDX-License-Identifier: GPL-2.0-or-later
/* All there is to say about a target (pmm_module.h). */
#include <linux/mutex.h>
#include <linux/pid.h>

#include "pmm_module.h"

static void describe_figures(const struct pmm_figures *f, struct pmm_kmod_process *out)
{
	out->virtual_bytes = f->virtual_bytes;
	out->resident_bytes = f->resident_bytes;
	out->shared_bytes = f->shared_bytes;
	out->code_bytes = f->code_bytes;
	out->data_bytes = f->data_bytes;
	out->stack_bytes = f->stack_bytes;
	out->swap_bytes = f->swap_bytes;
	out->page_table_bytes = f->page_table_bytes;
	out->minor_faults = f->minor_faults;
	out->major_faults = f->major_faults;
	out->threads = f->threads;
}

static void describe_log(const struct pmm_target *t, struct pmm_kmod_process *out)
{
	const struct pmm_log_counts *c = &t->log.counts;
	const struct pmm_map *map;

	out->entries = t->log.entries;
	out->entry_bytes = t->log.bytes;
	out->peak_entries = c->peak_entries;
	out->peak_bytes = c->peak_bytes;
	out->allocations = c->allocations;
	out->frees = c->frees;
	out->allocated_bytes = c->allocated_bytes;
	out->freed_bytes = c->freed_bytes;
	out->lost_bytes = c->lost_bytes;
	out->double_frees = c->double_frees;
	out->foreign_frees = c->foreign_frees;
	out->replaced = c->replaced;
	out->evicted = c->evicted;
	out->evicted_frees = c->evicted_frees;
	out->over_limit = c->over_limit;
	out->no_memory = c->no_memory;
	out->bad = c->bad;
	out->sites_lost = c->sites_lost;
	out->overflows = t->overflows;
	out->torn = t->torn;
	list_for_each_entry(map, &t->rings, list) {
		out->overflows += map->ring.overflows;
		out->torn += map->ring.torn;
	}
}

void pmm_target_describe_locked(struct pmm_target *t, struct pid_namespace *ns,
				struct pmm_kmod_process *out)
{
	memset(out, 0, sizeof(*out));
	out->pid = pid_nr_ns(t->pid, ns);
	out->ppid = t->parent ? pid_nr_ns(t->parent, ns) : 0;
	out->state = t->state;
	out->status = t->status;
	out->flags = t->flags | (list_empty(&t->rings) ? 0 : PMM_KMOD_HAS_RING);
	memcpy(out->comm, t->comm, sizeof(out->comm));
	out->number = t->number;
	out->since_ns = t->since_ns;
	out->seen_ns = t->seen_ns;
	out->growth_bytes_per_s = pmm_trend_bytes_per_s(&t->trend);
	out->samples = t->trend.nr;
	out->alerts = t->alerts;
	describe_figures(&t->figures, out);
	describe_log(t, out);
}

int pmm_target_describe(struct pmm_target *t, struct pid_namespace *ns,
			struct pmm_kmod_process *out)
{
	int err = mutex_lock_killable(&t->lock);

	if (err)
		return err;
	pmm_target_drain(t);
	pmm_target_describe_locked(t, ns, out);
	mutex_unlock(&t->lock);
	return 0;
}
