/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc as seen through proc.h, tried on this very process and on children made for it. Also of
 * src/proc/proc_pid.c.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#include "src/proc/proc.h"

#define NOBODY 0x7ffffff0

static void process_numbers_are_digits_alone(void **state)
{
	static const char *const none[] = { "",	   "0",	   "00",   "-1",   "+1",  " 1", "1 ", "1.0",
					    "1.5", "0x1",  "1e3",  "self", "12a", "1,000",
					    "2147483648",  "4294967297", "18446744073709551617" };

	(void)state;
	for (size_t i = 0; i < NR(none); i++)
		assert_int_equal(proc_parse_pid(none[i]), 0);
	assert_int_equal(proc_parse_pid("1"), 1);
	assert_int_equal(proc_parse_pid("0042"), 42);
	assert_int_equal(proc_parse_pid("2147483647"), 2147483647);
}

static void names_are_read(void **state)
{
	char comm[PROC_COMM_BYTES];

	(void)state;
	prctl(PR_SET_NAME, "odd) (name\n 7 8");
	assert_int_equal(proc_comm(getpid(), comm), 0);
	assert_memory_equal(comm, "odd) (name", 10);
	assert_true(proc_alive(getpid()));
	prctl(PR_SET_NAME, "fifteen-letters");
	memset(comm, 'x', sizeof(comm));
	assert_int_equal(proc_comm(getpid(), comm), 0);
	assert_string_equal(comm, "fifteen-letters");
}

static void who_is_not_there_is_said(void **state)
{
	struct proc_thread *threads;
	struct proc_maps maps;
	char comm[PROC_COMM_BYTES];
	struct err e = { 0 };
	uint64_t n;
	int fd = -1;

	(void)state;
	assert_false(proc_alive(NOBODY));
	assert_false(proc_alive(0));
	assert_int_equal(proc_comm(NOBODY, comm), -ESRCH);
	assert_int_equal(proc_start_time(NOBODY, &n), -ESRCH);
	assert_int_equal(proc_rss(NOBODY, &fd, &n), -ESRCH);
	assert_int_equal(fd, -1);
	assert_int_equal(proc_ns_pid(NOBODY), -ESRCH);
	assert_int_equal(proc_threads(NOBODY, &threads), -ESRCH);
	assert_int_equal(proc_maps_read(NOBODY, &maps, &e), -ESRCH);
	assert_string_equal(e.text, "no process 2147483632");
}

static void a_zombie_is_not_alive(void **state)
{
	uint64_t mine = 0, theirs = 0;
	siginfo_t info;
	pid_t child = fork();

	(void)state;
	if (!child)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(proc_start_time(getpid(), &mine), 0);
	assert_int_equal(proc_start_time(child, &theirs), 0);
	assert_true(theirs >= mine && mine > 0);
	assert_false(proc_alive(child));
	waitpid(child, NULL, 0);
	assert_false(proc_alive(child));
}

static void mappings_are_read_to_the_byte(void **state)
{
	int fd = memfd_create("a name  with spaces", 0);
	const struct proc_map *found = NULL;
	struct proc_maps maps;
	char *p;

	(void)state;
	assert_int_equal(ftruncate(fd, 4 * 4096), 0);
	p = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096);
	assert_int_equal(proc_maps_read(getpid(), &maps, NULL), 0);
	for (size_t i = 0; i < maps.nr; i++) {
		assert_true(maps.v[i].start < maps.v[i].end);
		assert_true(!i || maps.v[i].start >= maps.v[i - 1].end);
		if (maps.v[i].start == (uintptr_t)p)
			found = &maps.v[i];
	}
	assert_non_null(found);
	assert_int_equal(found->end, (uintptr_t)p + 2 * 4096);
	assert_int_equal(found->offset, 4096);
	assert_int_equal(found->perms, PROC_MAP_READ | PROC_MAP_WRITE | PROC_MAP_SHARED);
	assert_string_equal(found->path, "/memfd:a name  with spaces (deleted)");
	assert_true(found->ino > 0);
	proc_maps_fini(&maps);
	munmap(p, 2 * 4096);
	close(fd);
}

static pthread_barrier_t barrier;

