// SPDX-License-Identifier: GPL-2.0-or-later
/* Events of /dev/pmm, and alerts about victims that grow or do not. */
#include "kmod_test.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

static int ready(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0);
}

static long take(int fd, struct pmm_kmod_event *e, size_t bytes)
{
	ssize_t got = read(fd, e, bytes);

	return got < 0 ? -errno : got;
}

/* Two events: that a process is monitored, and that it is not any more. */
static void two(int fd, int pid)
{
	IS(monitor(fd, PMM_KMOD_SET_START, pid), 0);
	IS(monitor(fd, PMM_KMOD_SET_STOP, pid), 0);
}

static void reading(void)
{
	const size_t size = sizeof(struct pmm_kmod_event);
	int fd = device(O_NONBLOCK), child = sleeper(), late;
	struct pmm_kmod_event e[4];
	struct timespec now;

	IS(size, 72);
	IS(ready(fd), 0);
	IS(take(fd, e, sizeof(e)), -EAGAIN);
	IS(take(fd, e, size - 1), -EINVAL);
	IS(take(fd, e, 0), -EINVAL);
	two(fd, child);
	late = device(O_NONBLOCK);
	IS(ready(fd), 1);
	IS(ready(late), 0);
	IS(take(fd, e, size - 1), -EINVAL);
	IS(take(fd, (void *)8, size), -EFAULT);
	IS(ready(fd), 1);
	/* whole ones only */
	IS(take(fd, e, size * 2 - 1), size);
	IS(e[0].size, size);
	IS(e[0].type, PMM_KMOD_EVENT_STARTED);
	IS(e[0].pid, child);
	IS(e[0].number, 1);
	IS(e[0].reserved | e[0].value | e[0].limit | e[0].lost, 0);
	IS(strcmp(e[0].comm, "kmod_events"), 0);
	clock_gettime(CLOCK_REALTIME, &now);
	IS((now.tv_sec * 1000000000ll + now.tv_nsec - (long long)e[0].time_ns) / 10000000000ll, 0);
	two(fd, child);
	IS(take(fd, e, sizeof(e)), size * 3);
	IS(e[0].type, PMM_KMOD_EVENT_STOPPED);
	IS(e[1].type, PMM_KMOD_EVENT_STARTED);
	IS(e[1].number, 2);
	IS(e[2].type, PMM_KMOD_EVENT_STOPPED);
	IS(ready(fd), 0);
	IS(take(late, e, sizeof(e)), size * 2);
	IS(lseek(fd, 0, SEEK_SET), -1);
	IS(errno, ESPIPE);
	IS(write(fd, e, sizeof(e)), -1);
	end(child);
}

/* Who waits is woken, and may be interrupted. */
static void waiting(void)
{
	int fd = device(0), child = sleeper(), reader = fork();
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct pmm_kmod_event e[2];

	if (!reader) {
		IS(take(fd, e, sizeof(e)) > 0, 1);
		_exit(failures ? 1 : 0);
	}
	sleep_ms(50);
	two(fd, child);
	IS(wait_for(reader), 0);
	while (ready(fd))
		take(fd, e, sizeof(e));
	reader = fork();
	if (!reader) {
		IS(poll(&p, 1, -1), 1);
		IS(p.revents, POLLIN);
		_exit(failures ? 1 : 0);
	}
	sleep_ms(50);
	two(fd, child);
	IS(wait_for(reader), 0);
	while (ready(fd))
		take(fd, e, sizeof(e));
	reader = fork();
	if (!reader)
		_exit((int)take(fd, e, sizeof(e)));
	sleep_ms(50);
	kill(reader, SIGTERM);
	IS(wait_for(reader), SIGTERM);
	end(child);
}

/* 256 are kept, and how many more there were is said. */
static void lost(void)
{
	int fd = device(O_NONBLOCK), child = sleeper();
	struct pmm_kmod_event e;

	for (int i = 0; i < 200; i++)
		two(fd, child);
	for (int i = 0; i < 256; i++) {
		IS(take(fd, &e, sizeof(e)), sizeof(e));
		IS(e.lost, 0);
		IS(e.number, i / 2 + 1);
	}
	IS(take(fd, &e, sizeof(e)), -EAGAIN);
	two(fd, child);
	IS(take(fd, &e, sizeof(e)), sizeof(e));
	IS(e.lost, 400 - 256);
	IS(e.number, 201);
	IS(take(fd, &e, sizeof(e)), sizeof(e));
	IS(e.lost, 0);
	end(child);
}

