/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of src/ledger/ledger_tree.c. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/ledger/ledger_tree.h"
#include "src/proc/proc.h"

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
	uint64_t start;

	(void)state;
	assert_int_equal(proc_start_time(getpid(), &start), 0);
	o.mode = PMM_MODE_SAMPLED;
	o.sample_bytes = 4096;
	o.min_size_bytes = 17;
	o.warn_size_bytes = 1000;
	o.max_frames = 40;
	assert_int_equal(ledger_tree_init(&t, &o, NULL), 0);
	assert_true(t.head->magic == PMM_TREE_MAGIC);
	assert_int_equal(t.head->version, PMM_LEDGER_VERSION);
	assert_int_equal(t.head->word_bytes, 8);
	assert_int_equal(t.head->nr_slots, 1);
	assert_int_equal(t.head->slot_bytes, 132 * MIB);
	assert_int_equal(t.head->limit_bytes, 100 * MIB);
	assert_int_equal(t.head->mode, PMM_MODE_SAMPLED);
	assert_int_equal(t.head->flags, PMM_TREE_FOLLOW);
	assert_int_equal(t.head->sample_bytes, 4096);
	assert_int_equal(t.head->min_size_bytes, 17);
	assert_int_equal(t.head->warn_size_bytes, 1000);
	assert_int_equal(t.head->max_frames, 40);
	assert_int_equal(t.head->monitor_pid, getpid());
	assert_int_equal(t.head->monitor_uid, geteuid());
	assert_int_equal(t.head->monitor_start, start);
	assert_true(t.head->cookie && t.head->cookie == t.cookie);
	assert_false(t.shrunk);
	assert_int_equal(ledger_tree_file_bytes(&t), t.head->slots_off + 132 * MIB);
	ledger_tree_fini(&t);
	assert_int_equal(t.fd, -1);
}

/*
 * All as asked for but the secret, which each process of a tree makes for itself, and what there
 * are no runs for.
 */
static void head_says_how_to_check(void **state)
{
	struct ledger_tree_options o = options(100 * MIB, NO_LIMIT, NO_LIMIT);
	const struct pmm_check none = { 0 }, asked = {
		.level = PMM_CHECK_LIGHT,
		.flags = PMM_CHECK_GARBAGE,
		.on_error = PMM_ON_ERROR_CORE,
		.garbage = 0xa5,
		.secret = 1,
		.max_guarded = UINT64_MAX,
		.max_mappings = 6,
		.budget_permille = 7,
		.quarantine_bytes = 8,
		.heap_limit_bytes = 9,
		.fail_after = 10,
		.fail_ppb = 11,
	};
	struct pmm_check got;
	struct ledger_tree t;
	struct err e;

	(void)state;
	assert_int_equal(ledger_tree_init(&t, &o, NULL), 0);
	assert_memory_equal(&t.head->check, &none, sizeof(none));
	ledger_tree_fini(&t);
	o.check = asked;
	assert_int_equal(ledger_tree_init(&t, &o, NULL), 0);
	got = t.head->check;
	assert_int_equal(got.secret, 0);
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
		uint64_t slot_mib;
		bool shrunk;
	} cases[] = {
		{ 100 * MIB, NO_LIMIT, NO_LIMIT, 0, 132, false },
		{ 1, NO_LIMIT, NO_LIMIT, 0, 34, false },
		{ 3 * MIB, NO_LIMIT, NO_LIMIT, 0, 36, false },
		/* a quarter of 4 GiB of address space */
		{ 8192 * MIB, 4096 * MIB, NO_LIMIT, 0, 1022, true },
		{ 30 * MIB, 4096 * MIB, NO_LIMIT, 0, 62, false },
		/* half of a very small one */
		{ 100 * MIB, 100 * MIB, NO_LIMIT, 0, 48, true },
		{ 100 * MIB, 60 * MIB, NO_LIMIT, -ENOMEM, 0, false },
		{ 100 * MIB, NO_LIMIT, 20 * MIB, -ENOMEM, 0, false },
		{ 100 * MIB, NO_LIMIT, 0, -ENOMEM, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct ledger_tree_options o =
			options(cases[i].limit, cases[i].space, cases[i].file);
		struct ledger_tree t;
		struct err e = { .text = "" };

		assert_int_equal(ledger_tree_init(&t, &o, &e), cases[i].rc);
		if (cases[i].rc) {
			assert_string_equal(e.text, "no memory for the ledger: it takes limits of "
						    "70 MiB of address space and "
						    "35 MiB of file size at least");
			assert_true(e.hint[0]);
			continue;
		}
		assert_int_equal(t.slot_bytes / MIB, cases[i].slot_mib);
		assert_int_equal(t.shrunk, cases[i].shrunk);
		ledger_tree_fini(&t);
	}
}

