/* SPDX-License-Identifier: MIT */
/*
 * The static form's two tables: blocks by address (chains in buckets), statistics by call site; and
 * those by size class.
 */
HOT uint32_t scaled(uint32_t hash, uint32_t rows)
{
	return (uint32_t)(((uint64_t)(hash * 2654435761u) * rows) >> 32);
}

HOT uint32_t *bucket_of(const void *p)
{
	uint64_t bits = (uintptr_t)p >> 3;

	return &monitor.bucket[scaled((uint32_t)bits ^ (uint32_t)(bits >> 32), 2 * SLOTS)];
}

WARM struct slot *slot_at(uint32_t link)
{
	return link ? &monitor.slot[link - 1] : NULL;
}

static uint32_t link_of(const struct slot *slot)
{
	return (uint32_t)(slot - monitor.slot) + 1;
}

HOT struct slot *find_slot_fast(const void *p, unsigned states)
{
	struct slot *slot;

	for (slot = slot_at(*bucket_of(p)); slot; slot = slot_at(slot->next))
		if (slot->address == p && (states & 1u << slot->state))
			return slot;
	return NULL;
}

static struct slot *find_slot(const void *p, unsigned states)
{
	return find_slot_fast(p, states);
}

static void unlink_slot(struct slot *slot)
{
	uint32_t *link = bucket_of(slot->address), self = link_of(slot);

	while (*link && *link != self)
		link = &monitor.slot[*link - 1].next;
	if (*link)
		*link = slot->next;
	slot->address = NULL;
}

static void chain_slot(struct slot *slot, const void *p)
{
	uint32_t *bucket = bucket_of(p);

	slot->address = p;
	slot->next = *bucket;
	*bucket = link_of(slot);
}

/*
 * ---- the queue of released slots: one that is used again for the address it has stays in it, and
 * is passed over there
 */
#define QUEUE_END UINT32_MAX

APART uint32_t behind_in_queue(const struct slot *slot)
{
	return slot->queue == QUEUE_END ? 0 : slot->queue;
}

COLD void append_slot(struct slot *slot)
{
	uint32_t self = link_of(slot);

	slot->queue = QUEUE_END;
	if (monitor.queue_last)
		monitor.slot[monitor.queue_last - 1].queue = self;
	else
		monitor.queue_first = self;
	monitor.queue_last = self;
	if (!monitor.queue_retained)
		monitor.queue_retained = self;
}

HOT void queue_slot(struct slot *slot)
{
	if (!slot->queue)
		append_slot(slot);
	else if (slot->state == RETAINED)
		monitor.queue_retained = monitor.queue_first;
}

/* The slot released longest ago, out of the queue; NULL: none. */
static struct slot *oldest_slot(void)
{
	while (monitor.queue_first) {
		uint32_t self = monitor.queue_first;
		struct slot *slot = slot_at(self);

		monitor.queue_first = behind_in_queue(slot);
		if (!monitor.queue_first)
			monitor.queue_last = 0;
		if (monitor.queue_retained == self)
			monitor.queue_retained = monitor.queue_first;
		slot->queue = 0;
		if (slot->state >= DEAD)
			return slot;
	}
	return NULL;
}

COLD struct slot *take_slot(void)
{
	struct slot *slot;

	if (monitor.used_slots < SLOTS) {
		slot = &monitor.slot[monitor.used_slots++];
		slot->state = MOVING;
		return slot;
	}
	slot = oldest_slot();
	if (!slot) {
		if (!monitor.full) {
			monitor.full = 1;
			put_text("pmm: all %u slots are in use: blocks pass untracked\n",
				 (unsigned)SLOTS);
		}
		return NULL;
	}
	if (slot->state == RETAINED)
		release_retained(slot);
	if (slot->address)
		unlink_slot(slot);
	slot->state = MOVING;
	return slot;
}

HOT struct slot *slot_of_new(const void *p)
{
	struct slot *slot = find_slot_fast(p, 1 << DEAD | 1 << LIVE);

	if (!slot) {
		slot = take_slot();
		if (slot)
			chain_slot(slot, p);
	} else if (slot->state == LIVE) {	/* code without pmm.h freed it */
		count_freed(slot, 1);
	}
	return slot;
}

