/*
 * What the static form notices of misuse: canaries beside blocks, kept and poisoned memory, pointers that are no block's.
 */
static const unsigned char canary[FRONT_BYTES] = {	/* no byte is of text or of a small number */
	0xE5, 0x9A, 0xD3, 0xB6, 0xF1, 0x8D, 0xC7, 0xAB, 0xE5, 0x9A, 0xD3, 0xB6, 0xF1, 0x8D, 0xC7, 0xAB
};

static void paint_block(const char *p, size_t size, size_t front, int behind)
{
	char *block = (char *)(uintptr_t)p;

	if (front)
		memcpy(block - FRONT_BYTES, canary, FRONT_BYTES);
	if (behind)
		memcpy(block + size, canary, CANARY_BYTES);
}

static size_t front_of(const struct slot *slot)
{
	return slot->front ? (size_t)1 << slot->front : 0;
}

static unsigned nr_changed(const char *at, size_t bytes)
{
	unsigned i, n = 0;

	for (i = 0; i < bytes; i++)
		n += (unsigned char)at[i] != canary[i];
	return n;
}

/* The block's description behind a finding, and where it was freed. */
static void tell_block(const struct at *at, const char *what, unsigned bytes, const char *where, const struct slot *slot)
{
	S.stats.nr_errors++;
	if (bytes)
		tell(at, "%s: %u byte%s %s block %p of %zu bytes from %s(%u) changed", what, bytes, bytes == 1 ? "" : "s", where,
			(void *)(uintptr_t)slot->address, slot->size, slot->file, (unsigned)slot->line);
	else
		tell(at, "%s %p of %zu bytes from %s(%u)%s", what, (void *)(uintptr_t)slot->address, slot->size, slot->file,
			(unsigned)slot->line, where);
	if (slot->freed_file && slot->freed_line) {
		put_text("pmm:     freed at %s(%u)\n", slot->freed_file, (unsigned)slot->freed_line);
		hand_on();
	}
}

static int inspect_slot(struct slot *slot, const struct at *at)
{
	unsigned behind = 0, before = 0;

	if (slot->behind && memcmp(slot->address + slot->size, canary, CANARY_BYTES))
		behind = nr_changed(slot->address + slot->size, CANARY_BYTES);
	if (slot->front && memcmp(slot->address - FRONT_BYTES, canary, FRONT_BYTES))
		before = nr_changed(slot->address - FRONT_BYTES, FRONT_BYTES);
	if (behind)
		tell_block(at, "overflow", behind, "behind", slot);
	if (before)
		tell_block(at, "underflow", before, "before", slot);
	if (!behind && !before)
		return 0;
	paint_block(slot->address, slot->size, slot->front, slot->behind);	/* tell it once */
	return 1;
}

/* 1: a kept block was written to, and it is told. */
static int inspect_kept(struct slot *slot, const struct at *at)
{
	char *block = (char *)(uintptr_t)slot->address;
	unsigned changed = 0;
	size_t i;

	for (i = 0; i < slot->size; i++)
		changed += (unsigned char)block[i] != POISON;
	if (!changed)
		return 0;
	tell_block(at, "write after free", changed, "of", slot);
	memset(block, POISON, slot->size);
	return 1;
}

static size_t inspect_all(const struct at *at)
{
	size_t nr = 0;
	uint32_t i;

	for (i = 0; i < S.used_slots; i++) {
		struct slot *slot = &S.slot[i];

		if (slot->state == LIVE || slot->state == IDLE)
			nr += (size_t)inspect_slot(slot, at);
		else if (slot->state == KEPT)
			nr += (size_t)inspect_kept(slot, at);
	}
	return nr;
}

/* ---- kept blocks */
static void release_kept(struct slot *slot)
{
	inspect_kept(slot, NULL);
	slot->state = DEAD;
	S.nr_kept--;
	S.kept_bytes -= slot->size;
	free((char *)(uintptr_t)slot->address - front_of(slot));
}

static void trim_kept(void)
{
	size_t most = option(PMM_KEEP);

	while (S.nr_kept && (S.kept_bytes > most || !most) && S.queue_kept) {
		struct slot *slot = &S.slot[S.queue_kept - 1];

		S.queue_kept = behind_in_queue(slot);
		if (slot->state == KEPT)
			release_kept(slot);
	}
}

static void keep_block(struct slot *slot)
{
	memset((char *)(uintptr_t)slot->address, POISON, slot->size);
	S.nr_kept++;
	S.kept_bytes += slot->size;
	trim_kept();
}

/* ---- pointers that are no block's */
#if defined(__ELF__) && defined(__GNUC__) && !defined(PMM_BARE)
extern char __executable_start[] __attribute__((weak));
extern char _end[] __attribute__((weak));
extern void *__libc_stack_end __attribute__((weak));
#define MAIN_STACK_BYTES ((uintptr_t)64 << 20)

static const char *place_of(const void *p)
{
	uintptr_t at = (uintptr_t)p, frame = (uintptr_t)__builtin_frame_address(0);
	uintptr_t start = (uintptr_t)__executable_start, end = (uintptr_t)_end;

	if (start && at >= start && at < end)
		return "static memory";
	if (&__libc_stack_end) {
		end = (uintptr_t)__libc_stack_end;
		if (frame < end && end - frame < MAIN_STACK_BYTES && at >= frame && at < end)
			return "on the stack";
	}
	return NULL;
}
#else
static const char *place_of(const void *p)
{
	(void)p;
	return NULL;
}
#endif

/* The live or kept block that p points into. */
static const struct slot *block_around(const char *p)
{
	uint32_t i;

	for (i = 0; i < S.used_slots; i++) {
		const struct slot *slot = &S.slot[i];

		if (1u << slot->state & (1 << LIVE | 1 << IDLE | 1 << KEPT) && p > slot->address && p < slot->address + slot->size)
			return slot;
	}
	return NULL;
}

static void *judge_stranger(const struct at *at, void *p)
{
	const struct slot *slot;
	const char *place;

	if (S.unsure)
		forget_dead();
	slot = find_slot(p, 1 << DEAD | 1 << KEPT | 1 << IDLE);
	if (slot && !(slot->state == DEAD && option(PMM_FOREIGN))) {
		tell_block(at, slot->state == IDLE ? "free of an idle pool block" : "double free of block", 0,
			slot->state == DEAD ? ", or free of one that code without pmm.h has there now (PMM_FOREIGN)" : "", slot);
		return NULL;
	}
	place = (uintptr_t)p & (sizeof(void *) - 1) ? "not aligned" : place_of(p);
	if (place) {
		S.stats.nr_errors++;
		tell(at, "free of %p, which is no block: %s", p, place);
		return NULL;
	}
	if (!S.full && !option(PMM_MIN_SIZE)) {	/* where strangers are rare a look at every slot may be spent on each */
		slot = block_around((const char *)p);
		if (slot) {
			tell_block(at, "free of a pointer into block", 0, "", slot);
			return NULL;
		}
	}
	S.stats.nr_foreign++;
	return p;
}