static void eventfds(void)
{
	int fd = device(O_NONBLOCK), child = sleeper(), first = eventfd(0, EFD_NONBLOCK);
	int second = eventfd(0, EFD_NONBLOCK), pipes[2];
	uint64_t count = 0;

	IS(call(fd, PMM_SET_EVENTFD, (void *)(long)first), 0);
	two(fd, child);
	IS(read(first, &count, 8), 8);
	IS(count, 2);
	IS(call(fd, PMM_SET_EVENTFD, (void *)(long)second), 0);
	two(fd, child);
	IS(read(first, &count, 8), -1);
	IS(read(second, &count, 8), 8);
	IS(count, 2);
	IS(call(fd, PMM_SET_EVENTFD, (void *)-1l), 0);
	two(fd, child);
	IS(read(second, &count, 8), -1);
	IS(call(fd, PMM_SET_EVENTFD, (void *)-2l), -EBADF);
	IS(call(fd, PMM_SET_EVENTFD, (void *)999l), -EBADF);
	if (pipe(pipes))
		die("pipe");
	IS(call(fd, PMM_SET_EVENTFD, (void *)(long)pipes[0]), -EINVAL);
	/* closed while it is set: the module's own reference goes with the file */
	IS(call(fd, PMM_SET_EVENTFD, (void *)(long)first), 0);
	close(first);
	two(fd, child);
	end(child);
}

/* Of others' processes who is not privileged hears nothing; of its own it does. */
static void own(void)
{
	int child = sleeper(), all = device(0), reader, open_now[2], done[2];
	struct pmm_kmod_event e[4];
	char byte;

	if (chmod("/dev/pmm", 0666) || pipe(open_now) || pipe(done))
		die("chmod");
	reader = fork();
	if (!reader) {
		int fd;

		if (setgid(1000) || setuid(1000))
			die("setuid");
		fd = device(O_NONBLOCK);
		IS(write(open_now[1], "x", 1), 1);
		IS(read(done[0], &byte, 1), 1);
		IS(take(fd, e, sizeof(e)), -EAGAIN);
		IS(add(fd, 16, 16), 0);
		IS(take(fd, e, sizeof(e)), sizeof(e[0]));
		IS(e[0].pid, getpid());
		IS(e[0].type, PMM_KMOD_EVENT_STARTED);
		_exit(failures ? 1 : 0);
	}
	IS(read(open_now[0], &byte, 1), 1);
	two(all, child);
	IS(write(done[1], "x", 1), 1);
	IS(wait_for(reader), 0);
	/* who is privileged has heard of both */
	for (int i = 0; i < 3; i++)
		IS(take(all, e, sizeof(e[0])), sizeof(e[0]));
	IS(e[0].pid, reader);
	end(child);
}

/* An alert when a limit is passed, and none again until the value has been below it. */
static void alerts(void)
{
	const size_t size = sizeof(struct pmm_kmod_event);
	struct pmm_kmod_config c = config_of(PMM_KMOD_SET_LOGGED | PMM_KMOD_SET_INTERVAL);
	int fd = device(0), pid = getpid();
	struct pmm_kmod_event e;
	uint64_t seen;

	c.interval_ms = 10;
	c.logged_bytes = 1000;
	IS(call(fd, PMM_SET_CONFIG, &c), 0);
	for (unsigned int n = 1; n <= 3; n++) {
		IS(add(fd, 16, 1000), 0);
		if (n == 1) {
			IS(take(fd, &e, size), size);
			IS(e.type, PMM_KMOD_EVENT_STARTED);
		}
		seen = process_of(fd, pid).seen_ns;
		AWAIT(process_of(fd, pid).seen_ns != seen);
		IS(ready(fd), 0);
		IS(process_of(fd, pid).flags & PMM_KMOD_OVER_LOGGED, 0);
		IS(add(fd, 32, 1), 0);
		IS(take(fd, &e, size), size);
		IS(e.type, PMM_KMOD_EVENT_LOGGED);
		IS(e.pid, pid);
		IS(e.value, 1001);
		IS(e.limit, 1000);
		IS(add(fd, 48, 5000), 0);
		sleep_ms(100);
		IS(ready(fd), 0);
		IS(process_of(fd, pid).alerts, n);
		IS(process_of(fd, pid).flags & PMM_KMOD_OVER_LOGGED, PMM_KMOD_OVER_LOGGED);
		IS(drop(fd, 48), 0);
		IS(drop(fd, 32), 0);
		AWAIT(!(process_of(fd, pid).flags & PMM_KMOD_OVER_LOGGED));
	}
}

