// SPDX-License-Identifier: GPL-2.0-or-later
/* What things cost, as ratios: a guest's processors are emulated, and its times say nothing. Prints KEY=VALUE. */
#include "kmod_test.h"

#include <sys/socket.h>

#define ROUNDS	25
#define CALLS	1000
#define SEEKS	3
#define READS	3

static int fd;

static double seconds(void (*round)(void))
{
	double begin = now_s();

	round();
	return now_s() - begin;
}

static void keep_least(double *least, double took)
{
	if (took < *least)
		*least = took;
}

static void empty(void)
{
	for (int i = 0; i < CALLS; i++)
		ioctl(fd, _IO(PMM_KMOD_IOC, 99));
}

static void records(void)
{
	for (unsigned int i = 0; i < CALLS / 2; i++) {
		add(fd, 0x7000000 + 16 * (i % 64), 16);
		drop(fd, 0x7000000 + 16 * (i % 64));
	}
}

static void outstanding(unsigned int from, unsigned int to)
{
	for (unsigned int i = from; i < to; i++)
		IS(add(fd, 0x10000000 + 16ull * i, 16), 0);
}

/* A process whose log is short: times a round for each byte that it reads. */
static void serve_short(int socket)
{
	double took;
	char byte;

	fd = device(0);
	outstanding(0, 100);
	while (read(socket, &byte, 1) == 1) {
		took = seconds(records);
		if (write(socket, &took, sizeof(took)) != sizeof(took))
			_exit(1);
	}
}

static double ask(int socket)
{
	double took;

	if (write(socket, "", 1) != 1 || read(socket, &took, sizeof(took)) != sizeof(took))
		die("the process with a short log");
	return took;
}

/*
 * The least of some rounds, in turn: what disturbs only makes one longer, and what slows the machine
 * for a while slows all.
 */
static void cost(void)
{
	double nothing = 1e9, few = 1e9, many = 1e9;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		die("socketpair");
	if (!fork()) {
		close(ends[0]);
		serve_short(ends[1]);
		_exit(0);
	}
	close(ends[1]);
	fd = device(0);
	outstanding(0, 100000);
	for (int i = 0; i < ROUNDS; i++) {
		keep_least(&nothing, seconds(empty));
		keep_least(&few, ask(ends[0]));
		keep_least(&many, seconds(records));
	}
	printf("empty_ns=%.0f\nrecord_ns=%.0f\n", nothing * 1e9 / CALLS, few * 1e9 / CALLS);
	printf("record_percent=%.0f\nmany_percent=%.0f\n", few * 100 / nothing, many * 100 / few);
	close(ends[0]);
	wait(NULL);
}

/* The log's text is read: its bytes, and the slowest call of who logs meanwhile. */
static long read_once(double *slowest)
{
	static char text[65536];
	int text_fd = open("/proc/pmm/pid", O_RDONLY);
	long bytes = 0, got;

	*slowest = 0;
	while ((got = read(text_fd, text, sizeof(text))) > 0) {
		double before = now_s(), took;

		IS(add(fd, 16, 16), 0);
		took = now_s() - before;
		*slowest = took > *slowest ? took : *slowest;
		bytes += got;
	}
	close(text_fd);
	return bytes;
}

/* Reading a long log: the time with the shortest slowest call, as below. */
static void reading(void)
{
	double took = 0, slowest = 1e9;
	long bytes = 0;

	fd = device(0);
	outstanding(0, 100000);
	for (int i = 0; i < READS; i++) {
		double most, begin = now_s();

		bytes = read_once(&most);
		if (most < slowest) {
			slowest = most;
			took = now_s() - begin;
		}
	}
	printf("read_ms=%.0f\nread_bytes=%ld\nslowest_call_us=%.0f\n", took * 1e3, bytes,
	       slowest * 1e6);
}

/* The same while another process goes to the end of the text at once: its time, the slowest call. */
static double seek_once(double *slowest)
{
	double begin = now_s();
	int pid = fork(), status;

	*slowest = 0;
	if (!pid) {
		char byte;

		_exit(pread(open("/proc/pmm/pid", O_RDONLY), &byte, 1, 1ll << 40) == 0 ? 0 : 1);
	}
	while (!waitpid(pid, &status, WNOHANG)) {
		double before = now_s();

		IS(call(fd, PMM_DRAIN, NULL), 0);
		if (now_s() - before > *slowest)
			*slowest = now_s() - before;
	}
	IS(status, 0);
	return now_s() - begin;
}

