// SPDX-License-Identifier: GPL-2.0-or-later
/* Lives of monitored processes: fork, exec, ends of all kinds, numbers that are used again. */
#include "kmod_test.h"

#include <linux/sched.h>
#include <pthread.h>
#include <pmm/kmod_ring.h>

static int all;			/* reads events of all processes */
static int to_child[2], to_parent[2];

static void say(int fd)
{
	if (write(fd, "x", 1) != 1)
		die("write");
}

static void hear(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		die("read");
}

/* The next event of a process with the type; others of it are reported. */
static struct pmm_kmod_event event_of(int pid, unsigned int type)
{
	struct pmm_kmod_event e;

	do {
		if (read(all, &e, sizeof(e)) != (ssize_t)sizeof(e))
			die("event");
	} while (e.pid != pid);
	IS(e.type, type);
	return e;
}

static void begin(void)
{
	all = device(0);
	if (pipe(to_child) || pipe(to_parent))
		die("pipe");
}

static struct pmm_kmod_ring *ring_of(int fd)
{
	return mmap(NULL, PMM_KMOD_RING_BYTES(64), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

/* A child has neither the parent's ring nor its right to log by the descriptor; it may open its own. */
static void forked(void)
{
	int fd, pid;
	struct pmm_kmod_ring *ring;
	struct pmm_kmod_slot slot = { .kind = PMM_KMOD_MALLOC, .pointer = 32, .bytes = 32 };

	begin();
	fd = device(0);
	ring = ring_of(fd);
	if (ring == MAP_FAILED)
		die("ring");
	/* nor can the parent change that, or give up a part of it */
	IS(madvise(ring, PMM_KMOD_RING_BYTES(64), MADV_DOFORK), -1);
	IS(errno, EINVAL);
	IS(munmap(ring, 4096), -1);
	IS(errno, EINVAL);
	IS(add(fd, 16, 16), 0);
	event_of(getpid(), PMM_KMOD_EVENT_STARTED);
	pid = fork();
	if (!pid) {
		unsigned char in;

		IS(mincore(ring, 4096, &in), -1);
		IS(errno, ENOMEM);
		IS(add(fd, 16, 1), -EPERM);
		IS(call(fd, PMM_DRAIN, NULL), -EPERM);
		IS(ring_of(fd) == MAP_FAILED, 1);
		IS(errno, EPERM);
		IS(process_of(fd, getpid()).pid, 0);
		fd = device(0);
		IS(add(fd, 16, 1), 0);
		IS(process_of(fd, getpid()).entry_bytes, 1);
		_exit(failures ? 1 : 0);
	}
	IS(wait_for(pid), 0);
	event_of(pid, PMM_KMOD_EVENT_STARTED);
	IS(event_of(pid, PMM_KMOD_EVENT_ENDED).value, 0);
	IS(pmm_kmod_write(ring, ring->slots, &slot), 1);
	IS(process_of(fd, getpid()).entry_bytes, 48);
	IS(process_of(fd, getpid()).flags & PMM_KMOD_HAS_RING, PMM_KMOD_HAS_RING);
	/* without its mapping the ring is gone, with its records taken */
	slot.pointer = 48;
	IS(pmm_kmod_write(ring, ring->slots, &slot), 1);
	close(fd);
	munmap(ring, PMM_KMOD_RING_BYTES(64));
	IS(process_of(all, getpid()).entry_bytes, 80);
	IS(process_of(all, getpid()).flags & PMM_KMOD_HAS_RING, 0);
}

/* Another program begins its log anew, whether or not it has inherited the descriptor. */
static void executed(void)
{
	for (int inherited = 0; inherited < 2; inherited++) {
		struct pmm_kmod_process p;
		int pid;

		begin();
		pid = fork();
		if (!pid) {
			int fd = device(0);
			char number[12];

			IS(add(fd, 16, 16), 0);
			ring_of(fd);
			if (inherited)
				fcntl(fd, F_SETFD, 0);
			dup2(to_child[0], 0);
			dup2(to_parent[1], 1);
			snprintf(number, sizeof(number), "%d", inherited ? fd : -1);
			execl("/prog/kmod_life", "kmod_other", "other", number, NULL);
			_exit(3);
		}
		event_of(pid, PMM_KMOD_EVENT_STARTED);
		IS(event_of(pid, PMM_KMOD_EVENT_EXEC).value, 1);
		hear(to_parent[0]);
		AWAIT(process_of(all, pid).seen_ns &&
		      !strcmp(process_of(all, pid).comm, "kmod_life"));
		p = process_of(all, pid);
		IS(p.entries, inherited);
		IS(p.allocations, inherited);
		IS(p.entry_bytes, inherited ? 5 : 0);
		IS(p.flags & PMM_KMOD_HAS_RING, 0);
		say(to_child[1]);
		IS(wait_for(pid), 0);
		IS(event_of(pid, PMM_KMOD_EVENT_ENDED).value, 0);
		close(all);
	}
}

static struct pmm_kmod_ring *left_ring;

/* Has the memory of a program that another one replaces: its ring is still there. */
static int stay(void *unused)
{
	struct pmm_kmod_slot slot = { .kind = PMM_KMOD_MALLOC, .pointer = 32, .bytes = 32 };
	char byte;

	(void)unused;
	if (read(to_child[0], &byte, 1) != 1)
		return 1;
	if (!pmm_kmod_write(left_ring, 64, &slot))
		return 1;
	return write(to_parent[1], "x", 1) != 1;
}

/* What is written into the ring of the program before is no part of the new one's log. */
static void left(void)
{
	int pid, to_other[2];

	begin();
	if (pipe(to_other))
		die("pipe");
	pid = fork();
	if (!pid) {
		static char stack[65536];
		char number[12];
		int fd = device(0);

		left_ring = ring_of(fd);
		if (left_ring == MAP_FAILED || clone(stay, stack + sizeof(stack), CLONE_VM, NULL) < 0)
			die("clone");
		fcntl(fd, F_SETFD, 0);
		dup2(to_other[0], 0);
		dup2(to_parent[1], 1);
		snprintf(number, sizeof(number), "%d", fd);
		execl("/prog/kmod_life", "kmod_other", "other", number, NULL);
		_exit(3);
	}
	hear(to_parent[0]);
	IS(process_of(all, pid).entry_bytes, 5);
	say(to_child[1]);
	hear(to_parent[0]);
	/* the thread goes by */
	sleep_ms(300);
	IS(process_of(all, pid).entry_bytes, 5);
	IS(process_of(all, pid).allocations, 1);
	say(to_other[1]);
	IS(wait_for(pid), 0);
}

/* How processes end: by exit, by a signal; waited for late or at once. */
static void ended(void)
{
	const int statuses[] = { 0, 7 << 8, 255 << 8, SIGKILL, SIGTERM };

	begin();
	for (int i = 0; i < 5; i++) {
		int status = statuses[i], pid = fork();
		struct pmm_kmod_process p;
		struct pmm_kmod_record r;

		if (!pid) {
			add(device(0), 16, 99);
			if (status & 0x7f)
				kill(getpid(), status);
			_exit(status >> 8);
		}
		event_of(pid, PMM_KMOD_EVENT_STARTED);
		IS(event_of(pid, PMM_KMOD_EVENT_ENDED).value, status);
		p = process_of(all, pid);
		IS(p.state, PMM_KMOD_ZOMBIE);
		IS(p.status, status);
		IS(p.ppid, getpid());
		IS(wait_for(pid), status);
		AWAIT(process_of(all, pid).state != PMM_KMOD_ZOMBIE);
		p = process_of(all, pid);
		IS(p.state, status & 0x7f ? PMM_KMOD_KILLED : PMM_KMOD_EXITED);
		IS(p.status, status);
		/* its log stays until it is stopped */
		IS(p.entries, 1);
		IS(read_log(all, pid, PMM_KMOD_RESTART, &r, 1), 1);
		IS(r.bytes, 99);
		IS(monitor(all, PMM_KMOD_SET_START, pid), -ESRCH);
		IS(monitor(all, PMM_KMOD_SET_STOP, pid), 0);
		event_of(pid, PMM_KMOD_EVENT_STOPPED);
		IS(process_of(all, pid).pid, 0);
		IS(read_log(all, pid, PMM_KMOD_RESTART, &r, 1), -ESRCH);
	}
}

/* The log of the dead goes after keep_s. By the times of the events: this process may have to wait for a processor. */
static void forgotten(void)
{
	struct pmm_kmod_config c = config_of(PMM_KMOD_SET_KEEP);
	struct pmm_kmod_event dead, e;
	int pid;

	begin();
	c.keep_s = 3;
	IS(call(all, PMM_SET_CONFIG, &c), 0);
	pid = fork();
	if (!pid) {
		add(device(0), 16, 99);
		_exit(0);
	}
	wait_for(pid);
	event_of(pid, PMM_KMOD_EVENT_STARTED);
	dead = event_of(pid, PMM_KMOD_EVENT_ENDED);
	IS(process_of(all, pid).entries, 1);
	e = event_of(pid, PMM_KMOD_EVENT_FORGOTTEN);
	IS(e.value, 1);
	IS(e.time_ns - dead.time_ns > 2500000000, 1);
	IS(list(all, NULL, 0), 0);
}

static void *outlive(void *unused)
{
	int fd = *(int *)unused;

	sleep_ms(50);
	IS(add(fd, 32, 5), 0);
	say(to_parent[1]);
	hear(to_child[0]);
	IS(add(fd, 48, 6), 0);
	_exit(failures ? 1 : 9);
}

/* A process whose first thread has ended runs as long as another one does, and logs. */
static void leader(void)
{
	struct pmm_kmod_process p;
	int pid;

	begin();
	pid = fork();
	if (!pid) {
		static int fd;
		pthread_t thread;

		fd = device(0);
		add(fd, 16, 4);
		if (pthread_create(&thread, NULL, outlive, &fd))
			die("thread");
		/* pthread_exit() needs a library that it loads then */
		syscall(SYS_exit, 0);
	}
	event_of(pid, PMM_KMOD_EVENT_STARTED);
	hear(to_parent[0]);
	sleep_ms(100);
	p = process_of(all, pid);
	/* a look at it as it is now */
	AWAIT(process_of(all, pid).seen_ns > p.seen_ns);
	p = process_of(all, pid);
	IS(p.state, PMM_KMOD_RUNNING);
	IS(p.entry_bytes, 9);
	IS(p.resident_bytes > 0, 1);
	say(to_child[1]);
	IS(event_of(pid, PMM_KMOD_EVENT_ENDED).value, 9 << 8);
	IS(process_of(all, pid).entry_bytes, 15);
	IS(wait_for(pid), 9 << 8);
}

/* fork() of a process with that number, which no other has. */
static int fork_as(int pid)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&pid,
		.set_tid_size = 1,
	};
	long made = syscall(SYS_clone3, &args, sizeof(args));

