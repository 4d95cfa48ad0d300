/* SPDX-License-Identifier: MIT */
/*
 * Tables of the full form as text, and the same figures as structs. Blocks are listed by number,
 * which takes a list of them, in memory from the kernel: this may run in a signal handler.
 */
struct listing {
	struct slot *slot;
	size_t nr, most;
};

static int count_one(void *ctx, const struct full_block *b)
{
	(void)b;
	++*(size_t *)ctx;
	return 0;
}

static int list_one(void *ctx, const struct full_block *b)
{
	struct listing *l = (struct listing *)ctx;

	if (l->nr < l->most)
		l->slot[l->nr++] = slot_of(b);
	return l->nr == l->most;
}

static int comes_before(const struct slot *a, const struct slot *b)
{
	/* 0, not known, comes last */
	return a->number != b->number ? a->number - 1 < b->number - 1 : a->address < b->address;
}

/* Let slot[at] sink to where it belongs in a heap of nr, the last one on top. */
static void sift(struct slot *slot, size_t at, size_t nr)
{
	for (;;) {
		size_t child = 2 * at + 1;
		struct slot other;

		if (child + 1 < nr && comes_before(&slot[child], &slot[child + 1]))
			child++;
		if (child >= nr || !comes_before(&slot[at], &slot[child]))
			return;
		other = slot[at];
		slot[at] = slot[child];
		slot[child] = other;
		at = child;
	}
}

static void sort_slots(struct slot *slot, size_t nr)
{
	size_t i;

	for (i = nr / 2; i--;)
		sift(slot, i, nr);
	for (i = nr; i-- > 1;) {
		struct slot last = slot[i];

		slot[i] = slot[0];
		slot[0] = last;
		sift(slot, 0, i);
	}
}

/*
 * All blocks and marked pointers by number; slot NULL: none, or no memory. Those that come
 * meanwhile may be missing.
 */
static struct listing list_blocks(void)
{
	struct listing l = { NULL, 0, 64 };
	int saved = errno;
	struct listed *k;

	full_each(count_one, &l.most);
	for (k = monitor.marked.first; k; k = k->next)
		l.most++;
	l.slot = (struct slot *)mmap(NULL, l.most * sizeof(*l.slot), PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if ((void *)l.slot == MAP_FAILED) {
		l.slot = NULL;
		errno = saved;
		return l;
	}
	for (k = monitor.marked.first; k; k = k->next)
		l.slot[l.nr++] = k->slot;
	full_each(list_one, &l);
	sort_slots(l.slot, l.nr);
	return l;
}

static void end_listing(struct listing *l)
{
	if (l->slot)
		munmap((void *)l->slot, l->most * sizeof(*l->slot));
}

static void put_in_use(const struct pmm_stats *all)
{
	put_text("  tables: %zu %s", all->slots_used,
		 all->slots_used == 1 ? "block or mark" : "blocks and marks");
}

static void put_blocks(void)
{
	struct listing l = list_blocks();
	size_t i;

	put_text("pmm: blocks in use\n    number      bytes address            entry  time UTC  "
		 "file(line)\n");
	for (i = 0; i < l.nr; i++)
		put_block_row(&l.slot[i]);
	end_listing(&l);
}

static int put_site(void *ctx, const struct full_srcloc *s)
{
	(void)ctx;
	if (s->allocs)
		put_text("%10llu %10llu %11llu %11llu %11llu  %s(%u) %s\n",
			 (unsigned long long)s->allocs, (unsigned long long)s->frees,
			 (unsigned long long)s->bytes_in,
			 (unsigned long long)(s->bytes_in - s->bytes_out),
			 (unsigned long long)s->peak_bytes, s->file, (unsigned)s->line, s->func);
	return 0;
}

static void put_sites(void)
{
	put_text("pmm: call sites\n       new      freed   bytes new  bytes live  at the peak  "
		 "file(line) function\n");
	if (monitor.table)
		monitor.table->each_srcloc(put_site, NULL);
}

static void put_classes(void)
{
	struct full_class k;
	unsigned i;

	put_text("pmm: sizes\n     up to   malloc   calloc  realloc    other     free   failed   "
		 "bytes new bytes freed  bytes live\n");
	for (i = 0; monitor.table && monitor.table->class_row(i, &k); i++) {
		if (!(k.malloc | k.calloc | k.realloc | k.other | k.frees | k.failed))
			continue;
		if (k.up_to)
			put_text("%10llu", (unsigned long long)k.up_to);
		else
			put_text("      more");
		put_text(" %8llu %8llu %8llu %8llu %8llu %8llu", (unsigned long long)k.malloc,
			 (unsigned long long)k.calloc, (unsigned long long)k.realloc,
			 (unsigned long long)k.other, (unsigned long long)k.frees,
			 (unsigned long long)k.failed);
		put_text(" %11llu %11llu %11llu\n", (unsigned long long)k.bytes_in,
			 (unsigned long long)k.bytes_out,
			 (unsigned long long)(k.bytes_in - k.bytes_out));
	}
}

void pmm_get_stats(struct pmm_stats *stats)
{
	struct full_totals t;
	struct listed *k;
	int locked = enter();

	full_get_totals(&t);
	*stats = monitor.stats;
	stats->nr_new = (size_t)t.allocs;
	stats->nr_freed = (size_t)t.frees;
	stats->nr_live = (size_t)(t.allocs - t.frees);
	stats->nr_peak = (size_t)t.peak_blocks > stats->nr_live ? (size_t)t.peak_blocks
								: stats->nr_live;
	stats->bytes_new = t.bytes_in;
	stats->bytes_freed = t.bytes_out;
	stats->bytes_live = (size_t)(t.bytes_in - t.bytes_out);
	stats->bytes_peak = (size_t)t.peak_bytes;
	stats->nr_failed += (size_t)t.failed;
	stats->nr_zero += (size_t)t.zero;
	stats->nr_passed += (size_t)t.dropped;
	stats->table_full = t.dropped != 0;
	stats->slots_used = stats->nr_live;
	for (k = monitor.marked.first; k; k = k->next)
		stats->slots_used++;
	stats->sites_used = (size_t)t.nr_srclocs;
	stats->sites = PMM_MAX_SRCLOCS - 1;
	if (locked)
		leave();
}

int pmm_each_block(int (*each)(void *ctx, const struct pmm_block *block), void *ctx)
{
	struct listing l;
	struct pmm_block block;
	size_t i;
	int result = 0, state;

	if (!enter())
		return 0;
	state = cancel_state(NO_CANCEL);
	l = list_blocks();
	for (i = 0; i < l.nr && !result; i++) {
		fill_block(&block, &l.slot[i]);
		result = each(ctx, &block);
	}
	end_listing(&l);
	cancel_state(state);
	leave();
	return result;
}
