/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/kernel/map_events.c: records made here, whole, cut, wrapped and hostile; and the kernel's own
 * of a child, where it gives them.
 */
#include "tests/unit/unit.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/nanotime.h"
#include "src/kernel/map_events.h"

#define RING	4096u

static unsigned char bytes[RING];
static struct perf_ring ring;
static struct map_queue q;
static uint64_t head;

static int begin(void **state)
{
	(void)state;
	memset(bytes, 0xee, sizeof(bytes));
	ring = (struct perf_ring){ .data = bytes, .bytes = RING };
	head = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	map_queue_fini(&q);
	return 0;
}

static void put(const void *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[head++ % RING] = ((const unsigned char *)from)[i];
}

/* A record of which `size` is said and `n` bytes of a body are there, then its time. */
static void put_record(uint32_t type, uint16_t misc, const void *body, size_t n, uint64_t time_ns)
{
	struct perf_event_header h = { .type = type, .misc = misc,
				       .size = (uint16_t)(sizeof(h) + n + 8) };

	put(&h, sizeof(h));
	put(body, n);
	put(&time_ns, 8);
}

struct mapping {
	uint32_t pid, tid;
	uint64_t start, bytes, offset;
	uint32_t dev_major, dev_minor;
	uint64_t ino, generation;
	uint32_t prot, flags;
	char path[16];
};

static struct mapping mapping(uint32_t pid, uint64_t start, const char *path)
{
	struct mapping m = { .pid = pid, .tid = pid, .start = start, .bytes = 0x2000,
			     .offset = 0x1000, .dev_major = 8, .dev_minor = 3, .ino = 77 };

	strncpy(m.path, path, sizeof(m.path));
	return m;
}

static void put_mapping(uint32_t pid, uint64_t start, const char *path, uint64_t time_ns)
{
	struct mapping m = mapping(pid, start, path);

	put_record(PERF_RECORD_MMAP2, 0, &m, sizeof(m), time_ns);
}

static void put_comm(uint32_t pid, uint16_t misc, uint64_t time_ns)
{
	struct { uint32_t pid, tid; char comm[8]; } c = { pid, pid, "ls" };

	put_record(PERF_RECORD_COMM, misc, &c, sizeof(c), time_ns);
}

static void take(void)
{
	assert_int_equal(map_queue_take(&q, &ring, head), 0);
	assert_int_equal(ring.tail, head);
	map_queue_sort(&q);
}

static void a_mapping(void **state)
{
	const struct map_event *e;

	(void)state;
	put_mapping(42, 0x400000, "/bin/x", 500);
	take();
	assert_null(map_queue_next(&q, 499));
	e = map_queue_next(&q, 500);
	assert_non_null(e);
	assert_int_equal(e->time_ns, 500);
	assert_int_equal(e->tgid, 42);
	assert_false(e->exec);
	assert_int_equal(e->map.start, 0x400000);
	assert_int_equal(e->map.end, 0x402000);
	assert_int_equal(e->map.offset, 0x1000);
	assert_int_equal(e->map.ino, 77);
	assert_int_equal(e->map.dev_major, 8);
	assert_int_equal(e->map.dev_minor, 3);
	assert_int_equal(e->map.perms, PROC_MAP_EXEC);
	assert_string_equal(e->map.path, "/bin/x");
	assert_null(map_queue_next(&q, UINT64_MAX));
	assert_int_equal(q.damaged, 0);
}

/* Of two processors: by time, also with what was left of the time before. */
static void by_time(void **state)
{
	static const uint64_t want[] = { 10, 20, 30, 35, 40 };

	(void)state;
	put_mapping(1, 0x1000, "a", 30);
	put_mapping(1, 0x2000, "b", 10);
	put_mapping(1, 0x3000, "c", 40);
	take();
	assert_int_equal(map_queue_next(&q, 10)->time_ns, want[0]);
	put_mapping(1, 0x1000, "d", 35);
	put_mapping(1, 0x1000, "e", 20);
	take();
	for (int i = 1; i < 5; i++)
		assert_int_equal(map_queue_next(&q, 40)->time_ns, want[i]);
	assert_null(map_queue_next(&q, UINT64_MAX));
}

/* A new name that is of no exec says nothing; nor does what other pid namespaces do. */
static void what_counts(void **state)
{
	const struct map_event *e;

	(void)state;
	put_comm(5, 0, 1);
	put_comm(6, PERF_RECORD_MISC_COMM_EXEC, 2);
	put_comm(0, PERF_RECORD_MISC_COMM_EXEC, 3);
	put_mapping(0, 0x1000, "a", 4);
	put_mapping(UINT32_MAX, 0x1000, "a", 5);
	take();
	e = map_queue_next(&q, UINT64_MAX);
	assert_int_equal(e->tgid, 6);
	assert_true(e->exec);
	assert_null(e->map.path);
	assert_null(map_queue_next(&q, UINT64_MAX));
	assert_int_equal(q.damaged, 0);
}

static void lost(void **state)
{
	uint64_t body[2] = { 1, 12 };

	(void)state;
	put_record(PERF_RECORD_LOST, 0, body, sizeof(body), 1);
	body[1] = 30;
	put_record(PERF_RECORD_LOST, 0, body, sizeof(body), 2);
	put_mapping(1, 0x1000, "a", 3);
	take();
	assert_int_equal(q.lost, 42);
	assert_int_equal(map_queue_next(&q, UINT64_MAX)->time_ns, 3);
}

