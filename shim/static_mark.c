/* SPDX-License-Identifier: MIT */
/*
 * The static form's tables asked for one address: options that each call must look at, a block's
 * size and check, marks.
 */
static void option_changed(void)
{
	size_t any = 0;
	unsigned i;

	/* what is before it in the enum as well */
	for (i = PMM_MIN_SIZE; i <= PMM_CHECK_ALWAYS; i++)
		any |= options[i] ^ (i == PMM_CANARY ? PMM_BEHIND : 0);
	monitor.plain = monitor.begun && !monitor.off && !monitor.unsure && !monitor.nr_retained &&
			!any;
}

#ifndef PMM_BARE
static unsigned tables_at_exit(void)
{
	unsigned tables = (unsigned)option(PMM_AT_EXIT);

	return monitor.stats.nr_live ? tables : tables & ~(unsigned)PMM_BLOCKS;
}
#endif

size_t pmm_usable_size(const void *p, size_t (*real)(void *))
{
	struct slot *slot;
	size_t bytes;

	if (!enter())
		return 0;	/* whether the block is tracked cannot be known */
	slot = find_slot(p, 1 << LIVE | 1 << IDLE);
	bytes = slot ? slot->size : real((void *)(uintptr_t)p);
	leave();
	return bytes;
}

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
			chain_slot(slot, p);
			fill_slot(slot, 0, 'k', &at);
			slot->state = MARKED;
			monitor.nr_marked++;
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
			monitor.nr_marked--;
		} else {
			monitor.stats.nr_errors++;
			say(&at, "%p is not marked", (void *)(uintptr_t)p);
		}
		leave();
	}
	return (void *)(uintptr_t)p;
}
