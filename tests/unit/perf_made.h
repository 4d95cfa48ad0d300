/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A taker of perf events (src/kernel/perf/perf_taker.h) for each test, and records made for it. */
#ifndef TESTS_UNIT_PERF_MADE_H
#define TESTS_UNIT_PERF_MADE_H

#include <sys/mman.h>

#include "arch/trace_arch.h"
#include "src/kernel/map_events.h"
#include "src/kernel/perf/perf_taker.h"
#include "tests/unit/unit.h"

#define PID	0x7f000001u	/* no process: larger than any number of one */
#define CHILD	0x7f000002u
#define THREAD	0x7f000003u
#define RW	(PROT_READ | PROT_WRITE)
#define RX	(PROT_READ | PROT_EXEC)
#define MAX_SEEN 64

static struct perf_taker *t;
static struct {
	struct trace_record r;
	char text[TRACE_TEXT_MAX + 1];
} seen[MAX_SEEN];
static unsigned nr_seen, nr_execs, nr_code, nr_twice;
static int answer;

static const struct perf_kind side = { .side = true };
static const struct perf_kind faults = { .period = 1, .kind = TRACE_FAULT };
static const struct perf_kind stacks = { .period = 1, .kind = TRACE_FAULT, .stack_bytes = 64 };
static const struct perf_kind spare = { .period = 1, .kind = TRACE_FAULT, .spare = true };
static const struct perf_kind major = { .period = 1, .kind = TRACE_FAULT_MAJOR };
static const struct perf_kind clock_kind = { .period = 1000, .kind = TRACE_CPU_CLOCK };

static inline int on_record(void *arg, const struct trace_record *r, const void *tail)
{
	(void)arg;
	assert_true(nr_seen < MAX_SEEN);
	seen[nr_seen].r = *r;
	memset(seen[nr_seen].text, 0, sizeof(seen[nr_seen].text));
	if (r->flags & TRACE_TEXT)
		memcpy(seen[nr_seen].text, tail, r->tail_bytes);
	nr_seen++;
	return answer;
}

static inline int on_mapped(void *arg, const struct map_event *e)
{
	(void)arg;
	nr_execs += e->exec;
	nr_code += !e->exec;
	return 0;
}

static inline void on_twice(void *arg, pid_t tid)
{
	(void)arg;
	assert_int_equal(tid, THREAD);
	nr_twice++;
}

static inline int begin(void **state)
{
	(void)state;
	t = calloc(1, sizeof(*t));
	if (!t)
		return 1;
	t->wanted[0] = t->wanted[1] = UINT64_MAX;
	t->uid = 7;
	t->take = on_record;
	t->mapped = on_mapped;
	t->twice = on_twice;
	nr_seen = nr_execs = nr_code = nr_twice = 0;
	answer = 0;
	return perf_taker_given(t, PID, PID, 100, true);
}

static inline int end(void **state)
{
	(void)state;
	perf_taker_fini(t);
	free(t);
	return 0;
}

/* ---- records ---- */

static union {
	struct perf_event_header h;
	char bytes[PERF_MAX_RECORD];
} rec;
static size_t at;

static inline void add(const void *from, size_t n)
{
	memcpy(rec.bytes + at, from, n);
	at += n;
}

static inline void word(uint64_t w)
{
	add(&w, sizeof(w));
}

static inline void half(uint32_t w)
{
	add(&w, sizeof(w));
}

static inline void start(uint32_t type, uint16_t misc)
{
	rec.h = (struct perf_event_header){ .type = type, .misc = misc };
	at = sizeof(rec.h);
}

static inline int give(const struct perf_kind *kind, pid_t given)
{
	rec.h.size = (uint16_t)at;
	return perf_taker_take(t, kind, given, &rec.h);
}

/* What all but samples end with. */
static inline int finish(uint32_t pid, uint32_t tid, uint64_t time_ns, pid_t given)
{
	while (at % 8)
		rec.bytes[at++] = 0;
	half(pid);
	half(tid);
	word(time_ns);
	word(1);
	return give(&side, given);
}

static inline int put_comm(uint32_t pid, const char *name, bool exec)
{
	char comm[16] = "";

	strncpy(comm, name, sizeof(comm) - 1);
	start(PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
	half(pid);
	half(pid);
	add(comm, 16);
	return finish(pid, pid, 1000, PID);
}

static inline int put_task(uint32_t type, uint32_t pid, uint32_t ppid, uint32_t tid,
			   uint32_t by_pid, uint32_t by_tid, uint64_t time_ns, pid_t given)
{
	start(type, 0);
	half(pid);
	half(ppid);
	half(tid);
	half(by_tid);
	word(time_ns);
	return finish(by_pid, by_tid, time_ns, given);
}

static inline int put_mapping(uint32_t pid, uint64_t from, uint64_t bytes, uint32_t prot,
			      uint64_t ino, const char *path)
{
	start(PERF_RECORD_MMAP2, 0);
	half(pid);
	half(pid);
	word(from);
	word(bytes);
	word(0);
	half(8);
	half(1);
	word(ino);
	word(0);
	half(prot);
	half(MAP_PRIVATE);
	add(path, strlen(path) + 1);
	return finish(pid, pid, 2000, PID);
}

static inline void sample(uint32_t pid, uint32_t tid, uint64_t ip, uint64_t address)
{
	start(PERF_RECORD_SAMPLE, 0);
	word(1);
	word(ip);
	half(pid);
	half(tid);
	word(3000);
	word(address);
}

static inline int put_sample(const struct perf_kind *kind, uint32_t pid, uint64_t ip,
			     uint64_t address)
{
	sample(pid, pid, ip, address);
	return give(kind, PID);
}

static inline void put_stack(uint64_t abi, uint64_t room, uint64_t used)
{
	sample(PID, PID, 1, 0x1000);
	word(abi);
	for (int i = 0; abi && i < ARCH_TRACE_PERF_NR; i++)
		word(0x100 + (uint64_t)i);
	word(room);
	for (uint64_t i = 0; i < room / 8; i++)
		word(0xaaaa0000 + i);
	if (room)
		word(used);
}

/* A program with a file at 0x400000, a heap, a stack. */
static inline void begin_program(void)
{
	assert_int_equal(put_comm(PID, "prog", true), 0);
	assert_int_equal(put_mapping(PID, 0x7f0000, 0x10000, RW, 0, "[stack]"), 0);
	assert_int_equal(put_mapping(PID, 0x400000, 0x5000, RX, 9, "/bin/prog"), 0);
	assert_int_equal(put_mapping(PID, 0x640000, 0x1000, RX, 0, "[vdso]"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
