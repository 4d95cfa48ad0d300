/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Touch a number of pages of one kind of memory. Says the range, and how many faults the kernel has
 * counted meanwhile (getrusage), to standard error: "KIND START END FAULTS MAJOR".
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define PAGE	4096ul
#define HUGE	(2ul << 20)
#define AROUND	(64ul << 10)	/* one fault maps so much of a file */

static volatile char sink;
static struct rusage before, after;

static void *map(size_t bytes, int flags, int fd)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	return p;
}

static void touch(char *p, size_t bytes, size_t step, int write)
{
	getrusage(RUSAGE_SELF, &before);
	for (size_t at = 0; at < bytes; at += step) {
		if (write)
			*(volatile char *)(p + at) = 1;
		else
			sink = *(volatile char *)(p + at);
	}
	getrusage(RUSAGE_SELF, &after);
}

static int say(const char *kind, char *p, size_t bytes)
{
	fprintf(stderr, "%s %lu %lu %ld %ld\n", kind, (uintptr_t)p, (uintptr_t)p + bytes,
	       after.ru_minflt - before.ru_minflt, after.ru_majflt - before.ru_majflt);
	return 0;
}

/* Down the stack, a page with each call. */
__attribute__((noinline)) static void down(int n, uintptr_t *low)
{
	volatile char page[PAGE];

	page[0] = n;
	*low = (uintptr_t)page;
	if (n > 1)
		down(n - 1, low);
	sink = page[0];
}

static int stack(int n)
{
	uintptr_t low = 0, high = 0;

	down(2, &high);		/* what getrusage() needs is there then */
	getrusage(RUSAGE_SELF, &before);
	down(n, &low);
	getrusage(RUSAGE_SELF, &after);
	return say("stack", (char *)(low & -PAGE), (high & -PAGE) - (low & -PAGE));
}

/* The kernel touches the pages, in read(2). */
static int by_kernel(size_t n)
{
	char *p = map(n * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	int fd = open("/dev/zero", O_RDONLY);

	getrusage(RUSAGE_SELF, &before);
	for (size_t i = 0; i < n; i++)
		if (read(fd, p + i * PAGE, 8) != 8)
			return 1;
	getrusage(RUSAGE_SELF, &after);
	return say("kernel", p, n * PAGE);
}

static int file(const char *kind, const char *path, size_t n, int shared)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	size_t bytes = n * AROUND;
	char *p;

	if (fd < 0 || ftruncate(fd, bytes))
		return 1;
	p = map(bytes, shared ? MAP_SHARED : MAP_PRIVATE, fd);
	madvise(p, bytes, MADV_RANDOM);
	touch(p, bytes, AROUND, shared);
	return say(kind, p, bytes);
}

static int huge(size_t n)
{
	char *p = map((n + 1) * HUGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	p = (char *)(((uintptr_t)p + HUGE - 1) & -HUGE);
	madvise(p, n * HUGE, MADV_HUGEPAGE);
	touch(p, n * HUGE, PAGE, 1);
	return say("huge", p, n * HUGE);
}

/* 10,000 pages, as often as makes n. */
static int again(size_t n)
{
	size_t bytes = 10000 * PAGE;
	char *p = map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	for (size_t i = 0; i < n; i += 10000) {
		touch(p, bytes, PAGE, 1);
		madvise(p, bytes, MADV_DONTNEED);
	}
	return say("again", p, bytes);
}

/* With the same address used for other memory in turn. */
static int change(const char *path, size_t n)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	char *p = map(PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (fd < 0 || ftruncate(fd, PAGE))
		return 1;
	for (size_t i = 0; i < n; i++) {
		munmap(p, PAGE);
		mmap(p, PAGE, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		p[0] = 1;
		munmap(p, PAGE);
		mmap(p, PAGE, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_SHARED, fd, 0);
		p[0] = 1;
	}
	fprintf(stderr, "change %lu %lu %zu 0\n", (uintptr_t)p, (uintptr_t)p + PAGE, 2 * n);
	return 0;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[1] : "", *path = argc > 3 ? argv[3] : "";
	size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	char *p;

	if (!strcmp(kind, "anonymous") || !strcmp(kind, "reread")) {
		p = map(n * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		if (*kind == 'r')
			touch(p, n * PAGE, PAGE, 0);
		touch(p, n * PAGE, PAGE, 1);
		return say(kind, p, n * PAGE);
	}
	if (!strcmp(kind, "shared")) {
		p = map(n * PAGE, MAP_SHARED | MAP_ANONYMOUS, -1);
		touch(p, n * PAGE, PAGE, 1);
		return say(kind, p, n * PAGE);
	}
	if (!strcmp(kind, "hugetlb")) {
		p = map(n * HUGE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1);
		touch(p, n * HUGE, PAGE, 1);
		return say(kind, p, n * HUGE);
	}
	if (!strcmp(kind, "heap")) {
		p = sbrk(n * PAGE + PAGE);
		p = (char *)(((uintptr_t)p + PAGE - 1) & -PAGE);
		touch(p, n * PAGE, PAGE, 1);
		return say(kind, p, n * PAGE);
	}
	if (!strcmp(kind, "stack"))
		return stack(n);
	if (!strcmp(kind, "kernel"))
		return by_kernel(n);
	if (!strcmp(kind, "again"))
		return again(n);
	if (!strcmp(kind, "huge"))
		return huge(n);
	if (!strcmp(kind, "private_file") || !strcmp(kind, "shared_file"))
		return file(kind, path, n, *kind == 's');
	if (!strcmp(kind, "change"))
		return change(path, n);
	if (!strcmp(kind, "swap")) {		/* what was written is read again */
		p = map(n * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		for (size_t i = 0; i < n * PAGE / sizeof(int); i++)
			((volatile int *)p)[i] = i / 97;
		touch(p, n * PAGE, PAGE, 0);
		return say(kind, p, n * PAGE);
	}
	fprintf(stderr, "usage: trace_faults KIND PAGES [FILE]\n");
	return 2;
}
