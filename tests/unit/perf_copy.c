/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies of user stacks by a perf event. */
#include "tests/unit/perf_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arch/trace_arch.h"

#define MAX_CPUS	256
#define RING_BYTES	(8u << 20)

struct ring {
	int fd;
	struct perf_event_mmap_page *head;
};

struct perf_copy {
	pid_t pid;
	int go;				/* closed: the child executes */
	struct ring ring[MAX_CPUS];
	unsigned nr;
	bool ended;
	uint64_t lost;
	uint8_t record[1 << 16];
};

static int event_open(pid_t pid, int cpu, unsigned stack_bytes, unsigned period)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(a),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = period,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_ADDR | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = ARCH_TRACE_PERF_REGS,
		.sample_stack_user = stack_bytes,
		.disabled = 1, .enable_on_exec = 1, .inherit = 1, .exclude_kernel = 1,
		.mmap = 1, .mmap2 = 1, .comm = 1, .comm_exec = 1, .task = 1, .sample_id_all = 1,
		.use_clockid = 1, .clockid = CLOCK_MONOTONIC,
	};

	return (int)syscall(SYS_perf_event_open, &a, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool ring_open(struct perf_copy *p, int cpu, unsigned stack_bytes, unsigned period)
{
	struct ring *r = &p->ring[p->nr];
	int fd = event_open(p->pid, cpu, stack_bytes, period);

	if (fd < 0)
		return errno == ENODEV;		/* a processor that is not there */
	r->head = mmap(NULL, 4096 + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	r->fd = fd;
	if (r->head == MAP_FAILED) {
		close(fd);
		return false;
	}
	p->nr++;
	return true;
}

struct perf_copy *perf_copy_new(char *const argv[], unsigned stack_bytes, unsigned period)
{
	struct perf_copy *p = calloc(1, sizeof(*p));
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int pipes[2];
	char byte;

	if (!p || pipe2(pipes, O_CLOEXEC))
		abort();
	p->pid = fork();
	if (!p->pid) {
		close(pipes[1]);
		if (read(pipes[0], &byte, 1) == 0)
			execvp(argv[0], argv);
		_exit(127);
	}
	close(pipes[0]);
	p->go = pipes[1];
	for (int cpu = 0; cpu < cpus && cpu < MAX_CPUS; cpu++)
		if (!ring_open(p, cpu, stack_bytes, period)) {
			kill(p->pid, SIGKILL);
			perf_copy_free(p);
			return NULL;
		}
	return p;
}

void perf_copy_go(struct perf_copy *p)
{
	close(p->go);
	p->go = -1;
}

uint64_t perf_copy_lost(const struct perf_copy *p)
{
	return p->lost;
}

pid_t perf_copy_pid(const struct perf_copy *p)
{
	return p->pid;
}

void perf_copy_free(struct perf_copy *p)
{
	if (!p)
		return;
	if (p->go >= 0)
		close(p->go);
	for (unsigned i = 0; i < p->nr; i++) {
		munmap(p->ring[i].head, 4096 + RING_BYTES);
		close(p->ring[i].fd);
	}
	if (!p->ended)
		waitpid(p->pid, NULL, 0);
	free(p);
}

/* ---- records --------------------------------------------------------------------------------- */

static uint64_t u64_at(const uint8_t **at)
{
	uint64_t v;

	memcpy(&v, *at, sizeof(v));
	*at += sizeof(v);
	return v;
}

static void two_at(const uint8_t **at, pid_t *a, pid_t *b)
{
	uint64_t v = u64_at(at);

	*a = (pid_t)(uint32_t)v;
	*b = (pid_t)(v >> 32);
}

static void sample_take(const uint8_t *at, struct perf_copy_event *e)
{
	struct trace_regs *regs = &e->copy.regs;
	uint64_t size;

	u64_at(&at);					/* ip: the registers have it */
	two_at(&at, &e->tgid, &e->tid);
	e->time_ns = u64_at(&at);
	e->address = u64_at(&at);
	if (u64_at(&at) != PERF_SAMPLE_REGS_ABI_64)
		return;
	for (int i = 0; i < ARCH_TRACE_PERF_NR; i++) {
		uint64_t value = u64_at(&at);

		if (arch_trace_perf[i] == ARCH_TRACE_PERF_IP)
			regs->ip = value;
		else if (arch_trace_perf[i] == ARCH_TRACE_PERF_SP)
			regs->sp = value;
		else
			regs->saved[arch_trace_perf[i]] = value;
	}
	size = u64_at(&at);
	e->copy.bytes = at;
	at += size;
	e->copy.nr_bytes = size ? u64_at(&at) : 0;
	e->copy.cut = e->copy.nr_bytes == size;
	e->copy.at = USER_STACK_AT_FAULT;
}

/* False: nobody asked for it. */
static bool record_take(struct perf_copy *p, const struct perf_event_header *h,
			struct perf_copy_event *e)
{
	const uint8_t *at = (const uint8_t *)(h + 1);
	pid_t other;

	*e = (struct perf_copy_event){ 0 };
	switch (h->type) {
	case PERF_RECORD_SAMPLE:
		e->kind = PERF_COPY_STACK;
		sample_take(at, e);
		return true;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		e->kind = PERF_COPY_MAP;
		two_at(&at, &e->tgid, &e->tid);
		e->address = u64_at(&at);
		break;
	case PERF_RECORD_COMM:
		e->kind = PERF_COPY_EXEC;
		two_at(&at, &e->tgid, &e->tid);
		if (!(h->misc & PERF_RECORD_MISC_COMM_EXEC))
			return false;
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		e->kind = h->type == PERF_RECORD_FORK ? PERF_COPY_FORK : PERF_COPY_EXIT;
		two_at(&at, &e->tgid, &e->parent);
		two_at(&at, &e->tid, &other);
		if (e->kind == PERF_COPY_EXIT && e->tid != e->tgid)
			return false;
		break;
	case PERF_RECORD_LOST:
		u64_at(&at);
		p->lost += u64_at(&at);
		return false;
	default:
		return false;
	}
	/* sample_id_all: process and thread, then the time, at the end */
	at = (const uint8_t *)h + h->size - 8;
	e->time_ns = u64_at(&at);
	return true;
}

static uint64_t time_of(const struct perf_copy_event *e)
{
	return e->time_ns;
}

/* The next record of a ring, copied to p->record. NULL: none. */
static const struct perf_event_header *ring_peek(struct perf_copy *p, struct ring *r)
{
	uint64_t head = __atomic_load_n(&r->head->data_head, __ATOMIC_ACQUIRE),
		 tail = r->head->data_tail;
	const uint8_t *data = (const uint8_t *)r->head + 4096;
	struct perf_event_header h;

	if (head == tail)
		return NULL;
	for (size_t i = 0; i < sizeof(h); i++)
		((uint8_t *)&h)[i] = data[(tail + i) % RING_BYTES];
	if (tail % RING_BYTES + h.size <= RING_BYTES) {
		memcpy(p->record, data + tail % RING_BYTES, h.size);
	} else {
		size_t first = RING_BYTES - tail % RING_BYTES;

		memcpy(p->record, data + tail % RING_BYTES, first);
		memcpy(p->record + first, data, h.size - first);
	}
	return (const struct perf_event_header *)p->record;
}

bool perf_copy_step(struct perf_copy *p, perf_copy_take *take, void *arg)
{
	bool was_ended = p->ended;
	struct perf_copy_event e;

	if (!p->ended)
		p->ended = waitpid(p->pid, NULL, WNOHANG) == p->pid;
	for (;;) {
		const struct perf_event_header *h;
		struct ring *oldest = NULL;
		uint64_t when = UINT64_MAX;

		/* in the order of their times, over all processors */
		for (unsigned i = 0; i < p->nr; i++) {
			while ((h = ring_peek(p, &p->ring[i])) && !record_take(p, h, &e))
				p->ring[i].head->data_tail += h->size;
			if (h && time_of(&e) < when) {
				when = time_of(&e);
				oldest = &p->ring[i];
			}
		}
		if (!oldest)
			return !was_ended;
		h = ring_peek(p, oldest);
		record_take(p, h, &e);
		take(arg, &e);
		__atomic_store_n(&oldest->head->data_tail, oldest->head->data_tail + h->size,
				 __ATOMIC_RELEASE);
	}
}