/* The time with the shortest slowest call: the machine itself may stop for a while. */
static void seeking(void)
{
	double took = 0, slowest = 1e9;

	fd = device(0);
	outstanding(0, 100000);
	for (int i = 0; i < SEEKS; i++) {
		double most, all = seek_once(&most);

		if (most < slowest) {
			slowest = most;
			took = all;
		}
	}
	printf("seek_ms=%.0f\nslowest_call_us=%.0f\n", took * 1e3, slowest * 1e6);
}

/* ---- who is killed while it waits for a log's lock */

static int child_of(void (*run)(int), int argument)
{
	int pid = fork();

	if (!pid) {
		run(argument);
		_exit(0);
	}
	return pid;
}

static void stop_it(int pid)
{
	monitor(fd, PMM_KMOD_SET_STOP, pid);
}

static void read_summary(int pid)
{
	static char text[4096];
	int text_fd = open("/proc/pmm/summary", O_RDONLY);

	(void)pid;
	if (read(text_fd, text, sizeof(text)) < 0)
		_exit(1);
}

static void read_its_log(int pid)
{
	struct pmm_kmod_record r;

	read_log(fd, pid, 0, &r, 1);
}

static void clear_it(int pid)
{
	monitor(fd, PMM_KMOD_SET_CLEAR, pid);
}

static void list_it(int pid)
{
	process_of(fd, pid);
}

/* Of the process pid: R, S, D, Z as in /proc/PID/stat. */
static char state_of(int pid)
{
	char path[32], text[256], *end = NULL;
	int stat_fd;
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	stat_fd = open(path, O_RDONLY);
	got = stat_fd < 0 ? 0 : read(stat_fd, text, sizeof(text) - 1);
	if (got > 0) {
		text[got] = '\0';
		end = strrchr(text, ')');
	}
	close(stat_fd);
	return end ? end[2] : 'Z';
}

/* `run` waits for the lock while a log of `nr` entries is thrown away, and is killed. Does it end at once? */
static int ends_at_once(void (*run)(int), unsigned int nr)
{
	double begin, gone, cleared;
	int owner, waiter, cleaner, status, waits = 0, there[2];
	char byte;

	if (pipe(there))
		die("pipe");
	owner = fork();
	if (!owner) {
		fd = device(0);	/* its own: it logs */
		outstanding(0, nr);
		if (write(there[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	if (read(there[0], &byte, 1) != 1)
		die("read");
	cleaner = child_of(clear_it, owner);
	waiter = child_of(run, owner);
	while (!waits && state_of(waiter) != 'Z')
		waits = state_of(waiter) == 'D';
	begin = now_s();
	kill(waiter, SIGKILL);
	status = wait_for(waiter);
	gone = now_s();
	wait_for(cleaner);
	cleared = now_s();
	end(owner);
	close(there[0]);
	close(there[1]);
	return waits && status == SIGKILL && gone - begin < cleared - gone;
}

/* It needs a log that takes long to throw away: how long depends on the machine. */
static void killed(void)
{
	void (*const run[])(int) = { read_summary, read_its_log, list_it, stop_it };

	fd = device(0);
	for (size_t i = 0; i < sizeof(run) / sizeof(run[0]); i++) {
		unsigned int nr = 25000;

		while (nr < 400000 && !ends_at_once(run[i], nr))
			nr *= 2;
		IS(nr < 400000, 1);
	}
}

/* 1000 processes that do nothing, monitored until this one is killed. */
static void crowd(void)
{
	fd = device(0);
	for (int i = 0; i < 1000; i++)
		IS(monitor(fd, PMM_KMOD_SET_START, sleeper()), 0);
	printf("ready\n");
	fflush(stdout);
	pause();
}

CASES({ "cost", cost }, { "reading", reading }, { "seeking", seeking }, { "killed", killed }, { "crowd", crowd })
