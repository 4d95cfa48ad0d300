/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/kernel/perf/perf_taker.c, with records of perf events made here: whole, cut and hostile. Also
 * of perf_ring.c, perf_set.c, perf_tasks.c, perf_record.c, perf_exec.c, perf_state.c; and
 * perf_source.c with the kernel's own records of a child, where it gives them.
 */
#include "tests/unit/perf_made.h"

#include <sys/wait.h>
#include <unistd.h>

#include "src/base/nanotime.h"
#include "src/kernel/perf/perf_exec.h"

/* ---- processes ---- */

static void a_program(void **state)
{
	(void)state;
	begin_program();
	assert_int_equal(nr_seen, 2);
	assert_int_equal(seen[0].r.kind, TRACE_RENAME);
	assert_string_equal(seen[0].text, "prog");
	assert_string_equal(seen[0].r.comm, "");
	assert_int_equal(seen[1].r.kind, TRACE_EXEC);
	assert_int_equal(seen[1].r.tgid, PID);
	assert_int_equal(seen[1].r.uid, 7);
	assert_int_equal(seen[1].r.weight, 1);
	assert_int_equal(seen[1].r.time_ns, 2000);
	assert_string_equal(seen[1].r.comm, "prog");
	assert_string_equal(seen[1].text, "/bin/prog");
	/* the process has ended: its arguments cannot be read */
	assert_int_equal(seen[1].r.flags, TRACE_TEXT | TRACE_CUT);
	assert_int_equal(seen[1].r.tail_bytes, TRACE_TEXT_SECOND);
	assert_int_equal(nr_execs, 1);
	assert_int_equal(nr_code, 2);
	assert_int_equal(t->counts[TRACE_MMAP].seen, 0);	/* exec has mapped all of it */
	assert_int_equal(t->damaged, 0);
}

static void children_and_threads(void **state)
{
	(void)state;
	begin_program();
	nr_seen = 0;
	assert_int_equal(put_task(PERF_RECORD_FORK, CHILD, PID, CHILD, PID, PID, 5000, PID), 0);
	assert_int_equal(put_task(PERF_RECORD_FORK, PID, PID, THREAD, PID, PID, 6000, PID), 0);
	assert_int_equal(nr_seen, 2);
	assert_int_equal(seen[0].r.kind, TRACE_FORK);
	assert_int_equal(seen[0].r.tgid, PID);
	assert_int_equal(seen[0].r.a[0], CHILD);
	assert_int_equal(seen[0].r.a[1], CHILD);
	assert_int_equal(seen[1].r.a[0], PID);
	assert_int_equal(seen[1].r.a[1], THREAD);
	/* the child has what its parent has mapped */
	assert_int_equal(put_sample(&faults, CHILD, 0x1, 0x400123), 0);
	assert_int_equal(seen[2].r.a[4], 9);
	assert_string_equal(seen[2].r.comm, "prog");
	nr_seen = 0;
	assert_int_equal(put_task(PERF_RECORD_EXIT, CHILD, PID, CHILD, CHILD, CHILD, 9000, PID), 0);
	assert_int_equal(seen[0].r.kind, TRACE_EXIT);
	assert_true(seen[0].r.a[0] == TRACE_NOT_KNOWN);
	assert_int_equal(seen[0].r.a[2], 1);		/* the whole process */
	assert_int_equal(seen[0].r.a[3], PID);
	assert_int_equal(seen[0].r.a[4], 4000);
	/* the first thread ends first */
	assert_int_equal(put_task(PERF_RECORD_EXIT, PID, 1, PID, PID, PID, 9100, PID), 0);
	assert_int_equal(put_task(PERF_RECORD_EXIT, PID, 1, THREAD, PID, THREAD, 9200, PID), 0);
	assert_int_equal(seen[1].r.a[2], 0);
	assert_int_equal(seen[1].r.a[4], 9000);
	assert_int_equal(seen[2].r.a[2], 1);
	assert_int_equal(seen[2].r.a[4], 3200);
	assert_null(perf_task_find(&t->tasks, PID));
	assert_null(perf_process_find(&t->tasks, PID));
	assert_null(perf_process_find(&t->tasks, CHILD));
}

