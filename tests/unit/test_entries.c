/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocators found in running programs of every kind of linking, compared with what the programs
 * themselves say.
 *
 * Victims (tests/prog/entries_list.c, entries_cxx.cc) print where their functions are.
 * Also of src/entries/objects.c, objects_symbols.c, insn.c, src/proc/elffile.c, debugfile.c.
 * Also of entries_begin.c.
 */
#include "tests/unit/entries_victim.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>

#define LIB "/usr/lib/x86_64-linux-gnu/"

static void assert_role(const struct victim *v, const struct entries *found, const char *name,
			unsigned role, unsigned kind)
{
	const struct entry_found *f = found_at(found, said(v, name));

	assert_non_null(f);
	assert_int_equal(f->role, role);
	assert_int_equal(f->kind, kind);
	assert_string_equal(f->name, name);
}

static void assert_c_roles(const struct victim *v, const struct entries *found)
{
	assert_role(v, found, "malloc", PMM_ROLE_MALLOC, PMM_KIND_MALLOC);
	assert_role(v, found, "calloc", PMM_ROLE_CALLOC, PMM_KIND_CALLOC);
	assert_role(v, found, "realloc", PMM_ROLE_REALLOC, PMM_KIND_REALLOC);
	assert_role(v, found, "free", PMM_ROLE_FREE, PMM_KIND_NONE);
	assert_role(v, found, "aligned_alloc", PMM_ROLE_MEMALIGN, PMM_KIND_ALIGNED_ALLOC);
	assert_role(v, found, "mmap", PMM_ROLE_MMAP, PMM_KIND_MMAP);
	assert_role(v, found, "munmap", PMM_ROLE_MUNMAP, PMM_KIND_NONE);
	assert_role(v, found, "mremap", PMM_ROLE_MREMAP, PMM_KIND_MMAP);
}

/* ---- kinds of linking ------------------------------------------------------------------------ */

static void assert_glibc(const char *path, void (*prepare)(void), const char *allocator_path)
{
	struct entries found;
	struct victim v;

	start(&v, path, NULL, NULL, prepare);
	find(&v, &found);
	compare(&v, &found);
	assert_c_roles(&v, &found);
	assert_role(&v, &found, "posix_memalign", PMM_ROLE_POSIX_MEMALIGN, PMM_KIND_POSIX_MEMALIGN);
	assert_role(&v, &found, "valloc", PMM_ROLE_MALLOC, PMM_KIND_VALLOC);
	assert_role(&v, &found, "pvalloc", PMM_ROLE_MALLOC, PMM_KIND_PVALLOC);
	assert_int_equal(found.allocator, ENTRIES_GLIBC);
	assert_false(found.dense);
	assert_true(found.single_threaded && found.find_object && found.vdso_clock &&
		    found.mallinfo2);
	if (allocator_path)
		assert_string_equal(found.allocator_path, allocator_path);
	entries_fini(&found);
	stop(&v);
}

static void test_glibc(void **state)
{
	(void)state;
	assert_glibc(path_of("entries_list"), NULL, NULL);
}

static void test_glibc_static(void **state)
{
	char path[768];

	(void)state;
	snprintf(path, sizeof(path), "%s", path_of("entries_list_static"));
	assert_glibc(path, NULL, path);
}

static void test_glibc_static_pie(void **state)
{
	(void)state;
	assert_glibc(path_of("entries_list_static_pie"), NULL, NULL);
}

static void test_debuglink(void **state)
{
	(void)state;
	assert_glibc(path_of("entries_list_debuglink"), NULL, NULL);
}

static void test_mini(void **state)
{
	(void)state;
	need(path_of("entries_list_mini"));
	assert_glibc(path_of("entries_list_mini"), NULL, NULL);
}

static void assert_musl(const char *name, const char *role_of)
{
	struct entries found;
	struct victim v;

	need(path_of(name));
	start(&v, path_of(name), NULL, NULL, NULL);
	find(&v, &found);
	compare(&v, &found);
	assert_c_roles(&v, &found);
	assert_int_equal(found.allocator, ENTRIES_MUSL);
	assert_true(found.dense && found.vdso_clock);
	assert_false(found.mallinfo2 || found.single_threaded);
	assert_true(strstr(found.allocator_path, role_of) != NULL);
	/* what only jumps to what does the work: that is patched */
	for (size_t i = 0; i < found.nr; i++) {
		const struct entry_found *f = &found.v[i];

		assert_true(f->nr_file >= 16);
		if (f->begin == f->address)
			assert_true(f->file[0] != 0xe9 || f->role == PMM_ROLE_MEMALIGN);
		else
			assert_true(f->size == 5 && f->file[0] != 0xe9);
		if (!strcmp(f->name, "malloc") || !strcmp(f->name, "free") ||
		    !strcmp(f->name, "realloc"))
			assert_true(f->begin != f->address);
	}
	entries_fini(&found);
	stop(&v);
}

