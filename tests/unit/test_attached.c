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
	memset((char *)newer + 8, 0xff, 64);
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
		cmocka_unit_test(the_ledger_of_who_records_is_read),
		cmocka_unit_test(one_that_rests_gives_way_to_any_other),
		cmocka_unit_test(without_a_pmm_that_attached_the_highest_is_read),
		cmocka_unit_test(a_record_that_makes_no_sense_leaves_several_unclear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
