/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/kernel/images.c: which file a program counter was in, of processes that run, have forked,
 * execute something else, map and unmap, and have ended.
 */
#include "tests/unit/symbol_fixture.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/nanotime.h"
#include "src/kernel/images.h"
#include "tests/unit/test_child.h"
#include "tests/unit/trap_copy.h"

static struct images im;

static int end(void **state)
{
	(void)state;
	images_fini(&im);
	return 0;
}

static struct image_at find_at(pid_t pid, uint64_t pc, uint64_t time_ns)
{
	return images_find(&im, images_process(&im, pid, time_ns), pc, time_ns);
}

static struct image_at find(pid_t pid, const void *pc)
{
	return find_at(pid, (uint64_t)pc, nanotime());
}

static const char *path_of(struct image_at at)
{
	return at.module ? modules_at(&im.modules, at.module)->path : "";
}

/* ---- one process ----------------------------------------------------------------------------- */

static void this_process(void **state)
{
	uint64_t address;
	struct image_at at;
	char exe[4096];
	ssize_t n;

	(void)state;
	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	assert_true(n > 0);
	exe[n] = '\0';
	at = find(getpid(), this_process);
	assert_int_equal(at.miss, IMAGE_FOUND);
	assert_string_equal(path_of(at), exe);
	assert_non_null(trap_place((uint64_t)this_process, &address));
	assert_int_equal(at.address, address);

	at = find(getpid(), dlsym(RTLD_DEFAULT, "drand48"));
	assert_int_equal(at.miss, IMAGE_FOUND);
	assert_non_null(strstr(path_of(at), "/libc.so.6"));
	trap_place((uint64_t)dlsym(RTLD_DEFAULT, "drand48"), &address);
	assert_int_equal(at.address, address);
	assert_int_equal(im.reads, 1);
}

static void what_is_in_no_file(void **state)
{
	const Elf64_Ehdr *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	void *code = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = memfd_create("made", 0), data = 1;
	struct image_at at;
	void *made;

	(void)state;
	assert_int_equal(ftruncate(fd, 4096), 0);
	made = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	assert_true(code != MAP_FAILED && made != MAP_FAILED);
	at = find(getpid(), (char *)code + 5000);
	assert_int_equal(at.miss, IMAGE_ANONYMOUS);
	assert_int_equal(at.module, 0);
	assert_int_equal(at.address, (uint64_t)code + 5000);
	assert_int_equal(find(getpid(), (char *)made + 7).miss, IMAGE_ANONYMOUS);
	assert_int_equal(find(getpid(), &data).miss, IMAGE_NOTHING);
	assert_int_equal(find(getpid(), NULL).miss, IMAGE_NOTHING);
	assert_int_equal(find_at(getpid(), UINT64_MAX, 1).miss, IMAGE_NOTHING);
	at = find(getpid(), (const char *)vdso + vdso->e_entry);
	assert_int_equal(at.miss, IMAGE_FOUND);
	assert_string_equal(path_of(at), "[vdso]");
	assert_int_equal(at.address, vdso->e_entry);
	munmap(code, 8192);
	munmap(made, 4096);
	close(fd);
}

/* The code of a file at an address, in the place of what is there. */
static uint64_t map_code(const char *name, uint64_t at)
{
	uint64_t code = fixture_address(name, "f");
	int fd = open(fixture_path(name), O_RDONLY);
	void *got = mmap((void *)at, 4096, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | (at ? MAP_FIXED : 0), fd, (off_t)(code & ~4095ull));

	assert_true(got != MAP_FAILED);
	close(fd);
	return (uint64_t)got;
}