static void forget_address(const void *p)
{
	struct slot *slot = find_slot(p, 1 << DEAD | 1 << LIVE);

	if (!slot)
		return;
	if (slot->state == LIVE)	/* code without pmm.h freed it */
		count_freed(slot, 1);
	drop_slot(slot, STALE, NULL);
}

static void forget_dead(void)
{
	uint32_t i;

	monitor.unsure = 0;
	option_changed();
	for (i = 0; i < monitor.used_slots; i++)
		if (monitor.slot[i].state == DEAD)
			drop_slot(&monitor.slot[i], STALE, NULL);
}

static void link_slot(struct slot *slot, const void *p)
{
	if (monitor.unsure)
		forget_dead();
	if (slot->address == p)
		return;
	if (slot->address)
		unlink_slot(slot);
	forget_address(p);
	chain_slot(slot, p);
}

HOT void fill_slot(struct slot *slot, size_t size, char entry, const struct at *at)
{
	slot->size = size;
	slot->file = at->file;
	slot->line = at->line;
	slot->time = (uint32_t)PMM_TIME();
	slot->number = ++monitor.number;
	slot->entry = entry;
	slot->state = LIVE;
}

HOT void drop_slot(struct slot *slot, enum state state, const struct at *at)
{
	slot->state = (uint8_t)state;
	if (at) {
		slot->freed_file = at->file;
		slot->freed_line = at->line;
	}
	if (state == STALE)
		unlink_slot(slot);
	queue_slot(slot);
}

/* ---- statistics */

/* Another row than the first that a call site may have; NULL: the table is full. */
COLD struct site *search_site(const struct at *at, uint32_t row)
{
	uint32_t i;

	for (i = 0; i < SITES; i++, row = row + 1 < SITES ? row + 1 : 0) {
		struct site *site = &monitor.site[row];

		if (site->line == at->line && site->file == at->file)
			return site;
		if (!site->file) {
			site->file = at->file;
			site->func = at->func;
			site->line = at->line;
			monitor.used_sites++;
			return site;
		}
	}
	return NULL;
}

HOT struct site *find_site(const struct at *at)
{
	uint32_t row = scaled((uint32_t)((uintptr_t)at->file >> 2) + at->line * 31, SITES);
	struct site *site = &monitor.site[row];

	return !SMALL && site->line == at->line && site->file == at->file ? site
									  : search_site(at, row);
}

WARM unsigned class_of(size_t size)
{
	unsigned class = 0;

	size = (size - (size != 0)) | 15;
#ifdef __GNUC__
	class = 8 * sizeof(long) - 4 - (unsigned)__builtin_clzl(size);
#else
	while (size >>= 1)
		class++;
	class -= 3;
#endif
	return class < NR_CLASSES ? class : NR_CLASSES - 1;
}

static void count_call(size_t size, int call)
{
	monitor.class[class_of(size)].calls[call]++;
}

HOT void count_site(struct slot *slot, const struct at *at)
{
	struct site *site = find_site(at);

	slot->site = 0;
	if (!site)
		return;
	slot->site = (uint32_t)(site - monitor.site) + 1;
	site->nr_new++;
	site->bytes_new += slot->size;
	site->bytes_live += slot->size;
	if (site->bytes_live > site->bytes_peak)
		site->bytes_peak = site->bytes_live;
}

HOT void count_new(struct slot *slot, const struct at *at, int call)
{
	struct class *class = &monitor.class[class_of(slot->size)];
	struct pmm_stats *all = &monitor.stats;

	class->calls[call]++;
	class->bytes_new += slot->size;
	all->bytes_live += slot->size;
	if (all->bytes_live > all->bytes_peak)
		all->bytes_peak = all->bytes_live;
	if (++all->nr_live > all->nr_peak)
		all->nr_peak = all->nr_live;
	count_site(slot, at);
}

HOT void count_freed(struct slot *slot, unsigned calls)
{
	struct class *class = &monitor.class[class_of(slot->size)];

	class->calls[CALL_FREE] += calls;
	class->bytes_freed += slot->size;
	monitor.stats.bytes_live -= slot->size;
	monitor.stats.nr_live--;
	if (slot->site) {
		monitor.site[slot->site - 1].nr_freed++;
		monitor.site[slot->site - 1].bytes_live -= slot->size;
	}
}
