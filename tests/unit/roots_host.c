/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A child process to search for roots in. */
#include "tests/unit/roots_host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/ptrace/stop.h"

#define WAIT_NS 60000000000u

struct roots_host *host;

void host_place(const char *name, const volatile void *address, enum place_is is)
{
	host->place[__atomic_fetch_add(&host->nr_places, 1, __ATOMIC_SEQ_CST)] =
		(struct roots_place){ name, (uintptr_t)address, is };
}

void *host_block(void *p, uint64_t bytes)
{
	host->block[__atomic_fetch_add(&host->nr_blocks, 1, __ATOMIC_SEQ_CST)] =
		(struct heap_block){ .address = (uintptr_t)p, .size_bytes = bytes, .kind = 1 };
	return p;
}

void *host_malloc(uint64_t bytes)
{
	return host_block(malloc(bytes), bytes);
}

void host_stay(pthread_barrier_t *there)
{
	pthread_barrier_wait(there);
	for (;;)
		pause();
}

void host_ready(void)
{
	__atomic_store_n(&host->ready, true, __ATOMIC_SEQ_CST);
	for (;;)
		pause();
}

static size_t read_child(void *arg, uint64_t address, void *to, size_t bytes)
{
	const pid_t *pid = arg;
	size_t done = 0;

	while (done < bytes) {		/* page by page: how far it goes */
		size_t n = ROOTS_PAGE - ((address + done) & (ROOTS_PAGE - 1));
		struct iovec here = { (char *)to + done, n < bytes - done ? n : bytes - done };
		struct iovec there = { (void *)(uintptr_t)(address + done), here.iov_len };
		ssize_t got = process_vm_readv(*pid, &here, 1, &there, 1, 0);

		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

static int by_address(const void *a, const void *b)
{
	const struct heap_block *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static bool is_block(const struct heap *h, uint64_t address)
{
	uint64_t i = roots_block_from(h, address);

	return i < h->nr_blocks && h->blocks[i].address == address;
}

static bool is_so(const struct roots_place *p, const struct memory *m, const struct heap *h)
{
	bool root = false, owned = false, word = false;

	if (p->is == IS_LIVE || p->is == IS_FREED)
		return is_block(h, p->address) == (p->is == IS_LIVE);
	for (size_t i = 0; i < m->roots.nr; i++)
		root |= p->address >= m->roots.v[i].start && p->address < m->roots.v[i].end;
	for (size_t i = 0; i < m->owned.nr; i++)
		owned |= p->address == m->owned.v[i];
	for (size_t i = 0; i < m->words.nr; i++)
		word |= p->address == m->words.v[i].value;
	return p->is == IS_ROOT	   ? root
	       : p->is == IS_NONE  ? !root
	       : p->is == IS_OWNED ? owned
				   : word;
}

static unsigned compare(const struct memory *m, const struct heap *h)
{
	static const char *const is[] = { "a root",	  "no root", "owned",
					  "a register's", "live",    "freed" };
	unsigned wrong = 0;

	for (unsigned i = 0; i < host->nr_places; i++) {
		if (is_so(&host->place[i], m, h))
			continue;
		fprintf(stderr, "%s at %#llx should be %s\n", host->place[i].name,
			(unsigned long long)host->place[i].address, is[host->place[i].is]);
		wrong++;
	}
	return wrong;
}

/* Roots are in order, disjoint, and in no live block. */
static unsigned check_order(const struct memory *m, const struct heap *h)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < m->roots.nr; i++) {
		const struct memory_range *r = &m->roots.v[i];
		uint64_t b = roots_block_from(h, r->start);

		wrong += r->start >= r->end || (i && r->start < r[-1].end);
		wrong += b < h->nr_blocks && h->blocks[b].address < r->end &&
			 h->blocks[b].size_bytes;
	}
	return wrong;
}

static unsigned search(pid_t pid, struct stopped *s, bool complete, bool with_pages,
		       uint64_t *root_bytes)
{
	struct memory_ops ops = { read_child };
	struct memory m = { .ops = &ops, .arg = &pid };
	struct heap *h = heap_new();
	struct proc_maps maps = { 0 };
	struct roots_pagemaps pagemaps;
	struct process_copy_thread *threads = calloc(s->nr, sizeof(*threads));
	struct roots_find f = { .memory = &m,
				.heap = h,
				.maps = &maps,
				.threads = threads,
				.nr_threads = s->nr,
				.complete = complete,
				.names_break = with_pages,
				.leave_sp = host->leave_sp,
				.leave_tid = pid };
	unsigned wrong = 1;

	for (size_t i = 0; i < s->nr; i++) {
		threads[i].tid = s->v[i].tid;
		threads[i].regs = s->v[i].regs;
		threads[i].words = (uint64_t *)&threads[i].regs;
		threads[i].nr_words = sizeof(threads[i].regs) / 8;
	}
	h->nr_blocks = host->nr_blocks;
	h->blocks = malloc(sizeof(host->block));
	memcpy(h->blocks, host->block, sizeof(host->block));
	qsort(h->blocks, h->nr_blocks, sizeof(h->blocks[0]), by_address);
	for (unsigned i = 0; i < host->nr_places; i++)
		if (host->place[i].is == IS_LIVE || host->place[i].is == IS_FREED)
			f.forget = h;
	roots_pagemaps_open(&pagemaps, pid, 0);
	if (with_pages)
		f.pages = &pagemaps.pages;
	if (!proc_maps_read(pid, &maps, NULL) && !roots_join(&f))
		wrong = compare(&m, h) + check_order(&m, h);
	*root_bytes = 0;
	for (size_t i = 0; i < m.roots.nr; i++)
		*root_bytes += m.roots.v[i].end - m.roots.v[i].start;
	roots_pagemaps_close(&pagemaps);
	roots_find_fini(&f);
	memory_fini(&m);
	proc_maps_fini(&maps);
	free(threads);
	heap_free(h);
	return wrong;
}

unsigned host_run(void (*child)(void), bool complete, bool with_pages, uint64_t *root_bytes)
{
	struct stopped s;
	struct err e = { 0 };
	uint64_t bytes;
	unsigned wrong;
	pid_t pid;

	host = mmap(NULL, sizeof(*host), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		child();
		_exit(1);
	}
	while (!__atomic_load_n(&host->ready, __ATOMIC_SEQ_CST) && !waitpid(pid, NULL, WNOHANG))
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	wrong = 1;
	if (stop_all(pid, WAIT_NS, &s, &e))
		fprintf(stderr, "%s\n", e.text);
	else
		wrong = search(pid, &s, complete, with_pages, root_bytes ? root_bytes : &bytes);
	stop_resume(&s);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	munmap(host, sizeof(*host));
	return wrong;
}
