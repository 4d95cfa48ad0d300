// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rings that programs have mapped (pmm_module.h).
 *
 * Their pages are the module's, accounted to the process that maps them, and mapped a second time
 * for the module to read. The last mapping that goes, by munmap(), exec() or the process's end, has
 * the rest of the records taken; the open file keeps no ring.
 */
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "pmm_compat.h"
#include "pmm_module.h"

#define MAX_RINGS	16	/* of one process */

static atomic_t nr_maps = ATOMIC_INIT(0);
static atomic_long_t nr_pages = ATOMIC_LONG_INIT(0);

int pmm_map_count(void)
{
	return atomic_read(&nr_maps);
}

static void free_pages_of(struct pmm_map *map)
{
	unsigned long i;

	atomic_long_sub(map->nr_pages, &nr_pages);
	if (map->ring.shared)
		vunmap(map->ring.shared);
	for (i = 0; map->pages && i < map->nr_pages && map->pages[i]; i++)
		__free_page(map->pages[i]);
	kvfree(map->pages);
	kfree(map);
}

/* Nobody writes any more: the last records are taken. */
static void release_map(struct kref *ref)
{
	struct pmm_map *map = container_of(ref, struct pmm_map, ref);
	struct pmm_target *t = map->target;

	mutex_lock(&t->lock);
	pmm_target_drain(t);
	pmm_target_drain_one(t, &map->ring, map->exec_id, true);
	list_del(&map->list);
	t->nr_rings--;
	t->overflows += map->ring.overflows;
	t->torn += map->ring.torn;
	mutex_unlock(&t->lock);
	atomic_dec(&nr_maps);
	free_pages_of(map);
	pmm_target_put(t);
}

static void map_open(struct vm_area_struct *vma)
{
	struct pmm_map *map = vma->vm_private_data;

	kref_get(&map->ref);
}

static void map_close(struct vm_area_struct *vma)
{
	struct pmm_map *map = vma->vm_private_data;

	kref_put(&map->ref, release_map);
}

/* All of it or nothing. */
static int map_split(struct vm_area_struct *vma, unsigned long at)
{
	return -EINVAL;
}

static const struct vm_operations_struct map_ops = {
	.open = map_open,
	.close = map_close,
	.PMM_MAY_SPLIT = map_split,
};

/* The most slots that fit; 0: too few or too many. */
static u32 slots_in(unsigned long bytes)
{
	u32 slots = PMM_KMOD_MIN_SLOTS;

	if (bytes < PMM_KMOD_RING_BYTES(slots) ||
	    bytes > PAGE_ALIGN(PMM_KMOD_RING_BYTES(PMM_KMOD_MAX_SLOTS)))
		return 0;
	while (PMM_KMOD_RING_BYTES(slots * 2) <= bytes)
		slots *= 2;
	return slots;
}

/* All rings together take a sixteenth of the machine's memory at most. */
static int get_pages(struct pmm_map *map)
{
	unsigned long i;

	if (atomic_long_read(&nr_pages) > totalram_pages() / 16)
		return -ENOMEM;
	map->pages = kvcalloc(map->nr_pages, sizeof(*map->pages), PMM_GFP);
	if (!map->pages)
		return -ENOMEM;
	for (i = 0; i < map->nr_pages; i++) {
		map->pages[i] = alloc_page(PMM_GFP_MAPPED | __GFP_ZERO);
		if (!map->pages[i])
			return -ENOMEM;
	}
	return 0;
}

static struct pmm_map *make(u32 slots, unsigned long pages)
{
	struct pmm_map *map = kzalloc(sizeof(*map), PMM_GFP);
	void *shared;

	if (!map)
		return NULL;
	map->nr_pages = pages;
	atomic_long_add(pages, &nr_pages);
	shared = get_pages(map) ? NULL : vmap(map->pages, pages, VM_MAP, PAGE_KERNEL);
	if (!shared) {
		free_pages_of(map);
		return NULL;
	}
	pmm_ring_init(&map->ring, shared, slots);
	kref_init(&map->ref);
	return map;
}

static int join(struct pmm_map *map, struct pmm_target *t)
{
	bool too_many;

	mutex_lock(&t->lock);
	pmm_target_catch_up(t);
	map->exec_id = t->exec_id;
	too_many = t->nr_rings == MAX_RINGS;
	if (!too_many) {
		t->nr_rings++;
		list_add_tail(&map->list, &t->rings);
		pmm_ring_switch(&map->ring, !t->stopped);
	}
	mutex_unlock(&t->lock);
	if (too_many)
		return -ENOSPC;
	map->target = pmm_target_get(t);
	if (atomic_inc_return(&nr_maps) == 1)
		pmm_scan_wake();
	return 0;
}

int pmm_map_new(struct pmm_target *t, struct vm_area_struct *vma)
{
	unsigned long bytes = vma->vm_end - vma->vm_start;
	u32 slots = vma->vm_pgoff ? 0 : slots_in(bytes);
	struct pmm_map *map;
	int err;

	if (!slots || !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	map = make(slots, bytes >> PAGE_SHIFT);
	if (!map)
		return -ENOMEM;
	err = vm_map_pages(vma, map->pages, map->nr_pages);
	if (!err)
		err = join(map, t);
	if (err) {
		free_pages_of(map);
		return err;
	}
	/* with VM_IO madvise(MADV_DOFORK) is refused */
	pmm_vm_flags_set(vma, VM_IO | VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_ops = &map_ops;
	vma->vm_private_data = map;
	return 0;
}
