/* SPDX-License-Identifier: MIT */
/*
 * What the full form notices of misuse: its blocks are in the ledger and become a `struct slot`
 * when one is looked at. Retained ones are in a list of their own: for the ledger they are
 * released.
 */
static struct slot slot_of(const struct full_block *b)
{
	struct slot slot;

	memset(&slot, 0, sizeof(slot));
	slot.address = b->address;
	slot.size = b->size;
	slot.file = b->file;
	slot.line = b->line;
	slot.number = b->number;
	slot.time = b->time;
	slot.entry = (char)(b->flags >> PMM_SRCLOC_ENTRY_SHIFT & 255);
	slot.state = b->flags & PMM_SRCLOC_IDLE ? IDLE : LIVE;
	slot.front = (uint8_t)(b->flags >> PMM_SRCLOC_FRONT_SHIFT & 255);
	slot.behind = (b->flags & PMM_SRCLOC_BEHIND) != 0;
	return slot;
}

static void paint_front(const char *p)
{
	memcpy((char *)(uintptr_t)p - FRONT_BYTES, canary, FRONT_BYTES);
}

static size_t front_of_flags(uint32_t flags)
{
	unsigned log = flags >> PMM_SRCLOC_FRONT_SHIFT & 255;

	return log ? (size_t)1 << log : 0;
}

static void tell_damage(const struct at *at, unsigned behind, unsigned before,
			const struct slot *slot)
{
	if (behind)
		tell_block(at, "overflow", behind, "behind", slot);
	if (before)
		tell_block(at, "underflow", before, "before", slot);
}

/* ---- damage that was reported: an inspection of blocks that others own never writes to them */
static struct reported *find_reported(const struct full_block *b)
{
	unsigned i;

	for (i = 0; i < NR_REPORTED; i++) {
		struct reported *t = &monitor.reported[i];

		if (t->unlike == full_unlike(b->address) && t->size == b->size &&
		    t->time == b->time)
			return t;
	}
	return NULL;
}

static void note_told(const struct full_block *b)
{
	struct reported *t = &monitor.reported[monitor.next_reported++ % NR_REPORTED];

	t->unlike = full_unlike(b->address);
	t->size = b->size;
	t->time = b->time;
}

/*
 * Bytes changed behind and before a block that another thread may release just now; 0: none, or it
 * is not there any more.
 */
static int look_for_damage(const struct full_block *b, unsigned *behind, unsigned *before)
{
	char front[FRONT_BYTES];
	uint64_t word = 0;

	*behind = *before = 0;
	if (b->flags & PMM_SRCLOC_BEHIND &&
	    monitor.table->peek(b->address + b->size, &word, sizeof(word)))
		*behind = monitor.table->changed_behind(b, word);
	if (front_of_flags(b->flags) &&
	    monitor.table->peek(b->address - FRONT_BYTES, front, FRONT_BYTES))
		*before = nr_changed(front, FRONT_BYTES);
	return (*behind || *before) && monitor.table->still(b);
}

/*
 * 1: a live block is damaged, and it is reported. A block that is released and given out again
 * between two looks is whole at the next one.
 */
static size_t inspect_block(const struct full_block *b, const struct at *at)
{
	unsigned behind, before, i;
	struct slot slot;

	for (i = 0; i < 3; i++)
		if (!look_for_damage(b, &behind, &before))
			return 0;
	if (find_reported(b))
		return 0;
	slot = slot_of(b);
	if (!at && is_given_back(&slot))
		return 0;
	tell_damage(at, behind, before, &slot);
	note_told(b);
	return 1;
}

/* What looking at all blocks has found so far. */
struct inspection {
	const struct at *at;
	size_t nr;
};

static int inspect_one(void *ctx, const struct full_block *b)
{
	struct inspection *all = (struct inspection *)ctx;

	if (front_of_flags(b->flags) ||
	    (b->flags & PMM_SRCLOC_BEHIND && monitor.table->changed_behind(b, b->behind)))
		all->nr += inspect_block(b, all->at);
	return 0;
}

static size_t inspect_all(const struct at *at)
{
	struct inspection all = { at, 0 };
	struct listed *k;

	full_each(inspect_one, &all);
	for (k = monitor.retained.first; k; k = k->next)
		all.nr += (size_t)inspect_retained(&k->slot, at);
	return all.nr;
}