	if (made < 0)
		die("clone3");
	return (int)made;
}

/* A process with the number of a dead one is another one: not monitored, and with a log of its own. */
static void reused(void)
{
	struct pmm_kmod_process p[4];
	struct pmm_kmod_record r;
	int old, pid;

	begin();
	old = fork();
	if (!old) {
		add(device(0), 16, 99);
		_exit(0);
	}
	wait_for(old);
	event_of(old, PMM_KMOD_EVENT_STARTED);
	event_of(old, PMM_KMOD_EVENT_ENDED);
	/* it may have been looked at before it was waited for */
	AWAIT(process_of(all, old).state == PMM_KMOD_EXITED);
	pid = fork_as(old);
	if (!pid) {
		int fd = device(0);

		hear(to_child[0]);
		add(fd, 16, 7);
		say(to_parent[1]);
		for (;;)
			pause();
	}
	IS(pid, old);
	/* the new one is not monitored: what has a log by this number is the old one */
	IS(read_log(all, pid, PMM_KMOD_RESTART, &r, 1), 1);
	IS(r.bytes, 99);
	IS(list(all, p, 4), 1);
	IS(p[0].state, PMM_KMOD_EXITED);
	say(to_child[1]);
	hear(to_parent[0]);
	IS(list(all, p, 4), 2);
	IS(p[0].state, PMM_KMOD_EXITED);
	IS(p[0].entry_bytes, 99);
	IS(p[1].pid, pid);
	IS(p[1].state, PMM_KMOD_RUNNING);
	IS(p[1].entry_bytes, 7);
	IS(p[1].number, p[0].number + 1);
	IS(read_log(all, pid, 0, &r, 1), 1);
	IS(r.bytes, 7);
	/* the new one first, then the old one */
	IS(monitor(all, PMM_KMOD_SET_STOP, pid), 0);
	IS(list(all, p, 4), 1);
	IS(p[0].entry_bytes, 99);
	IS(monitor(all, PMM_KMOD_SET_STOP, pid), 0);
	IS(list(all, p, 4), 0);
	IS(monitor(all, PMM_KMOD_SET_STOP, pid), -ESRCH);
	end(pid);
}

