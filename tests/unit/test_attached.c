/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/entries/attached.c and who chooses by it: records of 'pmm attach' in this process, and which
 * of several ledgers is read.
 */
#include <sys/stat.h>

#include "tests/unit/unit.h"

#include "src/entries/attached.h"
#include "src/ledger/ledger_heap.h"
#include "tests/unit/ledger_image.h"

/* ---- writes that are cut --------------------------------------------------------------------- */

int __real_stop_write(pid_t pid, uint64_t address, const void *from, size_t bytes);
int __wrap_stop_write(pid_t pid, uint64_t address, const void *from, size_t bytes);

static size_t left_bytes = SIZE_MAX;	/* that pmm writes before it is killed */

int __wrap_stop_write(pid_t pid, uint64_t address, const void *from, size_t bytes)
{
	const size_t now = bytes < left_bytes ? bytes : left_bytes;

	left_bytes -= left_bytes == SIZE_MAX ? 0 : now;
	return now ? __real_stop_write(pid, address, from, now) : 0;
}

/* Memory for a record, as pmm has a process map it. */
static void *memory_new(void)
{
	int fd = memfd_create(PMM_RECORD_NAME, MFD_CLOEXEC);
	void *p;

	assert_int_equal(ftruncate(fd, (off_t)(PMM_AGENT_OFF + PMM_RECORD_BYTES)), 0);
	p = mmap(NULL, PMM_RECORD_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, PMM_AGENT_OFF);
	assert_ptr_not_equal(p, MAP_FAILED);
	close(fd);
	return p;
}

/* The record of an agent that writes to that ledger. `monitor` 0: it rests. */
static void *record_new(const struct image *im, unsigned generation, pid_t monitor)
{
	struct attached *a = calloc(1, sizeof(*a));
	void *memory = memory_new();
	struct stat st;

	fstat(im->fd, &st);
	a->pid = getpid();
	a->at = (uint64_t)memory;
	a->record.tree_inode = st.st_ino;
	a->record.generation = generation;
	a->record.monitor_pid = (uint32_t)monitor;
	assert_int_equal(attached_create(a), 0);
	free(a);
	return memory;
}

static void record_free(void *memory)
{
	munmap(memory, PMM_RECORD_BYTES);
}

/* All that may be anything is `byte`. */
static void fill(struct attached *a, unsigned char byte)
{
	memset(&a->record, byte, sizeof(a->record));
	a->record.version = PMM_INJECT_VERSION;
	a->record.nr_ranges = a->record.nr_patches = 0;
	a->record.call_at = a->record.rest_at = a->record.leave_at = a->record.stack_end = 0;
	a->record.generation = byte;
}

/* What is found of it now: the byte, 0 = none, or -errno. All of it must be of that byte. */
static int found(uint64_t at)
{
	static struct attached a, want;
	struct attached_walk walk = { 0 };
	struct proc_maps maps;
	int is;

	assert_int_equal(proc_maps_read(getpid(), &maps, NULL), 0);
	while ((is = attached_next(getpid(), &maps, &walk, &a)) > 0 && a.at != at)
		;
	proc_maps_fini(&maps);
	if (is <= 0)
		return is;
	fill(&want, (unsigned char)a.record.generation);
	return memcmp(&a.record, &want.record, sizeof(want.record)) ? -EIO
								     : (int)a.record.generation;
}

#define WORD	sizeof(uint64_t)
#define WORDS	(sizeof(struct pmm_attach) / WORD)

/* Killed after each number of words; a word is there as a whole or not at all. */
static void a_write_that_is_cut_leaves_the_old_record_or_the_new_one(void **state)
{
	static struct attached a;
	void *memory = memory_new();
	size_t nr_old = 0, nr_new = 0;
	int was = 1, is;

	(void)state;
	a.pid = getpid();
	a.at = (uint64_t)memory;
	fill(&a, 1);
	assert_int_equal(attached_create(&a), 0);
	assert_int_equal(found(a.at), 1);
	for (size_t words = 0; words <= WORDS + 2; words++) {
		left_bytes = words * WORD;
		fill(&a, was % 100 + 1);
		attached_store(&a);
		left_bytes = SIZE_MAX;
		is = found(a.at);
		assert_true(is == was || is == was % 100 + 1);
		nr_old += is == was;
		nr_new += is != was;
		was = is;
		/* who comes then goes on as ever */
		fill(&a, was % 100 + 1);
		assert_int_equal(attached_store(&a), 0);
		was = found(a.at);
		assert_int_equal(was, a.record.generation);
	}
	assert_int_equal(nr_old, WORDS + 1);
	assert_int_equal(nr_new, 2);	/* the word by which it becomes current was written */
	record_free(memory);
}

