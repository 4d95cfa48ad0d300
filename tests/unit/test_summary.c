/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/session/summary.c: the last lines of `pmm run', of programs of every end.
 * Also of src/session/kernel_notes.c, src/analyze/coverage.c, src/view/coverage_view.c.
 */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "include/pmm/ledger.h"
#include "bpf/trace_abi.h"
#include "src/cmd/emit.h"
#include "src/session/summary.h"

static char *argv[] = { "/bin/demo", "arg", NULL };

static struct heap *empty(void)
{
	return heap_new();
}

/* What is printed to standard error. */
static void says(struct summary s, bool brief, const char *wanted)
{
	int fd = memfd_create("stderr", 0), real = dup(2);
	char got[4096] = "";
	ssize_t n;

	s.argv = argv;
	fflush(stderr);
	dup2(fd, 2);
	summary_note(&s, brief, &emit_notes);
	fflush(stderr);
	dup2(real, 2);
	close(real);
	n = pread(fd, got, sizeof(got) - 1, 0);
	close(fd);
	assert_true(n >= 0);
	assert_string_equal(got, wanted);
}

#define CAPTURES(from, n) .captures = { .v = made + (from), .nr = (n) }

static void captures_are_named(void **state)
{
	struct summary_capture made[] = {
		{ "sh.pmm", 20, 4096, true },
		{ "small.pmm", 31, 10, false },
		{ "large.pmm", 30, 5 << 20, false },
		{ "same.pmm", 25, 10, false },
	};
	struct heap *h = empty(), *large = empty();

	(void)state;
	says((struct summary){ .heap = h, CAPTURES(0, 1) }, false,
	     "pmm: '/bin/demo arg' exited with status 0 after 0 s\n"
	     "pmm: it never called malloc or a similar function\n"
	     "pmm: capture      sh.pmm\n"
	     "pmm: hint: pmm report sh.pmm\n");
	says((struct summary){ .heap = h, .run_ns = 1500000000, .status = 3 << 8, CAPTURES(0, 4) },
	     false,
	     "pmm: '/bin/demo arg' exited with status 3 after 1.50 s\n"
	     "pmm: it never called malloc or a similar function\n"
	     "pmm: captures, the program's own and then by peak:\n"
	     "pmm:     4.00 KiB  sh.pmm\n"
	     "pmm:     5.00 MiB  large.pmm\n"
	     "pmm:         10 B  same.pmm\n"
	     "pmm:         10 B  small.pmm\n"
	     "pmm: hint: pmm report sh.pmm\n");
	says((struct summary){ .heap = h, CAPTURES(1, 3) }, false,
	     "pmm: '/bin/demo arg' exited with status 0 after 0 s\n"
	     "pmm: it never called malloc or a similar function\n"
	     "pmm: captures, by peak:\n"
	     "pmm:     5.00 MiB  large.pmm\n"
	     "pmm:         10 B  same.pmm\n"
	     "pmm:         10 B  small.pmm\n"
	     "pmm: hint: pmm report large.pmm\n");
	large->pid = 30;
	free(large->comm);
	large->comm = strdup("work\033er");
	large->peak_bytes = 2000;
	h->peak_bytes = 1000;
	says((struct summary){ .heap = h, .largest = large, CAPTURES(0, 4) }, false,
	     "pmm: '/bin/demo arg' exited with status 0 after 0 s\n"
	     "pmm: most memory  process 30 (work\\x1ber); the program itself had a peak of 1000 B\n"
	     "pmm: it never called malloc or a similar function\n"
	     "pmm: captures, the program's own and then by peak:\n"
	     "pmm:     4.00 KiB  sh.pmm\n"
	     "pmm:     5.00 MiB  large.pmm\n"
	     "pmm:         10 B  same.pmm\n"
	     "pmm:         10 B  small.pmm\n"
	     "pmm: hint: pmm report large.pmm\n");
	h->peak_bytes = 1001;	/* hardly less than the other: its own program is meant */
	says((struct summary){ .heap = h, .largest = large, CAPTURES(0, 4) }, false,
	     "pmm: '/bin/demo arg' exited with status 0 after 0 s\n"
	     "pmm: it never called malloc or a similar function\n"
	     "pmm: captures, the program's own and then by peak:\n"
	     "pmm:     4.00 KiB  sh.pmm\n"
	     "pmm:     5.00 MiB  large.pmm\n"
	     "pmm:         10 B  same.pmm\n"
	     "pmm:         10 B  small.pmm\n"
	     "pmm: hint: pmm report sh.pmm\n");
	says((struct summary){ .heap = h, .nr_replaced = 2 }, false,
	     "pmm: '/bin/demo arg' exited with status 0 after 0 s\n"
	     "pmm: it never called malloc or a similar function\n"
	     "pmm: exec         2 times a program took another's place; the earlier ones have no "
	     "capture\n");
	says((struct summary){ .heap = h, CAPTURES(0, 3), .nr_living = 1 }, true, "");
	heap_free(large);
	heap_free(h);
}

/* Eleven and more are too many for a terminal. */
static void captures_are_bounded(void **state)
{
	struct summary_capture made[13];
	struct heap *h = empty();

	(void)state;
	for (int i = 0; i < 13; i++)
		made[i] = (struct summary_capture){ "x.pmm", 100 + i, 1, false };
	says((struct summary){ .heap = h, CAPTURES(0, 13) }, false,
	     "pmm: '/bin/demo arg' exited with status 0 after 0 s\n"
	     "pmm: it never called malloc or a similar function\n"
	     "pmm: captures, by peak:\n"
	     "pmm:          1 B  x.pmm\n"
	     "pmm:          1 B  x.pmm\n"
	     "pmm:          1 B  x.pmm\n"
	     "pmm:          1 B  x.pmm\n"
	     "pmm:          1 B  x.pmm\n"
	     "pmm:          1 B  x.pmm\n"
	     "pmm:          1 B  x.pmm\n"
	     "pmm:          1 B  x.pmm\n"
	     "pmm:          1 B  x.pmm\n"
	     "pmm:          1 B  x.pmm\n"
	     "pmm:   and 3 smaller ones\n"
	     "pmm: hint: pmm report x.pmm\n");
	heap_free(h);
}

static void resident_memory_is_explained(void **state)
{
	struct heap_point points[] = {
		{ .time_ns = 1000000000, .live_bytes = 9 << 20, .rss_bytes = 50 << 20 },
		{ .time_ns = 2000000000, .live_bytes = 1 << 20, .rss_bytes = 40 << 20 },
		{ .time_ns = 2010000000, .live_bytes = 1 << 20 },
	};
	struct heap *h = empty();

	(void)state;
	h->end = HEAP_EXITED;
	h->taken_ns = 2010000000;
	h->allocs = 2;
	h->frees = 1;
	h->bytes_in = 10 << 20;
	h->live_bytes = 1 << 20;
	h->live_blocks = 1;
	h->ledger_bytes = 2 << 20;
	h->points = points;
	h->nr_points = 3;
	says((struct summary){ .heap = h }, false,
	     "pmm: '/bin/demo arg' exited with status 0 after 0 s\n"
	     "pmm: peak         0 B\n"
	     "pmm: live at end  1.00 MiB in 1 block\n"
	     "pmm: RSS          40.0 MiB when last seen, at most 50.0 MiB after 1.00 s (then 9.00 "
	     "MiB live)\n"
	     "pmm:              1.00 MiB live heap, 2.00 MiB pmm's ledger, 37.0 MiB other: what "
	     "the allocator keeps free, mappings, libraries, stacks\n"
	     "pmm: calls        2 allocations of 10.0 MiB, 1 free; 0% temporary\n");
	h->live_bytes = 100 << 20;
	says((struct summary){ .heap = h }, false,
	     "pmm: '/bin/demo arg' exited with status 0 after 0 s\n"
	     "pmm: peak         0 B\n"
	     "pmm: live at end  100 MiB in 1 block\n"
	     "pmm: RSS          40.0 MiB when last seen, at most 50.0 MiB after 1.00 s (then 9.00 "
	     "MiB live)\n"
	     "pmm:              less than the live heap: 60.0 MiB of it or more was never touched, "
	     "or is swapped out\n"
	     "pmm: calls        2 allocations of 10.0 MiB, 1 free; 0% temporary\n");
	h->live_bytes = 1 << 20;
	h->nr_points = 2;
	h->taken_ns = 2000000000;
	h->peak_resident_bytes = 60 << 20;	/* the kernel knows of more than was seen */
	says((struct summary){ .heap = h }, false,
	     "pmm: '/bin/demo arg' exited with status 0 after 0 s\n"
	     "pmm: peak         0 B\n"
	     "pmm: live at end  1.00 MiB in 1 block\n"
	     "pmm: RSS          40.0 MiB when last seen, at most 60.0 MiB\n"
	     "pmm:              1.00 MiB live heap, 2.00 MiB pmm's ledger, 37.0 MiB other: what "
	     "the allocator keeps free, mappings, libraries, stacks\n"
	     "pmm: calls        2 allocations of 10.0 MiB, 1 free; 0% temporary\n");
	h->points = NULL;
	h->nr_points = 0;
	heap_free(h);
}

static void processes_that_go_on(void **state)
{
	struct heap *h = empty();

	(void)state;
	says((struct summary){ .heap = h, .nr_living = 1, .living = 42, .status = 9 }, false,
	     "pmm: '/bin/demo arg' killed by signal 9 (SIGKILL) after 0 s\n"
	     "pmm: it never called malloc or a similar function\n"
	     "pmm: 1 process is still running (pid 42); its capture is written when it ends; 'pmm report "
	     "42' shows it now\n");
	says((struct summary){ .heap = h, .nr_living = 2, .living = 42, .nr_replaced = 1 }, false,
	     "pmm: '/bin/demo arg' exited with status 0 after 0 s\n"
	     "pmm: it never called malloc or a similar function\n"
	     "pmm: exec         1 time a program took another's place; the earlier ones have no "
	     "capture\n"
	     "pmm: 2 processes are still running (pid 42 and others); their captures are written when they "
	     "end; 'pmm report 42' shows the first now\n");
	heap_free(h);
}

/* Also with --quiet. */
static void memory_that_ran_out(void **state)
{
	struct heap *h = empty();

	(void)state;
	says((struct summary){ .heap = h, .status = 9, .nr_oom_kills = 1, .group_bytes = 40 << 20 },
	     true,
	     "pmm: WARNING: memory ran out, and the kernel killed 1 process, probably it: the control "
	     "group allows 40.0 MiB for all that runs in it, pmm included\n"
	     "pmm: hint: give it more, or let pmm take less: 'pmm run --sample', 'pmm check "
	     "--level=sampled'\n");
	says((struct summary){ .heap = h, .status = 137 << 8, .nr_oom_kills = 2,
			       .group_bytes = UINT64_MAX },
	     true,
	     "pmm: WARNING: memory ran out, and the kernel killed 2 processes, probably what it "
	     "started among them\n"
	     "pmm: hint: give it more, or let pmm take less: 'pmm run --sample', 'pmm check "
	     "--level=sampled'\n");
	says((struct summary){ .heap = h, .status = 9 }, true, "");
	heap_free(h);
}

/* Also with --quiet. */
static void what_was_not_seen(void **state)
{
	struct heap *h = empty();

	(void)state;
	says((struct summary){ .nr_lost = 1 }, true,
	     "pmm: WARNING: nothing was seen: the agent never started in this program\n"
	     "pmm: hint: see ulimit -v (address space) and ulimit -n (descriptors)\n"
	     "pmm: WARNING: 1 process could not be tracked: no memory or address space for a "
	     "ledger, or no descriptors to watch it\n");
	says((struct summary){ .status = 127 << 8 }, true,
	     "pmm: WARNING: nothing was seen: the agent never started in this program\n"
	     "pmm: hint: it may have ended before; 'pmm doctor' says whether tracking works "
	     "here\n");
	says((struct summary){ .status = 11 }, true,
	     "pmm: WARNING: nothing was seen: the agent never started in this program\n"
	     "pmm: hint: it may have ended before; 'pmm doctor' says whether tracking works "
	     "here\n");
	says((struct summary){ .status = 0 }, true,
	     "pmm: WARNING: nothing was seen: the agent never started in this program\n"
	     "pmm: hint: does it clear LD_PRELOAD, or start another program through a static one? 'pmm "
	     "doctor' says whether tracking works here\n");
	says((struct summary){ .heap = h, .nr_lost = 5 }, true,
	     "pmm: WARNING: 5 processes could not be tracked: no memory or address space for a "
	     "ledger, or no descriptors to watch them\n");
	h->off_reason = PMM_OFF_OWN_ALLOCATOR;
	says((struct summary){ .heap = h }, true,
	     "pmm: WARNING: the program has its own malloc, which precedes pmm's: its heap is "
	     "not recorded\n");
	h->allocs = 1;				/* its malloc leads to ours after all */
	says((struct summary){ .heap = h }, true, "");
	h->off_reason = PMM_OFF_NO_GROWTH;
	says((struct summary){ .heap = h }, true,
	     "pmm: WARNING: the ledger could not grow any more: the program put itself under "
	     "seccomp, and its filter does not simply allow mprotect and "
	     "madvise\n");
	h->dropped[PMM_DROP_BLOCK_FULL] = 1200;
	h->ledger_limit_bytes = 5 << 20;
	says((struct summary){ .heap = h, .shrunk = true }, true,
	     "pmm: WARNING: 1,200 blocks were not recorded: the ledger could not grow any more\n"
	     "pmm: WARNING: the ledger could not grow any more: the program put itself under "
	     "seccomp, and its filter does not simply allow mprotect and "
	     "madvise\n"
	     "pmm: hint: a resource limit keeps the ledger small: ulimit -v, ulimit -f\n");
	says((struct summary){ .heap = h, .losses_reported = true }, true, "");
	h->off_reason = 1000;
	h->dropped[PMM_DROP_BLOCK_FULL] = 0;
	says((struct summary){ .heap = h }, true,
	     "pmm: WARNING: tracking stopped early; what came after is missing\n");
	heap_free(h);
}

/* Also with --quiet. */
static void limits_in_the_way(void **state)
{
	struct heap *h = empty();

	(void)state;
	h->space_taken_bytes = 48 << 20;
	says((struct summary){ .heap = h }, true,
	     "pmm: WARNING: the limit on address space (ulimit -v) cannot be raised; 48.0 MiB of "
	     "it go to the ledger, and allocations that would need them fail\n"
	     "pmm: hint: raise the hard limit or set only the soft one (ulimit -S -v), run pmm "
	     "with CAP_SYS_RESOURCE (as root, outside of containers that drop it), or give the "
	     "ledger less (--ledger-limit)\n");
	h->space_taken_bytes = 0;
	h->own_calls = 1;
	h->own_function = strdup("mallocx");
	says((struct summary){ .heap = h }, true,
	     "pmm: WARNING: the program calls mallocx(), a function of its allocator's own: what it "
	     "allocates and releases so is not recorded\n"
	     "pmm: hint: 'pmm attach PID' records those of glibc, jemalloc, tcmalloc and mimalloc "
	     "as well\n");
	h->own_calls = 2;
	h->own_caller = strdup("/usr/lib/plugin.so");
	says((struct summary){ .heap = h }, true,
	     "pmm: WARNING: plugin.so, loaded later, calls mallocx(), a function of its allocator's "
	     "own: what it allocates and releases so is not recorded\n"
	     "pmm: hint: 'pmm attach PID' records those of glibc, jemalloc, tcmalloc and mimalloc "
	     "as well\n");
	says((struct summary){ .data_limit_bytes = 1000 << 10 }, true,
	     "pmm: WARNING: nothing was seen: the agent never started in this program\n"
	     "pmm: hint: the limit on data (ulimit -d) of 1000 KiB is too small for the agent, "
	     "which takes up to 10.0 MiB of it, and cannot be raised\n");
	heap_free(h);
}

#define ENDED                                                                                      \
	"pmm: '/bin/demo arg' exited with status 0 after 0 s\n"                                    \
	"pmm: it never called malloc or a similar function\n"

/* Three lines at most, of what there is; losses also with --quiet. */
static void what_the_kernel_did(void **state)
{
	struct heap_kernel_kind kinds[] = {
		{ .kind = TRACE_FAULT, .events = 12345 },
		{ .kind = TRACE_FAULT_MAJOR },
		{ .kind = TRACE_SWAP_IN, .events = 1 },
		{ .kind = TRACE_RECLAIM, .events = 3 },
		{ .kind = TRACE_RECLAIM_MEMCG, .events = 12 },
		{ .kind = TRACE_COMPACTION },
		{ .kind = TRACE_OOM },
	};
	struct heap_kernel_row row = { .kind = TRACE_RECLAIM_MEMCG,
				       .events = 12,
				       .records = 12,
				       .ns = 1500000000 };
	struct heap *h = empty();

	(void)state;
	h->kernel.traced = true;
	says((struct summary){ .heap = h }, false, ENDED);
	h->kernel_kinds = kinds;
	h->nr_kernel_kinds = NR(kinds);
	h->kernel_rows = &row;
	h->nr_kernel_rows = 1;
	says((struct summary){ .heap = h }, false,
	     ENDED "pmm: page faults  12,345, 1 swap-in\n"
		   "pmm: kernel       1.50 s lost in reclaim, 15 waits\n");
	kinds[0].events = 0;
	kinds[1].events = 7;
	kinds[2].events = 2;
	kinds[6].events = 3;
	kinds[1].lost = 4;
	h->kernel.rows_lost = 1;
	says((struct summary){ .heap = h }, false,
	     ENDED "pmm: page faults  7 major, 2 swap-ins\n"
		   "pmm: kernel       1.50 s lost in reclaim, 15 waits, 3 OOM kills\n"
		   "pmm: WARNING: 4 kernel events were lost: pmm did not read the ring in time, "
		   "and it was full; 1 kernel event is in no table by line or stack: they are "
		   "full\n");
	says((struct summary){ .heap = h }, true,
	     "pmm: WARNING: 4 kernel events were lost: pmm did not read the ring in time, and it "
	     "was full; 1 kernel event is in no table by line or stack: they are full\n");
	h->kernel_kinds = NULL;
	h->kernel_rows = NULL;
	h->nr_kernel_kinds = h->nr_kernel_rows = 0;
	heap_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captures_are_named),
		cmocka_unit_test(captures_are_bounded),
		cmocka_unit_test(resident_memory_is_explained),
		cmocka_unit_test(processes_that_go_on),
		cmocka_unit_test(memory_that_ran_out),
		cmocka_unit_test(what_was_not_seen),
		cmocka_unit_test(limits_in_the_way),
		cmocka_unit_test(what_the_kernel_did),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