/* Another thread than the first executes: it has the first one's number from then on. */
static void another_thread_executes(void **state)
{
	(void)state;
	begin_program();
	assert_int_equal(put_task(PERF_RECORD_FORK, PID, PID, THREAD, PID, PID, 6000, PID), 0);
	assert_int_equal(put_task(PERF_RECORD_EXIT, PID, 1, PID, PID, PID, 6100, PID), 0);
	assert_int_equal(put_comm(PID, "other", true), 0);
	assert_null(perf_task_find(&t->tasks, THREAD));
	assert_int_equal(perf_process_find(&t->tasks, PID)->nr_threads, 1);
	nr_seen = 0;
	assert_int_equal(put_task(PERF_RECORD_EXIT, PID, 1, PID, PID, PID, 7000, PID), 0);
	assert_int_equal(seen[0].r.a[2], 1);
}

/*
 * A thread that was given, and had been started by one that was given before: it has two copies of
 * each event. Those of its parent count.
 */
static void given_twice(void **state)
{
	(void)state;
	assert_int_equal(perf_taker_given(t, PID, THREAD, 0, true), 0);
	assert_int_equal(put_task(PERF_RECORD_FORK, PID, PID, THREAD, PID, PID, 50, PID), 0);
	assert_int_equal(nr_twice, 1);
	assert_int_equal(perf_process_find(&t->tasks, PID)->nr_threads, 2);
	nr_seen = 0;
	sample(PID, THREAD, 1, 0x400000);
	assert_int_equal(give(&faults, THREAD), 0);
	assert_int_equal(t->counts[TRACE_FAULT].seen, 0);
	assert_int_equal(give(&faults, PID), 0);
	assert_int_equal(t->counts[TRACE_FAULT].seen, 1);
	/* what it starts, too */
	assert_int_equal(put_task(PERF_RECORD_FORK, CHILD, PID, CHILD, PID, THREAD, 60, THREAD), 0);
	assert_null(perf_task_find(&t->tasks, CHILD));
	assert_int_equal(put_task(PERF_RECORD_FORK, CHILD, PID, CHILD, PID, THREAD, 60, PID), 0);
	assert_int_equal(perf_task_find(&t->tasks, CHILD)->source, PID);
}

/* Its fork was lost: the first event that has a record of it counts. */
static void a_thread_that_is_not_known(void **state)
{
	(void)state;
	sample(CHILD, CHILD, 1, 0x400000);
	assert_int_equal(give(&faults, PID), 0);
	assert_int_equal(give(&faults, THREAD), 0);
	assert_int_equal(t->counts[TRACE_FAULT].seen, 1);
	assert_int_equal(fault_area_of(&seen[0].r), FAULT_UNKNOWN);
}

/* Threads are looked at, other processes are not. */
static void no_children(void **state)
{
	(void)state;
	t->alone = true;
	assert_int_equal(put_task(PERF_RECORD_FORK, CHILD, PID, CHILD, PID, PID, 50, PID), 0);
	assert_int_equal(put_task(PERF_RECORD_FORK, PID, PID, THREAD, PID, PID, 50, PID), 0);
	assert_int_equal(nr_seen, 2);
	put_sample(&faults, CHILD, 1, 0x1000);
	assert_int_equal(put_task(PERF_RECORD_EXIT, CHILD, PID, CHILD, CHILD, CHILD, 60, PID), 0);
	assert_int_equal(nr_seen, 2);
	sample(PID, THREAD, 1, 0x1000);
	assert_int_equal(give(&faults, PID), 0);
	assert_int_equal(nr_seen, 3);
}

static void names(void **state)
{
	(void)state;
	assert_int_equal(put_comm(PID, "first", false), 0);
	assert_int_equal(put_comm(PID, "second", false), 0);
	assert_string_equal(seen[1].r.comm, "first");
	assert_string_equal(seen[1].text, "second");
	assert_int_equal(nr_execs, 0);
	/* only processes of that name */
	t->comm = "third";
	assert_int_equal(put_comm(PID, "third", false), 0);
	assert_int_equal(nr_seen, 2);
	assert_int_equal(put_sample(&faults, PID, 1, 2), 0);
	assert_int_equal(nr_seen, 3);
	t->comm = "thir";
	assert_int_equal(put_sample(&faults, PID, 1, 2), 0);
	assert_int_equal(t->counts[TRACE_FAULT].seen, 1);
}

