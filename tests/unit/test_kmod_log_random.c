/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmod/pmm_log.c beside a model: random requests, memory that runs out, limits, an emptied log,
 * while cursors are begun, looked at and ended at any moment. time_ns numbers the entries.
 */
#include "tests/unit/unit.h"

#include "kmod/pmm_log.h"
#include "tests/unit/kmod_sum.h"

#define SEED		42
#define NR_POINTERS	200
#define NR_CURSORS	4
#define PAGE		0x1000ull

struct model_entry {
	u64 number;		/* 0: none is outstanding at that pointer */
	u64 bytes;
	unsigned kind;
};

static struct model_entry model[NR_POINTERS + 8];	/* [pointer / PAGE] */
static u64 model_freed[256];
static struct pmm_log_counts model_counts;
static u64 model_entries, model_bytes, numbers;
static u32 model_spares;
static struct pmm_log_limits limits;
static struct pmm_log the_log;

static struct cursor {
	struct pmm_log_cursor cursor;
	bool on;
	u64 after;		/* the number of the entry before it */
} cursors[NR_CURSORS];

static u32 random_state;

static u32 random_below(u32 n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (u32)(((u64)random_state * n) >> 32);
}

static u64 *freed_of(u64 pointer)
{
	return &model_freed[pmm_os_hash(pointer, SEED) >> 24];
}

/* The oldest entry of the model after a number; 0: none. */
static u64 model_next(u64 after, u64 *number)
{
	u64 found = 0;

	*number = 0;
	for (u64 at = 1; at < NR(model); at++)
		if (model[at].number > after && (!*number || model[at].number < *number)) {
			*number = model[at].number;
			found = at;
		}
	return found;
}

static void model_drop(u64 at)
{
	if (model_spares < PMM_LOG_NR_SPARES)
		model_spares++;
	model_entries--;
	model_bytes -= model[at].bytes;
	model[at] = (struct model_entry){ 0 };
}

static void model_lose(u64 at)
{
	model_counts.lost_bytes += model[at].bytes;
	model_drop(at);
}

static void model_evict(u64 most)
{
	u64 number;

	for (; most && model_entries; most--) {
		model_lose(model_next(0, &number));
		model_counts.evicted++;
	}
}

static void model_wrong(u64 at)
{
	if (*freed_of(at * PAGE) == at * PAGE)
		model_counts.double_frees++;
	else if (!model[at].number && model_counts.evicted_frees < model_counts.evicted)
		model_counts.evicted_frees++;
	else
		model_counts.foreign_frees++;
}

static void model_take(u64 at)
{
	if (!model[at].number) {
		model_wrong(at);
		return;
	}
	model_counts.frees++;
	model_counts.freed_bytes += model[at].bytes;
	model_drop(at);
	*freed_of(at * PAGE) = at * PAGE;
}

static void model_add(u64 at, u64 bytes, unsigned kind, u64 number)
{
	model_counts.allocations++;
	model_counts.allocated_bytes += bytes;
	if (*freed_of(at * PAGE) == at * PAGE)
		*freed_of(at * PAGE) = 0;
	if (model[at].number) {
		model_counts.replaced++;
		model_lose(at);
	}
	if (model_entries >= limits.entries_per_process ||
	    model_entries >= limits.entries_in_all) {
		model_counts.over_limit++;
		model_counts.lost_bytes += bytes;
		return;
	}
	if (!pmm_os_allocs_left && !model_spares)
		model_evict(1 + model_entries / 64);
	if (!pmm_os_allocs_left && !model_spares) {
		model_counts.no_memory++;
		model_counts.lost_bytes += bytes;
		return;
	}
	model_spares -= !!model_spares;
	model[at] = (struct model_entry){ number, bytes, kind };
	model_entries++;
	model_bytes += bytes;
	if (model_entries > model_counts.peak_entries)
		model_counts.peak_entries = model_entries;
	if (model_bytes > model_counts.peak_bytes)
		model_counts.peak_bytes = model_bytes;
}

static void model_unmap(u64 at, u64 bytes)
{
	struct model_entry e = model[at];

	if (e.number && e.kind != PMM_KMOD_MMAP) {
		model_wrong(at);
	} else if (!e.number || !bytes || bytes >= e.bytes) {
		model_take(at);
	} else {
		u64 to = at + bytes / PAGE;

		if (model[to].number) {
			model_counts.replaced++;
			model_lose(to);
		}
		model_counts.freed_bytes += bytes;
		model[to] = (struct model_entry){ e.number, e.bytes - bytes, e.kind };
		model[at] = (struct model_entry){ 0 };
		model_bytes -= bytes;
	}
}

