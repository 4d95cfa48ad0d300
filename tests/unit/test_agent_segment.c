/* SPDX-License-Identifier: GPL-2.0-or-later */
/* agent/segment.c: a ledger's memory is made, laid out and kept from children. */
#include "tests/unit/segment_board.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static bool usable(const void *at)
{
	return sys_readable((uintptr_t)at);
}

/* ---- what is asked for ----------------------------------------------------------------------- */

static bool sane_with(size_t offset, uint64_t value, size_t bytes)
{
	struct pmm_tree t = board;

	memcpy((char *)&t + offset, &value, bytes);
	return segment_sane(&t);
}

#define WITH(field, value) sane_with(offsetof(struct pmm_tree, field), value, sizeof(board.field))

static void sizes_make_sense_or_do_not(void **state)
{
	(void)state;
	assert_true(segment_sane(&board));
	assert_false(WITH(magic, PMM_TREE_MAGIC + 1));
	assert_false(WITH(version, PMM_LEDGER_VERSION + 1));
	assert_false(WITH(version, PMM_LEDGER_VERSION - 1));
	assert_false(WITH(byte_order, 0x04030201));
	assert_false(WITH(word_bytes, 4));
	assert_false(WITH(nr_slots, 0));
	assert_false(WITH(nr_slots, 2));
	assert_false(WITH(max_frames, 0));
	assert_true(WITH(max_frames, 1));
	assert_true(WITH(max_frames, PMM_MAX_FRAMES));
	assert_false(WITH(max_frames, PMM_MAX_FRAMES + 1));
	assert_true(WITH(slot_bytes, PMM_ARENA_OFF + (1 << 20)));
	assert_false(WITH(slot_bytes, PMM_ARENA_OFF + (1 << 20) - 1));
	assert_true(WITH(slot_bytes, (1ull << 38) - 1));
	assert_false(WITH(slot_bytes, 1ull << 38));
	assert_true(WITH(slots_off, PAGE));
	assert_false(WITH(slots_off, 0));
	assert_false(WITH(slots_off, PAGE + 64));
	assert_true(WITH(slots_off, (1 << 20) - PAGE));
	assert_false(WITH(slots_off, 1 << 20));
}

/* ---- the mapping ----------------------------------------------------------------------------- */

static void only_the_head_can_be_used_at_first(void **state)
{
	const size_t head = (sizeof(struct pmm_tree) + PAGE - 1) & ~(PAGE - 1);

	(void)state;
	assert_int_equal(segment_map(-1, 1 << 20), 0);
	assert_true(usable(agent.file));
	assert_true(usable(agent.file + head - 8));
	assert_false(usable(agent.file + head));
	assert_false(usable(agent.file + (1 << 20) - 8));
	assert_int_equal(agent.reserved_bytes, 1 << 20);
	segment_unmap();
	assert_null(agent.file);
	assert_int_equal(segment_map(-1, 1 << 20), 0);
	agent.base = agent.file + PAGE;
	agent.ledger = (struct pmm_ledger *)agent.base;
	agent.slot = (struct pmm_slot *)agent.file;
	segment_unmap();
	assert_null(agent.base);
	assert_null(agent.ledger);
	assert_null(agent.slot);
	assert_int_equal(agent.reserved_bytes, 0);
	segment_unmap();			/* nothing is there */
	assert_ptr_equal(agent.tree, &board);
	assert_int_equal(segment_map(-1, 1 << 20), 0);
	agent.tree = (struct pmm_tree *)agent.file;
	segment_unmap();
	assert_null(agent.tree);			/* it lay there */
}

static void what_cannot_be_mapped_is_not(void **state)
{
	(void)state;
	assert_int_equal(segment_map(-1, 1ull << 60), -1);
	assert_null(agent.file);
	assert_int_equal(agent.reserved_bytes, 0);
	assert_int_equal(segment_map(12345, 1 << 20), -1);	/* no such descriptor */
	assert_null(agent.file);
}

static char *back_at;

