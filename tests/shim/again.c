/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Output functions, and one that looks at blocks, that call all of the monitor, reports above all: those wait, and the program goes on. */
#include "order.h"

static int nr_lines;

static void output(void *ctx, const char *text, size_t bytes)
{
	(void)ctx, (void)text, (void)bytes;
	nr_lines++;
	pmm_report(PMM_TOTALS);
	pmm_report_to(output, NULL, PMM_BLOCKS);
	pmm_check();
	pmm_flush();
	pmm_trace("never written\n");
	free(realloc(malloc(5), 50));
}

static int look(void *ctx, const struct pmm_block *block)
{
	output(ctx, "", block->size);
	return 0;
}

int main(void)
{
	struct pmm_stats stats;
	char *p;

	BEGIN();
	pmm_set(PMM_AT_EXIT, 0);
	p = (char *)malloc(10);
	p[10] = 'x';
	pmm_set_output(output, NULL);
	pmm_report(PMM_BLOCKS);
	pmm_each_block(look, NULL);
	free(p);			/* overflow */
	pmm_set_output(to_stdout, stdout);
	pmm_get_stats(&stats);
	pmm_set_output(output, NULL);
	printf("went on: %d; %d live, %d errors\n", nr_lines > 10, (int)stats.nr_live, (int)stats.nr_errors);
	return 0;
}
