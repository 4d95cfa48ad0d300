/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/ledger/precopy.c with the agent's own block tables (agent/block.c): frozen is what was there
 * at precopy_now(), to the word.
 */
#include "tests/unit/agent_host.h"

#include "agent/block_words.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/nanotime.h"
#include "src/ledger/precopy.h"
#include "src/ledger/ledger_tree.h"

#define HEAP	0x555555600000ull
#define FAR	0x7f0000000000ull
#define MAPS	0x7e0000000000ull

static struct ledger_tree tree;
static struct ledger_map *map;
static struct block_stamp stamp;
static struct pmm_ctx *ctx;
static struct err e;

static void start(void)
{
	void *base;

	assert_int_equal(ledger_tree_init(&tree,
					  &(struct ledger_tree_options){ .limit_bytes = 128 << 20,
									 .attached = true,
									 .space_bytes = UINT64_MAX,
									 .file_bytes = UINT64_MAX },
					  &e),
			 0);
	base = mmap(NULL, tree.slot_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, tree.fd,
		    (off_t)tree.slots_off);
	assert_ptr_not_equal(base, MAP_FAILED);
	agent_host_init_at(base, tree.slot_bytes);
	assert_true(arena_back(0, PMM_HEADER_BYTES));
	agent.ledger->version = PMM_LEDGER_VERSION;
	agent.ledger->header_bytes = sizeof(*agent.ledger);
	agent.ledger->state = PMM_STATE_RUNNING;
	agent.ledger->magic = PMM_LEDGER_MAGIC;
	ctx = &agent_host_ctx()->pub;
	stamp = (struct block_stamp){ .now = BLOCK_NEVER };
	assert_int_equal(ledger_map_open_fd(tree.fd, 0, &map, &e), 0);
}

static void finish(void)
{
	ledger_map_close(map);
	munmap(agent.base, tree.slot_bytes);
	ledger_tree_fini(&tree);
}

/* as agent/record.c does it */
static void add(uint64_t address, uint64_t size)
{
	struct block_new b = { size, 0, PMM_KIND_MALLOC, 1, 0, &stamp };
	uint64_t *place = block_place(address);

	assert_true(block_add_quick(address, place, &b, false) || block_add(address, place, &b));
}

static void del(uint64_t address)
{
	struct block_info was;

	assert_true(block_del_quick(address, &stamp, &was) || block_del(address, &stamp, &was));
}

static void begin(struct precopy *f)
{
	if (precopy_begin(f, map, &e))
		fail_msg("%s", e.text);
	assert_int_equal(agent.ledger->changing, getpid());
}

static struct heap *frozen(struct precopy *f)
{
	struct ledger_options o = { .running = true };
	struct heap *h;

	if (precopy_heap(f, &o, &h, &e))
		fail_msg("%s", e.text);
	assert_int_equal(h->drift_blocks, 0);
	return h;
}

/* The heap as of now; things may change in between without being seen. */
static struct heap *now(struct precopy *f)
{
	if (precopy_now(f, &e))
		fail_msg("%s", e.text);
	assert_int_equal(agent.ledger->changing, 0);
	return frozen(f);
}

static void check(const struct heap *h, uint64_t nr, ...)
{
	va_list list;

	assert_int_equal(h->nr_blocks, nr);
	va_start(list, nr);
	for (uint64_t i = 0; i < nr; i++) {
		assert_int_equal(h->blocks[i].address, va_arg(list, uint64_t));
		assert_int_equal(h->blocks[i].size_bytes, va_arg(list, uint64_t));
	}
	va_end(list);
}

static void what_changes_between(void **state)
{
	struct precopy f;
	struct heap *h;

	(void)state;
	start();
	add(HEAP, 8);
	add(HEAP + 32, 56);
	add(HEAP + 96, 1000);
	begin(&f);
	del(HEAP + 32);
	/* both words in places of their own, and in the next leaf's */
	add(HEAP + 2048, 57);
	add(HEAP + 8192 - 32, 4096);
	add(FAR, 100000);			/* a leaf and a mid more */
	if (precopy_now(&f, &e))
		fail_msg("%s", e.text);
	add(HEAP + 4096, 4);			/* and this is too late */
	del(HEAP);
	h = frozen(&f);
	check(h, 5ull, HEAP, 8ull, HEAP + 96, 1000ull, HEAP + 2048, 57ull, HEAP + 8192 - 32,
	      4096ull, FAR, 100000ull);
	assert_true(f.late_bytes > 0);
	precopy_end(&f);
	heap_free(h);
	finish();
}

