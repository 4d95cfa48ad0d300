/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/kernel/modules.c: one number for each file, whatever happens to the file afterwards.
 */
#include "tests/unit/symbol_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "src/kernel/modules.h"
#include "tests/unit/unit.h"

/* A file mapped here, as /proc/PID/maps has it. */
struct mapped {
	struct proc_map map;
	void *at;
};

static struct mapped map_file(const char *name)
{
	int fd = open(fixture_path(name), O_RDONLY | O_CLOEXEC);
	struct mapped m = { 0 };
	struct stat st;

	assert_return_code(fd, errno);
	assert_int_equal(fstat(fd, &st), 0);
	m.at = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(m.at != MAP_FAILED);
	close(fd);
	m.map = (struct proc_map){
		.start = (uint64_t)m.at,
		.end = ((uint64_t)m.at + (uint64_t)st.st_size + 4095) & ~4095ull,
		.ino = st.st_ino,
		.dev_major = major(st.st_dev),
		.dev_minor = minor(st.st_dev),
		.perms = PROC_MAP_READ | PROC_MAP_EXEC,
		.path = strdup(fixture_path(name)),
	};
	return m;
}

static void unmap(struct mapped *m)
{
	munmap(m->at, m->map.end - m->map.start);
	free(m->map.path);
}

static unsigned nr_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned nr = 0;

	while (readdir(d))
		nr++;
	closedir(d);
	return nr;
}

static void one_number_for_a_file(void **state)
{
	struct mapped a = map_file("one.so"), again = map_file("one.so"), b = map_file("two.so");
	unsigned fds = nr_fds();
	struct modules ms = { 0 };

	(void)state;
	assert_int_equal(modules_add(&ms, getpid(), &a.map, 0), 1);
	assert_int_equal(modules_add(&ms, getpid(), &b.map, 0), 2);
	assert_int_equal(modules_add(&ms, getpid(), &again.map, 0), 1);
	assert_int_equal(modules_at(&ms, 1)->state, MODULE_UNSEEN);
	assert_int_equal(modules_load(&ms, 1), MODULE_OK);
	assert_true(modules_at(&ms, 1)->file.cfi.start);
	assert_true(modules_at(&ms, 1)->file.build_id_len);
	assert_int_equal(ms.cfi_bytes, modules_at(&ms, 1)->file.bytes);
	assert_int_equal(nr_fds(), fds + 2);
	modules_fini(&ms);
	assert_int_equal(nr_fds(), fds);
	unmap(&a);
	unmap(&again);
	unmap(&b);
}

/* What was opened stays what it is; another file at its path is another module. */
static void a_file_that_is_replaced(void **state)
{
	struct mapped a = map_file("one.so"), b;
	struct modules ms = { 0 };
	uint64_t address;

	(void)state;
	assert_int_equal(modules_add(&ms, getpid(), &a.map, 0), 1);
	fixture_run("cp two.so new && mv new one.so");
	b = map_file("one.so");
	assert_int_equal(modules_add(&ms, getpid(), &b.map, 0), 2);
	assert_int_equal(modules_add(&ms, getpid(), &a.map, 0), 1);
	assert_int_equal(modules_load(&ms, 1), MODULE_OK);
	assert_int_equal(modules_load(&ms, 2), MODULE_OK);
	assert_true(unwind_file_address(&modules_at(&ms, 1)->file, 0x1000, &address));
	assert_memory_not_equal(modules_at(&ms, 1)->file.build_id,
				modules_at(&ms, 2)->file.build_id, 20);
	modules_fini(&ms);
	unmap(&a);
	unmap(&b);
}

/* Other bytes in the same file: another module. */
static void a_file_that_is_rewritten(void **state)
{
	struct mapped a = map_file("one.so"), b;
	struct modules ms = { 0 };

	(void)state;
	assert_int_equal(modules_add(&ms, getpid(), &a.map, 0), 1);
	assert_int_equal(modules_load(&ms, 1), MODULE_OK);
	unmap(&a);
	fixture_run("cat two.so three.so >one.so");
	b = map_file("one.so");
	assert_int_equal(modules_add(&ms, getpid(), &b.map, 0), 2);
	assert_int_equal(modules_at(&ms, 2)->older, 1);
	modules_fini(&ms);
	unmap(&b);
}

/* Without the right to open what is mapped, the path must lead to it. */
static void only_paths(void **state)
{
	struct mapped gone = map_file("one.so"), replaced = map_file("two.so"),
		      there = map_file("three.so"), deleted = map_file("three.so");
	struct modules ms = { .no_map_files = true };

	(void)state;
	fixture_run("rm one.so && cp three.so new && mv new two.so");
	assert_int_equal(modules_add(&ms, getpid(), &there.map, 0), 1);
	assert_int_equal(modules_load(&ms, 1), MODULE_OK);
	assert_int_equal(modules_add(&ms, getpid(), &gone.map, 0), 2);
	assert_int_equal(modules_load(&ms, 2), MODULE_GONE);
	assert_int_equal(modules_add(&ms, getpid(), &replaced.map, 0), 3);
	assert_int_equal(modules_load(&ms, 3), MODULE_REPLACED);
	/* the same again, with the same numbers */
	assert_int_equal(modules_add(&ms, getpid(), &gone.map, 0), 2);
	assert_int_equal(modules_add(&ms, getpid(), &replaced.map, 0), 3);
	/* it says of itself that it is not there */
	deleted.map.ino++;
	free(deleted.map.path);
	deleted.map.path = strdup("/no/such (deleted)");
	assert_int_equal(modules_add(&ms, getpid(), &deleted.map, 0), 4);
	assert_int_equal(modules_load(&ms, 4), MODULE_GONE);
	modules_fini(&ms);
	unmap(&gone);
	unmap(&replaced);
	unmap(&there);
	unmap(&deleted);
}