static void die_with(unsigned int bytes, int pid)
{
	struct pmm_kmod_process p[4];
	int got = pid ? fork_as(pid) : fork();
	long nr;

	if (!got) {
		add(device(0), 16, bytes);
		_exit(0);
	}
	wait_for(got);
	do
		nr = list(all, p, 4);
	while (!nr || p[nr - 1].state != PMM_KMOD_EXITED);
}

/* Of two dead ones with the same number it means the last one, and the first when that is gone. */
static void twice(void)
{
	struct pmm_kmod_process p[4];
	struct pmm_kmod_record r;
	int pid;

	begin();
	die_with(50, 0);
	IS(list(all, p, 4), 1);
	pid = p[0].pid;
	die_with(60, pid);
	IS(list(all, p, 4), 2);
	IS(p[1].pid, pid);
	for (unsigned int bytes = 60; bytes >= 50; bytes -= 10) {
		IS(read_log(all, pid, PMM_KMOD_RESTART, &r, 1), 1);
		IS(r.bytes, bytes);
		IS(monitor(all, PMM_KMOD_SET_STOP, pid), 0);
	}
	IS(list(all, p, 4), 0);
	IS(monitor(all, PMM_KMOD_SET_STOP, pid), -ESRCH);
}

/* More than a ring has room for, however often the thread drains it meanwhile. */
static void overflow(struct pmm_kmod_ring *ring)
{
	struct pmm_kmod_slot slot = { .kind = PMM_KMOD_MALLOC, .bytes = 1 };

	do
		slot.pointer += 16;
	while (pmm_kmod_write(ring, 64, &slot));
}

