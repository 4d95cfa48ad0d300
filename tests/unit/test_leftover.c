/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/inject/leftover.c, memfile.c: what a pmm that was killed left in a process is taken away, and
 * nothing else; memory files made in another process.
 */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/pmm/inject.h"
#include "include/pmm/ledger.h"
#include "src/inject/leftover.h"
#include "src/inject/memfile.h"
#include "src/proc/proc.h"
#include "src/ptrace/stop.h"

#define PAGE	4096u

/* What there is in the victim: numbers of descriptors, 0 = none, and memory. */
struct has {
	int agent, empty, sized, standalone, short_, other, null;
	char *left, *file, *anonymous;
};

static struct has *has;
static int go[2], told[2];

static int memfd(const char *name, size_t bytes, const void *text, size_t text_bytes)
{
	int fd = memfd_create(name, 0);

	if (fd < 0 || ftruncate(fd, (off_t)bytes) ||
	    pwrite(fd, text, text_bytes, 0) != (ssize_t)text_bytes)
		_exit(2);
	return fd;
}

static char *map(int fd, off_t offset)
{
	char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0), fd, offset);

	if (p == MAP_FAILED)
		_exit(2);
	return p;
}

static void have_all(void)
{
	const struct pmm_tree standalone = { .magic = PMM_TREE_MAGIC,
					     .flags = PMM_TREE_STANDALONE };

	has->agent = memfd(PMM_AGENT_NAME, 4 * PAGE, "agent", 5);
	has->empty = memfd(PMM_MEMFD_NAME, 0, "", 0);
	has->sized = memfd(PMM_MEMFD_NAME, 4 * PAGE, "", 0);
	has->standalone = memfd(PMM_MEMFD_NAME, 4 * PAGE, &standalone, sizeof(standalone));
	has->short_ = memfd(PMM_MEMFD_NAME, 8, "", 0);
	has->other = memfd("other", 0, "", 0);
	has->null = open("/dev/null", O_RDONLY);
	has->left = map(has->agent, PMM_AGENT_OFF);
	has->file = map(has->agent, 0);			/* the file itself: somebody looks at it */
	has->anonymous = map(-1, 0);
	has->anonymous[0] = 'x';
}

static pid_t victim(void (*prepare)(void))
{
	pid_t pid;
	char c;

	assert_int_equal(pipe(go) || pipe(told), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (prepare)
			prepare();
		if (write(told[1], "", 1) != 1 || read(go[0], &c, 1) != 1)
			_exit(3);
		_exit(has->anonymous && has->anonymous[0] != 'x');	/* works as before */
	}
	assert_int_equal(read(told[0], &c, 1), 1);
	return pid;
}

static void end_of(pid_t pid)
{
	int status;

	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	for (unsigned i = 0; i < 2; i++) {
		close(go[i]);
		close(told[i]);
	}
}

static bool open_in(pid_t pid, int fd)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	return !lstat(path, &st);
}

static bool mapped_in(pid_t pid, const char *at)
{
	struct proc_maps maps = { 0 };
	bool any = false;

	assert_int_equal(proc_maps_read(pid, &maps, NULL), 0);
	for (size_t i = 0; i < maps.nr; i++)
		any |= maps.v[i].start <= (uint64_t)at && (uint64_t)at < maps.v[i].end;
	proc_maps_fini(&maps);
	return any;
}

/* Threads of others cannot be stopped everywhere. */
static bool may_stop(pid_t pid)
{
	struct stopped one;

	if (stop_one(pid, 10000000000ull, &one, NULL))
		return false;
	stop_resume(&one);
	return true;
}

