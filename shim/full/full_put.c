/* SPDX-License-Identifier: MIT */
/*
 * The full form's released and resized blocks where the quick way (full_heap.c) does not do.
 */

/* Look at a block of ours: no other code releases it. gone: it was taken out of the ledger. */
static void inspect_own(const struct full_call *call, const struct full_block *b, int gone)
{
	const struct at at = at_of(call);
	struct slot slot = slot_of(b);
	unsigned behind = 0, before = 0;
	uint64_t word;
	struct reported *reported;

	if (slot.behind) {
		memcpy(&word, b->address + b->size, sizeof(word));
		behind = monitor.table->changed_behind(b, word);
	}
	if (slot.front)
		before = nr_changed(b->address - FRONT_BYTES, FRONT_BYTES);
	if (!behind && !before)
		return;
	if (!enter()) {
		__atomic_fetch_add(&monitor.stats.nr_errors, 1, __ATOMIC_RELAXED);
		return;
	}
	reported = find_reported(b);
	if (!reported)
		tell_damage(&at, behind, before, &slot);
	if (reported && gone)
		reported->unlike = 0;
	else if (!reported && !gone)
		note_told(b);
	leave();
}

void full_damaged(const struct full_call *call, const struct full_block *b)
{
	inspect_own(call, b, 1);
}

/*
 * What the allocator must free of a block that was taken out of the ledger; NULL: nothing, it is
 * kept.
 */
static char *release(const struct full_call *call, const struct full_block *b)
{
	const struct at at = at_of(call);
	size_t keep = option(PMM_KEEP), fill = option(PMM_FILL_FREED);
	struct slot slot = slot_of(b);
	char *start = (char *)(uintptr_t)b->address - front_of(&slot);
	int kept = 0;

	inspect_own(call, b, 1);
	if ((slot.front || keep) && enter()) {
		if (slot.front)
			drop_before(b->address);
		kept = slot.size && slot.size <= keep && retain_block(&slot, &at);
		leave();
	}
	if (kept)
		return NULL;
	full_note_freed(b->address, b->size, b->site, call->file, call->line);
	if (fill)
		memset((char *)(uintptr_t)b->address, (int)(fill & 255), b->size);
	return start;
}

void full_stranger(const struct full_call *call, void *p)
{
	const struct at at = at_of(call);

	if (!monitor.begun)
		begin_full();
	if (monitor.table && enter()) {
		p = judge_stranger(&at, p);
		leave();
	}
	free(p);	/* not past a preloaded agent: it may know the block */
}

static void tell_idle(const struct at *at, const struct full_block *b)
{
	struct slot slot = slot_of(b);

	if (enter()) {
		tell_block(at, "free of an idle pool block", 0, "", &slot);
		leave();
	}
}

void full_put(const struct full_call *call, void *p)
{
	const struct at at = at_of(call);
	struct full_block b;
	struct tctx *c;

	if (option(PMM_CHECK_ALWAYS) && enter()) {
		inspect_all(&at);
		leave();
	}
	c = full_enter(call);
	if (!c || !monitor.table->remove(c, p, &b)) {
		full_leave(c);
		full_stranger(call, p);
		return;
	}
	if (b.flags & PMM_SRCLOC_IDLE) {
		monitor.table->restore(c, &b);
		full_leave(c);
		tell_idle(&at, &b);
		return;
	}
	p = release(call, &b);
	full_calling(c, true);
	real_free(p);
	full_leave(c);
}

/* ---- realloc */

/* By a new block and a copy, of `old_size` bytes at most. */
static void *resize_by_copy(const struct full_call *call, void *p, size_t old_size, size_t size)
{
	void *fresh = full_get(call, 'r', PMM_KIND_REALLOC, 0, size, 0);

	if (fresh) {
		full_log_new(call, 'r', fresh, size);
		memcpy(fresh, p, old_size < size ? old_size : size);
		full_log_free(call, p);
		full_put(call, p);
	}
	return fresh;
}