/* Whose log is cleared misses nothing, neither in a ring that is there nor in one that was. */
static void cleared(void)
{
	struct pmm_kmod_ring *ring;
	int fd = device(0), pid = getpid();

	begin();
	ring = ring_of(fd);
	if (ring == MAP_FAILED)
		die("ring");
	overflow(ring);
	IS(process_of(all, pid).overflows, 1);
	munmap(ring, PMM_KMOD_RING_BYTES(64));
	IS(process_of(all, pid).overflows, 1);
	ring = ring_of(fd);
	if (ring == MAP_FAILED)
		die("ring");
	overflow(ring);
	IS(process_of(all, pid).overflows, 2);
	IS(monitor(fd, PMM_KMOD_SET_CLEAR, pid), 0);
	IS(process_of(all, pid).overflows, 0);
	IS(process_of(all, pid).allocations, 0);
	overflow(ring);
	IS(process_of(all, pid).overflows, 1);
}

/* With a ring go records behind a slot that was taken and not filled, which is counted. */
static void torn(void)
{
	struct pmm_kmod_slot slot = { .kind = PMM_KMOD_MALLOC, .pointer = 32, .bytes = 32 };
	struct pmm_kmod_ring *ring;
	struct pmm_kmod_process p;
	int fd = device(0);

	ring = ring_of(fd);
	if (ring == MAP_FAILED)
		die("ring");
	__atomic_fetch_add(&ring->head, 1, __ATOMIC_RELAXED);
	IS(pmm_kmod_write(ring, 64, &slot), 1);
	munmap(ring, PMM_KMOD_RING_BYTES(64));
	p = process_of(fd, getpid());
	IS(p.torn, 1);
	IS(p.allocations, 1);
	IS(p.entry_bytes, 32);
}

