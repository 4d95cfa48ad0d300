/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace_segv deep|thread|frame|null|kill|bus: dies of a signal of memory, in that way. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int sum;

static __attribute__((noinline)) int deeper(int n)
{
	volatile char frame[1000];

	frame[n % 1000] = (char)n;
	return deeper(n + 1) + frame[n % 7];
}

static __attribute__((noinline)) int wide(void)
{
	volatile char frame[512 << 10];

	frame[0] = 1;
	return frame[0];
}

static void *in_thread(void *arg)
{
	sum = arg ? wide() : deeper(1);
	return NULL;
}

static void thread(void *arg, size_t bytes)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, bytes);
	pthread_create(&t, &attr, in_thread, arg);
	pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	usleep(100000);
	if (!strcmp(how, "deep"))
		sum = deeper(1);
	if (!strcmp(how, "thread"))
		thread(NULL, 256 << 10);
	if (!strcmp(how, "frame"))
		thread("wide", 256 << 10);
	if (!strcmp(how, "null"))
		*(volatile int *)(long)(argc - 2) = 1;
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGSEGV);
	if (!strcmp(how, "bus")) {
		volatile char *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, open("/dev/null", O_RDONLY), 0);
		int fd = memfd_create("empty", 0);

		if (p == MAP_FAILED)
			p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
		sum = *p;
	}
	return 0;
}