/* One file, then another one at the same address: what was there at the time of the event. */
static void mapped_one_after_another(void **state)
{
	uint64_t at = map_code("one.so", 0), code = fixture_address("one.so", "f"), t1, t2, t3;
	struct image_at got;

	(void)state;
	t1 = nanotime();
	got = find_at(getpid(), at + code % 4096, t1);
	assert_string_equal(path_of(got), fixture_path("one.so"));
	assert_int_equal(got.address, code);

	map_code("two.so", at);
	t2 = nanotime();
	images_changed(&im, getpid(), t2);
	t3 = nanotime();
	assert_string_equal(path_of(find_at(getpid(), at, t3)), fixture_path("two.so"));
	assert_string_equal(path_of(find_at(getpid(), at, t2)), fixture_path("two.so"));
	assert_string_equal(path_of(find_at(getpid(), at, t2 - 1)), fixture_path("one.so"));
	assert_string_equal(path_of(find_at(getpid(), at, t1)), fixture_path("one.so"));

	munmap((void *)at, 4096);
	images_changed(&im, getpid(), nanotime());
	assert_string_equal(path_of(find_at(getpid(), at, t1)), fixture_path("one.so"));
	assert_string_equal(path_of(find_at(getpid(), at, t3)), fixture_path("two.so"));
	/* what is the same all the time */
	assert_int_equal(find_at(getpid(), (uint64_t)find, 1).miss, IMAGE_FOUND);
	assert_int_equal(im.reads, 3);
}

/* A library that came without a word is found when its first code is met. */
static void mapped_without_a_word(void **state)
{
	uint64_t at;

	(void)state;
	assert_int_equal(find(getpid(), find).miss, IMAGE_FOUND);
	at = map_code("one.so", 0);
	assert_string_equal(path_of(find_at(getpid(), at, nanotime())), fixture_path("one.so"));
	assert_int_equal(im.reads, 2);
	munmap((void *)at, 4096);
}

/* Only so many mappings that are gone are kept. */
static void many_that_are_gone(void **state)
{
	uint64_t first = 0, at = 0, t = 0;

	(void)state;
	find(getpid(), find);
	for (unsigned i = 0; i < IMAGES_MAX_FORMER + 10; i++) {
		struct image_process *p = images_process(&im, getpid(), nanotime());

		at = map_code("one.so", 0x300000000 + i * 8192ull);
		first = first ? first : at;
		p->again_ns = 0;
		images_changed(&im, getpid(), nanotime());
		t = nanotime();
		assert_int_equal(find_at(getpid(), at, t).miss, IMAGE_FOUND);
		munmap((void *)at, 4096);
		p->again_ns = 0;
		images_changed(&im, getpid(), nanotime());
		find(getpid(), find);
		assert_in_range(p->table->former.nr, 1, IMAGES_MAX_FORMER);
	}
	assert_int_equal(find_at(getpid(), at, t).miss, IMAGE_FOUND);
	assert_int_equal(find_at(getpid(), first, t).miss, IMAGE_NOTHING);
}

/* Unknown code does not have the mappings read again and again. */
static void reading_is_bounded(void **state)
{
	uint64_t begin = nanotime();

	(void)state;
	for (unsigned i = 0; i < 20000; i++)
		assert_int_equal(find_at(getpid(), 0x1000 + i, nanotime()).miss, IMAGE_NOTHING);
	assert_in_range(im.reads, 2, 9 + (nanotime() - begin) / 1000000);
}

/* ---- several --------------------------------------------------------------------------------- */