/* A record that lies across the end of the ring, at every place. */
static void across_the_end(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < RING / 8; i++) {
		const struct map_event *e;

		put_mapping(9, 0x1000 + i, "/a/long/path", i);
		take();
		e = map_queue_next(&q, UINT64_MAX);
		assert_int_equal(e->map.start, 0x1000 + i);
		assert_string_equal(e->map.path, "/a/long/path");
	}
	assert_true(head > 8 * RING);
	assert_int_equal(q.damaged, 0);
}

/* Sizes that cannot be: what follows is left out, and nothing outside is read. */
static void hostile_sizes(void **state)
{
	static const uint16_t sizes[] = { 0, 1, 7, 8, 15, 200, 65535 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct perf_event_header h = { .type = PERF_RECORD_MMAP2, .size = sizes[i] };

		put(&h, sizeof(h));
		put_mapping(1, 0x1000, "a", 3);
		take();
		assert_int_equal(q.damaged, i + 1);
		assert_null(map_queue_next(&q, UINT64_MAX));
	}
	/* less than a header is there; more than the ring holds */
	head += 4;
	take();
	head += RING + 8;
	take();
	assert_int_equal(q.damaged, 9);
	assert_null(map_queue_next(&q, UINT64_MAX));
}

/* Records shorter than their kind, names without an end, ranges that wrap. */
static void hostile_records(void **state)
{
	struct mapping m = mapping(1, 0x1000, "0123456789abcdefg");	/* no NUL */
	uint64_t word = 7;

	(void)state;
	put_record(PERF_RECORD_MMAP2, 0, &m, sizeof(m), 1);
	m = mapping(1, UINT64_MAX - 4096, "a");
	put_record(PERF_RECORD_MMAP2, 0, &m, sizeof(m), 1);
	m = mapping(1, 0x1000, "a");
	m.bytes = 0;
	put_record(PERF_RECORD_MMAP2, 0, &m, sizeof(m), 1);
	put_record(PERF_RECORD_MMAP2, 0, &m, sizeof(m) - sizeof(m.path), 1);
	put_record(PERF_RECORD_MMAP2, 0, &word, sizeof(word), 1);
	put_record(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, NULL, 0, 1);
	put_record(PERF_RECORD_LOST, 0, &word, sizeof(word), 1);
	put_record(4711, 0, &word, sizeof(word), 1);		/* of a kernel to come: no damage */
	take();
	assert_null(map_queue_next(&q, UINT64_MAX));
	assert_int_equal(q.damaged, 7);
	assert_int_equal(q.lost, 0);
}

/* The kernel's: exec, the program, the loader, in this order; and it has ended meanwhile. */
static void a_child(void **state)
{
	uint64_t before = nanotime();
	bool exec = false, program = false, vdso = false;
	const struct map_event *e;
	struct map_events *m;
	struct err err = { 0 };
	pid_t child;

	(void)state;
	if (map_events_open(&m, &err)) {
		assert_string_not_equal(err.text, "");
		skip();
	}
	child = fork();
	if (!child) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(map_events_drain(m), 0);
	while ((e = map_events_next(m, nanotime()))) {
		assert_true(e->time_ns > before);
		before = e->time_ns - 1;
		if (e->tgid != child)
			continue;
		assert_true(exec != e->exec);		/* first, once */
		exec = true;
		program |= !e->exec && strstr(e->map.path, "/true");
		vdso |= !e->exec && !strcmp(e->map.path, "[vdso]");
	}
	assert_true(exec && program && vdso);
	assert_int_equal(map_events_lost(m), 0);
	map_events_close(m);
}

/* A monitor that goes on in the background has the rings of the process that it was forked from. */
static int hear_a_child(struct map_events *m)
{
	const struct map_event *e;
	bool exec = false;
	pid_t child;

	if (map_events_forked(m))
		return 2;
	child = fork();
	if (!child) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	if (waitpid(child, NULL, 0) != child || map_events_drain(m))
		return 3;
	while ((e = map_events_next(m, nanotime())))
		exec |= e->exec && e->tgid == child;
	return exec && !map_events_lost(m) ? 0 : 4;
}

static void in_a_forked_process(void **state)
{
	struct map_events *m;
	int status;
	pid_t pid;

	(void)state;
	if (map_events_open(&m, NULL))
		skip();
	assert_int_equal(map_events_drain(m), 0);
	pid = fork();
	if (!pid)
		_exit(hear_a_child(m));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	map_events_close(m);
}

/* Refused, on whatever processor: not the same as no record. */
static void no_descriptors(void **state)
{
	struct rlimit was, none;
	struct map_events *m;
	struct err e = { 0 };
	int rc;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = (struct rlimit){ 0, was.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	rc = map_events_open(&m, &e);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_true(rc == -EMFILE || rc == -EACCES || rc == -EPERM || rc == -ENOSYS);
	assert_null(m);
	assert_int_equal(strncmp(e.text, "perf events cannot be opened: ", 30), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_mapping),
		TEST(by_time),
		TEST(what_counts),
		TEST(lost),
		TEST(across_the_end),
		TEST(hostile_sizes),
		TEST(hostile_records),
		TEST(a_child),
		TEST(in_a_forked_process),
		TEST(no_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