static void test_musl(void **state)
{
	(void)state;
	assert_musl("entries_list_musl", "musl/libc.so");
}

static void test_musl_static(void **state)
{
	(void)state;
	assert_musl("entries_list_musl_static", "entries_list_musl_static");
}

/* ---- other allocators ------------------------------------------------------------------------ */

static void assert_preloaded(const char *library, enum entries_allocator allocator, bool compared)
{
	char path[256];
	struct entries found;
	struct victim v;

	snprintf(path, sizeof(path), LIB "%s", library);
	need(path);
	start(&v, path_of("entries_list"), path, library, NULL);
	find(&v, &found);
	if (compared)
		compare(&v, &found);
	/* the first that the victim names is the one it uses; libc's own are found as well */
	assert_role(&v, &found, "malloc", PMM_ROLE_MALLOC, PMM_KIND_MALLOC);
	assert_true(strstr(found_at(&found, said(&v, "malloc"))->module, "libc.so") == NULL);
	assert_int_equal(found.allocator, allocator);
	assert_string_equal(found.allocator_path, found_at(&found, said(&v, "malloc"))->module);
	assert_true(found.dense && !found.mallinfo2);
	for (size_t i = 0; i < found.nr; i++)
		if (!strcmp(found.v[i].name, "_Znwm"))
			assert_int_equal(found.v[i].plain, said(&v, "malloc"));
	entries_fini(&found);
	stop(&v);
}

static void test_jemalloc(void **state)
{
	(void)state;
	assert_preloaded("libjemalloc.so.2", ENTRIES_JEMALLOC, true);
}

static void test_tcmalloc(void **state)
{
	(void)state;
	assert_preloaded("libtcmalloc_minimal.so.4", ENTRIES_TCMALLOC, false);
}

static void test_mimalloc(void **state)
{
	(void)state;
	assert_preloaded("libmimalloc.so.2", ENTRIES_MIMALLOC, false);
}

/* ---- C++ ------------------------------------------------------------------------------------- */

/*
 * libstdc++'s operators call malloc and free, through a PLT that was not used yet or (static)
 * directly.
 */
static void assert_cxx(const char *name)
{
	struct entries found;
	struct victim v;

	start(&v, path_of(name), NULL, NULL, NULL);
	find(&v, &found);
	assert_non_null(found_at(&found, said(&v, "malloc")));
	assert_non_null(found_at(&found, said(&v, "free")));
	for (size_t i = 0; i < found.nr; i++)
		if (!strncmp(found.v[i].name, "_Z", 2))
			fail_msg("'%s' of '%s' found", found.v[i].name, found.v[i].module);
	assert_false(found.dense);
	entries_fini(&found);
	stop(&v);
}

static void test_cxx(void **state)
{
	(void)state;
	assert_cxx("entries_cxx");
	assert_cxx("entries_cxx_static");
}

static void test_cxx_own_operators(void **state)
{
	struct entries found;
	struct victim v;

	(void)state;
	start(&v, path_of("entries_pool"), NULL, NULL, NULL);
	find(&v, &found);
	assert_role(&v, &found, "_Znwm", PMM_ROLE_NEW, PMM_KIND_NEW);
	assert_role(&v, &found, "_ZdlPv", PMM_ROLE_FREE, PMM_KIND_NONE);
	assert_role(&v, &found, "_ZdlPvm", PMM_ROLE_FREE, PMM_KIND_NONE);
	/* the C library's malloc is no stand-in for it */
	assert_int_equal(found_at(&found, said(&v, "_Znwm"))->plain, 0);
	assert_int_equal(found.allocator, ENTRIES_GLIBC);
	assert_true(found.dense);
	entries_fini(&found);
	stop(&v);
}

/* ---- where files are not what they seem ------------------------------------------------------ */

static char copy[64];

static void copy_victim(const char *name)
{
	char buf[65536];
	int from = open(path_of(name), O_RDONLY),
	    to = open(copy, O_WRONLY | O_CREAT | O_EXCL, 0700);
	ssize_t n;

	while ((n = read(from, buf, sizeof(buf))) > 0)
		if (write(to, buf, (size_t)n) != n)
			break;
	close(from);
	close(to);
}

