/* SPDX-License-Identifier: MIT */
/*
 * The full form: one block's size and check, marks.
 */
size_t pmm_usable_size(const void *p, size_t (*real)(void *))
{
	struct full_block b;
	size_t bytes;

	if (full_look(p, &b))
		return b.size;
	return is_of_parent(p, &bytes) ? bytes : real((void *)(uintptr_t)p);
}

size_t pmm_check_block_at(PMM_AT, const void *p)
{
	AT_OF_CALL;
	struct full_block b;
	size_t nr;

	if (!full_look(p, &b) || !enter())
		return 0;
	nr = inspect_block(&b, &at);
	leave();
	return nr;
}

void *pmm_mark_at(PMM_AT, const void *p)
{
	AT_OF_CALL;
	struct listed *k;

	if (!p || !enter())
		return (void *)(uintptr_t)p;
	k = list_find(&monitor.marked, p) ? NULL : listed_new();
	if (k) {
		k->slot.address = (const char *)p;
		k->slot.file = own_text(at.file);
		k->slot.line = at.line;
		k->slot.time = (uint32_t)PMM_TIME();
		k->slot.number = monitor.table ? monitor.table->number() : 0;
		k->slot.entry = 'k';
		k->slot.state = MARKED;
		list_add(&monitor.marked, k);
	}
	leave();
	return (void *)(uintptr_t)p;
}

void *pmm_unmark_at(PMM_AT, const void *p)
{
	AT_OF_CALL;
	struct listed *k;

	if (!p || !enter())
		return (void *)(uintptr_t)p;
	k = list_take(&monitor.marked, p);
	if (!k) {
		monitor.stats.nr_errors++;
		say(&at, "%p is not marked", (void *)(uintptr_t)p);
	}
	if (k)
		listed_drop(k);
	leave();
	return (void *)(uintptr_t)p;
}