static void all_tables(void **state)
{
	struct block_info was;
	struct precopy f;
	uint64_t at, size;
	struct heap *h;

	(void)state;
	start();
	agent.dense = true;
	add(HEAP, 8);
	assert_true(block_add_map(MAPS, 8192, 0, 0, 1));
	assert_true(block_add_map(MAPS + 65536, 4096, 0, 0, 1));
	begin(&f);
	add(HEAP + 8, 16);			/* a neighbour in the same granule: another table */
	add(HEAP + 24, 200);
	assert_true(block_add(FAR, block_place(FAR),
			      &(struct block_new){ 64, 0, PMM_KIND_OTHER, 1, 0, &stamp }));
	assert_true(block_take_map(MAPS, MAPS + 4096, false, &at, &was));
	assert_true(block_add_map(MAPS + (1ull << 40), 12288, 0, 0, 1));
	assert_int_equal(block_rename(HEAP, PMM_KIND_CALLOC, &size), PMM_KIND_MALLOC);
	h = now(&f);
	check(h, 4ull, HEAP, 8ull, HEAP + 8, 16ull, HEAP + 24, 200ull, FAR, 64ull);
	assert_int_equal(h->blocks[0].kind, PMM_KIND_CALLOC);
	assert_int_equal(h->nr_maps, 2);
	assert_int_equal(h->maps[0].address, MAPS + 65536);
	assert_int_equal(h->maps[1].address, MAPS + (1ull << 40));
	assert_int_equal(h->maps[1].size_bytes, 12288);
	precopy_end(&f);
	heap_free(h);
	finish();
}

/*
 * Every third of 300000 blocks goes, others come, at places that alternate with what stays; and the
 * arena outgrows its marks.
 */
static void many(void **state)
{
	uint64_t nr = 0;
	struct precopy f;
	struct heap *h;

	(void)state;
	start();
	for (uint64_t i = 0; i < 300000; i++)
		add(HEAP + 128 * i, i % 100);
	begin(&f);
	assert_in_range(f.copied_bytes, 300000 * 32, 300000 * 32 + (3 << 20));
	for (uint64_t i = 0; i < 300000; i += 3)
		del(HEAP + 128 * i);
	for (uint64_t i = 0; i < 100; i++)
		assert_true(
			block_add(FAR + (i << 32), NULL,
				  &(struct block_new){ 65536, 0, PMM_KIND_OTHER, 1, 0, &stamp }));
	for (uint64_t i = 0; i < 300000; i += 3)
		add(HEAP + 128 * i + 64, 64);
	h = now(&f);
	assert_int_equal(h->nr_blocks, 300100);
	for (uint64_t i = 0; i < 300000; i++, nr++) {
		assert_int_equal(h->blocks[nr].address, HEAP + 128 * i + (i % 3 ? 0 : 64));
		assert_int_equal(h->blocks[nr].size_bytes, i % 3 ? i % 100 : 64);
	}
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(h->blocks[nr++].address, FAR + (i << 32));
	precopy_end(&f);
	heap_free(h);
	finish();
}

/* ---- events from before the word was raised -------------------------------------------------- */

/* Stores as an event does that read the word before it was raised. */
static void add_unseen(uint64_t address)
{
	uint32_t changing = agent.ledger->changing;

	agent.ledger->changing = 0;
	add(address, 8);
	agent.ledger->changing = changing;
}

static void *ends_event(void *arg)
{
	(void)arg;
	while (!LOAD_ACQUIRE(agent.ledger->changing))
		;
	nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	add_unseen(HEAP + 64);
	STORE_RELEASE(ctx->seq, ctx->seq + 1);
	return NULL;
}

/* Did it wait as long as it may, and the thread did not run meanwhile? */
static bool began_too_soon(struct precopy *f, pthread_t *thread)
{
	uint64_t begin_ns;

	start();
	add(HEAP, 8);
	ctx->seq = 7;
	assert_int_equal(pthread_create(thread, NULL, ends_event, NULL), 0);
	begin_ns = nanotime();
	begin(f);
	return LOAD_ACQUIRE(ctx->seq) != 8 && nanotime() - begin_ns >= 500000000;
}

static void an_event_is_waited_for(void **state)
{
	pthread_t thread;
	struct precopy f;
	struct heap *h;

	(void)state;
	for (unsigned i = 0; began_too_soon(&f, &thread) && i < 20; i++) {
		pthread_join(thread, NULL);
		precopy_end(&f);
		finish();
	}
	assert_int_equal(ctx->seq, 8);
	pthread_join(thread, NULL);
	h = now(&f);
	check(h, 2ull, HEAP, 8ull, HEAP + 64, 8ull);
	assert_true(f.late_bytes < 4096);
	precopy_end(&f);
	heap_free(h);
	finish();
}

/* Not for ever; then all is copied at the end, whether the event has ended by then or not. */
static void an_event_that_does_not_end(void **state)
{
	struct precopy f;
	struct heap *h;

	(void)state;
	start();
	for (unsigned ended = 0; ended < 2; ended++) {
		uint64_t at = HEAP + 4096 * ended;

		add(at, 8);
		ctx->seq = 7;
		begin(&f);
		add_unseen(at + 64);
		ctx->seq += ended;
		h = now(&f);
		assert_int_equal(h->nr_blocks, 2 + 2 * ended);
		assert_int_equal(h->blocks[1 + 2 * ended].address, at + 64);
		assert_true(f.late_bytes > 4096);
		precopy_end(&f);
		heap_free(h);
	}
	finish();
}