/* A program that was deleted, with another one in its place. */
static void test_deleted(void **state)
{
	struct entries found;
	struct err e = { 0 };
	struct victim v;

	(void)state;
	if (geteuid())
		skip();
	snprintf(copy, sizeof(copy), "/tmp/test_entries.%d", getpid());
	copy_victim("entries_list_static");
	start(&v, copy, NULL, NULL, NULL);
	unlink(copy);
	copy_victim("entries_list_static_pie");
	assert_int_equal(entries_find(v.pid, NULL, 0, &found, &e), 0);
	compare(&v, &found);
	assert_c_roles(&v, &found);
	assert_string_equal(found.allocator_path, copy);
	entries_fini(&found);
	stop(&v);
	unlink(copy);
}

static void hide(void)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		_exit(126);
	snprintf(copy, sizeof(copy), "/mnt/entries_victim");
	if (mount("none", "/mnt", "tmpfs", 0, NULL))
		_exit(126);
	copy_victim("entries_list_static");
}

/* A program that only its own mount namespace has. */
static void test_mount_namespace(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	assert_glibc("/mnt/entries_victim", hide, "/mnt/entries_victim");
	assert_int_equal(access("/mnt/entries_victim", F_OK), -1);
}

/* ---- nothing to be found --------------------------------------------------------------------- */

static void test_bare(void **state)
{
	struct entries found;
	struct err e = { 0 };
	struct victim v;

	(void)state;
	start(&v, path_of("entries_list_bare"), NULL, NULL, NULL);
	assert_int_equal(entries_find(v.pid, NULL, 0, &found, &e), -ENOENT);
	assert_non_null(strstr(e.text, "looked for malloc and free"));
	assert_non_null(strstr(e.text, "entries_list_bare' (no symbol table, no debug file)"));
	assert_non_null(strstr(e.hint, "--alloc MODULE:0xADDRESS"));
	entries_fini(&found);
	stop(&v);
}

static void traced(void)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

/* A program that is traced, stopped before its first instruction. */
static pid_t start_traced(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		traced();
		execl(path_of("entries_list"), "entries_list", NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status));
	return pid;
}

/* Stopped before its first instruction: the C library is not there yet. */
static void test_starting(void **state)
{
	pid_t pid = start_traced();
	struct entries found;
	struct err e = { 0 };
	int status;

	(void)state;
	assert_int_equal(entries_find(pid, NULL, 0, &found, &e), -EAGAIN);
	assert_non_null(strstr(e.text, "has only just been started"));
	entries_fini(&found);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

/* ... nor at any system call from there on until it is: the loader makes its list before. */
static void test_loading(void **state)
{
	pid_t pid = start_traced();
	unsigned early = 0;
	int rc = -EAGAIN, status;

	(void)state;
	while (rc) {
		struct entries found;
		struct err e = { 0 };

		assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSTOPPED(status));
		rc = entries_find(pid, NULL, 0, &found, &e);
		if (rc) {
			assert_int_equal(rc, -EAGAIN);
			assert_non_null(strstr(e.text, "has only just been started"));
			early++;
		}
		entries_fini(&found);
	}
	assert_true(early > 10);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

static void test_gone(void **state)
{
	pid_t pid = fork();
	struct entries found;
	struct err e = { 0 };

	(void)state;
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_int_equal(entries_find(pid, NULL, 0, &found, &e), -ESRCH);
	assert_true(e.text[0]);
	entries_fini(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_glibc),
		cmocka_unit_test(test_glibc_static),
		cmocka_unit_test(test_glibc_static_pie),
		cmocka_unit_test(test_debuglink),
		{ "xz: symbols in .gnu_debugdata", test_mini, NULL, NULL, NULL },
		{ "musl-gcc: dynamic", test_musl, NULL, NULL, NULL },
		{ "musl-gcc: static", test_musl_static, NULL, NULL, NULL },
		{ "libjemalloc.so.2", test_jemalloc, NULL, NULL, NULL },
		{ "libtcmalloc_minimal.so.4", test_tcmalloc, NULL, NULL, NULL },
		{ "libmimalloc.so.2", test_mimalloc, NULL, NULL, NULL },
		cmocka_unit_test(test_cxx),
		cmocka_unit_test(test_cxx_own_operators),
		{ "deleted program (needs root)", test_deleted, NULL, NULL, NULL },
		{ "other mount namespace (needs root)", test_mount_namespace, NULL, NULL, NULL },
		cmocka_unit_test(test_bare),
		cmocka_unit_test(test_starting),
		cmocka_unit_test(test_loading),
		cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
