/* SPDX-License-Identifier: GPL-2.0-or-later */
/* src/proc/process_figures.c, with files made here and of ourselves. */
#include "tests/unit/made_root.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/proc/process_figures.h"

static int begin(void **state)
{
	int rc = root_begin(state);

	root_put("/proc/self", NULL);
	root_put("/proc/7", NULL);
	return rc;
}

#define STAT(state, threads)                                                                       \
	"7 (a (b) 9 c) " state " 1 7 7 0 -1 41945 123 45 6 7 10 20 0 0 20 0 " threads              \
	" 0 99887 1048576\n"

static void times_are_of_all_threads(void **state)
{
	struct process_figures f = { 0 };

	(void)state;
	root_put("/proc/7/stat", STAT("S", "3"));
	assert_int_equal(process_figures_stat(root, 7, &f), 0);
	assert_int_equal(f.minor_faults, 123);
	assert_int_equal(f.major_faults, 6);
	assert_int_equal(f.user_ns, 10 * (1000000000u / sysconf(_SC_CLK_TCK)));
	assert_int_equal(f.system_ns, 20 * (1000000000u / sysconf(_SC_CLK_TCK)));
	assert_int_equal(f.threads, 3);
	assert_int_equal(f.start_ticks, 99887);
	/* its first thread alone has ended; then the last one too */
	root_put("/proc/7/stat", STAT("Z", "3"));
	assert_int_equal(process_figures_stat(root, 7, &f), 0);
	assert_int_equal(f.threads, 3);
	root_put("/proc/7/stat", STAT("Z", "1"));
	assert_int_equal(process_figures_stat(root, 7, &f), 0);
	assert_int_equal(f.threads, 0);
	assert_int_equal(f.minor_faults, 123);
	root_put("/proc/7/stat", "7 (a) S 1 2 3\n");
	assert_int_equal(process_figures_stat(root, 7, &f), -ENOENT);
	root_put("/proc/7/stat", "");
	assert_int_equal(process_figures_stat(root, 7, &f), -ESRCH);
}

/* Of names that are in others, and of lines that only look like them. */
static void sizes_are_by_name(void **state)
{
	struct process_figures f = { 0 };

	(void)state;
	root_put("/proc/7/status", "Name:\tVmRSS:\t1 kB\nVmHWM:\t900 kB\nVmRSS:\t  600 kB\n"
				   "RssAnon:\t  100 kB\nRssFile:\t 200 kB\nRssShmem:\t 300 kB\n"
				   "VmSwap:\t   7 kB\nThreads:\t1\n");
	assert_int_equal(process_figures_status(root, 7, &f), 0);
	assert_int_equal(f.anon_bytes, 100 * 1024);
	assert_int_equal(f.file_bytes, 200 * 1024);
	assert_int_equal(f.shmem_bytes, 300 * 1024);
	assert_int_equal(f.swap_bytes, 7 * 1024);
	root_put("/proc/7/status",
		 "VmRSS:\t600 kB\nRssAnon:\t1 kB\nRssFile:\t2 kB\nRssShmem:\t3 kB\n");
	assert_int_equal(process_figures_status(root, 7, &f), 0);
	assert_int_equal(f.swap_bytes, 0);
	root_put("/proc/7/status", "VmRSS:\t600 kB\n");			/* Linux before 4.5 */
	assert_int_equal(process_figures_status(root, 7, &f), -ENOENT);
	root_put("/proc/7/status", "Name:\ta\nState:\tZ (zombie)\n");	/* no memory any more */
	assert_int_equal(process_figures_status(root, 7, &f), -ESRCH);
	root_put("/proc/7/status", "Name:\ta\nState:\tS (sleeping)\n");	/* a thread of the kernel */
	assert_int_equal(process_figures_status(root, 7, &f), -ENOENT);
	root_put("/proc/7/status", "");
	assert_int_equal(process_figures_status(root, 7, &f), -ESRCH);
}