static void a_record_that_is_cut_at_first_is_none(void **state)
{
	static struct attached a;
	size_t nr_none = 0, nr_there = 0;

	(void)state;
	a.pid = getpid();
	for (size_t words = 0; words <= WORDS + 2; words++) {
		void *memory = memory_new();
		int is;

		a.at = (uint64_t)memory;
		fill(&a, 7);
		left_bytes = words * WORD;
		attached_create(&a);
		left_bytes = SIZE_MAX;
		is = found(a.at);
		nr_none += is == 0;
		nr_there += is == 7;
		assert_true(is == 0 || is == 7);
		record_free(memory);
	}
	assert_int_equal(nr_none, WORDS + 2);
	assert_int_equal(nr_there, 1);
}

/* Two ledgers: mapped at the lower address and at the higher one, known by their cookies. */
struct two {
	struct image low, high;
};

static struct two two_new(uint32_t low_flags, uint32_t high_flags)
{
	struct image a = image_new(), b = image_new();
	struct two t = { a.file < b.file ? a : b, a.file < b.file ? b : a };

	t.low.tree->cookie = 1;
	t.low.tree->flags = low_flags;
	t.high.tree->cookie = 2;
	t.high.tree->flags = high_flags;
	return t;
}

static void two_free(struct two *t)
{
	image_free(&t->low);
	image_free(&t->high);
}

/* The cookie of the ledger that is read of this process, or -errno. */
static int64_t is_read(struct err *e)
{
	struct ledger_map *m = NULL;
	int rc = ledger_map_open_pid(getpid(), &m, e);
	int64_t cookie = rc ? rc : (int64_t)m->tree.cookie;

	ledger_map_close(rc ? NULL : m);
	return cookie;
}

static void the_ledger_of_who_records_is_read(void **state)
{
	struct two t = two_new(PMM_TREE_ATTACHED, PMM_TREE_ATTACHED);
	void *older = record_new(&t.high, 0, 0), *newer = record_new(&t.low, 1, getpid());
	struct err e = { 0 };

	(void)state;
	assert_int_equal(is_read(NULL), 1);
	record_free(newer);
	newer = record_new(&t.low, 1, 0);		/* detached: both rest */
	assert_int_equal(is_read(&e), -ENOENT);
	assert_non_null(strstr(e.text, "is not tracked by pmm"));
	record_free(older);
	older = record_new(&t.high, 2, 0x7ffffff0);	/* killed: it records as long as it does */
	assert_int_equal(is_read(NULL), 2);
	record_free(older);
	older = record_new(&t.high, 0, 0x7ffffff0);
	assert_int_equal(is_read(NULL), 2);
	record_free(newer);
	newer = record_new(&t.low, 1, getpid());	/* at the same time: the newest */
	assert_int_equal(is_read(NULL), 1);
	record_free(older);
	record_free(newer);
	two_free(&t);
}

/* pmm.h's full form in a library that was loaded under or after an attach. */
static void one_that_rests_gives_way_to_any_other(void **state)
{
	struct two t = two_new(PMM_TREE_STANDALONE, PMM_TREE_ATTACHED);
	void *record = record_new(&t.high, 0, getpid());

	(void)state;
	assert_int_equal(is_read(NULL), 2);
	record_free(record);
	record = record_new(&t.high, 0, 0);
	assert_int_equal(is_read(NULL), 1);
	record_free(record);
	two_free(&t);
}

static void without_a_pmm_that_attached_the_highest_is_read(void **state)
{
	struct two t = two_new(0, PMM_TREE_STANDALONE);

	(void)state;
	assert_int_equal(is_read(NULL), 2);
	t.high.tree->slot[0].pid++;
	assert_int_equal(is_read(NULL), 1);
	two_free(&t);
}

static void a_record_that_makes_no_sense_leaves_several_unclear(void **state)
{
	struct two t = two_new(PMM_TREE_ATTACHED, PMM_TREE_ATTACHED);
	void *older = record_new(&t.high, 0, 0), *newer = record_new(&t.low, 1, getpid());
	struct err e = { 0 };

	(void)state;
	memset(((struct pmm_attach_record *)newer)->copy, 0xff, 64);
	assert_int_equal(is_read(&e), -EBADMSG);
	assert_non_null(strstr(e.text, "has several ledgers, and which of them is written to is "
				       "not known: what 'pmm attach' noted in the process was "
				       "written over"));
	t.low.tree->slot[0].state = PMM_SLOT_REPLACED;
	assert_int_equal(is_read(NULL), 2);
	record_free(older);
	record_free(newer);
	two_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_write_that_is_cut_leaves_the_old_record_or_the_new_one),
		cmocka_unit_test(a_record_that_is_cut_at_first_is_none),
		cmocka_unit_test(the_ledger_of_who_records_is_read),
		cmocka_unit_test(one_that_rests_gives_way_to_any_other),
		cmocka_unit_test(without_a_pmm_that_attached_the_highest_is_read),
		cmocka_unit_test(a_record_that_makes_no_sense_leaves_several_unclear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