/* A child that waits until it is told to end. */
static pid_t child_start(int *tell, const char *program)
{
	int to[2], from[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(to), 0);
	assert_int_equal(pipe2(from, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		close(to[1]);
		dup2(to[0], 0);
		if (program)
			execl(program, program, NULL);
		close(from[1]);
		if (read(0, &byte, 1) < 0)
			_exit(1);
		_exit(0);
	}
	close(to[0]);
	close(from[1]);
	/* until it has executed, or is about to wait */
	assert_int_equal(read(from[0], &byte, 1), 0);
	close(from[0]);
	*tell = to[1];
	return pid;
}

static void child_end(pid_t pid, int tell)
{
	close(tell);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_child_has_its_parent_s(void **state)
{
	struct image_at mine, its;
	pid_t child;
	int tell;

	(void)state;
	mine = find(getpid(), find);
	child = child_start(&tell, NULL);
	child_end(child, tell);		/* it is gone before anything was read */
	images_fork(&im, getpid(), child, nanotime());
	its = find(child, find);
	assert_int_equal(its.miss, IMAGE_FOUND);
	assert_int_equal(its.module, mine.module);
	assert_int_equal(its.address, mine.address);
	assert_int_equal(im.reads, 1);
	assert_int_equal(im.unread, 0);
}

static void a_child_that_executes(void **state)
{
	struct image_at at;
	pid_t child;
	int tell;

	(void)state;
	child = child_start(&tell, "/bin/cat");
	images_fork(&im, getpid(), child, nanotime());
	assert_int_equal(find(child, find).miss, IMAGE_FOUND);
	images_exec(&im, child, nanotime());
	assert_int_equal(find(child, find).miss, IMAGE_NOTHING);
	vec_each(&images_process(&im, child, nanotime())->table->maps, m)
		if (m->module && strstr(modules_at(&im.modules, m->module)->path, "/cat")) {
			at = find(child, (void *)m->start);
			assert_string_equal(path_of(at), "/usr/bin/cat");
		}
	child_end(child, tell);
	assert_string_equal(path_of(at), "/usr/bin/cat");
}

/* It has ended, and its number is another process's later. */
static void an_ended_process(void **state)
{
	uint64_t t1, t2;
	pid_t child;
	int tell;

	(void)state;
	child = child_start(&tell, NULL);
	t1 = nanotime();
	assert_int_equal(find_at(child, (uint64_t)find, t1).miss, IMAGE_FOUND);
	child_end(child, tell);
	t2 = nanotime();
	images_exit(&im, child, t2);
	images_exit(&im, child, t2);
	assert_int_equal(find_at(child, (uint64_t)find, t1).miss, IMAGE_FOUND);
	assert_int_equal(find_at(child, (uint64_t)find, t2).miss, IMAGE_FOUND);
	assert_int_equal(im.unread, 0);
	/* an event of later cannot be its */
	assert_int_equal(find_at(child, (uint64_t)find, t2 + 1).miss, IMAGE_ENDED);
	assert_int_equal(im.unread, 1);
}

static void ended_before_it_was_read(void **state)
{
	pid_t child;
	int tell;

	(void)state;
	child = child_start(&tell, NULL);
	child_end(child, tell);
	images_exec(&im, child, nanotime());
	assert_int_equal(find(child, find).miss, IMAGE_ENDED);
	assert_int_equal(find(child, find).miss, IMAGE_ENDED);
	assert_int_equal(im.unread, 1);
	assert_int_equal(im.reads, 0);
}

/* The newest ones that have ended are kept. */
static void many_processes_that_end(void **state)
{
	const pid_t first = 5000000;
	const pid_t nr = 2 * IMAGES_MAX_ENDED + 100;
	struct image_process *p;

	(void)state;
	find(getpid(), find);
	for (pid_t i = 0; i < nr; i++) {
		images_fork(&im, getpid(), first + i, 1000 + (uint64_t)i);
		images_exit(&im, first + i, 1000 + (uint64_t)i);
	}
	assert_int_equal(im.processes.nr, IMAGES_MAX_ENDED + 1);
	p = images_process(&im, getpid(), nanotime());
	assert_int_equal(p->table->refs, IMAGES_MAX_ENDED + 1);
	assert_int_equal(find_at(first + nr - 1, (uint64_t)find, 1).miss, IMAGE_FOUND);
	assert_int_equal(find_at(first + nr - (pid_t)IMAGES_MAX_ENDED, (uint64_t)find, 1).miss,
			 IMAGE_FOUND);
	assert_int_equal(find_at(first + nr - (pid_t)IMAGES_MAX_ENDED - 1, (uint64_t)find, 1).miss,
			 IMAGE_ENDED);
	assert_int_equal(im.reads, 1);
}

/* Ends that were lost: those that are said to run are bounded, too. */
static void many_processes_that_never_end(void **state)
{
	(void)state;
	find(getpid(), find);
	for (pid_t i = 0; i < 3 * (pid_t)IMAGES_MAX_PROCESSES; i++) {
		images_fork(&im, getpid(), 5000000 + i, 1000);
		assert_in_range(im.processes.nr, 1, IMAGES_MAX_PROCESSES);
	}
	assert_int_equal(find_at(5000000 + 3 * (pid_t)IMAGES_MAX_PROCESSES - 1, (uint64_t)find,
				 1000).miss, IMAGE_FOUND);
	assert_int_equal(find(getpid(), find).miss, IMAGE_FOUND);
	assert_in_range(im.by_tgid.nr, 1, 100000);
}

static pid_t not_ours;

static void look_as_nobody(void)
{
	MUST(setresuid(65534, 65534, 65534) == 0);
	MUST(find(not_ours, find).miss == IMAGE_DENIED);
	MUST(im.unread == 0);
}

static void mappings_that_may_not_be_read(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	not_ours = getpid();
	assert_int_equal(status_of_child(look_as_nobody), 0);
}

/* ---- another file system tree ---------------------------------------------------------------- */

/* A program that only its own mount namespace has; it waits on standard input. */
static void run_apart(const char *dir)
{
	char command[512];

	MUST(unshare(CLONE_NEWNS) == 0);
	MUST(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	MUST(mount("none", dir, "tmpfs", 0, NULL) == 0);
	snprintf(command, sizeof(command), "cp /bin/cat %s/apart", dir);
	MUST(system(command) == 0);
	snprintf(command, sizeof(command), "%s/apart", dir);
	execl(command, command, NULL);
	MUST(!"executed");
}

static void in_another_mount_namespace(void **state)
{
	char dir[300], path[512];
	int to[2], from[2];
	char byte;
	pid_t pid;

	(void)state;
	if (geteuid())
		skip();
	fixture_run("mkdir -p apart");
	snprintf(dir, sizeof(dir), "%s", fixture_path("apart"));
	snprintf(path, sizeof(path), "%s/apart", dir);
	assert_int_equal(pipe(to), 0);
	assert_int_equal(pipe2(from, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		close(to[1]);
		dup2(to[0], 0);
		run_apart(dir);
	}
	close(to[0]);
	close(from[1]);
	assert_int_equal(read(from[0], &byte, 1), 0);
	close(from[0]);
	if (waitpid(pid, NULL, WNOHANG) == pid) {
		close(to[1]);
		print_message("no mount namespaces here\n");
		skip();
	}
	assert_int_equal(access(path, F_OK), -1);
	for (int paths = 0; paths < 2; paths++) {
		struct image_at at = { 0 };

		im.modules.no_map_files = paths;
		images_exec(&im, pid, nanotime());
		vec_each(&images_process(&im, pid, nanotime())->table->maps, m)
			if (m->module &&
			    !strcmp(modules_at(&im.modules, m->module)->path, path))
				at = find(pid, (void *)(m->start + 64));
		assert_int_equal(at.miss, IMAGE_FOUND);
		assert_string_equal(path_of(at), path);
		assert_int_equal(modules_load(&im.modules, at.module), MODULE_OK);
		assert_true(modules_at(&im.modules, at.module)->file.cfi.start);
		if (!paths)
			images_fini(&im);
	}
	close(to[1]);
	waitpid(pid, NULL, 0);
}

static int begin(void **state)
{
	(void)state;
	fixture_run("echo 'int f(int n) { return n + 1; }' >f.c && "
		    "gcc -O1 -shared -o one.so f.c && cp one.so two.so");
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, NULL, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(this_process),
		TEST(what_is_in_no_file),
		TEST(mapped_one_after_another),
		TEST(mapped_without_a_word),
		TEST(many_that_are_gone),
		TEST(reading_is_bounded),
		TEST(a_child_has_its_parent_s),
		TEST(a_child_that_executes),
		TEST(an_ended_process),
		TEST(ended_before_it_was_read),
		TEST(many_processes_that_end),
		TEST(many_processes_that_never_end),
		TEST(mappings_that_may_not_be_read),
		TEST(in_another_mount_namespace),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