static void a_deleted_file_is_still_mapped(void **state)
{
	struct mapped a = map_file("one.so");
	struct modules ms = { 0 };

	(void)state;
	fixture_run("rm one.so");
	free(a.map.path);
	a.map.path = strdup("/tmp/one.so (deleted)");
	assert_int_equal(modules_add(&ms, getpid(), &a.map, 0), 1);
	if (ms.no_map_files) {
		assert_int_equal(modules_load(&ms, 1), MODULE_GONE);
		print_message("no right to open what is mapped: CAP_CHECKPOINT_RESTORE\n");
	} else {
		assert_int_equal(modules_load(&ms, 1), MODULE_OK);
	}
	modules_fini(&ms);
	unmap(&a);
}

static void files_that_are_no_programs(void **state)
{
	struct modules ms = { 0 };
	struct mapped a;

	(void)state;
	fixture_write("text", "nothing that could be code\n", 27);
	a = map_file("text");
	assert_int_equal(modules_add(&ms, getpid(), &a.map, 0), 1);
	assert_int_equal(modules_load(&ms, 1), MODULE_NOT_ELF);
	assert_int_equal(modules_load(&ms, 1), MODULE_NOT_ELF);
	modules_fini(&ms);
	unmap(&a);
}

/* More files than may be open: those used longest ago are closed, and opened again. */
static void more_than_may_be_open(void **state)
{
	enum { MORE = 20, ALL = MODULES_MAX_OPEN + MORE };
	static struct mapped m[ALL];
	struct modules ms = { 0 };
	unsigned fds;
	char name[32];

	(void)state;
	fixture_run("i=0; while [ $i -lt %d ]; do cp three.so m$i; i=$((i+1)); done", ALL);
	for (unsigned i = 0; i < ALL; i++) {
		snprintf(name, sizeof(name), "m%u", i);
		m[i] = map_file(name);
	}
	fds = nr_fds();
	for (unsigned i = 0; i < ALL; i++) {
		assert_int_equal(modules_add(&ms, getpid(), &m[i].map, 0), i + 1);
		assert_int_equal(modules_load(&ms, i + 1), MODULE_OK);
		assert_int_equal(modules_load(&ms, 1), MODULE_OK);	/* in use all the time */
	}
	assert_int_equal(nr_fds(), fds + MODULES_MAX_OPEN);
	assert_true(modules_at(&ms, 1)->fd >= 0);
	for (unsigned i = 2; i <= ALL; i++) {
		assert_int_equal(modules_at(&ms, i)->fd >= 0, i > MORE + 1);
		assert_int_equal(!!modules_at(&ms, i)->file.cfi.start, i > MORE + 1);
	}
	assert_int_equal(ms.cfi_bytes, MODULES_MAX_OPEN * modules_at(&ms, 1)->file.bytes);
	/* its mapping is met again, or asked for */
	assert_int_equal(modules_add(&ms, getpid(), &m[1].map, 0), 2);
	assert_true(modules_at(&ms, 2)->fd >= 0);
	assert_true(modules_reopen(&ms, 3, getpid(), m[2].map.start, m[2].map.end));
	assert_int_equal(modules_load(&ms, 3), MODULE_OK);
	assert_true(modules_at(&ms, 3)->file.cfi.start);
	assert_int_equal(nr_fds(), fds + MODULES_MAX_OPEN);
	/* it has become another file since */
	ms.no_map_files = true;
	fixture_run("cat two.so >m3");
	assert_false(modules_reopen(&ms, 4, getpid(), m[3].map.start, m[3].map.end));
	modules_fini(&ms);
	assert_int_equal(nr_fds(), fds);
	for (unsigned i = 0; i < ALL; i++)
		unmap(&m[i]);
}

static void the_vdso_has_one_number(void **state)
{
	struct modules ms = { 0 };

	(void)state;
	assert_int_equal(modules_vdso(&ms), 1);
	assert_int_equal(modules_vdso(&ms), 1);
	assert_int_equal(modules_load(&ms, 1), MODULE_OK);
	assert_string_equal(modules_at(&ms, 1)->path, "[vdso]");
	modules_fini(&ms);
}

static int begin(void **state)
{
	(void)state;
	for (int i = 1; i <= 3; i++)
		fixture_run("echo 'int f%d(int n) { return n + %d; }' >f.c && "
			    "gcc -O1 -g0 -Wl,--build-id -shared -o %s f.c", i, i,
			    i == 1 ? "one.so" : i == 2 ? "two.so" : "three.so");
	return 0;
}

#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_number_for_a_file),
		TEST(a_file_that_is_replaced),
		TEST(a_file_that_is_rewritten),
		TEST(only_paths),
		TEST(a_deleted_file_is_still_mapped),
		TEST(files_that_are_no_programs),
		TEST(more_than_may_be_open),
		TEST(the_vdso_has_one_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
