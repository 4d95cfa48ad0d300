/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page faults, copies of stacks and counters from samples of perf events made here. Also of
 * src/kernel/perf/perf_sample.c, perf_faults.c.
 */
#include "tests/unit/perf_made.h"

static void faults_by_memory(void **state)
{
	(void)state;
	begin_program();
	put_mapping(PID, 0x600000, 0x2000, RW, 0, "//anon");
	nr_seen = 0;
	put_sample(&faults, PID, 0x400000, 0x400010);		/* not of an instruction: too far */
	put_sample(&faults, PID, 0x400ff8, 0x401000);		/* the next page's beginning */
	put_sample(&faults, PID, 0x400000, 0x601fff);
	put_sample(&faults, PID, 0x400000, 0x7f0000);
	put_sample(&faults, PID, 0x400000, 0x7efff8 - 0x2000);
	put_sample(&faults, PID, 0x400000, 0x123);
	assert_int_equal(nr_seen, 6);
	assert_int_equal(fault_area_of(&seen[0].r), FAULT_FILE_PRIVATE);
	assert_int_equal(seen[0].r.a[0], 0x400010);
	assert_int_equal(seen[0].r.a[1], 0x400000);
	assert_int_equal((uint32_t)seen[0].r.a[2], TRACE_FAULT_USER | TRACE_FAULT_NO_ACCESS);
	assert_int_equal(seen[0].r.a[3], 8 << 20 | 1);
	assert_int_equal(seen[0].r.a[4], 9);
	assert_int_equal(seen[0].r.a[5], 0x10);
	assert_int_equal((uint32_t)seen[1].r.a[2], TRACE_FAULT_USER | TRACE_FAULT_FETCH);
	assert_int_equal(fault_area_of(&seen[2].r), FAULT_HEAP);
	assert_int_equal(seen[2].r.a[4], 0);
	assert_int_equal(fault_area_of(&seen[3].r), FAULT_STACK);
	assert_int_equal(fault_area_of(&seen[4].r), FAULT_STACK_GROWTH);
	assert_int_equal(fault_area_of(&seen[5].r), FAULT_UNKNOWN);
	assert_int_equal(t->counts[TRACE_FAULT].seen, 6);
}

static struct fault_row rows[8];
static struct fault_key keys[8];
static unsigned nr_rows;

static int on_row(void *arg, const void *key, const void *value)
{
	(void)arg;
	memcpy(&keys[nr_rows], key, sizeof(*keys));
	memcpy(&rows[nr_rows++], value, sizeof(*rows));
	return 0;
}

static void rows_of_faults(void **state)
{
	struct fault_file_key key = { .inode = 9, .device = 8 << 20 | 1 };
	struct fault_file file;

	(void)state;
	begin_program();
	put_mapping(PID, 0x10000000, 0x1000000, PROT_READ, 13, "/usr/share/a b (deleted)");
	put_sample(&faults, PID, 0, 0x400010);
	put_sample(&faults, PID, 0x400010, 0x400010);
	put_sample(&faults, PID, 0x400010, 0x10000000);
	put_sample(&faults, PID, 0x400010, 0x10000000 + (5 << 18));
	put_sample(&faults, PID, 0x400010, 0x10000000 + (5 << 18) + 1);
	put_sample(&major, PID, 0x400010, 0x10000000);
	nr_rows = 0;
	assert_int_equal(perf_faults_table(&t->faults, KERNEL_TABLE_FAULTS, on_row, NULL), 0);
	assert_int_equal(nr_rows, 3);
	assert_int_equal(keys[0].inode, 9);
	assert_int_equal(keys[0].tgid, PID);
	assert_int_equal(keys[0].area, FAULT_FILE_PRIVATE);
	assert_int_equal(keys[0].shift, 16);
	assert_int_equal(rows[0].faults[FAULT_NO_ACCESS], 1);
	assert_int_equal(rows[0].faults[FAULT_FETCH], 1);
	assert_string_equal(rows[0].comm, "prog");
	/* 16 MiB are 64 ranges of 256 KiB, and one more than 63 */
	assert_int_equal(keys[1].shift, 19);
	assert_int_equal(keys[2].range, 2);
	assert_int_equal(rows[2].faults[FAULT_NO_ACCESS], 2);
	nr_rows = 0;
	assert_int_equal(perf_faults_table(&t->faults, KERNEL_TABLE_MAJOR, on_row, NULL), 0);
	assert_int_equal(nr_rows, 1);
	assert_int_equal(keys[0].inode, 13);
	assert_int_equal(perf_faults_find(&t->faults, KERNEL_TABLE_FAULT_FILES, &key, &file), 0);
	assert_int_equal(file.bytes, 9);
	assert_memory_equal(file.names, "prog\0bin", 9);
	assert_int_equal(file.deleted, 0);
	key.inode = 13;
	assert_int_equal(perf_faults_find(&t->faults, KERNEL_TABLE_MAJOR_FILES, &key, &file), 0);
	assert_memory_equal(file.names, "a b\0share\0usr", 14);
	assert_int_equal(file.deleted, 1);
	key.inode = 14;
	assert_int_equal(perf_faults_find(&t->faults, KERNEL_TABLE_MAJOR_FILES, &key, &file),
			 -ENOENT);
}

