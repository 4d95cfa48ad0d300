// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each allocation within a call of the module fails in turn (/proc/thread-self/fail-nth of a kernel
 * with fault injection), as does each copy from and to the program: the call says so and undoes
 * what it began, the log is exactly what was taken, and the same call works then. Each point of
 * failure has a process of its own, whose log begins empty.
 */
#include "kmod_test.h"

#include <pmm/kmod_ring.h>

#define MOST	500	/* points of failure in one operation */
#define LAST	3	/* exit status: there is no such point */

static int fail_fd, fd, all;
static unsigned int taken;	/* records by calls that returned 0 */
static unsigned int sites;	/* numbers of places that were given */

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

/* ---- operations: 0 or more, or -errno */

static long open_device(void)
{
	int made = open("/dev/pmm", O_RDWR);

	return made < 0 ? -errno : made;
}

static void close_it(long made)
{
	close((int)made);
}

/* A record with a place of its own. */
static long record(void)
{
	static unsigned int next;
	struct pmm_kmod_record r = record_of(PMM_KMOD_MALLOC, 16ull * ++next, 8);
	long result;

	r.line = next;
	strcpy(r.function, "f");
	result = call(fd, PMM_RECORD_LOG, &r);
	taken += !result;
	return result;
}

/* The next ones need larger tables, of entries and of places. */
static void fill_tables(void)
{
	for (int i = 0; i < 63; i++)
		IS(record(), 0);
}

static long some_records(void)
{
	long result = 0;

	for (int i = 0; i < 4 && !result; i++)
		result = record();
	return result;
}

static long add_site(void)
{
	struct pmm_kmod_site s = { .size = sizeof(s), .version = PMM_KMOD_VERSION };
	long result;

	s.line = 1000 + sites;
	result = call(fd, PMM_ADD_SITE, &s);
	if (!result) {
		IS(s.id, sites + 1);
		sites++;
	}
	return result;
}

static void fill_sites(void)
{
	for (int i = 0; i < 64; i++)
		IS(add_site(), 0);
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

static struct pmm_kmod_ring *ring;

static void have_ring(void)
{
	ring = (struct pmm_kmod_ring *)((uintptr_t)map_ring() << 12);
}

static long drain_ring(void)
{
	struct pmm_kmod_slot s = { .kind = PMM_KMOD_MALLOC, .bytes = 1 };
	static unsigned int next;

	for (int i = 0; i < 8; i++) {
		s.pointer = 0x900000 + 16ull * next++;
		IS(pmm_kmod_write(ring, 64, &s), 1);
	}
	taken += 8;
	return call(fd, PMM_DRAIN, NULL);
}

static void have_log(void)
{
	for (int i = 0; i < 40; i++)
		IS(record(), 0);
}

/* More than is copied at a time. */
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

static long get_config(void)
{
	struct pmm_kmod_config c = config_of(0);

	return call(fd, PMM_GET_CONFIG, &c);
}

static int other;

/* One that was never monitored. */
static void have_other(void)
{
	other = sleeper();
}

static long start_other(void)
{
	return monitor(all, PMM_KMOD_SET_START, other);
}

static void stop_other(long unused)
{
	(void)unused;
	IS(monitor(all, PMM_KMOD_SET_STOP, other), 0);
}

static void have_events(void)
{
	have_other();
	IS(start_other(), 0);
	stop_other(0);
	IS(start_other(), 0);
	stop_other(0);
}

/* What was not copied is there the next time; so are the events of the others. */
static long read_events(void)
{
	static unsigned int next;
	struct pmm_kmod_event e;
	ssize_t got = read(all, &e, sizeof(e));

	if (got < 0)
		return -errno;
	IS(e.type, next++ % 2 ? PMM_KMOD_EVENT_STOPPED : PMM_KMOD_EVENT_STARTED);
	return 0;
}

static long read_file(const char *path)
{
	static char text[65536];
	int text_fd = open(path, O_RDONLY);
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

static long read_text(void)
{
	return read_file("/proc/pmm/pid");
}

static long read_summary(void)
{
	return read_file("/proc/pmm/summary");
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

/* ---- each point of failure */

static const struct operation {
	const char *name;
	void (*prepare)(void);
	long (*run)(void);
	void (*undo)(long result);	/* after success */
} operations[] = {
	{ "open", NULL, open_device, close_it },
	{ "first record", NULL, record, NULL },
	{ "records", fill_tables, some_records, NULL },
	{ "site", NULL, add_site, NULL },
	{ "sites", fill_sites, add_site, NULL },
	{ "ring", NULL, map_ring, unmap_ring },
	{ "drain", have_ring, drain_ring, NULL },
	{ "log", have_log, read_back, NULL },
	{ "list", NULL, list_all, NULL },
	{ "configuration", NULL, get_config, NULL },
	{ "start", have_other, start_other, stop_other },
	{ "events", have_events, read_events, NULL },
	{ "text", have_log, read_text, NULL },
	{ "summary", have_log, read_summary, NULL },
	{ "cfg", NULL, write_cfg, NULL },
};

/* Once with failure `nth`, once without any. Returns the status of the process. */
static int try(const struct operation *o, int nth)
{
	struct pmm_kmod_process p;
	long result;
	int left;

	fail_fd = open("/proc/thread-self/fail-nth", O_RDWR);
	if (fail_fd < 0)
		die("fail-nth");
	fd = device(0);
	all = device(O_NONBLOCK);
	if (o->prepare)
		o->prepare();
	arm(nth);
	result = o->run();
	left = disarm();
	if (result < 0 && result != -ENOMEM && result != -EFAULT)
		IS(result, -ENOMEM);
	if (left)
		IS(result >= 0, 1);
	if (result >= 0 && o->undo)
		o->undo(result);
	result = o->run();
	IS(result >= 0, 1);
	if (o->undo)
		o->undo(result);
	p = process_of(all, getpid());
	IS(p.allocations, taken);
	/* without memory for an entry old ones give way, if there are any */
	IS(p.entries + p.evicted + p.no_memory, taken);
	IS(p.allocated_bytes, p.entry_bytes + p.lost_bytes);
	IS(p.no_memory + (p.evicted > 0) + p.sites_lost <= 1, 1);
	IS(p.bad | p.torn | p.overflows | p.over_limit | p.replaced, 0);
	if (other)
		end(other);
	if (failures)
		printf("%s: when point %d fails\n", o->name, nth);
	return failures ? 1 : left ? LAST : 0;
}

/* How many points there are. */
static int each(const struct operation *o)
{
	for (int nth = 1; nth <= MOST; nth++) {
		int pid = fork(), status;

		if (!pid) {
			status = try(o, nth);
			fflush(stdout);
			_exit(status);
		}
		status = wait_for(pid);
		if (status == LAST << 8)
			return nth - 1;
		IS(status, 0);
	}
	printf("%s: no end\n", o->name);
	failures++;
	return MOST;
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		int points = each(&operations[i]);

		printf("%s: %d points\n", operations[i].name, points);
		IS(points > 0, 1);
	}
	return failures ? 1 : 0;
}