/* ---- mappings ---- */

static void mappings(void **state)
{
	(void)state;
	begin_program();
	nr_seen = 0;
	assert_int_equal(put_mapping(PID, 0x600000, 0x2000, RW, 0, "//anon"), 0);
	assert_int_equal(put_mapping(PID, 0x500000, 0x3000, PROT_READ, 12, "/lib/x"), 0);
	assert_int_equal(put_mapping(PID, 0x600000, 0x5000, RW, 0, "[heap]"), 0);
	assert_int_equal(put_mapping(PID, 0x900000000, 0x4000, PROT_NONE, 0, "//anon"), 0);
	assert_int_equal(put_mapping(PID, 0x900001000, 0x1000, RW, 0, "//anon"), 0);
	assert_int_equal(nr_seen, 5);
	assert_int_equal(seen[0].r.kind, TRACE_BRK);
	assert_int_equal(seen[0].r.a[1], 0x600000);
	assert_int_equal(seen[0].r.a[3], 0x2000);
	assert_int_equal(seen[0].r.a[5], 0x602000);
	assert_int_equal(seen[1].r.kind, TRACE_MMAP);
	assert_int_equal(seen[1].r.a[0], 0x500000);
	assert_int_equal(seen[1].r.a[1], 0x3000);
	assert_int_equal(seen[1].r.a[2], PROT_READ);
	assert_int_equal(seen[1].r.a[3], MAP_PRIVATE);
	assert_int_equal((uint32_t)seen[1].r.a[4], TRACE_NO_DESCRIPTOR);
	assert_int_equal(seen[1].r.a[4] >> 32, 8 << 20 | 1);
	assert_int_equal(seen[1].r.a[6], 0);
	assert_int_equal(seen[1].r.a[7], 12);
	assert_int_equal(seen[2].r.kind, TRACE_BRK);
	assert_int_equal(seen[2].r.a[2], 0x602000);
	assert_int_equal(seen[2].r.a[3], 0x3000);
	assert_int_equal(seen[3].r.kind, TRACE_MMAP);
	assert_int_equal(seen[3].r.a[3], MAP_PRIVATE | MAP_ANONYMOUS);
	assert_int_equal(seen[3].r.flags, 0);
	assert_int_equal(seen[4].r.kind, TRACE_MPROTECT);
	assert_int_equal(seen[4].r.a[0], 0x900001000);
	assert_int_equal(seen[4].r.a[1], 0x1000);
	/* smaller ones are counted, and that is all */
	t->min_bytes = 0x5000;
	assert_int_equal(put_mapping(PID, 0x800000000, 0x4000, RW, 0, "//anon"), 0);
	assert_int_equal(put_mapping(PID, 0x810000000, 0x5000, RW, 0, "//anon"), 0);
	assert_int_equal(nr_seen, 6);
	assert_int_equal(t->counts[TRACE_MMAP].seen, 4);
	/* kinds that nobody has asked for */
	t->wanted[TRACE_MMAP / 64] &= ~(1ull << TRACE_MMAP % 64);
	assert_int_equal(put_mapping(PID, 0x820000000, 0x5000, RW, 0, "//anon"), 0);
	assert_int_equal(nr_seen, 6);
}

/* ---- hostile ---- */

static void lost(void **state)
{
	(void)state;
	start(PERF_RECORD_LOST, 0);
	word(1);
	word(42);
	at += PERF_TRAILER_BYTES;
	assert_int_equal(give(&faults, PID), 0);
	assert_int_equal(give(&spare, PID), 0);		/* that is sampling */
	assert_int_equal(give(&side, PID), 0);
	assert_int_equal(t->counts[TRACE_FAULT].lost, 42);
	assert_int_equal(t->counts[TRACE_NONE].lost, 42);
}