static void major_faults(void **state)
{
	(void)state;
	begin_program();
	put_mapping(PID, 0x600000, 0x2000, RW, 0, "//anon");
	nr_seen = 0;
	put_sample(&major, PID, 1, 0x400010);
	put_sample(&major, PID, 1, 0x600010);
	assert_int_equal(seen[0].r.kind, TRACE_FAULT_MAJOR);
	assert_int_equal(seen[1].r.kind, TRACE_SWAP_IN);
	assert_int_equal(t->counts[TRACE_FAULT_MAJOR].seen, 1);
	assert_int_equal(t->counts[TRACE_SWAP_IN].seen, 1);
	assert_int_equal(t->counts[TRACE_FAULT].seen, 0);
}

/* All are counted; samples stand for those between them, and their sum is the whole. */
static void sampled_faults(void **state)
{
	uint64_t sum = 0;

	(void)state;
	t->sampled = true;
	for (int i = 0; i < 100; i++)
		put_sample(&faults, PID, 1, 0x1000);
	assert_int_equal(nr_seen, 0);
	assert_int_equal(t->counts[TRACE_FAULT].seen, 100);
	perf_taker_share(t, 9);
	for (int i = 0; i < 9; i++)
		put_sample(&spare, PID, 1, 0x1000);
	assert_int_equal(nr_seen, 9);
	for (unsigned i = 0; i < nr_seen; i++)
		sum += seen[i].r.weight;
	assert_int_equal(seen[0].r.weight, 12);		/* 100 / 9, and itself */
	assert_int_equal(sum, 108);
	assert_int_equal(t->unsaid, -8);
	assert_int_equal(t->counts[TRACE_FAULT].seen, 100);
	perf_taker_share(t, 5);
	put_sample(&spare, PID, 1, 0x1000);
	assert_int_equal(seen[9].r.weight, 1);
	perf_taker_share(t, 0);
	assert_int_equal(t->share, 0);
}

static void copies_of_stacks(void **state)
{
	(void)state;
	put_stack(PERF_SAMPLE_REGS_ABI_64, 64, 24);
	assert_int_equal(give(&stacks, PID), 0);
	assert_int_equal(seen[0].r.flags, TRACE_STACK);
	assert_int_equal(seen[0].r.tail_bytes, 24);
	for (unsigned i = 0; i < ARCH_TRACE_PERF_NR; i++)
		assert_int_equal(arch_trace_perf[i] == ARCH_TRACE_PERF_IP ? t->tail.regs.ip
				 : arch_trace_perf[i] == ARCH_TRACE_PERF_SP
					 ? t->tail.regs.sp
					 : t->tail.regs.saved[arch_trace_perf[i]],
				 0x100 + i);
	assert_int_equal(t->tail.regs.missing, 0);
	assert_int_equal(*(uint64_t *)(t->tail.bytes + 16), 0xaaaa0002);
	put_stack(PERF_SAMPLE_REGS_ABI_64, 64, 64);
	give(&stacks, PID);
	assert_int_equal(seen[1].r.flags, TRACE_STACK | TRACE_CUT);
	/* 32-bit; no registers; more used than room; cut in the middle */
	put_stack(PERF_SAMPLE_REGS_ABI_32, 64, 8);
	give(&stacks, PID);
	assert_int_equal(seen[2].r.flags, TRACE_COMPAT);
	put_stack(PERF_SAMPLE_REGS_ABI_NONE, 0, 0);
	give(&stacks, PID);
	put_stack(PERF_SAMPLE_REGS_ABI_64, 64, 65);
	give(&stacks, PID);
	put_stack(PERF_SAMPLE_REGS_ABI_64, 64, 8);
	at -= 8;
	give(&stacks, PID);
	for (int i = 3; i < 6; i++)
		assert_int_equal(seen[i].r.flags, 0);
	assert_int_equal(t->counts[TRACE_FAULT].seen, 6);
	assert_int_equal(t->damaged, 0);
}

static void counters(void **state)
{
	(void)state;
	put_sample(&clock_kind, PID, 0x1234, 0);
	assert_int_equal(seen[0].r.kind, TRACE_CPU_CLOCK);
	assert_int_equal(seen[0].r.weight, 1000);
	assert_int_equal(seen[0].r.a[0], 0x1234);
	assert_int_equal(t->counts[TRACE_CPU_CLOCK].seen, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(faults_by_memory),
		TEST(rows_of_faults),
		TEST(major_faults),
		TEST(sampled_faults),
		TEST(copies_of_stacks),
		TEST(counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
