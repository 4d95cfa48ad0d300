/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tests/fake: a recipe gives exactly the heap that it spells out, and so does the capture that
 * mkcapture writes.
 */
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/pmm/check.h"
#include "include/pmm/ledger.h"
#include "src/model/heap_lifetimes.h"
#include "src/store/capture.h"
#include "tests/unit/capture_image.h"

/* The heap of a recipe, out of a capture: what is expected of it a capture can hold. */
static struct heap *make(const char *recipe)
{
	char path[] = "/tmp/pmm-test-fake-XXXXXX";
	struct heap *h = recipe_heap(recipe), *back = NULL;
	struct err e = {0};
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	if (capture_write(h, path, false, &e) || capture_read(path, 0, &back, &e))
		fail_msg("%s", e.text);
	unlink(path);
	expect_same_heap(h, back);
	heap_free(h);
	return back;
}

static void expect_error(const char *recipe, const char *text)
{
	struct heap *h = NULL;
	struct err e = {0};

	assert_int_equal(fake_make(recipe, &h, &e), -EINVAL);
	assert_null(h);
	assert_string_equal(e.text, text);
}

static void an_empty_recipe_is_an_empty_heap(void **state)
{
	struct heap *h = make("\n# nothing\n");

	(void)state;
	assert_string_equal(h->comm, "fake");
	assert_int_equal(h->pid, 4242);
	assert_int_equal(h->end, HEAP_EXITED);
	assert_int_equal(h->taken_ns, 10000000000);
	assert_int_equal(h->nr_nodes, 1);
	assert_int_equal(h->nr_sites, 1);
	assert_int_equal(h->nr_blocks, 0);
	assert_int_equal(h->nr_threads, 1);
	heap_free(h);
}

static void a_site_counts_and_lists_its_blocks(void **state)
{
	struct heap *h = make("site main>parse>node_new kind=calloc allocs=100 frees=97 size=48 "
			      "temporary=7 life=25ms first=1s last=2s peak-blocks=40 failed=2\n");
	const struct heap_site *s = &h->sites[1];

	(void)state;
	assert_int_equal(h->nr_sites, 2);
	assert_int_equal(h->nr_nodes, 4);
	assert_int_equal(s->node, 3);
	assert_int_equal(h->nodes[3].parent, 2);
	assert_string_equal(h->modules[h->nodes[3].module].path, "node_new");
	assert_int_equal(h->nodes[3].pc, h->modules[h->nodes[3].module].start + 0x10);
	assert_int_equal(s->allocs, 100);
	assert_int_equal(s->frees, 97);
	assert_int_equal(s->bytes_in, 4800);
	assert_int_equal(s->bytes_out, 97 * 48);
	assert_int_equal(s->live_bytes, 144);
	assert_int_equal(s->live_blocks, 3);
	assert_int_equal(s->peak_bytes, 1920);
	assert_int_equal(heap_lifetime(h, s, 0), 7);
	assert_int_equal(heap_lifetime(h, s, 2), 90);
	assert_int_equal(s->failed, 2);
	assert_int_equal(h->peak_bytes, 1920);
	assert_int_equal(h->live_bytes, 144);
	assert_int_equal(h->class[1].calls[PMM_KIND_CALLOC], 100);
	assert_int_equal(h->class[1].frees, 97);
	assert_int_equal(h->threads[0].allocs, 100);
	assert_int_equal(h->nr_blocks, 3);
	assert_int_equal(h->blocks[0].birth_ns, 1000000000);
	assert_int_equal(h->blocks[1].birth_ns, 1500000000);
	assert_int_equal(h->blocks[2].birth_ns, 2000000000);
	assert_int_equal(h->blocks[1].address - h->blocks[0].address, 64);
	assert_int_equal(h->blocks[0].kind, PMM_KIND_CALLOC);
	heap_free(h);
}

