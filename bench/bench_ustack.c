/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which share of a program's user stacks is complete, and what unwinding one costs: a program is
 * run, the kernel copies its stack at page faults, the copies are unwound.
 *
 * bench_ustack [-b BYTES] [-p PERIOD] PROGRAM ARGUMENT...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/nanotime.h"
#include "src/kernel/stack_table.h"
#include "src/kernel/user_stack.h"
#include "tests/unit/perf_copy.h"

struct bench {
	struct images images;
	struct user_stacks *stacks;
	struct stack_table table;
	uint64_t nr, frames, bytes, ns;
};

static void take(void *arg, const struct perf_copy_event *e)
{
	struct bench *b = arg;
	struct user_stack stack;
	uint64_t begin;

	switch (e->kind) {
	case PERF_COPY_EXEC:
		images_exec(&b->images, e->tgid, e->time_ns);
		break;
	case PERF_COPY_FORK:
		images_fork(&b->images, e->parent, e->tgid, e->time_ns);
		break;
	case PERF_COPY_EXIT:
		images_exit(&b->images, e->tgid, e->time_ns);
		break;
	case PERF_COPY_MAP:
		images_changed(&b->images, e->tgid, e->time_ns);
		break;
	case PERF_COPY_STACK:
		begin = nanotime_of(CLOCK_THREAD_CPUTIME_ID);
		user_stack_walk(b->stacks, e->tgid, e->time_ns, &e->copy, &stack);
		stack_table_add(&b->table, stack.frame, stack.nr, stack.end);
		b->ns += nanotime_of(CLOCK_THREAD_CPUTIME_ID) - begin;
		b->nr++;
		b->frames += stack.nr;
		b->bytes += e->copy.nr_bytes;
		break;
	}
}

static void report(const struct bench *b, uint64_t lost)
{
	const uint64_t *ends = user_stacks_ends(b->stacks);
	double nr = b->nr ? (double)b->nr : 1;

	printf("%llu stacks, %llu lost, %zu different, %.1f frames, %.1f KiB copied, %.2f us each, "
	       "%llu readings of maps\n", (unsigned long long)b->nr, (unsigned long long)lost,
	       b->table.stacks.nr ? b->table.stacks.nr - 1 : 0, (double)b->frames / nr,
	       (double)b->bytes / nr / 1024, (double)b->ns / nr / 1000,
	       (unsigned long long)b->images.reads);
	for (int i = 0; i < USER_STACK_NR_ENDS; i++)
		if (ends[i])
			printf("%6.2f %%  %s\n", 100 * (double)ends[i] / nr,
			       user_stack_end_name((enum user_stack_end)i));
}

int main(int argc, char **argv)
{
	unsigned stack_bytes = 16384, period = 1;
	struct bench b = { 0 };
	struct perf_copy *p;
	int c;

	while ((c = getopt(argc, argv, "+b:p:")) != -1) {
		if (c == 'b')
			stack_bytes = (unsigned)atoi(optarg);
		else if (c == 'p')
			period = (unsigned)atoi(optarg);
		else
			return 2;
	}
	if (optind == argc)
		return 2;
	b.stacks = user_stacks_new(&b.images);
	p = perf_copy_new(argv + optind, stack_bytes, period);
	if (!b.stacks || !p) {
		fprintf(stderr, "bench_ustack: no perf events here\n");
		return 1;
	}
	stack_table_init(&b.table, 0);
	perf_copy_go(p);
	while (perf_copy_step(p, take, &b))
		usleep(5000);
	report(&b, perf_copy_lost(p));
	perf_copy_free(p);
	user_stacks_free(b.stacks);
	images_fini(&b.images);
	stack_table_fini(&b.table);
	return 0;
}