/* Who reads /proc sees what was written before, without a look between. */
static void at_once(void)
{
	struct pmm_kmod_slot slot = { .kind = PMM_KMOD_MALLOC, .bytes = 1 };
	struct pmm_kmod_ring *ring;
	int fd = device(0);

	ring = ring_of(fd);
	if (ring == MAP_FAILED)
		die("ring");
	for (int i = 1; i <= 10; i++) {
		char text[4096] = "", entries[32];
		int summary = open("/proc/pmm/summary", O_RDONLY);

		slot.pointer += 16;
		IS(pmm_kmod_write(ring, 64, &slot), 1);
		IS(read(summary, text, sizeof(text) - 1) > 0, 1);
		snprintf(entries, sizeof(entries), " entries=%d ", i);
		IS(strstr(text, entries) != NULL, 1);
		close(summary);
	}
}

/* One that is stopped while it lives: it may not log, its ring is off, until it is wanted again. */
static void stopped(void)
{
	int fd, pid = getpid();
	struct pmm_kmod_slot slot = { .kind = PMM_KMOD_MALLOC, .pointer = 32, .bytes = 32 };
	struct pmm_kmod_ring *ring;
	struct pmm_kmod_site site = { .size = sizeof(site), .version = PMM_KMOD_VERSION };
	uint64_t number;

	begin();
	fd = device(0);
	ring = ring_of(fd);
	IS(pmm_kmod_write(ring, ring->slots, &slot), 1);
	IS(add(fd, 16, 16), 0);
	number = process_of(all, pid).number;
	IS(process_of(all, pid).entries, 2);
	IS(ring->off, 0);
	IS(monitor(all, PMM_KMOD_SET_STOP, pid), 0);
	event_of(pid, PMM_KMOD_EVENT_STARTED);
	IS(event_of(pid, PMM_KMOD_EVENT_STOPPED).value, 2);
	IS(ring->off, 1);
	IS(list(all, NULL, 0), 0);
	IS(add(fd, 16, 16), -ESRCH);
	IS(call(fd, PMM_ADD_SITE, &site), -ESRCH);
	IS(call(fd, PMM_DRAIN, NULL), 0);
	IS(add(device(0), 16, 16), -ESRCH);
	IS(monitor(all, PMM_KMOD_SET_STOP, pid), -ESRCH);
	IS(monitor(all, PMM_KMOD_SET_CLEAR, pid), -ESRCH);
	IS(monitor(all, PMM_KMOD_SET_START, pid), 0);
	event_of(pid, PMM_KMOD_EVENT_STARTED);
	IS(ring->off, 0);
	IS(process_of(all, pid).number, number + 1);
	IS(process_of(all, pid).entries, 0);
	IS(add(fd, 16, 16), 0);
	IS(process_of(all, pid).entries, 1);
}

/* What `executed` becomes: logs by a descriptor that it has inherited, if it has one. */
static int other(int fd)
{
	if (fd >= 0 && add(fd, 64, 5))
		return 4;
	if (fd >= 0 && process_of(fd, getpid()).entries != 1)
		return 5;
	say(1);
	hear(0);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct test_case cases[] = {
		{ "forked", forked }, { "executed", executed }, { "ended", ended },
		{ "forgotten", forgotten }, { "leader", leader }, { "reused", reused },
		{ "stopped", stopped }, { "twice", twice }, { "cleared", cleared }, { "left", left },
		{ "torn", torn }, { "at_once", at_once },
	};

	if (argc == 3 && !strcmp(argv[1], "other"))
		return other(atoi(argv[2]));
	return run_cases(cases, sizeof(cases) / sizeof(cases[0]), argc, argv);
}
