/*
 * Tables of the static form as text, on demand, at exit, by signal; and the same figures as structs.
 */
static void put_blocks(void)
{
	uint32_t i;

	put_text("pmm: blocks in use\n    number      bytes address            entry  time UTC  file(line)\n");
	for (i = 0; i < S.used_slots; i++) {
		const struct slot *slot = &S.slot[i];
		uint32_t second = slot->time % 86400;

		if (!(1u << slot->state & (1 << LIVE | 1 << IDLE | 1 << MARKED)))
			continue;
		put_text("%10u %10zu %p %c      %02u:%02u:%02u  %s(%u)%s\n", (unsigned)slot->number, slot->size,
			(void *)(uintptr_t)slot->address, slot->entry, (unsigned)(second / 3600), (unsigned)(second / 60 % 60),
			(unsigned)(second % 60), slot->file, (unsigned)slot->line, slot->state == IDLE ? " idle" : "");
	}
}

static void put_sites(void)
{
	uint32_t i;

	put_text("pmm: call sites\n       new      freed   bytes new  bytes live  bytes peak  file(line) function\n");
	for (i = 0; i < SITES; i++) {
		const struct site *site = &S.site[i];

		if (site->file)
			put_text("%10u %10u %11llu %11llu %11zu  %s(%u) %s\n", (unsigned)site->nr_new, (unsigned)site->nr_freed,
				(unsigned long long)site->bytes_new, (unsigned long long)(site->bytes_new - site->bytes_freed),
				site->bytes_peak, site->file, (unsigned)site->line, site->func);
	}
}

static void put_classes(void)
{
	uint32_t i, j;

	put_text("pmm: sizes\n     up to   malloc   calloc  realloc    other     free   failed   bytes new bytes freed  bytes live\n");
	for (i = 0; i < NR_CLASSES; i++) {
		const struct class *class = &S.class[i];
		size_t any = 0;

		for (j = 0; j < NR_CALLS; j++)
			any |= class->calls[j];
		if (!any && !class->bytes_freed)
			continue;
		if (i + 1 < NR_CLASSES)
			put_text("%10lu", 16ul << i);
		else
			put_text("      more");
		for (j = 0; j < NR_CALLS; j++)
			put_text(" %8zu", class->calls[j]);
		put_text(" %11llu %11llu %11llu\n", (unsigned long long)class->bytes_new, (unsigned long long)class->bytes_freed,
			(unsigned long long)(class->bytes_new - class->bytes_freed));
	}
}

static void put_totals(void)
{
	struct pmm_stats all;

	pmm_get_stats(&all);
	put_text("pmm: totals\n  blocks: %zu new, %zu freed, %zu live, %zu at most\n", all.nr_new, all.nr_freed, all.nr_live, all.nr_peak);
	put_text("  bytes: %llu new, %llu freed, %zu live, %zu at most\n", all.bytes_new, all.bytes_freed, all.bytes_live, all.bytes_peak);
	put_text("  requests: %zu failed, %zu for 0 bytes, %zu huge, %zu passed untracked\n", all.nr_failed, all.nr_zero, all.nr_huge,
		all.nr_passed);
	put_text("  frees: %zu of blocks not tracked, %zu given up\n", all.nr_foreign, all.nr_lost);
	put_text("  tables: %zu of %zu slots in use%s, %zu of %zu call sites\n", all.slots_used, all.slots,
		all.table_full ? " (was full)" : "", all.sites_used, all.sites);
	put_text("  errors: %zu\n", all.nr_errors);
}

static void put_tables(unsigned tables)
{
	if (tables & PMM_BLOCKS)
		put_blocks();
	if (tables & PMM_SITES)
		put_sites();
	if (tables & PMM_CLASSES)
		put_classes();
	if (tables & PMM_TOTALS)
		put_totals();
}

void pmm_get_stats(struct pmm_stats *stats)
{
	int locked = enter();
	uint32_t i;

	*stats = S.stats;
	stats->slots = SLOTS;
	stats->slots_used = 0;
	for (i = 0; i < S.used_slots; i++)
		stats->slots_used += S.slot[i].state != UNUSED && S.slot[i].state < DEAD;
	stats->sites = SITES;
	stats->sites_used = S.used_sites;
	if (locked)
		leave();
}

int pmm_each_block(int (*each)(void *ctx, const struct pmm_block *block), void *ctx)
{
	uint32_t i;
	int result = 0;

	if (!enter())
		return 0;
	for (i = 0; i < S.used_slots && !result; i++) {
		const struct slot *slot = &S.slot[i];
		struct pmm_block block;

		if (!(1u << slot->state & (1 << LIVE | 1 << IDLE | 1 << MARKED)))
			continue;
		block.address = slot->address;
		block.size = slot->size;
		block.file = slot->file;
		block.line = slot->line;
		block.number = slot->number;
		block.time = slot->time;
		block.entry = slot->entry;
		result = each(ctx, &block);
	}
	leave();
	return result;
}

void pmm_report(unsigned tables)
{
	if (!enter()) {
		S.late_tables = S.late_tables | tables;
		S.late = 1;
		return;
	}
	put_tables(tables);
	leave();
}

void pmm_report_to(pmm_output *output, void *ctx, unsigned tables)
{
	pmm_output *old;
	void *old_ctx;

	if (!enter())
		return;
	hand_on();
	old = S.output;
	old_ctx = S.output_ctx;
	S.output = output;
	S.output_ctx = ctx;
	put_tables(tables);
	hand_on();
	S.output = old;
	S.output_ctx = old_ctx;
	leave();
}

#ifndef PMM_BARE
static void write_to_fd(void *ctx, const char *text, size_t bytes)
{
	int fd = *(const int *)ctx;

	while (bytes) {
		ssize_t n = write(fd, text, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		text += n;
		bytes -= (size_t)n;
	}
}

void pmm_report_fd(int fd, unsigned tables)
{
	pmm_report_to(write_to_fd, &fd, tables);
}

static void report_signal(int signo)
{
	(void)signo;
	pmm_report(S.signal_tables);
}

int pmm_report_on(int signo, unsigned tables)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = report_signal;
	action.sa_flags = SA_RESTART;
	S.signal_tables = tables;
	return sigaction(signo, &action, NULL);
}
#else
void pmm_report_fd(int fd, unsigned tables)
{
	(void)fd;
	(void)tables;
}

int pmm_report_on(int signo, unsigned tables)
{
	(void)signo;
	(void)tables;
	errno = ENOSYS;
	return -1;
}
#endif
