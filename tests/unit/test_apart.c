/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a copy of a process has not: this process and a forked one. */
#include "tests/unit/unit.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/pmm/ledger.h"
#include "src/target/apart.h"

#define PAGE	4096u
#define NR_PAGES	8u		/* pages of each mapping */

static uint8_t *map(const char *name, uint8_t fill)
{
	int fd = name ? memfd_create(name, MFD_CLOEXEC) : -1;
	uint8_t *p;

	assert_true(!name || (fd >= 0 && !ftruncate(fd, NR_PAGES * PAGE)));
	p = mmap(NULL, NR_PAGES * PAGE, PROT_READ | PROT_WRITE, name ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	memset(p, fill, NR_PAGES * PAGE);
	if (fd >= 0)
		close(fd);
	return p;
}

/* The first word at `p`, once the program has overwritten it: as of the moment of the copy? */
static enum apart_where where(const struct apart *x, uint8_t *p, uint8_t *found)
{
	size_t bytes = NR_PAGES * PAGE;
	const uint8_t *held;
	enum apart_where where;

	memset(p, 0xff, NR_PAGES * PAGE);
	where = apart_find(x, (uint64_t)p, &bytes, &held);
	*found = held ? held[0] : 0;
	if (where == APART_HELD)
		for (size_t i = 0; i < bytes; i++)
			assert_int_equal(held[i], *found);
	return where;
}

/* What is kept from copies, shared with them, empty in them; but the ledger is not read. */
static void all_is_held_but_the_ledger(void **state)
{
	uint8_t *kept = map(NULL, 1), *shared = map("shared", 2), *wiped = map(NULL, 3), *plain = map(NULL, 4), *ledger = map(PMM_MEMFD_NAME, 5), found;
	struct proc_maps maps = { 0 };
	struct apart x = { .late = false };
	pid_t copy;

	(void)state;
	assert_int_equal(madvise(kept, NR_PAGES * PAGE, MADV_DONTFORK) | madvise(ledger, NR_PAGES * PAGE, MADV_DONTFORK), 0);
	assert_int_equal(madvise(wiped, NR_PAGES * PAGE, MADV_WIPEONFORK), 0);
	assert_int_equal(apart_before(&x, getpid()), 0);
	copy = fork();
	if (!copy) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(60);		/* the parent may be dead already */
		for (;;)
			pause();
	}
	assert_true(copy > 0);
	assert_int_equal(proc_maps_read(getpid(), &maps, NULL), 0);
	assert_int_equal(apart_stopped(&x, getpid(), copy, &maps), 0);
	assert_int_equal(apart_after(&x, copy), 0);
	assert_int_equal(where(&x, kept, &found), APART_HELD);
	assert_int_equal(found, 1);
	assert_int_equal(where(&x, shared, &found), APART_HELD);
	assert_int_equal(found, 2);
	assert_int_equal(where(&x, wiped, &found), APART_HELD);
	assert_int_equal(found, 3);
	assert_int_equal(where(&x, plain, &found), APART_IN_COPY);
	assert_int_equal(where(&x, ledger, &found), APART_IN_COPY);
	proc_maps_fini(&maps);
	apart_fini(&x);
	kill(copy, SIGKILL);
	waitpid(copy, NULL, 0);
	munmap(kept, NR_PAGES * PAGE);
	munmap(shared, NR_PAGES * PAGE);
	munmap(wiped, NR_PAGES * PAGE);
	munmap(plain, NR_PAGES * PAGE);
	munmap(ledger, NR_PAGES * PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_held_but_the_ledger),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