/* A process may be in 65536 groups, and their line is before those of its memory. */
static void many_groups_hide_nothing(void **state)
{
	struct process_figures f = { 0 };
	char text[6000], groups[5001];

	(void)state;
	memset(groups, '0', sizeof(groups) - 1);
	groups[sizeof(groups) - 1] = '\0';
	/* the middle of it looks like a line of its own, wherever it is cut */
	for (size_t i = 0; i + 10 < sizeof(groups); i += 8)
		memcpy(groups + i, "VmSwap:9", 8);
	snprintf(text, sizeof(text),
		 "Name:\ta\nState:\tS (sleeping)\nGroups:\t%s\nVmRSS:\t600 kB\nRssAnon:\t100 kB\n"
		 "RssFile:\t200 kB\nRssShmem:\t300 kB\nThreads:\t1\n",
		 groups);
	root_put("/proc/7/status", text);
	assert_int_equal(process_figures_status(root, 7, &f), 0);
	assert_int_equal(f.anon_bytes, 100 * 1024);
	assert_int_equal(f.file_bytes, 200 * 1024);
	assert_int_equal(f.shmem_bytes, 300 * 1024);
	assert_int_equal(f.swap_bytes, 0);
}

static void pss_is_not_one_of_its_parts(void **state)
{
	struct process_figures f = { 0 };

	(void)state;
	root_put("/proc/7/smaps_rollup", "00-ff ---p 00000000 00:00 0 [rollup]\nRss: 104 kB\n"
					 "Pss_Anon: 1 kB\nSwapPss: 2 kB\nPss: 50 kB\n");
	assert_int_equal(process_figures_rollup(root, 7, &f), 0);
	assert_int_equal(f.pss_bytes, 50 * 1024);
	root_put("/proc/7/smaps_rollup", "Rss: 104 kB\n");
	assert_int_equal(process_figures_rollup(root, 7, &f), -ENOENT);
}

/* The same error tells of a process that is gone, and of a kernel that has no such file. */
static void what_is_not_there_says_why(void **state)
{
	struct process_figures f;

	(void)state;
	root_drop("/proc/7/smaps_rollup");
	assert_int_equal(process_figures_rollup(root, 7, &f), -ENOENT);
	root_put("/proc/self/smaps_rollup", "");
	assert_int_equal(process_figures_rollup(root, 7, &f), -ESRCH);
	assert_int_equal(process_figures_stat(root, 99, &f), -ENOENT);
}

static void our_own_are_what_they_are(void **state)
{
	const size_t bytes = 8 << 20;
	struct process_figures before, after;
	char *memory;

	(void)state;
	assert_int_equal(process_figures_stat("", getpid(), &before), 0);
	assert_int_equal(process_figures_status("", getpid(), &before), 0);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	memset(memory, 1, bytes);
	assert_int_equal(process_figures_stat("", getpid(), &after), 0);
	assert_int_equal(process_figures_status("", getpid(), &after), 0);
	assert_int_equal(process_figures_rollup("", getpid(), &after), 0);
	assert_true(after.minor_faults - before.minor_faults >= bytes / 4096);
	/* counters of several processors: give or take 64 pages for each */
	assert_true(after.anon_bytes + (4 << 20) >= before.anon_bytes + bytes);
	assert_true(after.pss_bytes >= bytes);
	assert_true(after.threads >= 1);
	munmap(memory, bytes);
}

/* Page faults and CPU time outlive it, memory does not. */
static void who_waits_to_be_collected_has_its_times(void **state)
{
	struct process_figures f = { .threads = 9 };
	siginfo_t info;
	pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(0);
	assert_true(pid > 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(process_figures_stat("", pid, &f), 0);
	assert_int_equal(f.threads, 0);
	assert_true(f.minor_faults > 0);
	assert_int_equal(process_figures_status("", pid, &f), -ESRCH);
	assert_true(process_figures_rollup("", pid, &f) < 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(process_figures_stat("", pid, &f), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_of_all_threads),
		cmocka_unit_test(sizes_are_by_name),
		cmocka_unit_test(many_groups_hide_nothing),
		cmocka_unit_test(pss_is_not_one_of_its_parts),
		cmocka_unit_test(what_is_not_there_says_why),
		cmocka_unit_test(our_own_are_what_they_are),
		cmocka_unit_test(who_waits_to_be_collected_has_its_times),
	};

	return cmocka_run_group_tests(tests, begin, root_end);
}
