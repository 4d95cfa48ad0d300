/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mappings by their flags; memory read from another process in any amount. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/proc/smaps.h"
#include "src/ptrace/stop.h"

static struct page_runs flagged(const char *text, const char *flag)
{
	FILE *f = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	struct page_runs runs = { 0 };

	assert_non_null(f);
	assert_int_equal(smaps_read(f, flag, &runs), 0);
	fclose(f);
	return runs;
}

static void expect(const char *text, const char *flag, size_t nr, uint64_t start, uint64_t end)
{
	struct page_runs runs = flagged(text, flag);

	assert_int_equal(runs.nr, nr);
	if (nr) {
		assert_int_equal(runs.v[nr - 1].start, start);
		assert_int_equal(runs.v[nr - 1].end, end);
	}
	vec_fini(&runs);
}

static void flags_are_whole_words(void **state)
{
	static const char text[] = "1000-3000 rw-p 00000000 00:00 0\nRss: 4 kB\nAnonHugePages: 0 "
				   "kB\nVmFlags: rd wr mr wf\n"
				   "5000-6000 rw-p 00000000 00:00 0\nVmFlags: rd wr mr\n7000-9000 "
				   "rw-p 0 00:00 0 \nVmFlags:  wf";

	(void)state;
	expect(text, "wf", 2, 0x7000, 0x9000);
	expect(text, "rd", 2, 0x5000, 0x6000);
	expect(text, "w", 0, 0, 0);
	expect(text, "dd", 0, 0, 0);
	expect("", "wf", 0, 0, 0);
	expect("VmFlags: wf\n", "wf", 0, 0, 0);
	expect("nonsense\n-\n\n12-\nVmFlags: wf\n", "wf", 0, 0, 0);
}

/* A file's name may look like anything, wherever a reader by pieces would cut it. */
static void names_of_any_length(void **state)
{
	static char text[2048];
	char name[1101];

	(void)state;
	for (size_t n = 440; n <= 1100; n++) {
		memset(name, 'x', n);
		strcpy(name + n - 40, "dead0000-dead1000 VmFlags: wf");
		snprintf(text, sizeof(text),
			 "1000-3000 rw-p 00000000 00:00 0 /%s\nVmFlags: rd wf\n", name);
		expect(text, "wf", 1, 0x1000, 0x3000);
		snprintf(text, sizeof(text), "1000-3000 rw-p 00000000 00:00 0 /%s\nVmFlags: rd\n",
			 name);
		expect(text, "wf", 0, 0, 0);
	}
}

static void of_this_process(void **state)
{
	char *p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct page_runs runs = { 0 };

	(void)state;
	assert_int_equal(madvise(p + 4096, 4096, MADV_WIPEONFORK), 0);
	assert_int_equal(smaps_flagged(getpid(), "wf", &runs), 0);
	assert_int_equal(runs.nr, 1);
	assert_int_equal(runs.v[0].start, (uintptr_t)p + 4096);
	assert_int_equal(runs.v[0].end, (uintptr_t)p + 8192);
	vec_fini(&runs);
	munmap(p, 3 * 4096);
}

/*
 * One request of the kernel moves less than 2 GiB. What is read is a reservation but for its end;
 * what it is read into is one file, again and again.
 */
static void more_than_two_gib(void **state)
{
	const size_t piece = 64u << 20, bytes = 36ul * piece;
	char *from = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *to = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int fd = memfd_create("to", 0);

	(void)state;
	if (from == MAP_FAILED || to == MAP_FAILED || fd < 0 || ftruncate(fd, (off_t)piece))
		skip();
	for (size_t at = 0; at < bytes; at += piece)
		assert_true(mmap(to + at, piece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
				 0) == to + at);
	from[bytes - 1] = 7;
	assert_int_equal(stop_read_some(getpid(), -1, (uintptr_t)from, to, bytes), bytes);
	assert_int_equal(to[bytes - 1], 7);
	munmap(from, bytes);
	munmap(to, bytes);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags_are_whole_words),
		cmocka_unit_test(names_of_any_length),
		cmocka_unit_test(of_this_process),
		cmocka_unit_test(more_than_two_gib),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
