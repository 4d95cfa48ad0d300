/* What pmm has left or keeps in a process. Everything read is outside data. */
#include "src/inject/attached.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "include/pmm/ledger.h"
#include "src/target/proc.h"
#include "src/target/stop.h"

#define TREE_PATH "/memfd:" PMM_MEMFD_NAME

static bool tree_sane(const struct pmm_tree *t)
{
	return t->magic == PMM_TREE_MAGIC && t->version == PMM_LEDGER_VERSION && t->flags & PMM_TREE_ATTACHED &&
	       t->nr_slots <= PMM_MAX_SLOTS;
}

static bool record_sane(const struct pmm_attach *r)
{
	if (r->magic != PMM_ATTACH_MAGIC || r->version != PMM_INJECT_VERSION || r->nr_ranges > PMM_MAX_RANGES ||
	    r->nr_patches > PMM_MAX_PATCHES)
		return false;
	for (uint32_t i = 0; i < r->nr_patches; i++)
		if (r->patch[i].nr_bytes > PMM_PATCH_BYTES || r->patch[i].nr_moved > PMM_PATCH_BYTES)
			return false;
	return true;
}

/* Number of the slot that the process holds in this tree, -1 = none: a child forked from one that does. */
static int slot_of(const struct pmm_tree *t, pid_t ns_pid)
{
	for (uint32_t i = 0; i < t->nr_slots; i++)
		if (t->slot[i].state == PMM_SLOT_LIVE && t->slot[i].pid == (uint32_t)ns_pid)
			return (int)i;
	return -1;
}

/* Where the mappings of one file that begin with maps->v[i] end. */
static uint64_t file_end(const struct proc_maps *maps, size_t i)
{
	uint64_t end = maps->v[i].end;

	for (size_t k = i + 1; k < maps->nr && maps->v[k].start == end && maps->v[k].ino == maps->v[i].ino &&
	     maps->v[k].dev_minor == maps->v[i].dev_minor && maps->v[k].offset; k++)
		end = maps->v[k].end;
	return end;
}

/* Slots that were added after the fork are not the child's: is there an entry of one of the patches? */
static bool slots_there(const struct attached *a, const struct pmm_range *range)
{
	struct pmm_entry entry;

	if (stop_read(a->pid, range->start, &entry, sizeof(entry)))
		return false;
	for (uint32_t i = 0; i < a->record.nr_patches; i++)
		if (a->record.patch[i].address - entry.function < PMM_PATCH_BYTES)
			return true;
	return false;
}

/*
 * A forked child has all that its parent had then, whatever was undone in the parent since. The agent's image is the first that is
 * unmapped: if it is there, nothing was before the fork.
 */
static void take_inherited(struct attached *a)
{
	static const uint8_t elf[4] = { 0x7f, 'E', 'L', 'F' };
	uint8_t now[sizeof(elf)];
	bool there = false;

	for (uint32_t i = 0; i < a->record.nr_patches; i++)
		a->record.patch[i].applied = 1;		/* restored only where the bytes are ours */
	for (uint32_t i = 0; i < a->record.nr_ranges; i++)
		there |= a->record.range[i].was == PMM_RANGE_BLOB &&
			 !stop_read(a->pid, a->record.range[i].start, now, sizeof(now)) && !memcmp(now, elf, sizeof(elf));
	for (uint32_t i = 0; i < a->record.nr_ranges; i++) {
		struct pmm_range *range = &a->record.range[i];

		range->use = there && range->was != PMM_RANGE_TREE && (range->was != PMM_RANGE_SLOTS || slots_there(a, range)) ?
				     range->was : PMM_RANGE_NONE;
	}
}

/* The tree mapped at `at`, if it is one of pmm's that attached. */
static bool take(struct attached *a, uint64_t at, uint64_t end)
{
	struct pmm_tree t;
	int slot;

	if (stop_read(a->pid, at, &t, sizeof(t)) || !tree_sane(&t) ||
	    stop_read(a->pid, at + PMM_ATTACH_OFF, &a->record, sizeof(a->record)) || !record_sane(&a->record))
		return false;
	a->tree = at;
	slot = slot_of(&t, proc_ns_pid(a->pid));
	a->inherited = slot < 0;
	a->ledger = slot < 0 ? 0 : at + t.slots_off + t.slot_bytes * (unsigned)slot;
	if (a->inherited)
		take_inherited(a);
	attached_range(a, PMM_RANGE_TREE, at, end - at);
	return true;
}

/* One that is watched goes before what others left, and of these the newest, whose jumps lie over those of the others. */
static bool goes_before(const struct attached *one, const struct attached *other)
{
	bool watched = attached_monitor(one), other_watched = attached_monitor(other);

	return watched != other_watched ? watched : one->record.generation > other->record.generation;
}

int attached_find(pid_t pid, struct attached *a, struct err *e)
{
	struct proc_maps maps = { 0 };
	int rc = proc_maps_read(pid, &maps, e), nr = 0;

	*a = (struct attached){ .pid = pid };
	for (size_t i = 0; !rc && i < maps.nr; i++) {
		struct attached one = { .pid = pid };

		if (maps.v[i].offset || strncmp(maps.v[i].path, TREE_PATH, strlen(TREE_PATH)) ||
		    !take(&one, maps.v[i].start, file_end(&maps, i)))
			continue;
		if (!nr++ || goes_before(&one, a))
			*a = one;
	}
	proc_maps_fini(&maps);
	return rc ? rc : nr ? nr : -ENOENT;
}

pid_t attached_monitor(const struct attached *a)
{
	pid_t pid = (pid_t)a->record.monitor_pid;
	uint64_t start;

	return pid > 0 && !proc_start_time(pid, &start) && start == a->record.monitor_start && proc_alive(pid) ? pid : 0;
}

int attached_store(const struct attached *a)
{
	if (a->inherited)
		return 0;
	return stop_write(a->pid, a->tree + PMM_ATTACH_OFF, &a->record, sizeof(a->record));
}

int attached_range(struct attached *a, enum pmm_range_use use, uint64_t start, uint64_t bytes)
{
	struct pmm_attach *r = &a->record;

	for (uint32_t i = 0; i < r->nr_ranges; i++)
		if (r->range[i].use == PMM_RANGE_NONE || r->range[i].start == start) {
			r->range[i] = (struct pmm_range){ start, bytes, use, use };
			return 0;
		}
	if (r->nr_ranges == PMM_MAX_RANGES)
		return -ENOSPC;
	r->range[r->nr_ranges++] = (struct pmm_range){ start, bytes, use, use };
	return 0;
}

void attached_limit_lower(const struct attached *a)
{
	uint64_t bytes = a->record.limit_raised_bytes;
	struct rlimit l;

	if (!bytes || a->inherited || prlimit(a->pid, RLIMIT_AS, NULL, &l) || l.rlim_cur == RLIM_INFINITY || l.rlim_cur < bytes)
		return;
	l.rlim_cur -= bytes;
	prlimit(a->pid, RLIMIT_AS, &l, NULL);
}
