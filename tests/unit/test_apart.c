/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a copy of a process has not: this process and a forked one. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/pmm/ledger.h"
#include "src/ptrace/apart.h"

#define PAGE	4096u
#define NR_PAGES	8u		/* pages of each mapping */

static uint8_t *map(const char *name, uint8_t fill)
{
	int fd = name ? memfd_create(name, MFD_CLOEXEC) : -1;
	uint8_t *p;

	assert_true(!name || (fd >= 0 && !ftruncate(fd, NR_PAGES * PAGE)));
	p = mmap(NULL, NR_PAGES * PAGE, PROT_READ | PROT_WRITE,
		 name ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
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

static pid_t fork_copy(void)
{
	pid_t copy = fork();

	if (!copy) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(200);		/* the parent may be dead already */
		for (;;)
			pause();
	}
	assert_true(copy > 0);
	return copy;
}

/* Everything that is done beside a copy. */
static void take(struct apart *x, pid_t *copy)
{
	struct proc_maps maps = { 0 };

	assert_int_equal(apart_before(x, getpid()), 0);
	*copy = fork_copy();
	assert_int_equal(proc_maps_read(getpid(), &maps, NULL), 0);
	assert_int_equal(apart_stopped(x, getpid(), *copy, &maps), 0);
	assert_int_equal(apart_after(x, *copy), 0);
	proc_maps_fini(&maps);
}

static void leave(struct apart *x, pid_t copy)
{
	apart_fini(x);
	kill(copy, SIGKILL);
	waitpid(copy, NULL, 0);
}

/* What is kept from copies, shared with them, empty in them; but the ledger is not read. */
static void all_is_held_but_the_ledger(void **state)
{
	uint8_t *kept = map(NULL, 1), *shared = map("shared", 2), *wiped = map(NULL, 3),
		*plain = map(NULL, 4), *ledger = map(PMM_MEMFD_NAME, 5), found;
	struct apart x = { .late = false };
	pid_t copy;

	(void)state;
	assert_int_equal(madvise(kept, NR_PAGES * PAGE, MADV_DONTFORK) |
				 madvise(ledger, NR_PAGES * PAGE, MADV_DONTFORK),
			 0);
	assert_int_equal(madvise(wiped, NR_PAGES * PAGE, MADV_WIPEONFORK), 0);
	take(&x, &copy);
	assert_int_equal(where(&x, kept, &found), APART_HELD);
	assert_int_equal(found, 1);
	assert_int_equal(where(&x, shared, &found), APART_HELD);
	assert_int_equal(found, 2);
	assert_int_equal(where(&x, wiped, &found), APART_HELD);
	assert_int_equal(found, 3);
	assert_int_equal(where(&x, plain, &found), APART_IN_COPY);
	assert_int_equal(where(&x, ledger, &found), APART_IN_COPY);
	leave(&x, copy);
	munmap(kept, NR_PAGES * PAGE);
	munmap(shared, NR_PAGES * PAGE);
	munmap(wiped, NR_PAGES * PAGE);
	munmap(plain, NR_PAGES * PAGE);
	munmap(ledger, NR_PAGES * PAGE);
}

/*
 * Reclaim takes pages out of page tables, as this does; what is shared stays in memory. Of the
 * second mapping half was never written.
 */
static void what_is_in_no_page_table_is_held_too(void **state)
{
	uint8_t *shared = map("shared", 2), *kept = map("kept", 3), found;
	struct apart x = { .late = false };
	pid_t copy;

	(void)state;
	if (geteuid())
		skip(); /* /proc/PID/map_files needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE */
	assert_int_equal(madvise(kept, NR_PAGES * PAGE, MADV_DONTFORK), 0);
	assert_int_equal(madvise(shared, NR_PAGES * PAGE, MADV_DONTNEED) |
				 madvise(kept, NR_PAGES * PAGE, MADV_DONTNEED),
			 0);
	shared[3 * PAGE] = 2;		/* one page is back */
	take(&x, &copy);
	assert_int_equal(where(&x, shared, &found), APART_HELD);
	assert_int_equal(found, 2);
	assert_int_equal(where(&x, kept, &found), APART_HELD);
	assert_int_equal(found, 3);
	assert_int_equal(x.held.bytes, 2 * NR_PAGES * PAGE);
	assert_false(x.late);
	leave(&x, copy);
	munmap(shared, NR_PAGES * PAGE);
	munmap(kept, NR_PAGES * PAGE);
}

/*
 * Holes of a file in memory are zero; they are not filled. What a file on a disk has and the
 * process has not mapped is no zero.
 */
static void what_is_nowhere_is_zero_or_in_the_process(void **state)
{
	size_t bytes = NR_PAGES * PAGE;
	struct apart x = { .late = false };
	const uint8_t *held;
	uint8_t *kept, *file;
	struct stat st;
	pid_t copy;
	int fd = memfd_create("kept", MFD_CLOEXEC),
	    exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	if (geteuid())
		skip();		/* as above */
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	kept = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	file = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, exe, 0);
	assert_int_equal(madvise(kept, bytes, MADV_DONTFORK) | madvise(file, bytes, MADV_DONTFORK),
			 0);
	kept[2 * PAGE] = 9;
	madvise(kept, bytes, MADV_DONTNEED);
	file[2 * PAGE] = 9;
	take(&x, &copy);
	assert_int_equal(apart_find(&x, (uint64_t)kept, &bytes, &held), APART_ZERO);
	assert_int_equal(bytes, 2 * PAGE);
	assert_int_equal(apart_find(&x, (uint64_t)kept + 2 * PAGE, &bytes, &held), APART_HELD);
	assert_int_equal(bytes, PAGE);
	assert_int_equal(held[0], 9);
	bytes = NR_PAGES * PAGE;
	assert_int_equal(apart_find(&x, (uint64_t)kept + 3 * PAGE, &bytes, &held), APART_ZERO);
	assert_int_equal(bytes, (NR_PAGES - 3) * PAGE);
	bytes = PAGE;
	assert_int_equal(apart_find(&x, (uint64_t)file + 4 * PAGE, &bytes, &held),
			 APART_IN_PROCESS);
	assert_int_equal(apart_find(&x, (uint64_t)file + 2 * PAGE, &bytes, &held), APART_HELD);
	assert_true(x.late);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_blocks * 512, PAGE);
	leave(&x, copy);
	munmap(kept, NR_PAGES * PAGE);
	munmap(file, NR_PAGES * PAGE);
	close(fd);
	close(exe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_held_but_the_ledger),
		cmocka_unit_test(what_is_in_no_page_table_is_held_too),
		cmocka_unit_test(what_is_nowhere_is_zero_or_in_the_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