static void every_verb_is_obeyed(void **state)
{
	struct heap *h = make(
		"process comm=demo pid=7 ppid=3 exe=/bin/demo cmdline=\"demo -x 'a b'\" host=box "
		"realtime=5 "
		"attach=1s taken=1m end=killed status=9 forked\n"
		"watch mode=sampled sample=512K min-size=16 warn-size=1M tick=20ms ledger=1M "
		"limit=2M "
		"slots-used=3 slots=9 off=2 drift=1\n"
		"totals peak=3K peak-at=2s untracked-frees=4 skipped=5 skipped-bytes=6\n"
		"drop block-full=1 address=2 bytes=3\n"
		"module /lib/a.so at=0x7000000 size=64K bias=0x6fff000 load=1s unload=2s "
		"build-id=00ff10\n"
		"thread main tid=7\nthread \"worker one\" tid=8 start=3s ended\n"
		"site main@/lib/a.so>/lib/a.so+0x2345>!no-unwind size=10 thread=\"worker one\"\n"
		"site +0x999 kind=mmap size=8K allocs=2 frees=1\n"
		"allocator /lib/libc.so.6 arena=1M used=3 free=4 free-chunks=5 fast-chunks=6 "
		"fast-bytes=7 "
		"mmapped-chunks=8 mmapped-bytes=9 top=10 at=11s\n"
		"mapping mmap-failed=1 mremaps=2 grown=3 shrunk=4 brks=5 brk=6 brk-peak=7\n"
		"point 1s live=10 blocks=2 allocs=3 rss=4K\npoint 2s live=11\n"
		"site-point 1s main@/lib/a.so>/lib/a.so+0x2345>!no-unwind live=10 blocks=1\n"
		"usage why=denied pss-why=none took=1ms pss-took=2ms\n"
		"usage-point 3s threads=4 minor=5 major=6 user=7ms system=8ms swap=9\n"
		"mark 4s kind=child-exec pid=9 name=cc1 count=2 last=5s\n");

	(void)state;
	assert_int_equal(h->usage.why, HEAP_USAGE_DENIED);
	assert_int_equal(h->usage.pss_why, HEAP_USAGE_NONE);
	assert_int_equal(h->usage.pss_took_ns, 2000000);
	assert_int_equal(h->nr_usage_points, 1);
	assert_int_equal(h->usage_points[0].known, HEAP_USAGE_TIMES | HEAP_USAGE_SIZES);
	assert_int_equal(h->usage_points[0].threads, 4);
	assert_int_equal(h->usage_points[0].swap_bytes, 9);
	assert_int_equal(h->nr_marks, 1);
	assert_int_equal(h->marks[0].kind, HEAP_MARK_CHILD_EXEC);
	assert_int_equal(h->marks[0].last_ns, 5000000000);
	assert_string_equal(h->marks[0].name, "cc1");
	assert_string_equal(h->cmdline, "demo -x 'a b'");
	assert_int_equal(h->end, HEAP_KILLED);
	assert_int_equal(h->end_status, 9);
	assert_int_equal(h->began, HEAP_BEGAN_FORK);
	assert_int_equal(h->mode, HEAP_SAMPLED);
	assert_int_equal(h->sample_bytes, 512 << 10);
	assert_int_equal(h->off_reason, 2);
	assert_int_equal(h->peak_bytes, 3072);
	assert_int_equal(h->peak_ns, 2000000000);
	assert_int_equal(h->dropped[PMM_DROP_ADDRESS], 2);
	assert_int_equal(h->modules[1].bias, 0x6fff000);
	assert_int_equal(h->modules[1].build_id_len, 3);
	assert_int_equal(h->modules[1].build_id[1], 0xff);
	assert_int_equal(h->nr_threads, 2);
	assert_string_equal(h->threads[1].name, "worker one");
	assert_false(h->threads[1].alive);
	assert_int_equal(h->nodes[1].pc, 0x7000010);
	assert_int_equal(h->nodes[2].pc, 0x6fff000 + 0x2345);
	assert_int_equal(h->nodes[3].pc, PMM_FRAME_NO_UNWIND);
	assert_int_equal(h->nodes[3].module, 0);
	assert_int_equal(h->nodes[4].pc, 0x999);
	assert_int_equal(h->blocks[0].thread, 1);
	assert_int_equal(h->nr_map_sites, 2);
	assert_int_equal(h->nr_maps, 1);
	assert_int_equal(h->allocs, 1);
	assert_int_equal(h->mapping.mmap_calls, 2);
	assert_int_equal(h->mapping.munmap_bytes, 8192);
	assert_int_equal(h->mapping.brk_peak_bytes, 7);
	assert_int_equal(h->allocator.top_bytes, 10);
	assert_int_equal(h->nr_points, 2);
	assert_int_equal(h->site_points[0].site, 1);
	assert_int_equal(h->nr_sites, 2);
	heap_free(h);
}

