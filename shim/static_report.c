/* SPDX-License-Identifier: MIT */
/*
 * Tables of the static form as text, and the same figures as structs.
 */
static void put_in_use(const struct pmm_stats *all)
{
	put_text("  tables: %zu of %zu slots in use", all->slots_used, all->slots);
}

static void put_blocks(void)
{
	uint32_t i;

	put_text("pmm: blocks in use\n    number      bytes address            entry  time UTC  "
		 "file(line)\n");
	for (i = 0; i < monitor.used_slots; i++)
		if (1u << monitor.slot[i].state & (1 << LIVE | 1 << IDLE | 1 << MARKED))
			put_block_row(&monitor.slot[i]);
}

static void put_sites(void)
{
	uint32_t i;

	put_text("pmm: call sites\n       new      freed   bytes new  bytes live  bytes peak  "
		 "file(line) function\n");
	for (i = 0; i < SITES; i++) {
		const struct site *site = &monitor.site[i];
		uint32_t live = (uint32_t)site->nr_new - site->nr_freed;

		if (site->file)
			put_text("%10llu %10llu %11llu %11zu %11zu  %s(%u) %s\n",
				 (unsigned long long)site->nr_new,
				 (unsigned long long)(site->nr_new - live),
				 (unsigned long long)site->bytes_new, site->bytes_live,
				 site->bytes_peak, site->file, (unsigned)site->line, site->func);
	}
}

static void put_classes(void)
{
	uint32_t i, j;

	put_text("pmm: sizes\n     up to   malloc   calloc  realloc    other     free   failed   "
		 "bytes new bytes freed  bytes live\n");
	for (i = 0; i < NR_CLASSES; i++) {
		const struct class *class = &monitor.class[i];
		size_t any = 0;

		for (j = 0; j < NR_CALLS; j++)
			any |= class->calls[j];
		if (!any)
			continue;
		if (i + 1 < NR_CLASSES)
			put_text("%10lu", 16ul << i);
		else
			put_text("      more");
		for (j = 0; j < NR_CALLS; j++)
			put_text(" %8zu", class->calls[j]);
		put_text(" %11llu %11llu %11llu\n", (unsigned long long)class->bytes_new,
			 (unsigned long long)class->bytes_freed,
			 (unsigned long long)(class->bytes_new - class->bytes_freed));
	}
}

void pmm_get_stats(struct pmm_stats *stats)
{
	int locked = enter();
	uint32_t i, call;

	*stats = monitor.stats;
	for (i = 0; i < NR_CLASSES; i++) {
		for (call = 0; call < CALL_FREE; call++)
			stats->nr_new += monitor.class[i].calls[call];
		stats->nr_failed += monitor.class[i].calls[CALL_FAILED];
		stats->bytes_new += monitor.class[i].bytes_new;
	}
	stats->nr_freed = stats->nr_new - stats->nr_live;
	stats->bytes_freed = stats->bytes_new - stats->bytes_live;
	stats->table_full = monitor.full;
	stats->slots = (size_t)SLOTS;
	stats->slots_used = monitor.stats.nr_live + (size_t)monitor.nr_marked;
	stats->sites = (size_t)SITES;
	stats->sites_used = (size_t)monitor.used_sites;
	if (locked)
		leave();
}

int pmm_each_block(int (*each)(void *ctx, const struct pmm_block *block), void *ctx)
{
	uint32_t i;
	int result = 0, state;

	if (!enter())
		return 0;
	state = cancel_state(NO_CANCEL);
	for (i = 0; i < monitor.used_slots && !result; i++) {
		const struct slot *slot = &monitor.slot[i];
		struct pmm_block block;

		if (!(1u << slot->state & (1 << LIVE | 1 << IDLE | 1 << MARKED)))
			continue;
		fill_block(&block, slot);
		result = each(ctx, &block);
	}
	cancel_state(state);
	leave();
	return result;
}
