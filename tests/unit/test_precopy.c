/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/ledger/precopy.c with a ledger made by hand, marks as well: what is copied when, and ledgers
 * that make no sense. With the agent's own tables: test_agent_precopy.c.
 */
#include "tests/unit/unit.h"

#define IMAGE_ARENA_OFF	PMM_ARENA_OFF
#include "src/ledger/precopy.h"
#include "tests/unit/ledger_image.h"

static struct image im;
static struct ledger_map *map;
static struct err e;
static pmm_ref ctx;

static void start(void)
{
	im = image_new();
	ctx = image_ctx(&im);
	image_block(&im, PMM_TABLE_HEAP, 0x40000, 100, 0, PMM_KIND_MALLOC, 0, 1);
	image_block(&im, PMM_TABLE_HEAP, 0x40100, 8, 0, PMM_KIND_MALLOC, 0, 1);
	if (ledger_map_open_fd(im.fd, IMAGE_SLOT, &map, &e))
		fail_msg("%s", e.text);
}

static void finish(void)
{
	ledger_map_close(map);
	image_free(&im);
}

/* As the agent does. */
static void mark(const void *at)
{
	uint64_t off = (uint64_t)((const unsigned char *)at - (const unsigned char *)im.l) -
		       PMM_ARENA_OFF;

	assert_true(off >> im.l->mark_shift < im.l->nr_marks);
	((unsigned char *)im.l + PMM_MARKS_OFF)[off >> im.l->mark_shift] = 1;
}

static struct heap *frozen(struct precopy *f)
{
	struct ledger_options o = { .running = true };
	struct heap *h;

	if (precopy_heap(f, &o, &h, &e))
		fail_msg("%s", e.text);
	return h;
}

/* A mark is what makes a change seen, no more and no less. */
static void marked_is_copied(void **state)
{
	struct precopy f;
	uint64_t *word;
	struct heap *h;

	(void)state;
	start();
	assert_int_equal(precopy_begin(&f, map, &e), 0);
	assert_int_equal(im.l->changing, getpid());
	assert_int_equal(im.l->mark_shift, 6);
	word = image_word_of(&im, PMM_TABLE_HEAP, 0x40100);
	*word = 0;
	mark(word);
	*image_word_of(&im, PMM_TABLE_HEAP, 0x40000) = 0;
	assert_int_equal(precopy_now(&f, &e), 0);
	assert_int_equal(f.late_bytes, 64);
	assert_int_equal(im.l->changing, 0);
	*image_word_of(&im, PMM_TABLE_HEAP, 0x40100) = *image_word_of(&im, PMM_TABLE_HEAP,
								      0x40000) = ~0ull;
	h = frozen(&f);
	assert_int_equal(h->nr_blocks, 1);
	assert_int_equal(h->blocks[0].address, 0x40000);
	assert_int_equal(h->blocks[0].size_bytes, 100);
	assert_int_equal(h->taken_ns, 1000 * PMM_TICK_NS);
	heap_free(h);
	precopy_end(&f);
	finish();
}

/*
 * A leaf that is hung in without a mark is found when some context is in the middle of an event, or
 * was left there by a jump.
 */
static void leaves_of_a_stopped_maker(void **state)
{
	struct pmm_ctx *c;
	struct precopy f;
	uint64_t *word;
	struct heap *h;

	(void)state;
	start();
	c = image_at(&im, ctx);
	for (unsigned how = 0; how < 3; how++) {
		uint64_t address = 0x40000 + (how + 1) * 8192;

		assert_int_equal(precopy_begin(&f, map, &e), 0);
		word = image_block(&im, PMM_TABLE_HEAP, address, 64, 0, PMM_KIND_MALLOC, 0, 1);
		mark(word);
		mark(word + 1);
		c->seq = 2 + (how == 1);
		im.l->cut = how == 2;
		assert_int_equal(precopy_now(&f, &e), 0);
		h = frozen(&f);
		/* the first time round its leaf hangs in the void */
		assert_int_equal(h->nr_blocks, how ? 3 + how : 2);
		heap_free(h);
		precopy_end(&f);
		c->seq = 2;
	}
	finish();
}

static void nonsense(void **state)
{
	struct pmm_ctx *c;
	struct precopy f;
	struct heap *h;

	(void)state;
	start();
	c = image_at(&im, ctx);
	for (unsigned i = 0; i < 6; i++) {
		struct pmm_ledger keep;

		memcpy(&keep, im.l, sizeof(keep));
		assert_int_equal(precopy_begin(&f, map, &e), 0);
		c->seq = 1;
		c->thread = UINT32_MAX;
		c->busy_sp = 1;
		c->move[PMM_MOVE_HEAP] = (struct pmm_move){ UINT64_MAX, 0, UINT64_MAX };
		if (i == 0)
			((struct pmm_mid *)image_at(&im, im.l->table[PMM_TABLE_HEAP].mids))->next =
				im.l->table[PMM_TABLE_HEAP].mids;
		else if (i == 1)
			im.l->table[PMM_TABLE_HEAP].mid_bits = UINT32_MAX;
		else if (i == 2)
			im.l->table[PMM_TABLE_HEAP].mids = UINT32_MAX;
		else if (i == 3)
			im.l->table[PMM_TABLE_HEAP].mids = 1;		/* in the header */
		else if (i == 4)
			im.l->nr_ctx = UINT32_MAX;
		else
			im.l->arena_ready = UINT64_MAX;
		assert_int_equal(precopy_now(&f, &e), 0);
		assert_true(f.moves.nr >= 1);
		assert_int_equal(f.moves.v[0].bytes, PMM_SIZE_MAX);
		assert_int_equal(f.moves.v[0].tid, 0);
		h = frozen(&f);
		heap_free(h);
		precopy_end(&f);
		memcpy(im.l, &keep, sizeof(keep));
		c->seq = 2;
		((struct pmm_mid *)image_at(&im, im.l->table[PMM_TABLE_HEAP].mids))->next = 0;
	}
	finish();
}

static void an_arena_where_marks_are(void **state)
{
	struct precopy f;

	(void)state;
	start();
	map->arena_off = PMM_MARKS_OFF;
	assert_int_equal(precopy_begin(&f, map, &e), -EBADMSG);
	assert_int_equal(im.l->changing, 0);
	precopy_end(&f);
	finish();
}

/* A ledger whose file cannot be locked is not frozen. */
static void what_cannot_be_locked_is_left_alone(void **state)
{
	struct precopy f;
	int real, pair[2];

	(void)state;
	start();
	real = dup(map->fd);
	assert_int_equal(pipe(pair), 0);
	dup2(pair[0], map->fd);			/* no place for a lock */
	e = (struct err){ 0 };
	assert_true(precopy_begin(&f, map, &e) < 0);
	assert_string_equal(e.text, "the ledger cannot be locked: Bad file descriptor");
	assert_int_equal(im.l->changing, 0);
	dup2(real, map->fd);
	close(real);
	close(pair[0]);
	close(pair[1]);
	assert_int_equal(precopy_begin(&f, map, &e), 0);
	assert_int_equal(im.l->changing, getpid());
	precopy_end(&f);
	assert_int_equal(im.l->changing, 0);
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marked_is_copied),
		cmocka_unit_test(leaves_of_a_stopped_maker),
		cmocka_unit_test(nonsense),
		cmocka_unit_test(what_cannot_be_locked_is_left_alone),
		cmocka_unit_test(an_arena_where_marks_are),
	};

	return cmocka_run_group_tests_name("freeze", tests, NULL, NULL);
}