/* A block that is not in the ledger: resized by the allocator, and in it from now on. */
static void *resize_stranger(struct tctx *c, const struct full_call *call, void *p, size_t size)
{
	const struct at at = at_of(call);
	uint32_t flags = PMM_SRCLOC_BEHIND | (uint32_t)'r' << PMM_SRCLOC_ENTRY_SHIFT, site;
	int tracked = c && !monitor.off && size >= option(PMM_MIN_SIZE);
	void *start = p;
	size_t old_size;
	char *fresh;
	int out;

	if (is_of_parent(p, &old_size)) {	/* what is before it would be moved along */
		full_leave(c);
		return resize_by_copy(call, p, old_size, size);
	}
	if (monitor.table && enter()) {
		start = judge_stranger(&at, p);
		leave();
	}
	if (!start) {
		full_leave(c);
		return refuse(call, 'r', size);
	}
	site = tracked ? full_site(c, call, flags) : 0;
	full_calling(c, true);
	out = kmod_moving(&at, p);
	fresh = size > PTRDIFF_MAX - CANARY_BYTES
			? NULL
			: (char *)real_realloc(p, size + (site ? CANARY_BYTES : 0));
	kmod_moved(&at, p, 0, fresh, size, out);
	full_calling(c, false);
	if (fresh && site)
		monitor.table->note(c, fresh, size, PMM_KIND_REALLOC, site, flags);
	else if (fresh && c)
		monitor.table->forget(c, fresh);
	else if (!fresh && site)
		monitor.table->failed(c, size, site);
	if (fresh && !site) {
		full_freed_at(fresh)->unlike = 0;
		__atomic_fetch_add(&monitor.stats.nr_passed, 1, __ATOMIC_RELAXED);
	}
	full_leave(c);
	return fresh ? fresh : full_no_memory();
}

/* A block that full_take_moving() took out: through the allocator. */
static void *resize_taken(struct tctx *c, const struct full_call *call, struct full_block *b,
			  size_t size)
{
	uint32_t flags = (b->flags & ~(255u << PMM_SRCLOC_ENTRY_SHIFT)) |
			 (uint32_t)'r' << PMM_SRCLOC_ENTRY_SHIFT,
		 site = full_site(c, call, flags);
	size_t front = front_of_flags(b->flags), extra = front + extra_of(flags, size),
	       fill = option(PMM_FILL_NEW);
	char *p = (char *)(uintptr_t)b->address, *fresh = NULL;
	const struct at at = at_of(call);
	int out;

	if (site && size <= PTRDIFF_MAX - extra) {
		full_calling(c, true);
		out = kmod_moving(&at, p);
		fresh = (char *)real_realloc(p - front, size + extra);
		kmod_moved(&at, p, b->size, fresh ? fresh + front : NULL, size, out);
		full_calling(c, false);
	}
	if (fresh) {
		fresh += front;
		if (front)
			paint_front(fresh);
		monitor.table->note(c, fresh, size, PMM_KIND_REALLOC, site, flags);
		if (fill && size > b->size)
			memset(fresh + b->size, (int)(fill & 255), size - b->size);
	} else {
		monitor.table->restore(c, b);
		monitor.table->failed(c, size, site);
	}
	monitor.table->moved(c);
	full_leave(c);
	if (fresh && front && enter()) {
		drop_before(p);
		note_front(fresh, size, b->flags);
		leave();
	}
	return fresh ? fresh : full_no_memory();
}

void *full_resize(const struct full_call *call, void *p, size_t size)
{
	const struct at at = at_of(call);
	struct full_block b;
	struct tctx *c;
	int by_copy;

	if (!monitor.begun)
		begin_full();
	c = full_enter(call);
	if (!c || !full_look(p, &b))
		return resize_stranger(c, call, p, size);
	if (b.flags & PMM_SRCLOC_IDLE) {
		full_leave(c);
		tell_idle(&at, &b);
		return refuse(call, 'r', size);
	}
	by_copy = option(PMM_KEEP) || option(PMM_FILL_FREED) ||
		  front_of_flags(b.flags) > FRONT_BYTES;
	if (by_copy) {
		full_leave(c);
		return resize_by_copy(call, p, b.size, size);
	}
	if (full_careful && enter()) {
		int admitted = admit(&at, size > b.size ? size - b.size : 0);

		leave();
		if (!admitted) {
			full_leave(c);
			return refuse(call, 'r', size);
		}
	}
	inspect_own(call, &b, 1);
	if (!monitor.table->remove_moving(c, p, size, &b)) {
		monitor.table->moved(c);
		return resize_stranger(c, call, p, size);
	}
	return resize_taken(c, call, &b, size);
}
