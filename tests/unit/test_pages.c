/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which pages a process has: those it touched, but none of them that are only guards.
 */
#include "tests/unit/unit.h"

#include <sys/mman.h>
#include <unistd.h>

#include "src/proc/pages.h"

#define PAGE		4096ul
#define GUARD_INSTALL	102	/* MADV_GUARD_INSTALL, Linux 6.13 */

static void guard_pages_are_not_there(void **state)
{
	char *p = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t at = (uint64_t)(uintptr_t)p;
	struct page_runs runs = { 0 };
	int fd = pages_open(getpid());

	(void)state;
	assert_true(p != MAP_FAILED && fd >= 0);
	memset(p, 1, 5 * PAGE);
	assert_int_equal(pages_find(fd, at, at + 8 * PAGE, false, 0, &runs), 0);
	assert_int_equal(runs.nr, 1);
	assert_int_equal(runs.v[0].start, at);
	assert_int_equal(runs.v[0].end, at + 5 * PAGE);
	runs.nr = 0;
	if (madvise(p + PAGE, PAGE, GUARD_INSTALL) || madvise(p + 6 * PAGE, PAGE, GUARD_INSTALL)) {
		print_message("no guard pages (Linux 6.13)\n");
		skip();
	}
	assert_int_equal(pages_find(fd, at, at + 8 * PAGE, false, 0, &runs), 0);
	if (runs.nr == 2 && runs.v[1].start == at + 6 * PAGE) {
		print_message("the kernel does not tell guard pages apart (Linux 6.15)\n");
		skip();
	}
	assert_int_equal(runs.nr, 2);
	assert_int_equal(runs.v[0].end, at + PAGE);
	assert_int_equal(runs.v[1].start, at + 2 * PAGE);
	assert_int_equal(runs.v[1].end, at + 5 * PAGE);
	vec_fini(&runs);
	close(fd);
	munmap(p, 8 * PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guard_pages_are_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
