/* SPDX-License-Identifier: MIT */
/*
 * The full form's new blocks where the quick way (full_heap.c) does not do: before the ledger is
 * made, where options want more.
 */
void *full_no_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

static unsigned char log2_of(size_t value)
{
	unsigned char log = 0;

	while (value >>= 1)
		log++;
	return log;
}

/*
 * Real memory for a block with `front` bytes before and `extra` behind it; NULL: none, or the sum
 * is too big.
 */
static char *real_block(size_t front, size_t align, size_t size, size_t extra, int zero)
{
	size_t whole = front + size + extra;

	if (whole < size || whole > PTRDIFF_MAX - align)
		return NULL;
	if (align)
		return (char *)real_aligned_alloc(align, (whole + align - 1) & ~(align - 1));
	return (char *)(zero ? real_calloc(whole) : real_malloc(whole));
}

static void *refuse(const struct full_call *call, char entry, size_t size)
{
	struct tctx *c = full_enter(call);

	if (c)
		monitor.table->failed(
			c, size,
			full_site(c, call,
				  PMM_SRCLOC_BEHIND | (uint32_t)entry << PMM_SRCLOC_ENTRY_SHIFT));
	else
		monitor.stats.nr_failed++;
	full_leave(c);
	return full_no_memory();
}

/* How a block of these options is in its real one: its site's flags. */
static uint32_t form_of(char entry, size_t align)
{
	size_t canaries = option(PMM_CANARY), front = align > FRONT_BYTES ? align : FRONT_BYTES;

	return (canaries & PMM_BEHIND ? PMM_SRCLOC_BEHIND : 0u) |
	       (canaries & PMM_BEFORE ? (uint32_t)log2_of(front) << PMM_SRCLOC_FRONT_SHIFT : 0u) |
	       (uint32_t)entry << PMM_SRCLOC_ENTRY_SHIFT;
}

/*
 * Bytes behind a block: its canary; and of those with something before them so much that the
 * allocator's next block is a place of the ledger, 32 bytes, further on, though that one begins
 * where the allocator's does.
 */
static size_t extra_of(uint32_t flags, size_t size)
{
	size_t extra = flags & PMM_SRCLOC_BEHIND ? CANARY_BYTES : 0,
	       least = front_of_flags(flags) ? 24 : 0;

	return size < least && size + extra < least ? least - size : extra;
}

/* A request that passes: as the C library has it. */
static void *pass_block(struct tctx *c, size_t align, size_t size, int zero)
{
	char *p;

	full_calling(c, true);
	p = real_block(0, align, size, 0, zero);
	full_calling(c, false);
	__atomic_fetch_add(&monitor.stats.nr_passed, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&monitor.stats.nr_zero, !size, __ATOMIC_RELAXED);
	if (c && p)
		monitor.table->forget(c, p);
	full_freed_at(p)->unlike = 0;
	full_leave(c);
	return p ? p : full_no_memory();
}

/* A forked child must know where the real block begins. */
static void note_front(const char *p, size_t size, uint32_t flags)
{
	struct slot slot;

	memset(&slot, 0, sizeof(slot));
	slot.address = p;
	slot.size = size;
	slot.front = (uint8_t)(flags >> PMM_SRCLOC_FRONT_SHIFT & 255);
	note_before(&slot);
}

static void *get_tracked(struct tctx *c, const struct full_call *call, char entry, uint32_t kind,
			 size_t align, size_t size, int zero)
{
	uint32_t flags = form_of(entry, align), site = full_site(c, call, flags);
	size_t front, fill = option(PMM_FILL_NEW);
	char *p;

	if (!site)
		return pass_block(c, align, size, zero);
	front = front_of_flags(flags);
	full_calling(c, true);
	p = real_block(front, align, size, extra_of(flags, size), zero);
	full_calling(c, false);
	if (p) {
		p += front;
		if (front)
			paint_front(p);
		if (fill && !zero)
			memset(p, (int)(fill & 255), size);
		monitor.table->note(c, p, size, kind, site, flags);
	} else {
		monitor.table->failed(c, size, site);
	}
	full_leave(c);
	if (!p)
		return full_no_memory();
	if (front && enter()) {
		note_front(p, size, flags);
		leave();
	}
	return p;
}

void *full_get(const struct full_call *call, char entry, uint32_t kind, size_t align, size_t size,
	       int zero)
{
	const struct at at = at_of(call);
	struct tctx *c;

	if (!monitor.begun)
		begin_full();
	if (enter()) {
		int admitted;

		if (!size && option(PMM_TELL_ZERO))
			say(&at, "request for 0 bytes");
		admitted = admit(&at, size);
		leave();
		if (!admitted)
			return refuse(call, entry, size);
	}
	c = full_enter(call);
	if (!c || monitor.off || size < option(PMM_MIN_SIZE))
		return pass_block(c, align, size, zero);
	return get_tracked(c, call, entry, kind, align, size, zero);
}
