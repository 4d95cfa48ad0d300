/*
 * The static form's tables asked for one address: options that each call must look at, the check of a block, marks.
 */
static void option_changed(void)
{
	static const enum pmm_option odd[] = { PMM_HUGE_SIZE, PMM_LIMIT, PMM_CANARY, PMM_FILL_NEW, PMM_CHECK_ALWAYS };
	unsigned i;

	S.nr_odd = 0;
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		S.nr_odd += S.option[odd[i]] != 0;
}

#ifndef PMM_BARE
static size_t nr_live_blocks(void)
{
	return S.stats.nr_live;
}
#endif

size_t pmm_check_block_at(PMM_AT, const void *p)
{
	AT_OF_CALL;
	struct slot *slot;
	size_t nr;

	if (!enter())
		return 0;
	slot = find_slot(p, 1 << LIVE | 1 << IDLE);
	nr = slot ? (size_t)inspect_slot(slot, &at) : 0;
	leave();
	return nr;
}

/* ---- marks */
void *pmm_mark_at(PMM_AT, const void *p)
{
	AT_OF_CALL;
	struct slot *slot;

	if (p && enter()) {
		slot = find_slot(p, 1 << MARKED) ? NULL : take_slot();
		if (slot) {
			link_slot(slot, p);
			slot->size = 0;
			slot->file = at.file;
			slot->line = at.line;
			slot->freed_file = NULL;
			slot->time = (uint32_t)PMM_TIME();
			slot->number = ++S.number;
			slot->entry = 'k';
			slot->state = MARKED;
		}
		leave();
	}
	return (void *)(uintptr_t)p;
}

void *pmm_unmark_at(PMM_AT, const void *p)
{
	AT_OF_CALL;
	struct slot *slot;

	if (p && enter()) {
		slot = find_slot(p, 1 << MARKED);
		if (slot) {
			drop_slot(slot, STALE, NULL);
		} else {
			S.stats.nr_errors++;
			tell(&at, "%p is not marked", (void *)(uintptr_t)p);
		}
		leave();
	}
	return (void *)(uintptr_t)p;
}