static void recipes_with_mistakes_are_refused(void **state)
{
	(void)state;
	expect_error("\nfrob x\n", "line 2: unknown verb 'frob'");
	expect_error("site a sise=3\n", "line 1: 'site' does not take 'sise'");
	expect_error("site\n", "line 1: 'site' lacks an argument");
	expect_error("site a>!odd\n", "line 1: unknown mark '!odd'");
	expect_error("site a kind=frob\n", "line 1: 'frob' is no value for 'kind'");
	expect_error("site a size=10 address=1000\nsite b size=10 address=1000\n",
		     "the recipe makes no heap: block 1 is out of order");
	expect_error("finding by=sweep\n", "line 1: 'finding' lacks a type, such as type=overrun");
	expect_error("finding type=size code=123\n", "line 1: '123' is no value for 'code'");
	expect_error("finding type=size text=a function=seventeen_letters\n",
		     "line 1: the name 'seventeen_letters' is too long");
	expect_error("finding type=size number=1\nfinding type=size number=1\n",
		     "the recipe makes no heap: finding 1 is out of order");
	expect_error("point 2s\npoint 1s\n",
		     "the recipe makes no heap: point 1 of the time series is out of order");
}

static void heap_errors_are_as_spelled_out(void **state)
{
	struct heap *h = make(
		"check guard guarded=7 mechanism=mprotect swept=3s\n"
		"finding type=underrun by=sweep access=write kind=new[] release=delete[]-sized "
		"guarded count=4 first=2s since=1s "
		"address=0xfff size=1 block=0x1000 block-size=2K other=10 site=main>bad "
		"thread=main alloc=main>make alloc-at=500ms "
		"free=main>bad free-thread=w parent=9 function=memcpy code=0fb6 bytes=ff\n"
		"finding type=bad-free by=function place=stack release=free text=\"in words\" "
		"number=1024\n"
		"finding type=other by=valgrind\n");
	const struct heap_finding *f = h->findings;

	(void)state;
	assert_int_equal(h->check.level, PMM_CHECK_GUARD);
	assert_int_equal(h->check.mechanism, PMM_GUARD_MPROTECT);
	assert_int_equal(h->check.guarded, 7);
	assert_int_equal(h->check.swept_ns, 3000000000);
	assert_int_equal(h->nr_findings, 3);
	assert_int_equal(f->type, PMM_FINDING_UNDERRUN);
	assert_int_equal(f->by, PMM_BY_SCAN);
	assert_int_equal(f->access, PMM_ACCESS_WRITE);
	assert_int_equal(f->kind, PMM_KIND_NEW_ARRAY);
	assert_int_equal(f->release, PMM_RELEASE_DELETE_ARRAY_SIZED);
	assert_true(f->guarded);
	assert_int_equal(f->count, 4);
	assert_int_equal(f->first_ns, 2000000000);
	assert_int_equal(f->last_ns, 2000000000);
	assert_int_equal(f->since_ns, 1000000000);
	assert_int_equal(f->address, 0xfff);
	assert_int_equal(f->size_bytes, 1);
	assert_int_equal(f->block, 0x1000);
	assert_int_equal(f->block_bytes, 2048);
	assert_int_equal(f->other, 16);
	assert_int_equal(f->parent_pid, 9);
	assert_string_equal(f->function, "memcpy");
	assert_int_equal(f->nr_code, 2);
	assert_memory_equal(f->code, "\x0f\xb6", 2);
	assert_int_equal(f->nr_bytes, 1);
	assert_int_equal(f->bytes[0], 0xff);
	assert_int_equal(f->site, f->free_site);
	assert_string_equal(h->modules[h->nodes[h->sites[f->site].node].module].path, "bad");
	assert_string_equal(h->modules[h->nodes[h->sites[f->alloc_site].node].module].path, "make");
	assert_int_equal(f->alloc_ns, 500000000);
	assert_string_equal(h->threads[f->thread].name, "main");
	assert_int_equal(f->alloc_thread, HEAP_NO_THREAD);
	assert_string_equal(h->threads[f->free_thread].name, "w");
	assert_int_equal(f[1].place, PMM_PLACE_STACK);
	assert_string_equal(f[1].text, "in words");
	assert_int_equal(f[1].number, 1024);
	assert_int_equal(f[1].site, HEAP_NO_SITE);
	assert_int_equal(f[2].number, 1025);
	assert_int_equal(f[2].type, PMM_FINDING_OTHER);
	heap_free(h);
}