static void child_looks(void)
{
	MUST(!usable(back_at));
	MUST(!usable(back_at + 4 * PAGE));
}

static void children_inherit_nothing(void **state)
{
	(void)state;
	assert_int_equal(segment_map(-1, 1 << 20), 0);
	back_at = agent.file;
	assert_true(segment_back(agent.file + 4 * PAGE, PAGE));
	assert_true(usable(agent.file + 4 * PAGE));
	in_child(child_looks);
}

static void memory_is_given_whole(void **state)
{
	char *end_;

	(void)state;
	assert_int_equal(segment_map(-1, 1 << 20), 0);
	end_ = agent.file + (1 << 20);
	assert_true(segment_back(agent.file + 8 * PAGE, 3 * PAGE));
	assert_false(usable(agent.file + 7 * PAGE));
	assert_true(usable(agent.file + 8 * PAGE));
	assert_true(usable(agent.file + 11 * PAGE - 8));
	assert_false(usable(agent.file + 11 * PAGE));
	for (size_t i = 0; i < 3 * PAGE; i++)
		assert_int_equal(agent.file[8 * PAGE + i], 0);
	memset(agent.file + 8 * PAGE, 7, 3 * PAGE);
	assert_true(segment_back(agent.file + 8 * PAGE, 3 * PAGE)); /* what is there stays */
	assert_int_equal(agent.file[9 * PAGE], 7);
	munmap(end_ - PAGE, PAGE);
	assert_false(segment_back(end_ - 2 * PAGE, 2 * PAGE));
}

/* madvise() knows no MADV_POPULATE_WRITE from now on, as before Linux 5.14. */
static void older_kernel(void)
{
	static struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_MADV_POPULATE_WRITE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { sizeof(filter) / sizeof(filter[0]), filter };

	MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	MUST(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p));
}

static void child_touches_pages(void)
{
	unsigned char resident[3];
	char *end_, *at;

	MUST(!segment_map(-1, 1 << 20));
	end_ = agent.file + (1 << 20);
	at = agent.file + 8 * PAGE;
	older_kernel();
	MUST(segment_back(at, 3 * PAGE));
	MUST(agent.touches_pages);
	MUST(!mincore(at, 3 * PAGE, resident));
	for (int i = 0; i < 3; i++)
		MUST(resident[i] & 1);
	/* two threads may ask for the same page: what the first one wrote stays */
	for (size_t i = 0; i < 3 * PAGE; i++)
		at[i] = (char)(i % 255 + 1);
	MUST(segment_back(at, 3 * PAGE));
	for (size_t i = 0; i < 3 * PAGE; i++)
		MUST(at[i] == (char)(i % 255 + 1));
	/* one page beyond the end of the mapping: no signal */
	munmap(end_ - PAGE, PAGE);
	MUST(!segment_back(end_ - 2 * PAGE, 2 * PAGE));
}

static void older_kernels_touch_pages(void **state)
{
	(void)state;
	assert_int_equal(status_of_child(child_touches_pages), 0);
}

/* ---- a ledger -------------------------------------------------------------------------------- */