/* Two trees have nothing in common that one could guess of the other. */
static void cookies_differ(void **state)
{
	struct ledger_tree_options o = options(10 * MIB, NO_LIMIT, NO_LIMIT);
	struct ledger_tree t, u;

	(void)state;
	assert_int_equal(ledger_tree_init(&t, &o, NULL), 0);
	assert_int_equal(ledger_tree_init(&u, &o, NULL), 0);
	assert_true(t.cookie != u.cookie);
	ledger_tree_fini(&t);
	ledger_tree_fini(&u);
}

/*
 * Who has the board's descriptor, even one opened for writing, can read it and nothing else; the
 * monitor goes on writing.
 */
static void board_is_for_reading(void **state)
{
	struct ledger_tree_options o = options(10 * MIB, NO_LIMIT, NO_LIMIT);
	const struct pmm_tree *seen;
	struct ledger_tree t;
	struct stat st;
	char path[32];
	int fd;

	(void)state;
	assert_int_equal(ledger_tree_init(&t, &o, NULL), 0);
	assert_int_equal(fstat(t.fd, &st), 0);
	assert_int_equal(st.st_size, 4096);
	if (fcntl(t.fd, F_GET_SEALS) !=
	    (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | 0x10 /* F_SEAL_FUTURE_WRITE */)) {
		ledger_tree_fini(&t);
		skip(); /* before Linux 5.1 */
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", t.fd);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "", 1, 0), -1);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_true(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
	seen = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	assert_true(seen != MAP_FAILED);
	assert_int_equal(mprotect((void *)seen, 4096, PROT_READ | PROT_WRITE), -1);
	t.head->code_epoch = 7;
	assert_int_equal(seen->code_epoch, 7);
	munmap((void *)seen, 4096);
	close(fd);
	ledger_tree_fini(&t);
}

static void check_file(const struct ledger_tree *t, int fd)
{
	struct stat st;

	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(fd, F_GET_SEALS), F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, ledger_tree_file_bytes(t));
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(pwrite(fd, "", 1, 0), 1);
}

/*
 * A file for a process that may not make one, and that of an attached process, which has secrets of
 * its own.
 */
static void ledger_files_are_for_writing(void **state)
{
	struct ledger_tree_options o = options(10 * MIB, NO_LIMIT, NO_LIMIT);
	struct ledger_tree t;
	int fd;

	(void)state;
	assert_int_equal(ledger_tree_init(&t, &o, NULL), 0);
	fd = ledger_tree_file(&t);
	assert_true(fd >= 0);
	check_file(&t, fd);
	close(fd);
	ledger_tree_fini(&t);
	o.attached = true;
	o.check.level = PMM_CHECK_LIGHT;
	assert_int_equal(ledger_tree_init(&t, &o, NULL), 0);
	assert_true(t.head->check.secret != 0);
	assert_true(t.head->cookie != 0);	/* by which pmm tells one attach from another */
	assert_int_equal(t.head->flags, PMM_TREE_FOLLOW | PMM_TREE_ATTACHED);
	check_file(&t, t.fd);
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

/* How long a clock may stand still before it is odd. */
static void clocks_that_rarely_tick_may_be_calm_for_longer(void **state)
{
	struct ledger_tree_options o = options(10 * MIB, NO_LIMIT, NO_LIMIT);
	struct ledger_tree t;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		o.mode = i ? PMM_MODE_SAMPLED : PMM_MODE_EXACT;
		assert_int_equal(ledger_tree_init(&t, &o, NULL), 0);
		assert_int_equal(ledger_tree_calm_ns(&t), i ? 5 * PMM_TICK_NS : PMM_TICK_NS);
		ledger_tree_fini(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(head_says_what_was_asked_for),
		cmocka_unit_test(head_says_how_to_check),
		cmocka_unit_test(size_follows_the_limits),
		cmocka_unit_test(cookies_differ),
		cmocka_unit_test(board_is_for_reading),
		cmocka_unit_test(ledger_files_are_for_writing),
		cmocka_unit_test(tick_is_the_clock),
		cmocka_unit_test(clocks_that_rarely_tick_may_be_calm_for_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