static int begin(void **state)
{
	(void)state;
	has = mmap(NULL, sizeof(*has), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return has == MAP_FAILED;
}

static int end(void **state)
{
	(void)state;
	return munmap(has, sizeof(*has));
}

static void what_is_nobodys_goes(void **state)
{
	pid_t pid = victim(have_all);
	struct err e = { 0 };
	int rc;

	(void)state;
	if (!may_stop(pid)) {
		end_of(pid);
		skip();
	}
	rc = leftover_remove(pid, &e);
	assert_string_equal(e.text, "");
	/* three files and a piece of memory */
	assert_int_equal(rc, 4);
	assert_false(open_in(pid, has->agent));
	assert_false(open_in(pid, has->empty));
	assert_false(open_in(pid, has->sized));
	assert_false(mapped_in(pid, has->left));
	assert_true(open_in(pid, has->standalone));		/* has a tree of its own */
	assert_true(open_in(pid, has->short_));			/* none of ours */
	assert_true(open_in(pid, has->other));
	assert_true(open_in(pid, has->null));
	assert_true(open_in(pid, go[0]));
	assert_true(mapped_in(pid, has->file));
	assert_true(mapped_in(pid, has->anonymous));
	assert_int_equal(leftover_remove(pid, &e), 0);
	end_of(pid);
}

static void where_there_is_nothing_nothing_is_done(void **state)
{
	pid_t pid = victim(NULL);
	struct err e = { 0 };

	(void)state;
	assert_int_equal(leftover_remove(pid, &e), 0);
	assert_string_equal(e.text, "");
	end_of(pid);
}

/* ---- made there ------------------------------------------------------------------------------ */

struct made {
	int64_t theirs;
	int ours, mapped;
	uint64_t at, again;
	int make, map, taken;
};

static struct made make_in(pid_t pid)
{
	struct made m = { .ours = -1, .mapped = -1 };
	struct remote *r = NULL;
	struct stopped one;
	struct err e = { 0 };

	assert_int_equal(stop_one(pid, 10000000000ull, &one, &e), 0);
	assert_int_equal(remote_open(&one, 0, &r, &e), 0);
	m.make = memfile_make(pid, r, "a-name", &m.theirs, &m.ours, &e);
	m.map = memfile_map(pid, r, PMM_AGENT_NAME, 3 * PAGE, PROT_READ | PROT_WRITE, &m.at,
			    &m.mapped, &e);
	m.again = m.at;
	m.taken = memfile_map(pid, r, PMM_AGENT_NAME, PAGE, PROT_READ, &m.again, NULL, &e);
	remote_close(r);
	stop_resume(&one);
	return m;
}

static void files_are_made_in_another_process(void **state)
{
	pid_t pid = victim(NULL);
	struct proc_maps maps = { 0 };
	char path[64], link[64] = "";
	struct made m;
	unsigned nr = 0;
	struct stat st;

	(void)state;
	if (!may_stop(pid)) {
		end_of(pid);
		skip();
	}
	m = make_in(pid);
	assert_int_equal(m.make, 0);
	assert_true(m.ours >= 0);
	assert_true(open_in(pid, (int)m.theirs));
	assert_int_equal(fcntl(m.ours, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fstat(m.ours, &st), 0);
	assert_int_equal(st.st_size, 0);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, (int)m.theirs);
	assert_true(readlink(path, link, sizeof(link) - 1) > 0);
	assert_string_equal(link, "/memfd:a-name (deleted)");
	assert_false(memfile_link(link));
	assert_int_equal(m.map, 0);
	assert_int_equal(m.taken, -EEXIST);			/* something is there */
	assert_int_equal(pwrite(m.mapped, "hello", 5, PMM_AGENT_OFF + 10), 5);
	assert_int_equal(proc_maps_read(pid, &maps, NULL), 0);
	for (size_t i = 0; i < maps.nr; i++) {
		if (!memfile_mapped(&maps.v[i]))
			continue;
		nr++;
		assert_int_equal(maps.v[i].start, m.at);
		assert_int_equal(maps.v[i].end, m.at + 3 * PAGE);
		assert_int_equal(maps.v[i].offset, PMM_AGENT_OFF);
		assert_int_equal(maps.v[i].perms & (PROC_MAP_READ | PROC_MAP_WRITE | PROC_MAP_EXEC),
				 PROC_MAP_READ | PROC_MAP_WRITE);
	}
	assert_int_equal(nr, 1);
	proc_maps_fini(&maps);
	assert_int_equal(stop_read(pid, m.at + 10, link, 5), 0);
	assert_memory_equal(link, "hello", 5);
	close(m.ours);
	close(m.mapped);
	/* the memory: that of the name is somebody's */
	assert_int_equal(leftover_remove(pid, NULL), 1);
	assert_true(open_in(pid, (int)m.theirs));
	end_of(pid);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(what_is_nobodys_goes),
		TEST(where_there_is_nothing_nothing_is_done),
		TEST(files_are_made_in_another_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
