/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a copy of a process has not: this process and a forked one. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/pmm/ledger.h"
#include "src/ptrace/apart.h"

#define PAGE	4096u
#define NR_PAGES	8u		/* pages of each mapping */

/* What the kernel says of where data ends in a file, instead of the truth: errno, 0 = here. */
static int hole_error = -1;

off_t __real_lseek64(int fd, off_t to, int whence);
off_t __wrap_lseek64(int fd, off_t to, int whence);

off_t __wrap_lseek64(int fd, off_t to, int whence)
{
	if (whence != SEEK_HOLE || hole_error < 0)
		return __real_lseek64(fd, to, whence);
	errno = hole_error;
	return hole_error ? -1 : to;
}

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

/*
 * What was in no page table and not in memory is zero, although the process writes it before it is
 * read; what was there is as it was.
 */
static void what_is_touched_later_was_zero(void **state)
{
	const size_t bytes = NR_PAGES * PAGE;
	struct apart x = { .late = false };
	const uint8_t *held;
	size_t found = bytes;
	uint8_t *shared;
	pid_t copy;

	(void)state;
	if (geteuid())
		skip();		/* as above */
	shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memset(shared + 3 * PAGE, 2, 2 * PAGE);
	take(&x, &copy);
	memset(shared, 0xff, bytes);
	assert_int_equal(apart_find(&x, (uint64_t)shared, &found, &held), APART_ZERO);
	assert_int_equal(found, 3 * PAGE);
	found = bytes;
	assert_int_equal(apart_find(&x, (uint64_t)shared + 3 * PAGE, &found, &held), APART_HELD);
	assert_int_equal(found, 2 * PAGE);
	assert_int_equal(held[0], 2);
	found = bytes;
	assert_int_equal(apart_find(&x, (uint64_t)shared + 5 * PAGE, &found, &held), APART_ZERO);
	assert_int_equal(found, 3 * PAGE);
	assert_false(x.late);
	leave(&x, copy);
	munmap(shared, bytes);
}

/* Is memory read late when this process, of whose page table some pages are missing, is copied? */
static bool is_late(void)
{
	struct apart x = { .late = false };
	bool late;
	pid_t copy;

	take(&x, &copy);
	late = x.late;
	leave(&x, copy);
	return late;
}

/* Without these capabilities nobody looks at the files of mappings; `on` is what there was. */
static void may_look(bool may, struct __user_cap_data_struct on[2])
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct now[2];

	if (!may)
		assert_int_equal(syscall(SYS_capget, &head, on), 0);
	memcpy(now, on, sizeof(now));
	if (!may) {
		now[0].effective &= ~(1u << CAP_SYS_ADMIN);
		now[1].effective &= ~(1u << (CAP_CHECKPOINT_RESTORE - 32));
	}
	assert_int_equal(syscall(SYS_capset, &head, now), 0);
}

static void what_cannot_be_known_is_late(void **state)
{
	const size_t bytes = NR_PAGES * PAGE;
	struct __user_cap_data_struct on[2];
	uint8_t *shared = map("shared", 2);

	(void)state;
	assert_false(is_late());
	assert_int_equal(madvise(shared + PAGE, 2 * PAGE, MADV_DONTNEED), 0);
	may_look(false, on);
	assert_true(is_late());
	memset(shared, 3, bytes);	/* all of it is in the page table again */
	assert_false(is_late());
	may_look(true, on);
	munmap(shared, bytes);
}

/* The file is there, but what the kernel says of it ends too soon. */
static void what_is_known_in_part_is_late(void **state)
{
	const int errors[] = { 0, EIO, ENXIO };
	uint8_t *shared;

	(void)state;
	if (geteuid())
		skip();		/* as above */
	shared = map("shared", 2);
	for (size_t i = 0; i < NR(errors); i++) {
		assert_int_equal(madvise(shared, NR_PAGES * PAGE, MADV_DONTNEED), 0);
		assert_false(is_late());
		assert_int_equal(madvise(shared, NR_PAGES * PAGE, MADV_DONTNEED), 0);
		hole_error = errors[i];
		assert_true(is_late());
		hole_error = -1;
	}
	munmap(shared, NR_PAGES * PAGE);
}

/* Else all that use a file so would seem to be read late. */
static void a_file_on_a_disk_is_not_late(void **state)
{
	char name[] = "/var/tmp/apart.XXXXXX";
	int fd = mkstemp(name);
	struct __user_cap_data_struct on[2];
	struct statfs fs;
	uint8_t *p;

	(void)state;
	assert_true(fd >= 0 && !ftruncate(fd, NR_PAGES * PAGE) && !fstatfs(fd, &fs));
	if (fs.f_type == TMPFS_MAGIC) {
		unlink(name);
		skip();
	}
	p = mmap(NULL, NR_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	p[PAGE] = 1;
	assert_false(is_late());
	may_look(false, on);
	assert_false(is_late());
	may_look(true, on);
	unlink(name);
	munmap(p, NR_PAGES * PAGE);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_held_but_the_ledger),
		cmocka_unit_test(what_is_in_no_page_table_is_held_too),
		cmocka_unit_test(what_is_nowhere_is_zero_or_in_the_process),
		cmocka_unit_test(what_is_touched_later_was_zero),
		cmocka_unit_test(what_cannot_be_known_is_late),
		cmocka_unit_test(what_is_known_in_part_is_late),
		cmocka_unit_test(a_file_on_a_disk_is_not_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