static void generated_heaps_have_the_size_asked_for(void **state)
{
	const char *recipe = "generate sites=500 blocks=10000 seed=3 depth=12 points=20\n";
	struct heap *a = make(recipe), *b = make(recipe);
	struct heap *other = make("generate sites=500 blocks=10000 seed=4 depth=12 points=20\n");
	char what[200];

	(void)state;
	assert_int_equal(a->nr_sites, 501);
	assert_int_equal(a->nr_blocks, 10000);
	assert_int_equal(a->live_blocks, 10000);
	assert_int_equal(a->nr_points, 20);
	assert_true(heap_equal_blocks(a->blocks, b->blocks, a->nr_blocks, what, sizeof(what)));
	assert_false(heap_equal_blocks(a->blocks, other->blocks, a->nr_blocks, what, sizeof(what)));
	heap_free(a);
	heap_free(b);
	heap_free(other);
}

/* Runs mkcapture, whose messages go to `said`. Returns its status. */
static int mkcapture(const char *recipe, const char *out, char said[200])
{
	char exe[PATH_MAX] = "";
	int status, fd[2];
	ssize_t n;
	pid_t pid;

	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 30) > 0);
	for (int up = 0; up < 2; up++)			/* BUILD/tests/unit/test_fake */
		*strrchr(exe, '/') = 0;
	strcat(exe, "/fake/mkcapture");
	assert_int_equal(pipe(fd), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(fd[1], 2);
		close(fd[0]);
		close(fd[1]);
		execl(exe, "mkcapture", recipe, out, (char *)NULL);
		_exit(127);
	}
	close(fd[1]);
	n = read(fd[0], said, 199);
	said[n > 0 ? n : 0] = 0;
	close(fd[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fputs(text, f) < 0, 0);
	assert_int_equal(fclose(f), 0);
}