/* ---- blocks on their way --------------------------------------------------------------------- */

static void moves_are_told(void **state)
{
	struct precopy f;

	(void)state;
	start();
	ctx->move[PMM_MOVE_HEAP] = (struct pmm_move){ HEAP, 100, 200 };
	ctx->move[PMM_MOVE_POOL] = (struct pmm_move){ FAR, 0, 50 };
	ctx->pool_sp = 0x7ffe1000;
	begin(&f);
	assert_int_equal(precopy_now(&f, &e), 0);
	/* no hook is running: the other is left over from a jump */
	assert_int_equal(f.moves.nr, 1);
	assert_int_equal(f.moves.v[0].from, FAR);
	assert_int_equal(f.moves.v[0].bytes, 50);
	assert_int_equal(f.moves.v[0].sp, 0x7ffe1000);
	precopy_end(&f);
	ctx->pool_sp = 0;
	ctx->busy_sp = 0x7ffe2000;
	for (unsigned bigger = 0; bigger < 2; bigger++) {
		ctx->move[PMM_MOVE_HEAP].new_bytes = bigger ? 200 : 60;
		begin(&f);
		assert_int_equal(precopy_now(&f, &e), 0);
		assert_int_equal(f.moves.nr, 1);
		assert_int_equal(f.moves.v[0].from, HEAP);
		assert_int_equal(f.moves.v[0].bytes, bigger ? 100 : 60);
		assert_int_equal(f.moves.v[0].to_bytes, f.moves.v[0].bytes + PRECOPY_HEADER_BYTES);
		assert_int_equal(f.moves.v[0].sp, 0x7ffe2000);
		precopy_end(&f);
	}
	finish();
}

/* ---- who may, and who is gone ---------------------------------------------------------------- */

static void one_scanner_at_a_time(void **state)
{
	struct ledger_map *other;
	struct precopy f, g = { 0 };
	int status;
	pid_t pid;

	(void)state;
	start();
	add(HEAP, 8);
	assert_int_equal(ledger_map_open_fd(tree.fd, 0, &other, &e), 0);
	begin(&f);
	assert_int_equal(precopy_begin(&g, other, &e), -EBUSY);
	assert_int_equal(agent.ledger->changing, getpid());
	precopy_end(&g);
	precopy_end(&f);
	assert_int_equal(agent.ledger->changing, 0);
	pid = fork();
	/* ends in the middle, as by SIGKILL; its copy of the lock's file too */
	if (!pid) {
		struct ledger_map *own;

		_exit(ledger_map_open_fd(tree.fd, 0, &own, &e) || precopy_begin(&f, own, &e));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(agent.ledger->changing, pid);
	add(HEAP + 64, 8);		/* the agent marks as before: nobody minds */
	assert_int_equal(precopy_begin(&g, other, &e), 0);
	assert_int_equal(agent.ledger->changing, getpid());
	precopy_end(&g);
	ledger_map_close(other);
	finish();
}

static void a_ledger_that_cannot_be_written(void **state)
{
	struct precopy f;

	(void)state;
	start();
	map->writable = false;
	assert_int_equal(precopy_begin(&f, map, &e), -EROFS);
	assert_non_null(strstr(e.hint, "root"));
	precopy_end(&f);
	finish();
}

/* Nobody is harmed by a program that writes over marks and their numbers. */
static void scribbled(void **state)
{
	struct precopy f;
	struct heap *h;

	(void)state;
	start();
	add(HEAP, 8);
	begin(&f);
	memset(agent.base + PMM_MARKS_OFF, 0xff, 65536);
	h = now(&f);
	check(h, 1ull, HEAP, 8ull);
	heap_free(h);
	precopy_end(&f);
	begin(&f);
	for (unsigned shift = 0; shift < 256; shift += 5) {
		agent.ledger->mark_shift = shift;
		agent.ledger->nr_marks = UINT32_MAX;
		add(HEAP + 4096 + 64 * shift, 100);
	}
	precopy_end(&f);
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_changes_between),
		cmocka_unit_test(all_tables),
		cmocka_unit_test(many),
		cmocka_unit_test(an_event_is_waited_for),
		cmocka_unit_test(an_event_that_does_not_end),
		cmocka_unit_test(moves_are_told),
		cmocka_unit_test(one_scanner_at_a_time),
		cmocka_unit_test(a_ledger_that_cannot_be_written),
		cmocka_unit_test(scribbled),
	};

	return cmocka_run_group_tests_name("freeze", tests, NULL, NULL);
}
