// SPDX-License-Identifier: GPL-2.0-or-later
/* What things cost, as ratios: a guest's processors are emulated, and its times say nothing. Prints KEY=VALUE. */
#include "kmod_test.h"

#include <sys/socket.h>

#define ROUNDS	25
#define CALLS	1000
#define TRIES	3

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

/*
 * What takes some time is done a few times: the seconds of the one with the shortest slowest call
 * meanwhile, as the machine itself may stop for a while. `once` gives the seconds.
 */
static void say_quietest(double (*once)(double *slowest), const char *name)
{
	double took = 0, slowest = 1e9;

	fd = device(0);
	outstanding(0, 100000);
	for (int i = 0; i < TRIES; i++) {
		double most = 0, all = once(&most);

		if (most < slowest) {
			slowest = most;
			took = all;
		}
	}
	printf("%s=%.0f\nslowest_call_us=%.0f\n", name, took * 1e3, slowest * 1e6);
}

static void keep_most(double *most, double took)
{
	if (took > *most)
		*most = took;
}

static long read_bytes;

/* The log's text is read, and who reads logs meanwhile. */
static double read_once(double *slowest)
{
	static char text[65536];
	double begin = now_s();
	int text_fd = open("/proc/pmm/pid", O_RDONLY);
	long got;

	read_bytes = 0;
	while ((got = read(text_fd, text, sizeof(text))) > 0) {
		double before = now_s();

		IS(add(fd, 16, 16), 0);
		keep_most(slowest, now_s() - before);
		read_bytes += got;
	}
	close(text_fd);
	return now_s() - begin;
}

static void reading(void)
{
	say_quietest(read_once, "read_ms");
	printf("read_bytes=%ld\n", read_bytes);
}

/* Another process goes to the end of the text at once, and this one has its ring drained. */
static double seek_once(double *slowest)
{
	double begin = now_s();
	int pid = fork(), status;

	if (!pid) {
		char byte;

		_exit(pread(open("/proc/pmm/pid", O_RDONLY), &byte, 1, 1ll << 40) == 0 ? 0 : 1);
	}
	while (!waitpid(pid, &status, WNOHANG)) {
		double before = now_s();

		IS(call(fd, PMM_DRAIN, NULL), 0);
		keep_most(slowest, now_s() - before);
	}
	IS(status, 0);
	return now_s() - begin;
}

static void seeking(void)
{
	say_quietest(seek_once, "seek_ms");
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
