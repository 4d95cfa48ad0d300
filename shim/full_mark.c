/*
 * The full form: the check of one block, marks.
 */
size_t pmm_check_block_at(PMM_AT, const void *p)
{
	AT_OF_CALL;
	struct full_block b;
	struct slot slot;
	size_t nr;

	if (!full_look(p, &b) || !enter())
		return 0;
	slot = slot_of(&b);
	nr = (size_t)inspect_slot(&slot, &at);
	leave();
	return nr;
}

void *pmm_mark_at(PMM_AT, const void *p)
{
	AT_OF_CALL;
	struct kept *k;

	if (!p || !enter())
		return (void *)(uintptr_t)p;
	k = list_find(&S.marked, p) ? NULL : (struct kept *)malloc(sizeof(*k));
	if (k) {
		memset(k, 0, sizeof(*k));
		k->slot.address = (const char *)p;
		k->slot.file = at.file;
		k->slot.line = at.line;
		k->slot.time = (uint32_t)PMM_TIME();
		k->slot.number = S.table ? S.table->number() : 0;
		k->slot.entry = 'k';
		k->slot.state = MARKED;
		list_add(&S.marked, k);
	}
	leave();
	return (void *)(uintptr_t)p;
}

void *pmm_unmark_at(PMM_AT, const void *p)
{
	AT_OF_CALL;
	struct kept *k;

	if (!p || !enter())
		return (void *)(uintptr_t)p;
	k = list_take(&S.marked, p);
	if (!k) {
		S.stats.nr_errors++;
		tell(&at, "%p is not marked", (void *)(uintptr_t)p);
	}
	free(k);
	leave();
	return (void *)(uintptr_t)p;
}
