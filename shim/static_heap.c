/* SPDX-License-Identifier: MIT */
/*
 * The allocation functions of the static form.
 *
 * Blocks come from the C library's own functions and, unless a front canary is asked for, have the
 * addresses that these return: code without pmm.h can free and resize them. The lock is not held
 * while the allocator works, but the block's slot is changed before the memory is released and
 * after it is had: another thread that gets the same address finds it free.
 */
static unsigned char log2_of(size_t value)
{
	unsigned char log = 0;

	while (value >>= 1)
		log++;
	return log;
}

static size_t bytes_live(void)
{
	return monitor.stats.bytes_live;
}

/* Requests for 0 bytes; under the lock. */
static void note_zero(const struct at *at)
{
	monitor.stats.nr_zero++;
	if (option(PMM_TELL_ZERO))
		say(at, "request for 0 bytes");
}

HOT int call_of(char entry)
{
	return entry == 'm'   ? CALL_MALLOC
	       : entry == 'c' ? CALL_CALLOC
	       : entry == 'r' ? CALL_REALLOC
			      : CALL_OTHER;
}

/* A request that fails. */
COLD void *fail(size_t size)
{
	if (enter()) {
		count_call(size, CALL_FAILED);
		leave();
	}
	errno = ENOMEM;
	return NULL;
}

/*
 * Real memory for a block with `front` bytes before and `extra` behind it; NULL: none, or the sum
 * is too big.
 */
HOT char *real_block(size_t front, size_t align, size_t size, size_t extra, int zero)
{
	size_t whole = front + size + extra;

	if (whole < size || whole > PTRDIFF_MAX)
		return NULL;
	if (align) {
		whole = (whole + align - 1) & ~(align - 1);
		return whole < size ? NULL : (char *)PMM_ALIGNED_ALLOC(align, whole);
	}
	return (char *)(zero ? calloc(1, whole) : malloc(whole));
}

/*
 * A slot for a request, with the form that options want the block to have; NULL: it passes. Under
 * the lock.
 */
static struct slot *slot_for(size_t size, size_t align)
{
	size_t canaries = option(PMM_CANARY);
	struct slot *slot;

	if (monitor.off || size < option(PMM_MIN_SIZE)) {
		monitor.stats.nr_passed++;
		return NULL;
	}
	slot = take_slot();
	if (slot) {
		slot->front = canaries & PMM_BEFORE
				      ? log2_of(align > FRONT_BYTES ? align : FRONT_BYTES)
				      : 0;
		slot->behind = (uint8_t)(canaries & PMM_BEHIND);
	} else {
		monitor.stats.nr_passed++;
	}
	return slot;
}

/* Where a call passes while this thread has the lock: nothing of the tables may be looked at. */
static void *pass_block(void *p)
{
	monitor.stats.nr_passed++;
	monitor.unsure = 1;
	monitor.plain = 0;
	return p;
}

/* Under the lock; the slot has the block's address and form. */
HOT void enter_block(struct slot *slot, const struct at *at, char entry, size_t size)
{
	fill_slot(slot, size, entry, at);
	count_new(slot, at, call_of(entry));
}

/*
 * What a slot was taken for is done: p is the block, or NULL. Without a slot p passes. Returns p;
 * without memory, fails.
 */
static void *settle_slot(struct slot *slot, const struct at *at, char entry, char *p, size_t size)
{
	enter();
	if (slot && p) {
		link_slot(slot, p);
		enter_block(slot, at, entry, size);
		paint_slot(slot);
	} else if (slot) {
		drop_slot(slot, STALE, NULL);	/* it was not needed */
	} else if (p) {
		forget_address(p);
	}
	leave();
	return p ? p : fail(size);
}

/*
 * A request where options want more than an entry in the tables: the slot is taken first, the
 * block's form follows from it.
 */
COLD void *get_with_care(const struct at *at, char entry, size_t align, size_t size, int zero)
{
	struct slot *slot;
	size_t front, fill = option(PMM_FILL_NEW);
	char *raw;

	if (!monitor.begun)
		begin();
	if (!enter())
		return pass_block(real_block(0, align, size, 0, zero));
	if (!size)
		note_zero(at);
	if (!admit(at, size)) {
		leave();
		return fail(size);
	}
	slot = slot_for(size, align);
	front = slot ? front_of(slot) : 0;
	leave();
	raw = real_block(front, align, size, slot && slot->behind ? CANARY_BYTES : 0, zero);
	if (raw) {
		raw += front;
		if (fill && !zero)
			memset(raw, (int)(fill & 255), size);
	}
	return settle_slot(slot, at, entry, raw, size);
}