static void the_tool_writes_what_the_recipe_says(void **state)
{
	char dir[] = "/tmp/pmm-test-fake-XXXXXX", recipe[64], out[64], said[200];
	struct heap *h, *back = NULL;
	struct err e = {0};

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(recipe, sizeof(recipe), "%s/recipe", dir);
	snprintf(out, sizeof(out), "%s/out.pmm", dir);
	assert_int_equal(mkcapture(recipe, out, said), 3);
	assert_non_null(strstr(said, "mkcapture: cannot read the recipe '/tmp/"));
	put(recipe, "site a\nfrob x\n");
	assert_int_equal(mkcapture(recipe, out, said), 3);
	assert_string_equal(said, "mkcapture: line 2: unknown verb 'frob'\n");
	assert_int_equal(access(out, F_OK), -1);
	put(recipe, rich_recipe);
	assert_int_equal(mkcapture(recipe, out, said), 0);
	assert_string_equal(said, "");
	assert_int_equal(capture_read(out, 0, &back, &e), 0);
	h = recipe_heap(rich_recipe);
	expect_same_heap(h, back);
	heap_free(h);
	heap_free(back);
	unlink(out);
	unlink(recipe);
	assert_int_equal(rmdir(dir), 0);
}

static void kernel_events_are_rows_and_kinds(void **state)
{
	struct heap *h = make("site main>a size=40 allocs=5\nsite m kind=mmap size=8K\n"
			      "kernel classes=faults,mmap unseen=mmap why=\"no rights\" sample=2 "
			      "bin=1s complete=3 stacks=4 rows-lost=5 bins-lost=6 no-stacks "
			      "faults=20 major=2\n"
			      "event mmap m of=agent bytes=8K took=3ms longest=1ms\n"
			      "event fault main>a>memset of=block site=main>a area=heap write "
			      "present events=9 records=3\n"
			      "event fault - of=mapping site=m\n"
			      "kernel-kind fault events=7 lost=2 dropped=1\n"
			      "kernel-bin 1s 127 events=2 bytes=3 took=4s\n");

	(void)state;
	assert_int_equal(h->kernel.classes, 1 << 0 | 1 << 3);
	assert_int_equal(h->kernel.unseen_classes, 1);
	assert_false(h->kernel.stacks);
	assert_string_equal(h->kernel.unseen, "no rights");
	assert_true(h->kernel.faults_counted);
	assert_int_equal(h->kernel.faults, 20);
	assert_int_equal(h->kernel.major_faults, 2);
	assert_int_equal(h->nr_kernel_kinds, 2);
	assert_int_equal(h->kernel_kinds[0].events, 1);
	assert_int_equal(h->kernel_kinds[1].events, 17);
	assert_int_equal(h->kernel_kinds[1].lost, 2);
	assert_int_equal(h->kernel_kinds[1].dropped, 1);
	assert_int_equal(h->nr_kernel_rows, 3);
	assert_int_equal(h->kernel_rows[0].of, HEAP_KERNEL_OF_AGENT);
	assert_int_equal(h->kernel_rows[0].max_ns, 1000000);
	assert_int_equal(h->kernel_rows[1].detail, 4 | HEAP_KERNEL_WRITE | HEAP_KERNEL_PRESENT);
	assert_int_equal(h->kernel_rows[1].node, 4);
	assert_int_equal(h->kernel_rows[1].site, 1);
	assert_int_equal(h->kernel_rows[2].node, 0);
	assert_int_equal(h->kernel_bins[0].kind, 127);
	assert_int_equal(h->kernel_bins[0].ns, 4000000000);
	heap_free(h);
	expect_error("kernel\nevent what main\n", "line 2: there is no kind 'what'");
	expect_error("event mmap main\n",
		     "the recipe makes no heap: events of the kernel that were not looked for");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_events_are_rows_and_kinds),
		cmocka_unit_test(an_empty_recipe_is_an_empty_heap),
		cmocka_unit_test(a_site_counts_and_lists_its_blocks),
		cmocka_unit_test(every_verb_is_obeyed),
		cmocka_unit_test(recipes_with_mistakes_are_refused),
		cmocka_unit_test(heap_errors_are_as_spelled_out),
		cmocka_unit_test(generated_heaps_have_the_size_asked_for),
		cmocka_unit_test(the_tool_writes_what_the_recipe_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
