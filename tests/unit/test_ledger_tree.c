/* Unit tests of src/capture/ledger_tree.c. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/capture/ledger_tree.h"
#include "tests/unit/fake_agent.h"

#define MIB	 (1ull << 20)
#define NO_LIMIT UINT64_MAX

static struct ledger_tree_options options(uint64_t limit, uint64_t space, uint64_t file)
{
	return (struct ledger_tree_options){
		.limit_bytes = limit,
		.space_bytes = space,
		.file_bytes = file,
		.follow = true,
	};
}

static void head_says_what_was_asked_for(void **state)
{
	struct ledger_tree_options o = options(100 * MIB, NO_LIMIT, NO_LIMIT);
	struct ledger_tree t;

	(void)state;
	o.mode = PMM_MODE_SAMPLED;
	o.sample_bytes = 4096;
	o.min_size_bytes = 17;
	o.warn_size_bytes = 1000;
	o.max_frames = 40;
	assert_int_equal(ledger_tree_init(&t, &o, NULL), 0);
	assert_true(t.head->magic == PMM_TREE_MAGIC);
	assert_int_equal(t.head->version, PMM_LEDGER_VERSION);
	assert_int_equal(t.head->word_bytes, 8);
	assert_int_equal(t.head->nr_slots, 512);
	assert_int_equal(t.head->slot_bytes, 132 * MIB);
	assert_int_equal(t.head->limit_bytes, 100 * MIB);
	assert_int_equal(t.head->mode, PMM_MODE_SAMPLED);
	assert_int_equal(t.head->flags, PMM_TREE_FOLLOW);
	assert_int_equal(t.head->sample_bytes, 4096);
	assert_int_equal(t.head->min_size_bytes, 17);
	assert_int_equal(t.head->warn_size_bytes, 1000);
	assert_int_equal(t.head->max_frames, 40);
	assert_int_equal(t.head->monitor_pid, getpid());
	assert_false(t.shrunk);
	assert_int_equal(ledger_tree_slot_off(&t, 3), t.head->slots_off + 3 * 132 * MIB);
	ledger_tree_fini(&t);
	assert_int_equal(t.fd, -1);
}

/* All as asked for but the secret, which is another in each tree, and what there are no runs for. */
static void head_says_how_to_check(void **state)
{
	struct ledger_tree_options o = options(100 * MIB, NO_LIMIT, NO_LIMIT);
	const struct pmm_check none = {0}, asked = {
		.level = PMM_CHECK_LIGHT, .flags = PMM_CHECK_GARBAGE, .on_error = PMM_ON_ERROR_CORE, .garbage = 0xa5, .secret = 1,
		.max_guarded = UINT64_MAX, .max_mappings = 6, .budget_permille = 7, .quarantine_bytes = 8, .heap_limit_bytes = 9,
		.fail_after = 10, .fail_ppb = 11,
	};
	struct pmm_check got;
	struct ledger_tree t;
	uint64_t secret;
	struct err e;

	(void)state;
	assert_int_equal(ledger_tree_init(&t, &o, NULL), 0);
	assert_memory_equal(&t.head->check, &none, sizeof(none));
	ledger_tree_fini(&t);
	o.check = asked;
	assert_int_equal(ledger_tree_init(&t, &o, NULL), 0);
	secret = t.head->check.secret;
	ledger_tree_fini(&t);
	assert_int_equal(ledger_tree_init(&t, &o, NULL), 0);
	got = t.head->check;
	assert_true(got.secret != secret && got.secret != 1);
	assert_int_equal(got.max_guarded, PMM_MAX_GUARDS);
	got.secret = asked.secret;
	got.max_guarded = asked.max_guarded;
	assert_memory_equal(&got, &asked, sizeof(got));
	ledger_tree_fini(&t);
	o.check.level = PMM_NR_CHECK_LEVELS;
	assert_int_equal(ledger_tree_init(&t, &o, &e), -EINVAL);
	assert_int_equal(t.fd, -1);
}

