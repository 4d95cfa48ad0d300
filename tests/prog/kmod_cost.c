// SPDX-License-Identifier: GPL-2.0-or-later
/* What things cost, as ratios: a guest's processors are emulated, and its times say nothing. Prints KEY=VALUE. */
#include "kmod_test.h"

#define ROUNDS	7
#define CALLS	3000

static int fd;

/* The least of some rounds: what disturbs only makes it longer. */
static double least(void (*round)(void))
{
	double best = 1e9;

	for (int i = 0; i < ROUNDS; i++) {
		double begin = now_s();

		round();
		if (now_s() - begin < best)
			best = now_s() - begin;
	}
	return best * 1e9 / CALLS;
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

static void cost(void)
{
	double nothing, few, many;

	fd = device(0);
	outstanding(0, 100);
	nothing = least(empty);
	few = least(records);
	outstanding(100, 100000);
	many = least(records);
	printf("empty_ns=%.0f\nrecord_ns=%.0f\n", nothing, few);
	printf("record_percent=%.0f\nmany_percent=%.0f\n", few * 100 / nothing, many * 100 / few);
}

/* Reading a long log, and the slowest call of who logs meanwhile. */
static void reading(void)
{
	static char text[65536];
	int text_fd;
	double begin, slowest = 0, took;
	long bytes = 0, got;

	fd = device(0);
	outstanding(0, 100000);
	begin = now_s();
	text_fd = open("/proc/pmm/pid", O_RDONLY);
	while ((got = read(text_fd, text, sizeof(text))) > 0) {
		double before = now_s();

		IS(add(fd, 16, 16), 0);
		took = now_s() - before;
		slowest = took > slowest ? took : slowest;
		bytes += got;
	}
	printf("read_ms=%.0f\nread_bytes=%ld\nslowest_call_us=%.0f\n", (now_s() - begin) * 1e3, bytes,
	       slowest * 1e6);
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

CASES({ "cost", cost }, { "reading", reading }, { "crowd", crowd })