static void *get_block(const struct at *at, char entry, size_t align, size_t size, int zero)
{
	struct slot *slot;
	char *p;

	if (SMALL || !monitor.plain)
		return kmod_new(at, entry, get_with_care(at, entry, align, size, zero), size);
	p = real_block(0, align, size, CANARY_BYTES, zero);
	if (!p)
		return fail(size);
	paint_block(p, size, 0, 1);
	if (!enter_fast())
		return kmod_new(at, entry, pass_block(p), size);
	if (!size)
		note_zero(at);
	slot = slot_of_new(p);
	if (slot) {
		slot->front = 0;
		slot->behind = 1;
		enter_block(slot, at, entry, size);
	} else {
		monitor.stats.nr_passed++;
	}
	leave_fast();
	return kmod_new(at, entry, p, size);
}

/*
 * Take a live block out of the tables; returns what the allocator must free, or NULL. Under the
 * lock.
 */
HOT void *release_slot(struct slot *slot, const struct at *at, unsigned calls)
{
	char *p = (char *)(uintptr_t)slot->address;
	size_t keep = option(PMM_KEEP), fill = option(PMM_FILL_FREED);

	if (!is_intact(slot))
		inspect_slot(slot, at);
	count_freed(slot, calls);
	if (!SMALL && monitor.plain && !slot->front) {
		drop_slot(slot, DEAD, at);
		return p;
	}
	if (keep && slot->size <= keep) {
		drop_slot(slot, RETAINED, at);
		retain_block(slot);
		return NULL;
	}
	drop_slot(slot, DEAD, at);
	if (fill)
		memset(p, (int)(fill & 255), slot->size);
	return slot->front ? p - front_of(slot) : p;
}

/* Free it when the lock can be had. */
static void defer_free(void *p)
{
	unsigned i;

	for (i = 0; i < NR_LATE; i++) {
		if (CLAIM(&monitor.late_free[i], p)) {
			monitor.late = 1;
			return;
		}
	}
	monitor.stats.nr_lost++;
}

static void put_block(const struct at *at, void *p, unsigned calls)
{
	struct slot *slot;

	kmod_free(at, p);
	if (!enter_fast()) {
		defer_free(p);
		return;
	}
	if (!monitor.plain && option(PMM_CHECK_ALWAYS))
		inspect_all(at);
	slot = find_slot_fast(p, 1 << LIVE);
	p = slot ? release_slot(slot, at, calls) : judge_stranger(at, p);
	leave_fast();
	if (p)
		free(p);
}

/* ---- the interface */
void *pmm_malloc(PMM_AT, size_t size)
{
	AT_OF_CALL;

	return get_block(&at, 'm', 0, size, 0);
}

void *pmm_calloc(PMM_AT, size_t nr, size_t size)
{
	AT_OF_CALL;

	if (size && nr > (size_t)-1 / size)
		return fail((size_t)-1);
	return get_block(&at, 'c', 0, nr * size, 1);
}

void pmm_free(PMM_AT, void *p)
{
	AT_OF_CALL;

	if (p)
		put_block(&at, p, 1);
}

char *pmm_strndup(PMM_AT, const char *text, size_t max)
{
	AT_OF_CALL;
	size_t len = 0;
	char *copy;

	while (len < max && text[len])
		len++;
	copy = (char *)get_block(&at, 'd', 0, len + 1, 0);
	if (copy) {
		memcpy(copy, text, len);
		copy[len] = 0;
	}
	return copy;
}

char *pmm_strdup(PMM_AT, const char *text)
{
	return pmm_strndup(file, line, func, text, strlen(text));
}

static int is_power_of_2(size_t value)
{
	return value && !(value & (value - 1));
}

void *pmm_aligned_alloc(PMM_AT, size_t align, size_t size)
{
	AT_OF_CALL;

	if (!is_power_of_2(align)) {
		errno = EINVAL;
		return NULL;
	}
	return get_block(&at, 'a', align < sizeof(void *) ? sizeof(void *) : align, size, 0);
}

int pmm_posix_memalign(PMM_AT, void **p, size_t align, size_t size)
{
	int saved = errno, error = 0;
	void *block;

	if (align < sizeof(void *))
		return EINVAL;
	block = pmm_aligned_alloc(file, line, func, align, size);
	if (block)
		*p = block;
	else
		error = errno;
	errno = saved;
	return error;
}

void *pmm_new(PMM_AT, size_t size, size_t align)
{
	AT_OF_CALL;

	return get_block(&at, 'n', align, size, 0);
}
