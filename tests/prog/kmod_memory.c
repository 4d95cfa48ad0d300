// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each allocation within a call of the module fails in turn (/proc/thread-self/fail-nth of a kernel
 * with fault injection), as does each copy from and to the program: the call says so and undoes
 * what it began, and the log is exactly what was taken.
 */
#include "kmod_test.h"

#include <pmm/kmod_ring.h>

#define MOST	2000	/* allocations in one call */

static int fail_fd, fd, all;
static unsigned long injected;

/* The next `nth` allocation of this thread fails. */
static void arm(int nth)
{
	char text[16];
	int bytes = snprintf(text, sizeof(text), "%d", nth);

	/* a copy that was still to fail may be this one */
	for (int tries = 0; pwrite(fail_fd, text, (size_t)bytes, 0) != bytes; tries++)
		if (tries == 2)
			die("fail-nth");
}

/* How many are left; 0: it has failed. If that cannot be read, it has not failed until then. */
static int disarm(void)
{
	char text[16] = "";
	ssize_t got = pread(fail_fd, text, sizeof(text) - 1, 0);

	arm(0);
	return got > 0 ? atoi(text) : 1;
}

/* An operation: 0 or more, or -errno; what undoes it after success. */
struct operation {
	const char *name;
	long (*run)(void);
	void (*undo)(long result);
};

/* Every point of failure once; then it succeeds. */
static void each(const struct operation *o)
{
	for (int nth = 1; nth < MOST; nth++) {
		long result;
		int left;

		arm(nth);
		result = o->run();
		left = disarm();
		if (result >= 0 && o->undo)
			o->undo(result);
		if (result < 0 && result != -ENOMEM && result != -EFAULT) {
			printf("%s: %ld when allocation %d fails\n", o->name, result, nth);
			failures++;
		}
		if (left) {
			IS(result >= 0, 1);
			return;
		}
		injected++;
	}
	printf("%s: no end\n", o->name);
	failures++;
}

static long open_device(void)
{
	int made = open("/dev/pmm", O_RDWR);

	return made < 0 ? -errno : made;
}

static void close_it(long made)
{
	close((int)made);
}

static long first_record(void)
{
	return add(fd, 16, 16);
}

static void stop_self(long unused)
{
	(void)unused;
	IS(monitor(all, PMM_KMOD_SET_CLEAR, getpid()), 0);
}

/* Enough of them for the table and the places to grow. */
static long many_records(void)
{
	struct pmm_kmod_record r = record_of(PMM_KMOD_MALLOC, 0, 8);
	static unsigned int next;
	long result = 0;

	r.line = ++next;
	strcpy(r.function, "f");
	for (unsigned int i = 1; i <= 70 && !result; i++) {
		r.pointer = 16ull * (i + next * 70);
		r.line += 1000;
		result = call(fd, PMM_RECORD_LOG, &r);
	}
	return result;
}

static long add_site(void)
{
	static unsigned int next = 1u << 20;
	struct pmm_kmod_site s = { .size = sizeof(s), .version = PMM_KMOD_VERSION };

	s.line = ++next;
	return call(fd, PMM_ADD_SITE, &s);
}

static long map_ring(void)
{
	void *at = mmap(NULL, PMM_KMOD_RING_BYTES(64), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? -errno : (long)((uintptr_t)at >> 12);
}

static void unmap_ring(long at)
{
	IS(munmap((void *)((uintptr_t)at << 12), PMM_KMOD_RING_BYTES(64)), 0);
}

static long drain_ring(void)
{
	static struct pmm_kmod_ring *ring;
	struct pmm_kmod_slot s = { .kind = PMM_KMOD_MALLOC, .bytes = 1 };
	static unsigned int next;

	if (!ring)
		ring = mmap(NULL, PMM_KMOD_RING_BYTES(64), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED) {
		ring = NULL;
		return -ENOMEM;
	}
	for (int i = 0; i < 8; i++) {
		s.pointer = 0x900000 + 16ull * next++;
		pmm_kmod_write(ring, 64, &s);
	}
	return call(fd, PMM_DRAIN, NULL);
}

static long read_back(void)
{
	static struct pmm_kmod_record r[40];

	return read_log(fd, getpid(), PMM_KMOD_RESTART, r, 40);
}

static long list_all(void)
{
	static struct pmm_kmod_process p[8];

	return list(all, p, 8);
}

static long start_other(void)
{
	return monitor(all, PMM_KMOD_SET_START, getppid());
}

static void stop_other(long unused)
{
	(void)unused;
	IS(monitor(all, PMM_KMOD_SET_STOP, getppid()), 0);
}

static long read_text(void)
{
	static char text[65536];
	int text_fd = open("/proc/pmm/pid", O_RDONLY);
	long got, result = 0;

	if (text_fd < 0)
		return -errno;
	while ((got = read(text_fd, text, sizeof(text))) > 0)
		result += got;
	if (got < 0)
		result = -errno;
	close(text_fd);
	return result;
}

static long write_cfg(void)
{
	int cfg_fd = open("/proc/pmm/cfg", O_RDWR);
	long result;

	if (cfg_fd < 0)
		return -errno;
	result = write(cfg_fd, "SCAN 0", 6) < 0 ? -errno : 0;
	close(cfg_fd);
	return result;
}

static const struct operation operations[] = {
	{ "open", open_device, close_it },	   { "first record", first_record, stop_self },
	{ "records", many_records, NULL },	   { "site", add_site, NULL },
	{ "ring", map_ring, unmap_ring },	   { "drain", drain_ring, NULL },
	{ "log", read_back, NULL },		   { "list", list_all, NULL },
	{ "start", start_other, stop_other },	   { "text", read_text, NULL },
	{ "cfg", write_cfg, NULL },
};

int main(void)
{
	struct pmm_kmod_process p;

	fail_fd = open("/proc/thread-self/fail-nth", O_RDWR);
	if (fail_fd < 0)
		die("fail-nth");
	fd = device(0);
	all = device(O_NONBLOCK);
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		unsigned long before = injected;

		each(&operations[i]);
		printf("%s: %lu failures\n", operations[i].name, injected - before);
		IS(injected > before, 1);
		p = process_of(all, getpid());
		IS(p.allocations, p.entries + p.frees + p.replaced + p.over_limit + p.no_memory);
		IS(p.bad | p.torn, 0);
	}
	IS(p.no_memory > 0, 1);
	/* nothing is wrong afterwards */
	IS(monitor(all, PMM_KMOD_SET_CLEAR, getpid()), 0);
	IS(add(fd, 16, 5), 0);
	IS(process_of(all, getpid()).entry_bytes, 5);
	IS(process_of(all, getpid()).entries, 1);
	return failures ? 1 : 0;
}