/* Every record, cut at every length: counted as damaged or taken, and nothing outside is read. */
static void cut_anywhere(void **state)
{
	size_t whole;
	char *copy;

	(void)state;
	for (int kind = 0; kind < 5; kind++) {
		start(PERF_RECORD_MMAP2, 0);
		if (kind == 0)
			put_mapping(PID, 0x500000, 0x3000, PROT_READ, 12, "/lib/x");
		else if (kind == 1)
			put_comm(PID, "x", true);
		else if (kind == 2)
			put_task(PERF_RECORD_FORK, CHILD, PID, CHILD, PID, PID, 5, PID);
		else if (kind == 3)
			put_stack(PERF_SAMPLE_REGS_ABI_64, 64, 24);
		else
			put_task(PERF_RECORD_EXIT, CHILD, PID, CHILD, CHILD, CHILD, 5, PID);
		whole = at;
		for (size_t n = sizeof(rec.h); n < whole; n += 8) {
			nr_seen = 0;
			copy = malloc(n);		/* the sanitizer sees what is behind */
			memcpy(copy, &rec, n);
			((struct perf_event_header *)copy)->size = (uint16_t)n;
			assert_int_equal(perf_taker_take(t, kind == 3 ? &stacks : &side, PID,
							 (void *)copy), 0);
			free(copy);
		}
	}
	assert_true(t->damaged > 10);
}

static void strange_records(void **state)
{
	(void)state;
	/* a sample of an event that has none; a type to come; process 0 and -1 */
	put_sample(&side, PID, 1, 2);
	assert_int_equal(t->damaged, 1);
	start(4711, 0);
	assert_int_equal(finish(PID, PID, 5, PID), 0);
	put_sample(&faults, 0, 1, 2);
	put_sample(&faults, UINT32_MAX, 1, 2);
	assert_int_equal(t->damaged, 1);
	assert_int_equal(nr_seen, 0);
	/* a mapping that wraps, one whose path has no end */
	put_mapping(PID, UINT64_MAX - 0xfff, 0x2000, RW, 0, "//anon");
	assert_int_equal(t->damaged, 2);
	put_mapping(PID, 0x1000, 0, RW, 0, "//anon");
	assert_int_equal(t->damaged, 3);
	/* what take() answers ends it */
	answer = -EPIPE;
	assert_int_equal(put_sample(&faults, PID, 1, 2), -EPIPE);
}

/* ---- rings ---- */

static void a_ring(void **state)
{
	static char data[4096], room[PERF_MAX_RECORD];
	struct perf_ring ring = { .data = data, .bytes = sizeof(data) };
	const struct perf_event_header *h;
	struct perf_event_header last = { .type = 1, .size = 24 };
	uint64_t head = 0;

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		struct perf_event_header put = { .type = i, .size = 24 };
		char bytes[24];

		memcpy(bytes, &put, sizeof(put));
		memset(bytes + 8, (int)i, 16);
		for (unsigned k = 0; k < 24; k++)
			data[head++ % sizeof(data)] = bytes[k];
		h = perf_ring_next(&ring, head, 24, room);
		assert_non_null(h);
		assert_int_equal(h->type, i);
		assert_int_equal(((const unsigned char *)h)[23], i & 0xff);
		perf_ring_pass(&ring, h);
		assert_null(perf_ring_next(&ring, head, 24, room));
	}
	assert_int_equal(ring.damaged, 0);
	/* what is there is shorter than is asked for */
	for (unsigned k = 0; k < 24; k++)
		data[head++ % sizeof(data)] = ((const char *)&last)[k % 8];
	assert_null(perf_ring_next(&ring, head, 32, room));
	assert_int_equal(ring.damaged, 1);
	assert_int_equal(ring.tail, head);
}

/* ---- /proc ---- */

static void what_proc_says(void **state)
{
	char text[TRACE_TEXT_MAX], comm[TRACE_COMM_BYTES], exe[256] = "";
	uint32_t flags = 0;
	uint64_t start_ns = perf_exec_start(getpid());

	(void)state;
	assert_true(start_ns && start_ns < nanotime() && nanotime() - start_ns < 600000000000ull);
	assert_int_equal(perf_exec_parent(getpid()), getppid());
	perf_exec_comm(getpid(), getpid(), comm);
	assert_string_equal(comm, "test_perf");
	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	assert_true(perf_exec_text(text, getpid(), exe, &flags) > TRACE_TEXT_SECOND);
	assert_int_equal(flags, 0);
	assert_non_null(strstr(text + TRACE_TEXT_SECOND, "test_perf"));
	/* it executes something else by now */
	assert_int_equal(perf_exec_text(text, getpid(), "/bin/x", &flags), TRACE_TEXT_SECOND);
	assert_int_equal(flags, TRACE_CUT);
	assert_string_equal(text, "/bin/x");
	assert_int_equal(perf_exec_start(0x7ffffffe), 0);
	assert_int_equal(perf_exec_parent(0x7ffffffe), 0);
}