static void request(void)
{
	struct pmm_log_request r = { .kind = (u16)(PMM_KMOD_MALLOC +
						   random_below(PMM_KMOD_NR_KINDS - 1)) };
	u64 at = 1 + random_below(NR_POINTERS), prev = random_below(NR_POINTERS);

	if (random_below(3) == 0)
		r.kind = PMM_KMOD_FREE;
	r.pointer = at * PAGE;
	r.bytes = random_below(5) * PAGE;
	r.time_ns = ++numbers;
	if (r.kind == PMM_KMOD_REALLOC) {
		r.prev = prev * PAGE;
		r.flags = random_below(2) ? PMM_KMOD_PREV_GONE : 0;
	}
	assert_int_equal(pmm_log_check(&r), 0);
	if (r.kind == PMM_KMOD_FREE) {
		model_take(at);
	} else if (r.kind == PMM_KMOD_MUNMAP) {
		model_unmap(at, r.bytes);
	} else {
		if (r.prev && !r.flags)
			model_take(prev);
		model_add(at, r.bytes, r.kind, r.time_ns);
	}
	pmm_log_enter(&the_log, &r);
}

static void look(struct cursor *c)
{
	struct pmm_log_entry *entry = pmm_cursor_look(&c->cursor, &the_log);
	u64 number, at = model_next(c->after, &number);

	if (!at) {
		assert_null(entry);
		return;
	}
	assert_non_null(entry);
	assert_int_equal(entry->time_ns, number);
	assert_int_equal(entry->pointer, at * PAGE);
	assert_int_equal(entry->bytes, model[at].bytes);
	assert_int_equal(entry->kind, model[at].kind);
	if (random_below(4)) {
		pmm_cursor_pass(&c->cursor, entry);
		c->after = number;
	}
}

static void step_cursor(struct cursor *c)
{
	if (!c->on) {
		pmm_cursor_begin(&c->cursor, &the_log);
		c->on = true;
		c->after = 0;
	} else if (random_below(60) == 0) {
		pmm_cursor_end(&c->cursor);
		c->on = false;
	} else {
		look(c);
	}
}

/* As when the kernel is short of memory. */
static void shortage(void)
{
	u64 most = random_below(2) ? random_below(10) : random_below(NR_POINTERS);
	u64 before = model_entries;

	model_evict(most);
	model_spares = 0;
	assert_int_equal(pmm_log_evict(&the_log, most), before - model_entries);
}

static void empty(void)
{
	memset(model, 0, sizeof(model));
	memset(model_freed, 0, sizeof(model_freed));
	memset(&model_counts, 0, sizeof(model_counts));
	model_entries = model_bytes = 0;
	model_spares = 0;
	pmm_log_empty(&the_log);
}

static void check(void)
{
	assert_int_equal(the_log.entries, model_entries);
	assert_int_equal(the_log.bytes, model_bytes);
	assert_int_equal(atomic_long_read(&limits.entries), model_entries);
	assert_memory_equal(&the_log.counts, &model_counts, sizeof(model_counts));
	assert_true(kmod_adds_up(&the_log));
}

static void step(void)
{
	u32 what = random_below(1000);

	if (what == 0)
		empty();
	else if (what < 5)
		limits.entries_per_process = random_below(2) ? 1000 : random_below(NR_POINTERS);
	else if (what < 10)
		limits.entries_in_all = random_below(2) ? 1000 : random_below(NR_POINTERS);
	else if (what < 15)
		pmm_os_allocs_left = -(long)random_below(2);
	else if (what < 25)
		shortage();
	else if (what < 600)
		request();
	else
		step_cursor(&cursors[random_below(NR_CURSORS)]);
	check();
}

static void test_like_the_model(void **state)
{
	(void)state;
	for (u32 round = 1; round <= 20; round++) {
		random_state = round;
		limits = (struct pmm_log_limits){ .entries_per_process = 1000,
						  .entries_in_all = 1000 };
		pmm_os_allocs_left = -1;
		pmm_log_init(&the_log, &limits, SEED);
		for (unsigned i = 0; i < 20000; i++)
			step();
		for (unsigned i = 0; i < NR_CURSORS; i++) {
			pmm_cursor_end(&cursors[i].cursor);
			cursors[i].on = false;
		}
		empty();
		pmm_log_clear(&the_log);
		assert_true(list_empty(&the_log.items));
	}
	pmm_os_allocs_left = -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_like_the_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