/* A child with memory that it shares, and nothing else to do. */
static int sharer(size_t bytes)
{
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int pid;

	if (at == MAP_FAILED)
		die("mmap");
	pid = fork();
	if (!pid) {
		memset(at, 1, bytes);
		for (;;)
			pause();
	}
	while (at[bytes - 1] != 1)
		sleep_ms(5);
	return pid;
}

/* A process is looked at as it begins, then only with scanning on, and not when it was stopped. */
static void looks(void)
{
	const size_t size = sizeof(struct pmm_kmod_event), shared = 4 << 20;
	int fd = device(O_NONBLOCK), pid = sharer(shared);
	struct pmm_kmod_config c = config_of(PMM_KMOD_SET_SCAN);
	struct pmm_kmod_event e;
	uint64_t seen;

	IS(monitor(fd, PMM_KMOD_SET_START, pid), 0);
	IS(take(fd, &e, size), size);
	IS(e.type, PMM_KMOD_EVENT_STARTED);
	seen = process_of(fd, pid).seen_ns;
	IS(seen > 0, 1);
	IS(process_of(fd, pid).shared_bytes >= shared, 1);
	sleep_ms(300);
	IS(process_of(fd, pid).seen_ns, seen);
	c.scan = 1;
	IS(call(fd, PMM_SET_CONFIG, &c), 0);
	AWAIT(process_of(fd, pid).seen_ns != seen);
	IS(monitor(fd, PMM_KMOD_SET_STOP, pid), 0);
	IS(take(fd, &e, size), size);
	IS(e.type, PMM_KMOD_EVENT_STOPPED);
	c = config_of(PMM_KMOD_SET_RESIDENT);
	c.resident_bytes = 1;
	IS(call(fd, PMM_SET_CONFIG, &c), 0);
	sleep_ms(300);
	IS(take(fd, &e, size), -EAGAIN);
	end(pid);
}

/* ---- victims of alerts: `grow MIB STEPS MS`, `saw MIB STEPS MS`, `steady MIB STEPS MS` */

static void touch(char *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 4096)
		at[i] = 1;
}

static int victim(const char *how, size_t mib, int steps, long ms)
{
	const size_t bytes = mib << 20, step = bytes / (size_t)steps;
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		die("mmap");
	if (!strcmp(how, "steady"))
		touch(at, bytes);
	for (int i = 0; i < steps; i++) {
		if (!strcmp(how, "grow"))
			touch(at + step * (size_t)i, step);
		else if (!strcmp(how, "saw") && i % 4 == 3)
			madvise(at, bytes, MADV_DONTNEED);
		else if (!strcmp(how, "saw"))
			touch(at + bytes / 3 * (size_t)(i % 4), bytes / 3);
		/* its time differs: else looks at a like interval might see it grow slowly */
		sleep_ms(!strcmp(how, "saw") ? ms + i / 4 * 7 % 23 : ms);
	}
	for (;;)
		pause();
	return 0;
}

int main(int argc, char **argv)
{
	static const struct test_case cases[] = {
		{ "reading", reading }, { "waiting", waiting }, { "lost", lost },
		{ "eventfds", eventfds }, { "own", own }, { "alerts", alerts },
		{ "looks", looks },
	};

	if (argc == 5)
		return victim(argv[1], (size_t)atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
	return run_cases(cases, sizeof(cases) / sizeof(cases[0]), argc, argv);
}