static void size_follows_the_limits(void **state)
{
	static const struct {
		uint64_t limit, space, file;
		int rc;
		uint64_t slot_mib, nr;
		bool shrunk;
	} cases[] = {
		{ 100 * MIB, NO_LIMIT, NO_LIMIT, 0, 132, 512, false },
		{ 1, NO_LIMIT, NO_LIMIT, 0, 34, 512, false },
		{ 3 * MIB, NO_LIMIT, NO_LIMIT, 0, 36, 512, false },
		/* a quarter of 4 GiB of address space, in four slots */
		{ 8192 * MIB, 4096 * MIB, NO_LIMIT, 0, 254, 4, true },
		{ 30 * MIB, 4096 * MIB, NO_LIMIT, 0, 62, 16, false },
		/* half of a very small one */
		{ 100 * MIB, 100 * MIB, NO_LIMIT, 0, 48, 1, true },
		{ 100 * MIB, 60 * MIB, NO_LIMIT, -ENOMEM, 0, 0, false },
		{ 100 * MIB, NO_LIMIT, 20 * MIB, -ENOMEM, 0, 0, false },
		{ 100 * MIB, NO_LIMIT, 0, -ENOMEM, 0, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct ledger_tree_options o =
			options(cases[i].limit, cases[i].space, cases[i].file);
		struct ledger_tree t;
		struct err e = { .text = "" };

		assert_int_equal(ledger_tree_init(&t, &o, &e), cases[i].rc);
		if (cases[i].rc) {
			assert_string_equal(e.text, "no memory for the ledger: it takes limits of 70 MiB of address space and "
						    "35 MiB of file size at least");
			assert_true(e.hint[0]);
			continue;
		}
		assert_int_equal(t.slot_bytes / MIB, cases[i].slot_mib);
		assert_int_equal(t.nr_slots, cases[i].nr);
		assert_int_equal(t.shrunk, cases[i].shrunk);
		ledger_tree_fini(&t);
	}
}

static uint64_t backing(const struct ledger_tree *t)
{
	struct stat st;

	assert_int_equal(fstat(t->fd, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

static void slot_goes_round(void **state)
{
	struct ledger_tree_options o = options(10 * MIB, NO_LIMIT, NO_LIMIT);
	struct fake_agent a, b;
	struct ledger_tree t;
	uint64_t empty;
	uint32_t pid;

	(void)state;
	assert_int_equal(ledger_tree_init(&t, &o, NULL), 0);
	empty = backing(&t);
	assert_int_equal(ledger_tree_slot_state(&t, 0, &pid), PMM_SLOT_FREE);
	assert_int_equal(fake_agent_start(&a, dup(t.fd)), 0);
	assert_int_equal(a.slot, 0);
	assert_int_equal(ledger_tree_slot_state(&t, 0, &pid), PMM_SLOT_LIVE);
	assert_int_equal(pid, getpid());
	assert_true(backing(&t) > empty + 4 * 65536);
	ledger_tree_slot_take(&t, 0);
	assert_int_equal(ledger_tree_slot_state(&t, 0, &pid), PMM_SLOT_TAKEN);
	assert_int_equal(ledger_tree_slot_release(&t, 0), 0);
	assert_int_equal(ledger_tree_slot_state(&t, 0, &pid), PMM_SLOT_FREE);
	assert_int_equal(pid, 0);
	assert_int_equal(backing(&t), empty);
	assert_true(a.ledger->magic == 0);
	assert_int_equal(fake_agent_start(&b, dup(t.fd)), 0);
	assert_int_equal(b.slot, 0);
	ledger_tree_fini(&t);
}

static void file_cannot_be_resized(void **state)
{
	struct ledger_tree_options o = options(10 * MIB, NO_LIMIT, NO_LIMIT);
	struct ledger_tree t;

	(void)state;
	assert_int_equal(ledger_tree_init(&t, &o, NULL), 0);
	assert_int_equal(ftruncate(t.fd, 0), -1);
	assert_int_equal(fcntl(t.fd, F_GETFD), FD_CLOEXEC);
	ledger_tree_fini(&t);
}

static void tick_is_the_clock(void **state)
{
	struct ledger_tree_options o = options(10 * MIB, NO_LIMIT, NO_LIMIT);
	struct ledger_tree t;
	uint64_t ns;

	(void)state;
	assert_int_equal(ledger_tree_init(&t, &o, NULL), 0);
	usleep(35000);
	ns = ledger_tree_tick(&t);
	assert_true(ns >= 35000000);
	assert_int_equal(t.head->tick, ns / PMM_TICK_NS);
	t.start_monotonic_ns -= 1000 * PMM_TICK_NS; /* suspended for ten seconds */
	ns = ledger_tree_tick(&t);
	assert_true(t.head->tick >= 1003);
	assert_int_equal(t.head->tick, ns / PMM_TICK_NS);
	ledger_tree_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(head_says_what_was_asked_for),
		cmocka_unit_test(head_says_how_to_check),
		cmocka_unit_test(size_follows_the_limits),
		cmocka_unit_test(slot_goes_round),
		cmocka_unit_test(file_cannot_be_resized),
		cmocka_unit_test(tick_is_the_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
