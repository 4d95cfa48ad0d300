/* SPDX-License-Identifier: GPL-2.0-or-later */ /* What pmm_set() sets, and the interface on demand: fills, checks at each call, shortage, addresses, marks, output in all its ways: options.table. */
#include "order.h"
#include <unistd.h>

static int all_are(const char *p, size_t bytes, int byte)
{
	while (bytes--)
		if (*p++ != (char)byte)
			return 0;
	return 1;
}

static void fills(void)
{
	char *volatile p;
	size_t old = pmm_set(PMM_FILL_NEW, 256 + 0x5A);

	p = (char *)malloc(100);
	printf("new %d (was %d)", all_are(p, 100, 0x5A), (int)old);
	p = (char *)realloc(p, 300);
	printf(", grown %d", all_are(p, 300, 0x5A));
	free(p);
	p = (char *)calloc(10, 10);
	printf(", calloc %d", all_are(p, 100, 0));
	free(p);
	pmm_set(PMM_FILL_NEW, 256);
	p = (char *)malloc(50);
	printf(", zeros %d\n", all_are(p, 50, 0));
	pmm_set(PMM_FILL_NEW, 0);
	pmm_set(PMM_KEEP, 1000);	/* so that it may be looked at */
	free(p);
	printf("kept %d\n", all_are(p, 50, 0xDD));
	pmm_set(PMM_KEEP, 0);
}

static void check_always(void)
{
	char *volatile p = (char *)malloc(10), *volatile q;

	pmm_set(PMM_CHECK_ALWAYS, 1);
	p[10] = 'x';
	q = (char *)malloc(20);		/* tells it */
	free(q);
	pmm_set(PMM_CHECK_ALWAYS, 0);
	free(p);			/* not again */
}

static void shortage(void)
{
	char *volatile wild = (char *)(malloc)(1024);
	int grabbed, dropped;

	(free)(wild);
	pmm_grab(1);		/* has that memory now */
	((volatile char *)wild)[100] = 'x';
	pmm_drop(1);
	grabbed = (int)pmm_grab(20);
	dropped = (int)pmm_drop(15);
	printf("grabbed %d, dropped %d, then %d\n", grabbed, dropped, (int)pmm_drop(100));
}

static void addresses(void)
{
	static const char constant[] = "constant";
	char *p = (char *)malloc(10000);

	printf("readable %d %d %d, not %d %d; writable %d %d, not %d %d\n", pmm_readable(p, 10000), pmm_readable(constant, 9),
		pmm_readable(&p, sizeof(p)), pmm_readable(NULL, 1), pmm_readable((void *)16, 1), pmm_writable(p, 10000),
		pmm_writable(&p, sizeof(p)), pmm_writable(constant, 9), pmm_writable((void *)16, 1));
	free(p);
}

static int count(void *ctx, const struct pmm_block *block)
{
	printf("%c %d %s(%d) %d\n", block->entry, (int)block->size, block->file, (int)block->line, block->time > 1700000000);
	return --*(int *)ctx == 0 ? 7 : 0;
}

static void walk(void)
{
	int most = 2;
	void *p[3];

	p[0] = malloc(1);
	p[1] = calloc(1, 2);
	p[2] = pmm_mark(p);
	printf("stopped %d\n", pmm_each_block(count, &most));
	printf("all %d\n", pmm_each_block(count, &most));
	printf("%d\n", pmm_unmark(p[2]) == (void *)p && pmm_mark(NULL) == NULL);
	free(p[0]);
	free(p[1]);
}

static void trace(void)
{
	pmm_trace("[%5d|%-5d|%05d|%d] [%u %x %X %o] [%ld %lld %zu %hhu]\n", -42, 42, -42, -1, 7u, 0xABCu, 0xABCu, 8u, -5l, -1234567890123ll,
		(size_t)9, (unsigned char)3);
	pmm_trace("[%s|%8s|%-8s|%.2s|%.*s] [%c%%] [%g] [%i]\n", "text", "right", "left", "cut", 3, "argument", 'c', 1.5, -7);
	pmm_trace("%p\n", (void *)0);
}

static void flushing(void)
{
	pmm_set(PMM_FLUSH, 0);
	pmm_trace("held\n");
	printf("before what is held\n");
	pmm_flush();
	pmm_set(PMM_FLUSH, 1);
}

static void upper(void *ctx, const char *text, size_t bytes)
{
	size_t i;

	free(malloc(5));	/* allocations here pass */
	for (i = 0; i < bytes; i++)
		putchar(text[i] >= 'a' && text[i] <= 'z' ? text[i] - 32 : text[i]);
	++*(int *)ctx;
}

int main(void)
{
	struct pmm_stats stats;
	int lines = 0;

	BEGIN();
	fills();
	check_always();
	shortage();
	addresses();
	walk();
	trace();
	flushing();
	pmm_report_fd(1, PMM_BLOCKS);
	pmm_report_to(upper, &lines, PMM_TOTALS);
	pmm_get_stats(&stats);
	printf("%d passed, %d foreign, %d lost\n", (int)stats.nr_passed, (int)stats.nr_foreign, (int)stats.nr_lost);
	printf("%d lines; unknown option %d\n", lines, (int)pmm_set((enum pmm_option)99, 5));
	pmm_set(PMM_AT_EXIT, PMM_CLASSES);
	return 0;
}