static void a_ledger_begins_empty(void **state)
{
	char name[16], path[4096], line[4096];
	const struct pmm_tree *head;
	struct pmm_ledger *l;
	ssize_t n;
	FILE *f;

	(void)state;
	agent.dense = true;
	agent.compiled_in = true;
	agent.allocator_path = "/lib/liballoc.so";
	assert_int_equal(segment_claim(true), 0);
	assert_int_equal(agent_host_form.files, 1);
	assert_int_equal(agent_host_form.published, 1);
	assert_true(agent_host_form.new_image);
	assert_int_equal(agent_host_form.lost, 0);
	l = agent.ledger;
	assert_ptr_equal(agent.base, agent.file + 2 * PAGE);
	assert_ptr_equal(l, agent.base);
	assert_int_equal(l->magic, PMM_LEDGER_MAGIC);
	assert_int_equal(l->version, PMM_LEDGER_VERSION);
	assert_int_equal(l->header_bytes, sizeof(*l));
	assert_int_equal(l->state, PMM_STATE_RUNNING);
	assert_int_equal(l->pid, getpid());
	assert_int_equal(l->ppid, getppid());
	assert_int_equal(l->arena_off, PMM_ARENA_OFF);
	assert_int_equal(l->arena_end, SLOT_BYTES);
	assert_int_equal(l->nr_nodes, 1);
	assert_int_equal(l->nr_sites, 1);
	assert_int_equal(l->nr_modules, 1);
	assert_int_equal(l->nr_stamps, 1);
	assert_int_equal(l->nr_srclocs, 1);
	assert_int_equal(l->nr_ctx, 0);
	assert_int_equal(l->nr_threads, 0);
	assert_int_equal(l->dense, 1);
	assert_int_equal(l->compiled_in, 1);
	assert_int_equal(l->forked, 0);
	assert_int_not_equal(l->image, 0);
	assert_int_equal(l->mapping.brk_now, (uint64_t)sbrk(0));
	assert_int_equal(l->mapping.brk_start, l->mapping.brk_now);
	assert_int_equal(l->mapping.brk_max, l->mapping.brk_now);
	assert_int_equal(l->table[PMM_TABLE_HEAP].top_off, PMM_TOP_OFF(PMM_TABLE_HEAP));
	/* who we are */
	prctl(PR_GET_NAME, name);
	assert_string_equal(l->comm, name);
	n = readlink("/proc/self/exe", path, sizeof(path));
	assert_int_equal(l->exe_len, n);
	assert_memory_equal(arena_at(l->exe), path, (size_t)n);
	assert_int_equal(((char *)arena_at(l->exe))[n], 0);
	f = fopen("/proc/self/cmdline", "r");
	n = (ssize_t)fread(line, 1, sizeof(line), f);
	fclose(f);
	assert_int_equal(l->cmdline_len, n);
	assert_memory_equal(arena_at(l->cmdline), line, (size_t)n);
	assert_int_equal(l->allocator_len, strlen("/lib/liballoc.so"));
	assert_string_equal(arena_at(l->allocator), "/lib/liballoc.so");
	assert_true(l->arena_used > PMM_ARENA_OFF);
	assert_true(l->arena_ready >= l->arena_used);
	/* the options again, but not what is the monitor's own */
	head = (struct pmm_tree *)agent.file;
	assert_int_equal(head->magic, PMM_TREE_MAGIC);
	assert_int_equal(head->warn_size_bytes, 777);
	assert_int_equal(head->cookie, 0);
	assert_int_equal(head->life[0], 0);
	assert_int_equal(head->life[1], 0);
	assert_ptr_equal(agent.slot, &head->slot[0]);
	assert_int_equal(agent.slot->state, PMM_SLOT_LIVE);
	assert_int_equal(agent.slot->pid, getpid());
	assert_int_equal(agent.slot->limit_raised, PMM_LIMIT_AS_IT_WAS);
	assert_int_equal(agent.slot->leave, PMM_LEAVE_NOT);
	/* the tables that are found by their place */
	assert_true(usable(agent.base + sizeof(struct pmm_ledger) - 8));
	assert_true(usable(agent.base + PMM_NODE_HASH_OFF));
	assert_true(usable(agent.base + PMM_NODE_HASH_OFF + PMM_NODE_HASH_BYTES - 8));
	assert_true(usable(agent.base + PMM_TOP_OFF(PMM_TABLE_MAP)));
}

/* Each page costs time: a small program's ledger is small. */
static void the_arena_grows_with_what_it_has(void **state)
{
	const uint64_t least = 16 << 10, most = 64 << 10;
	struct pmm_ledger *l;
	uint64_t ready;

	(void)state;
	assert_int_equal(segment_claim(false), 0);
	l = agent.ledger;
	assert_true(l->arena_used - PMM_ARENA_OFF < PAGE);
	assert_int_equal(l->arena_ready, PMM_ARENA_OFF + least);
	for (ready = l->arena_ready; ready < PMM_ARENA_OFF + 8 * most; ready = l->arena_ready) {
		uint64_t had = ready - PMM_ARENA_OFF, by = had < most ? had : most;

		while (l->arena_ready == ready)
			assert_non_null(arena_get(512, 64));
		assert_int_equal(l->arena_ready - ready, by);
	}
}