static void *named_thread(void *tid)
{
	prctl(PR_SET_NAME, "worker");
	*(pid_t *)tid = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void threads_have_names_and_numbers(void **state)
{
	struct proc_thread *threads = NULL;
	char comm[PROC_COMM_BYTES];
	pthread_t thread;
	pid_t tid = 0;
	ssize_t n;

	(void)state;
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, named_thread, &tid);
	pthread_barrier_wait(&barrier);
	n = proc_threads(getpid(), &threads);
	assert_int_equal(n, 2);
	assert_int_equal(threads[0].tid, getpid());
	assert_int_equal(threads[1].tid, tid);
	assert_int_equal(threads[1].ns_tid, tid);
	assert_string_equal(threads[1].comm, "worker");
	assert_int_equal(proc_thread_comm(getpid(), tid, comm), 0);
	assert_string_equal(comm, "worker");
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	free(threads);
}

static void a_pid_namespace_has_its_own_numbers(void **state)
{
	int ready[2], done[2];
	char byte = 0;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(done), 0);
	child = fork();
	if (!child) {
		pid_t inner;

		if (unshare(CLONE_NEWPID))
			_exit(1);
		inner = fork();
		if (inner)
			_exit(write(ready[1], &inner, sizeof(inner)) != sizeof(inner));
		close(done[1]);
		_exit(read(done[0], &byte, 1) != 0);
	}
	close(ready[1]);
	if (read(ready[0], &child, sizeof(child)) != sizeof(child)) {
		print_message("[  SKIPPED ] this machine does not let us make a pid namespace\n");
		skip();
	}
	assert_int_equal(proc_ns_pid(getpid()), getpid());
	assert_int_equal(proc_ns_pid(child), 1);
	close(done[0]);
	close(done[1]);
	while (wait(NULL) > 0)
		;
}

/*
 * Meanwhile the kernel may take pages of files from the process that were not used lately: more
 * than once it does not find any.
 */
static void resident_memory_is_in_bytes(void **state)
{
	size_t size = 32 << 20;
	uint64_t before = 0, after = 0;
	int fd = -1;

	(void)state;
	for (int i = 0; i < 10; i++) {
		char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);

		assert_int_equal(proc_rss(getpid(), &fd, &before), 0);
		assert_true(fd >= 0);
		memset(p, 1, size);
		assert_int_equal(proc_rss(getpid(), &fd, &after), 0);
		munmap(p, size);
		if (after - before >= size * 9 / 10)
			break;
	}
	close(fd);
	assert_in_range(after - before, size * 9 / 10, size * 11 / 10);
}

/* By one descriptor, which only few processes may have; a high one is closed again. */
static void the_most_resident_is_read_again(void **state)
{
	const size_t bytes = 64u << 20, slack = 1u << 20;
	int fd = -1, high = fcntl(0, F_DUPFD_CLOEXEC, 100), none = -1;
	uint64_t now = 0, before, after;
	char *p = malloc(bytes);

	(void)state;
	assert_non_null(p);
	assert_true(high >= 100);
	before = proc_peak_rss(getpid(), &fd);
	assert_int_equal(proc_rss(getpid(), &none, &now), 0);
	assert_true(before + slack >= now && fd >= 0);
	memset(p, 1, bytes);
	after = proc_peak_rss(getpid(), &fd);
	free(p);
	assert_in_range(after, before + bytes / 2, before + 2 * bytes);
	assert_true(proc_peak_rss(getpid(), &fd) + slack >= after);
	/* of that which it stands for, whatever the number */
	assert_true(proc_peak_rss(NOBODY, &fd) + slack >= after);
	close(fd);
	close(none);
	fd = high;
	assert_true(proc_peak_rss(getpid(), &fd) + slack >= after);
	assert_int_equal(fd, -1);
	assert_int_equal(fcntl(high, F_GETFD), -1);
	fd = -1;
	assert_int_equal(proc_peak_rss(NOBODY, &fd), 0);
	assert_int_equal(fd, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(process_numbers_are_digits_alone),
		cmocka_unit_test(names_are_read),
		cmocka_unit_test(who_is_not_there_is_said),
		cmocka_unit_test(a_zombie_is_not_alive),
		cmocka_unit_test(mappings_are_read_to_the_byte),
		cmocka_unit_test(threads_have_names_and_numbers),
		cmocka_unit_test(a_pid_namespace_has_its_own_numbers),
		cmocka_unit_test(resident_memory_is_in_bytes),
		cmocka_unit_test(the_most_resident_is_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
