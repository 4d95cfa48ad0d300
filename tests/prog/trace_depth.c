/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_depth [wait] KIB...: a thread for each, and at last the first one, uses so much of its stack
 * of 4 MiB. Each prints its number and how deep the page is that it has touched below all others.
 * "wait": all threads begin, then wait until there is a line to be read. "raise": the first one may
 * have 8 MiB from now on.
 */
#include <alloca.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* How deep it was; whoever prints that needs less. */
__attribute__((noinline)) static long use(const char *top, long bytes)
{
	volatile char *p = alloca(bytes);

	for (long at = bytes - 1; at >= 0; at -= 1024)		/* from above, as calls do */
		p[at] = 1;
	p[0] = 1;
	return (long)top - ((long)p & -4096l);
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *thread(void *kib)
{
	pthread_attr_t a;
	void *low;
	size_t bytes;
	long depth;

	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	pthread_getattr_np(pthread_self(), &a);
	pthread_attr_getstack(&a, &low, &bytes);
	depth = use((char *)low + bytes, atol(kib) * 1024);
	printf("thread %d %ld\n", gettid(), depth);
	return NULL;
}

/* Of the first thread, with the arguments and the environment. */
static const char *stack_end(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	void *end = NULL;

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "[stack]"))
			sscanf(line, "%*x-%p", &end);
	fclose(maps);
	return end;
}

int main(int argc, char **argv)
{
	pthread_attr_t a;
	pthread_t t[16];
	long depth;
	int wait = argc > 1 && !strcmp(argv[1], "wait");

	if (argc > 1 && !strcmp(argv[1], "raise")) {
		setrlimit(RLIMIT_STACK, &(struct rlimit){ 8 << 20, RLIM_INFINITY });
		argc = 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 4 << 20);
	if (wait)
		pthread_mutex_lock(&gate);
	for (int i = 1 + wait; i < argc && i < 16; i++) {
		pthread_create(&t[i], &a, thread, argv[i]);
		if (!wait)
			pthread_join(t[i], NULL);
	}
	if (wait) {
		puts("ready");
		getchar();
		pthread_mutex_unlock(&gate);
		for (int i = 2; i < argc && i < 16; i++)
			pthread_join(t[i], NULL);
	}
	depth = use(stack_end(), 1 << 20);
	printf("first %d %ld\n", gettid(), depth);
	return 0;
}
