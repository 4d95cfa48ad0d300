/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Each option that says more than to note a block, by itself: it holds from the next call on, and no longer than it is set: alone.table. */
#include "order.h"
#include <signal.h>

static char *volatile p;

static unsigned long nr(size_t value)
{
	return (unsigned long)value;
}

static int all_are(const char *block, size_t bytes, int byte)
{
	while (bytes--)
		if (*block++ != (char)byte)
			return 0;
	return 1;
}

static struct pmm_stats stats(void)
{
	struct pmm_stats now;

	pmm_get_stats(&now);
	return now;
}

static void requests(void)
{
	pmm_set(PMM_LIMIT, 1000);
	p = (char *)malloc(1001);
	printf("limit: %d, %lu failed", p != NULL, nr(stats().nr_failed));
	pmm_set(PMM_LIMIT, 0);
	free(malloc(1001));
	printf(", then %lu\n", nr(stats().nr_failed));
	pmm_set(PMM_HUGE_SIZE, 1000);
	free(malloc(999));
	free(malloc(1000));
	pmm_set(PMM_HUGE_SIZE, 0);
	free(malloc(1000));
	printf("huge: %lu\n", nr(stats().nr_huge));
	pmm_set(PMM_TELL_ZERO, 1);
	free(malloc(0));
	pmm_set(PMM_TELL_ZERO, 0);
	free(malloc(0));
	printf("zero: %lu\n", nr(stats().nr_zero));
	pmm_set(PMM_MIN_SIZE, 10);
	free(malloc(9));
	free(malloc(10));
	pmm_set(PMM_MIN_SIZE, 0);
	free(malloc(9));
	printf("passed: %lu", nr(stats().nr_passed));
	pmm_disable();
	free(malloc(9));
	pmm_enable();
	free(malloc(9));
	printf(", disabled %lu\n", nr(stats().nr_passed));
}

static void blocks(void)
{
	pmm_set(PMM_FILL_NEW, 256 + 'n');
	p = (char *)malloc(100);
	pmm_set(PMM_FILL_NEW, 0);
	printf("filled: %d", all_are(p, 100, 'n'));
	pmm_set(PMM_FILL_FREED, 256 + 'f');
	free(p);
	pmm_set(PMM_FILL_FREED, 0);
	printf(", freed %d\n", all_are(p + 16, 84, 'f'));	/* the allocator's own is before */
	pmm_set(PMM_KEEP, 1000);
	p = (char *)malloc(100);
	free(p);
	p[50] = 'x';
	printf("kept: %lu", nr(pmm_check()));
	pmm_set(PMM_KEEP, 0);
	printf(", then %lu\n", nr(pmm_check()));
	pmm_set(PMM_CANARY, PMM_BEFORE);
	p = (char *)malloc(100);
	pmm_set(PMM_CANARY, PMM_BEHIND);
	p[-1] = p[100] = 'x';
	printf("before: %lu\n", nr(pmm_check_block(p)));
	free(p);
	p = (char *)malloc(100);
	pmm_set(PMM_CHECK_ALWAYS, 1);
	p[100] = 'x';
	free(malloc(1));
	pmm_set(PMM_CHECK_ALWAYS, 0);
	printf("always: %lu errors\n", nr(stats().nr_errors));
	free(p);
}

int main(void)
{
	BEGIN();
	free(malloc(1));	/* in the full form the ledger is there now */
	requests();
	blocks();
	if (pmm_report_on(SIGUSR1, PMM_HEAP | PMM_TOTALS))
		return 1;
	raise(SIGUSR1);
	pmm_set(PMM_AT_EXIT, 0);
	return 0;
}
