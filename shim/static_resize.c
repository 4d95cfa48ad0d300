/* SPDX-License-Identifier: MIT */
/*
 * realloc() in the static form: in place by the allocator's own, unless what is freed must be kept
 * or filled.
 */

/* By a new block and a copy; `size` is what of the old one there is to copy, at most. */
static void *resize_by_copy(const struct at *at, void *p, size_t old_size, size_t size)
{
	void *fresh = get_block(at, 'r', 0, size, 0);

	if (fresh) {
		memcpy(fresh, p, old_size < size ? old_size : size);
		put_block(at, p, 0);
	}
	return fresh;
}

/*
 * A block that has no slot: resized by the allocator, tracked from now on if there is a slot.
 * Leaves the lock that it comes with.
 */
static void *resize_stranger(const struct at *at, void *p, size_t size)
{
	struct slot *slot;
	char *fresh;
	size_t extra = 0;
	int out;

	p = judge_stranger(at, p);
	slot = p ? slot_for(size, 0) : NULL;
	if (slot) {
		slot->front = 0;
		extra = slot->behind ? CANARY_BYTES : 0;
	}
	leave();
	if (!p)
		return fail(size);
	out = kmod_moving(at, p);
	fresh = size > PTRDIFF_MAX - extra ? NULL : (char *)realloc(p, size + extra);
	kmod_moved(at, p, 0, fresh, size, out);
	return settle_slot(slot, at, 'r', fresh, size);
}

/* After realloc() of a tracked block, which the slot still says MOVING of. Under the lock. */
static void end_move(struct slot *slot, const struct at *at, char *fresh, size_t size)
{
	size_t fill = option(PMM_FILL_NEW), old_size = slot->size;

	count_freed(slot, 0);
	link_slot(slot, fresh);
	fill_slot(slot, size, 'r', at);
	count_new(slot, at, CALL_REALLOC);
	paint_block(fresh, size, slot->front, slot->behind);
	if (fill && size > old_size)
		memset(fresh + old_size, (int)(fill & 255), size - old_size);
}

static void *resize_block(const struct at *at, void *p, size_t size)
{
	struct slot *slot;
	size_t front, extra, old_size;
	char *fresh;
	int out;

	if (!enter())
		return fail(size); /* below a signal handler: whether and how the block is tracked
				      cannot be known */
	slot = find_slot(p, 1 << LIVE);
	if (!slot)
		return resize_stranger(at, p, size);
	old_size = slot->size;
	if (option(PMM_KEEP) || option(PMM_FILL_FREED) || slot->front > 4) {
		leave();
		return resize_by_copy(at, p, old_size, size);
	}
	inspect_slot(slot, at);
	if (!monitor.plain && !admit(at, size > old_size ? size - old_size : 0)) {
		leave();
		return fail(size);
	}
	front = front_of(slot);
	extra = front + (slot->behind ? CANARY_BYTES : 0);
	slot->state = MOVING;
	leave();
	out = kmod_moving(at, p);
	fresh = size > PTRDIFF_MAX - extra ? NULL
					   : (char *)realloc((char *)p - front, size + extra);
	enter();
	if (fresh)
		end_move(slot, at, fresh + front, size);
	slot->state = LIVE;
	leave();
	kmod_moved(at, p, old_size, fresh ? fresh + front : NULL, size, out);
	return fresh ? fresh + front : fail(size);
}

void *pmm_realloc(PMM_AT, void *p, size_t size)
{
	AT_OF_CALL;

	if (!p)
		return get_block(&at, 'r', 0, size, 0);
	if (size)
		return resize_block(&at, p, size);
	put_block(&at, p, 1);
	return NULL;
}

void *pmm_reallocarray(PMM_AT, void *p, size_t nr, size_t size)
{
	if (size && nr > (size_t)-1 / size)
		return fail((size_t)-1);
	return pmm_realloc(file, line, func, p, nr * size);
}