/* ---- the kernel's own ---- */

static unsigned of_kind[TRACE_NR_KINDS];

static int on_real(void *arg, const struct trace_record *r, const void *tail)
{
	(void)arg;
	(void)tail;
	of_kind[r->kind]++;
	return 0;
}

/* A child touches 300 pages, maps 20 times, and starts a child of its own. */
static void victim(int go)
{
	char *p, c;

	if (read(go, &c, 1) != 1)
		_exit(1);
	p = mmap(NULL, 300 * 4096, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 300; i++)
		p[i * 4096] = 1;
	for (int i = 0; i < 20; i++)
		munmap(mmap(NULL, 8192, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0), 8192);
	if (!fork())
		_exit(0);
	wait(NULL);
	_exit(0);
}

static void a_real_child(void **state)
{
	struct kernel_options o = { .groups = 1u << KERNEL_LIFE | 1u << KERNEL_CALLS |
					      1u << KERNEL_FAULTS | 1u << KERNEL_OOM,
				    .kinds = { UINT64_MAX, UINT64_MAX },
				    .sample = 1, .nr_pids = 1, .follow = true };
	struct trace_counts counts[TRACE_NR_KINDS];
	struct kernel_source *s;
	struct err e = { 0 };
	int go[2];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (!pid)
		victim(go[0]);
	o.pids = &pid;
	if (kernel_source_open(&perf_source, &o, &s, &e)) {
		assert_string_not_equal(e.text, "");
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		skip();
	}
	assert_true(kernel_source_by_process(s));
	assert_true(kernel_source_fd(s) >= 0);
	assert_int_equal(write(go[1], "x", 1), 1);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	memset(of_kind, 0, sizeof(of_kind));
	assert_true(kernel_source_step(s, on_real, NULL) > 0);
	assert_int_equal(kernel_source_counts(s, counts), 0);
	assert_true(of_kind[TRACE_FAULT] >= 300);
	assert_int_equal(counts[TRACE_FAULT].seen, of_kind[TRACE_FAULT]);
	assert_int_equal(counts[TRACE_FAULT].lost, 0);
	assert_int_equal(of_kind[TRACE_MMAP], 21);
	assert_int_equal(of_kind[TRACE_FORK], 1);
	assert_int_equal(of_kind[TRACE_EXIT], 2);
	assert_int_equal(kernel_source_group(s, KERNEL_LIFE).status, KERNEL_GROUP_PARTLY);
	assert_int_equal(kernel_source_group(s, KERNEL_OOM).status, KERNEL_GROUP_FAILED);
	assert_int_equal(kernel_source_group(s, KERNEL_RSS).status, KERNEL_GROUP_UNUSED);
	kernel_source_close(s);
	close(go[0]);
	close(go[1]);
}

/* Whom it cannot look for: nobody else is traced by mistake. */
static void filters(void **state)
{
	pid_t self = getpid();
	struct kernel_options all = { .groups = 1 };
	struct kernel_options group = { .groups = 1, .pids = &self, .nr_pids = 1, .memcg = 5 };
	struct kernel_options user = { .groups = 1, .pids = &self, .nr_pids = 1, .by_uid = true };
	struct kernel_source *s;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(kernel_source_open(&perf_source, &all, &s, &e), -ENOTSUP);
	assert_int_equal(kernel_source_open(&perf_source, &group, &s, &e), -ENOTSUP);
	assert_int_equal(kernel_source_open(&perf_source, &user, &s, &e), -ENOTSUP);
	assert_non_null(strstr(e.text, "given processes of one's own only"));
	assert_null(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_program),
		TEST(children_and_threads),
		TEST(another_thread_executes),
		TEST(given_twice),
		TEST(a_thread_that_is_not_known),
		TEST(no_children),
		TEST(names),
		TEST(mappings),
		TEST(lost),
		TEST(cut_anywhere),
		TEST(strange_records),
		TEST(a_ring),
		TEST(what_proc_says),
		TEST(a_real_child),
		TEST(filters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