/* ---- retained blocks */
static void trim_retained(void)
{
	size_t most = option(PMM_KEEP);

	while (monitor.retained.first && (monitor.retained_bytes > most || !most)) {
		struct listed *k = list_take(&monitor.retained,
					     monitor.retained.first->slot.address);

		inspect_retained(&k->slot, NULL);
		monitor.retained_bytes -= k->slot.size;
		real_free((char *)(uintptr_t)k->slot.address - front_of(&k->slot));
		listed_drop(k);
	}
}

/* Poison a released block and keep it; 0: there is no memory for that. May release older ones. */
static int retain_block(const struct slot *slot, const struct at *at)
{
	struct listed *k = listed_new();

	if (!k)
		return 0;
	k->slot = *slot;
	k->slot.state = RETAINED;
	k->slot.freed_file = own_text(at->file);
	k->slot.freed_line = at->line;
	memset((char *)(uintptr_t)slot->address, POISON, slot->size);
	list_add(&monitor.retained, k);
	monitor.retained_bytes += slot->size;
	trim_retained();
	return 1;
}

/* ---- blocks with something before them: a forked child has their memory and not their ledger */

/* How they are listed. */
static const char *unlike(const void *p)
{
	return (const char *)full_unlike(p);
}

static void note_before(const struct slot *slot)
{
	struct listed *k = listed_new();

	if (!k)
		return;
	k->slot = *slot;
	k->slot.address = unlike(slot->address);
	list_add(&monitor.before, k);
}

/* Forget one; returns where its real block begins, or p if it is none of these. */
static char *drop_before(const void *p)
{
	struct listed *k = list_take(&monitor.before, unlike(p));
	char *start = (char *)(uintptr_t)p;

	if (k) {
		start -= front_of(&k->slot);
		listed_drop(k);
	}
	return start;
}

/* Of a block that a parent put something before, size *bytes; 1: p is one. */
static int is_of_parent(const void *p, size_t *bytes)
{
	const struct slot *slot;

	if (!monitor.before.first || !enter())
		return 0;
	slot = list_find(&monitor.before, unlike(p));
	if (slot)
		*bytes = slot->size;
	leave();
	return slot != NULL;
}

/* ---- pointers that no block has */
#define MAX_TEXT	4096

/* A text that was not copied, if it is there still. */
static const char *text_there(const char *text)
{
	size_t n;

	for (n = 0; text && n < MAX_TEXT; n++) {
		if ((!n || !((uintptr_t)(text + n) & (PMM_PAGE - 1))) && !pmm_readable(text + n, 1))
			break;
		if (!text[n])
			return text;
	}
	return "?";
}

static int tell_freed(const struct at *at, const void *p)
{
	const struct slot *kept = list_find(&monitor.retained, p);
	const struct full_freed *f = full_freed_at(p);
	struct full_block b;
	struct slot slot;

	if (kept) {
		tell_block(at, "double free of block", 0, "", kept);
		return 1;
	}
	if (!monitor.table || f->unlike != full_unlike(p))
		return 0;
	memset(&b, 0, sizeof(b));
	monitor.table->place(f->site, &b);
	b.address = (const char *)p;
	b.size = f->size;
	slot = slot_of(&b);
	slot.freed_file = text_there(f->file);
	slot.freed_line = f->line;
	slot.state = DEAD;
	return judge_dead(at, &slot);
}

/* The real block to be freed, NULL after an error was reported. */
static void *judge_stranger(const struct at *at, void *p)
{
	struct full_block b;
	struct slot slot;
	const char *place;
	char *start;

	if (tell_freed(at, p))
		return NULL;
	start = drop_before(p);
	if (start != p) {
		monitor.stats.nr_foreign++;
		return start;
	}
	place = (uintptr_t)p & (sizeof(void *) - 1) ? "not aligned" : memory_of(p);
	if (place) {
		monitor.stats.nr_errors++;
		say(at, "free of %p, no block: %s", p, place);
		return NULL;
	}
	if (monitor.table && monitor.table->around(p, &b)) {
		slot = slot_of(&b);
		tell_block(at, "free of a pointer into block", 0, "", &slot);
		return NULL;
	}
	monitor.stats.nr_foreign++;
	return p;
}