static void a_limit_ends_the_arena(void **state)
{
	(void)state;
	board.limit_bytes = (5 << 20) + 100;
	assert_int_equal(segment_claim(false), 0);
	assert_false(agent_host_form.new_image);
	assert_int_equal(agent.ledger->arena_end, PMM_ARENA_OFF + (5 << 20));
	segment_unmap();
	board.limit_bytes = SLOT_BYTES - PMM_ARENA_OFF;
	assert_int_equal(segment_claim(false), 0);
	assert_int_equal(agent.ledger->arena_end, SLOT_BYTES);
	segment_unmap();
	board.limit_bytes = SLOT_BYTES - PMM_ARENA_OFF - 1;
	assert_int_equal(segment_claim(false), 0);
	assert_int_equal(agent.ledger->arena_end, SLOT_BYTES - PMM_PAGE);
}

/* Where the options came with the file, they stay as they are, and so does the slot. */
static int file_with_options(void)
{
	if (segment_map(-1, FILE_BYTES))
		return -1;
	*(struct pmm_tree *)agent.file = board;
	agent.tree = (struct pmm_tree *)agent.file;
	return 0;
}

static void options_in_the_file_are_left_there(void **state)
{
	(void)state;
	agent_host_form.file = file_with_options;
	assert_int_equal(segment_claim(false), 0);
	assert_int_equal(agent.tree->cookie, 99);
	assert_int_equal(agent.tree->life[1], 2);
	assert_int_equal(agent.slot->state, PMM_SLOT_LIVE);
	agent.tree = &board;
}

static int no_file(void)
{
	return -1;
}

/* One that ends right after the head: there is no room for a ledger. */
static int short_file(void)
{
	if (segment_map(-1, FILE_BYTES))
		return -1;
	munmap(agent.file + 2 * PAGE + PMM_ARENA_OFF / 2,
	       FILE_BYTES - 2 * PAGE - PMM_ARENA_OFF / 2);
	return 0;
}

static void without_memory_there_is_no_ledger(void **state)
{
	(void)state;
	agent.base = agent.file = (char *)8;		/* the parent's */
	agent.ledger = (struct pmm_ledger *)8;
	agent.slot = (struct pmm_slot *)8;
	agent_host_form.file = no_file;
	assert_int_equal(segment_claim(true), -1);
	assert_null(agent.file);
	assert_null(agent.base);
	assert_null(agent.ledger);
	assert_null(agent.slot);
	agent_host_form.file = short_file;
	assert_int_equal(segment_claim(true), -1);
	assert_null(agent.file);
	assert_null(agent.ledger);
	assert_int_equal(agent_host_form.published, 0);
}

/* What the program put under seccomp must not be asked. */
static void a_confined_process_is_not_described(void **state)
{
	(void)state;
	agent.confined = true;
	assert_int_equal(segment_claim(false), 0);
	assert_int_equal(agent.ledger->ppid, 0);
	assert_int_equal(agent.ledger->exe, 0);
	assert_int_equal(agent.ledger->cmdline_len, 0);
	assert_int_equal(agent.ledger->comm[0], 0);
	assert_int_equal(agent.ledger->magic, PMM_LEDGER_MAGIC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sizes_make_sense_or_do_not),
		TEST(only_the_head_can_be_used_at_first),
		TEST(what_cannot_be_mapped_is_not),
		TEST(children_inherit_nothing),
		TEST(memory_is_given_whole),
		TEST(older_kernels_touch_pages),
		TEST(a_ledger_begins_empty),
		TEST(the_arena_grows_with_what_it_has),
		TEST(a_limit_ends_the_arena),
		TEST(options_in_the_file_are_left_there),
		TEST(without_memory_there_is_no_ledger),
		TEST(a_confined_process_is_not_described),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
