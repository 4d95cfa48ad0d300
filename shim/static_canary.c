/* SPDX-License-Identifier: MIT */
/*
 * What the static form notices of misuse: the tables searched for damage, retained blocks, pointers
 * that no block has.
 */
HOT void paint_block(const char *p, size_t size, size_t front, int behind)
{
	char *block = (char *)(uintptr_t)p;

	if (front)
		memcpy(block - FRONT_BYTES, canary, FRONT_BYTES);
	if (behind)
		memcpy(block + size, canary, CANARY_BYTES);
}

static void paint_slot(const struct slot *slot)
{
	paint_block(slot->address, slot->size, slot->front, slot->behind);
}

static unsigned changed_behind(const struct slot *slot)
{
	const char *end = slot->address + slot->size;

	return memcmp(end, canary, CANARY_BYTES) ? nr_changed(end, CANARY_BYTES) : 0;
}

HOT int is_intact(const struct slot *slot)
{
	return !(slot->behind && memcmp(slot->address + slot->size, canary, CANARY_BYTES)) &&
		!(slot->front && memcmp(slot->address - FRONT_BYTES, canary, FRONT_BYTES));
}

/*
 * Damage is reported once. What is behind a block stays as it is: it is another's memory where
 * code without pmm.h freed the block, or filled what malloc_usable_size() says.
 */
static int inspect_slot(struct slot *slot, const struct at *at)
{
	unsigned behind = slot->behind ? changed_behind(slot) : 0;
	unsigned before = slot->front ? nr_changed(slot->address - FRONT_BYTES, FRONT_BYTES) : 0;

	if (behind) {
		slot->behind = 0;
		tell_block(at, "overflow", behind, "behind", slot);
	}
	if (before) {
		tell_block(at, "underflow", before, "before", slot);
		memcpy((char *)(uintptr_t)slot->address - FRONT_BYTES, canary, FRONT_BYTES);
	}
	return behind || before;
}

/* Can its canaries be read? Asked once a page, where blocks follow one another. */
static int can_look(const struct slot *slot, uintptr_t *known)
{
	const char *end = slot->address + slot->size;
	uintptr_t page = (uintptr_t)end >> 12;

	if ((page != *known || (uintptr_t)(end + CANARY_BYTES - 1) >> 12 != page) &&
	    !pmm_readable(end, CANARY_BYTES))
		return 0;
	*known = page;
	return !slot->front || pmm_readable(slot->address - FRONT_BYTES, FRONT_BYTES);
}

static size_t inspect_all(const struct at *at)
{
	uintptr_t page = 0;
	size_t nr = 0;
	uint32_t i;

	for (i = 0; i < monitor.used_slots; i++) {
		struct slot *slot = &monitor.slot[i];

		if ((slot->state == LIVE || slot->state == IDLE) &&
		    (at || (can_look(slot, &page) && (is_intact(slot) || !is_given_back(slot)))))
			nr += (size_t)inspect_slot(slot, at);
		else if (slot->state == RETAINED)
			nr += (size_t)inspect_retained(slot, at);
	}
	return nr;
}

/* ---- retained blocks */
static void release_retained(struct slot *slot)
{
	inspect_retained(slot, NULL);
	slot->state = DEAD;
	monitor.nr_retained--;
	monitor.retained_bytes -= slot->size;
	free((char *)(uintptr_t)slot->address - front_of(slot));
}

static void trim_retained(void)
{
	size_t most = option(PMM_KEEP);

	while (monitor.nr_retained && (monitor.retained_bytes > most || !most) &&
	       monitor.queue_retained) {
		struct slot *slot = &monitor.slot[monitor.queue_retained - 1];

		monitor.queue_retained = behind_in_queue(slot);
		if (slot->state == RETAINED)
			release_retained(slot);
	}
}

static void retain_block(struct slot *slot)
{
	memset((char *)(uintptr_t)slot->address, POISON, slot->size);
	monitor.nr_retained++;
	monitor.retained_bytes += slot->size;
	trim_retained();
}

/* ---- pointers that are no block's */

/*
 * The live or retained block that p points into. One whose canary is gone may have been freed by
 * code without pmm.h, and its memory be anybody's now; so may one that has none.
 */
static const struct slot *block_around(const char *p)
{
	uint32_t i;

	for (i = 0; i < monitor.used_slots; i++) {
		const struct slot *slot = &monitor.slot[i];

		if (!(1u << slot->state & (1 << LIVE | 1 << IDLE | 1 << RETAINED)) ||
		    p <= slot->address || p >= slot->address + slot->size)
			continue;
		if (slot->state != LIVE || ((slot->behind || slot->front) && is_intact(slot)))
			return slot;
	}
	return NULL;
}

enum { MAX_LOOKS = 1 << 26 };	/* at slots in the program's life: about a tenth of a second */

/* Whether an odd pointer cannot be the allocator's, and the reason is reported. */
static int judge_pointer(const struct at *at, const void *p)
{
	const char *place = (uintptr_t)p & (sizeof(void *) - 1) ? "not aligned" : memory_of(p);
	const struct slot *slot;

	if (place) {
		monitor.stats.nr_errors++;
		say(at, "free of %p, no block: %s", (void *)(uintptr_t)p, place);
		return 1;
	}
	if (monitor.full || option(PMM_MIN_SIZE) ||
	    (uint64_t)monitor.stats.nr_foreign * monitor.used_slots > MAX_LOOKS)
		return 0; /* strangers are no rarity: a look at every slot is too much for each */
	slot = block_around((const char *)p);
	if (!slot)
		return 0;
	tell_block(at, "free of a pointer into block", 0, "", slot);
	return 1;
}

static void *judge_stranger(const struct at *at, void *p)
{
	const struct slot *slot;
	int wrong;

	if (monitor.unsure)
		forget_dead();
	slot = find_slot(p, 1 << DEAD | 1 << RETAINED | 1 << IDLE);
	if (slot && slot->state == DEAD) {
		wrong = judge_dead(at, slot);
	} else if (slot) {
		tell_block(at,
			   slot->state == IDLE ? "free of an idle pool block"
					       : "double free of block",
			   0, "", slot);
		wrong = 1;
	} else {
		wrong = judge_pointer(at, p);
	}
	if (wrong)
		return NULL;
	monitor.stats.nr_foreign++;
	return p;
}
