/*
 * Allocators found in running programs of every kind of linking, compared with what the programs themselves say.
 *
 * Victims (tests/prog/entries_list.c, entries_cxx.cc) print where their functions are.
 */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/target/entries.h"

#define LIB "/usr/lib/x86_64-linux-gnu/"

struct victim {
	pid_t pid;
	int in;				/* closed: it ends */
	FILE *out;
	struct { char sign, name[48]; uint64_t address; } said[256];
	size_t nr;
};

static char dir[512];			/* where the victims are */

static const char *path_of(const char *name)
{
	static char path[768];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void need(const char *path)
{
	if (access(path, R_OK))
		skip();			/* the test's name says what is missing */
}

static void listen_to(struct victim *v)
{
	char line[256];

	while (fgets(line, sizeof(line), v->out) && strcmp(line, "end\n")) {
		assert_true(v->nr < NR(v->said));
		assert_int_equal(sscanf(line, "%c %47s 0x%lx", &v->said[v->nr].sign, v->said[v->nr].name,
					&v->said[v->nr].address), 3);
		v->nr++;
	}
}

/* Start a victim; `prepare` (may be NULL) runs in the child. */
static void start(struct victim *v, const char *path, const char *preload, const char *library, void (*prepare)(void))
{
	int in[2], out[2];

	memset(v, 0, sizeof(*v));
	assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
	v->pid = fork();
	assert_true(v->pid >= 0);
	if (!v->pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		if (preload)
			setenv("LD_PRELOAD", preload, 1);
		if (prepare)
			prepare();
		execl(path, path, library, "libc.so.6", NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	v->in = in[1];
	v->out = fdopen(out[0], "r");
	listen_to(v);
}

/* End it; it must not have noticed anything. */
static void stop(struct victim *v)
{
	int status;

	close(v->in);
	fclose(v->out);
	assert_int_equal(waitpid(v->pid, &status, 0), v->pid);
	assert_int_equal(status, 0);
}

static uint64_t said(const struct victim *v, const char *name)
{
	for (size_t i = 0; i < v->nr; i++)
		if (!strcmp(v->said[i].name, name))
			return v->said[i].address;
	fail_msg("the victim does not know '%s'", name);
	return 0;
}

static const struct entry_found *found_at(const struct entries *found, uint64_t address)
{
	for (size_t i = 0; i < found->nr; i++)
		if (found->v[i].address == address)
			return &found->v[i];
	return NULL;
}

static void find(const struct victim *v, struct entries *found)
{
	struct err e = { 0 };

	if (entries_find(v->pid, NULL, 0, found, &e))
		fail_msg("%s", e.text);
	for (size_t i = 0; i + 1 < found->nr; i++)
		assert_true(found->v[i].address < found->v[i + 1].address);
}

/* All that the victim says must be found is, and nothing that it does not know of. */
static void compare(const struct victim *v, const struct entries *found)
{
	for (size_t i = 0; i < v->nr; i++)
		if (v->said[i].sign == '+' && !found_at(found, v->said[i].address))
			fail_msg("'%s' not found", v->said[i].name);
	for (size_t i = 0; i < found->nr; i++) {
		const struct entry_found *f = &found->v[i];
		bool known = false, named = false;

		for (size_t k = 0; k < v->nr; k++)
			if (v->said[k].address == f->address && v->said[k].sign != '.') {
				known = true;
				named |= !strcmp(v->said[k].name, f->name);
			}
		if (!known || !named)
			fail_msg("'%s' found at %#lx in '%s', which the victim does not have there", f->name, f->address, f->module);
		if (f->refused)
			fail_msg("'%s' refused: %s", f->name, f->refused);
		assert_true(f->size > 0 && f->address >= f->module_start && f->address + f->size <= f->module_end);
	}
}

static void assert_role(const struct victim *v, const struct entries *found, const char *name, unsigned role, unsigned kind)
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

/* ---- kinds of linking --------------------------------------------------------------------------------- */

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
	assert_true(found.single_threaded && found.find_object && found.vdso_clock && found.mallinfo2);
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

/* ---- other allocators ------------------------------------------------------------------------------------ */

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

/* ---- C++ ---------------------------------------------------------------------------------------------------- */

/* libstdc++'s operators call malloc and free, through a PLT that was not used yet or (static) directly. */
static void assert_cxx(const char *name)
{
	struct entries found;
	struct victim v;

	start(&v, path_of(name), NULL, NULL, NULL);
	find(&v, &found);
	assert_non_null(found_at(&found, said(&v, "malloc")));
	assert_non_null(found_at(&found, said(&v, "free")));
	for (size_t i = 0; i < found.nr; i++)
		assert_true(strncmp(found.v[i].name, "_Z", 2));
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
	assert_int_equal(found_at(&found, said(&v, "_Znwm"))->plain, 0);	/* the C library's malloc is no stand-in for it */
	assert_int_equal(found.allocator, ENTRIES_GLIBC);
	assert_true(found.dense);
	entries_fini(&found);
	stop(&v);
}

/* ---- where files are not what they seem ------------------------------------------------------------------- */

static char copy[64];

static void copy_victim(const char *name)
{
	char buf[65536];
	int from = open(path_of(name), O_RDONLY), to = open(copy, O_WRONLY | O_CREAT | O_EXCL, 0700);
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

/* ---- custom allocators --------------------------------------------------------------------------------------- */

static void parse(struct entries_custom *c, const char *text)
{
	struct err e = { 0 };

	if (entries_parse_custom(text, c, &e))
		fail_msg("%s", e.text);
}

static void test_parse(void **state)
{
	struct entries_custom c;

	(void)state;
	parse(&c, "pool_get=malloc(arg0)");
	assert_null(c.module);
	assert_string_equal(c.name, "pool_get");
	assert_int_equal(c.role, PMM_ROLE_CUSTOM_ALLOC);
	assert_true(c.arg_size == 0 && c.arg_count == -1 && c.arg_pointer == -1 && c.fixed_bytes == 0);
	entries_custom_fini(&c);
	parse(&c, "libx.so:get=calloc(arg2, arg5)");
	assert_string_equal(c.module, "libx.so");
	assert_string_equal(c.name, "get");
	assert_true(c.role == PMM_ROLE_CUSTOM_ALLOC && c.arg_count == 2 && c.arg_size == 5 && c.arg_pointer == -1);
	entries_custom_fini(&c);
	parse(&c, "again=realloc(arg1,arg2)");
	assert_true(c.role == PMM_ROLE_CUSTOM_REALLOC && c.arg_pointer == 1 && c.arg_size == 2);
	entries_custom_fini(&c);
	parse(&c, "prog:0x1a0=free(arg3)");
	assert_string_equal(c.name, "0x1a0");
	assert_true(c.role == PMM_ROLE_CUSTOM_FREE && c.arg_pointer == 3 && c.arg_size == -1);
	entries_custom_fini(&c);
	parse(&c, "node_new=malloc(48)");
	assert_true(c.role == PMM_ROLE_CUSTOM_ALLOC && c.arg_size == -1 && c.fixed_bytes == 48);
	entries_custom_fini(&c);
	parse(&c, " my lib.so:get  =  realloc ( arg1 , arg2 )  ");
	assert_string_equal(c.module, "my lib.so");
	assert_string_equal(c.name, "get");
	assert_true(c.role == PMM_ROLE_CUSTOM_REALLOC && c.arg_pointer == 1 && c.arg_size == 2);
	entries_custom_fini(&c);
}

static void test_parse_bad(void **state)
{
	static const struct { const char *text, *why; } cases[] = {
		{ "", "bad allocator '': '=' is missing" },
		{ "x", "bad allocator 'x': '=' is missing" },
		{ "=malloc(arg0)", "bad allocator '=malloc(arg0)': a name is missing before '='" },
		{ "  =malloc(arg0)", "bad allocator '  =malloc(arg0)': a name is missing before '='" },
		{ "x=malloc", "bad allocator 'x=malloc': it does not say which argument is which" },
		{ "x=alloc(arg0)", "bad allocator 'x=alloc(arg0)': it must act like malloc, calloc, realloc or free" },
		{ "x=malloc(arg6)", "bad allocator 'x=malloc(arg6)': expected malloc(arg0), where argument 0 is the size, or malloc(16)" },
		{ "x=malloc(arg0,arg1)",
		  "bad allocator 'x=malloc(arg0,arg1)': expected malloc(arg0), where argument 0 is the size, or malloc(16)" },
		{ "x=malloc(0)", "bad allocator 'x=malloc(0)': expected malloc(arg0), where argument 0 is the size, or malloc(16)" },
		{ "x=malloc()", "bad allocator 'x=malloc()': expected malloc(arg0), where argument 0 is the size, or malloc(16)" },
		{ "x=malloc(arg0)y", "bad allocator 'x=malloc(arg0)y': expected malloc(arg0), where argument 0 is the size, or malloc(16)" },
		{ "x=calloc(arg0)", "bad allocator 'x=calloc(arg0)': expected calloc(arg0,arg1): the number of elements and the size of one" },
		{ "x=realloc(arg1,arg1)", "bad allocator 'x=realloc(arg1,arg1)': expected realloc(arg0,arg1): the block and its new size" },
		{ "x=free(16)", "bad allocator 'x=free(16)': expected free(arg0): the block" },
		{ ":x=free(arg0)", "bad allocator ':x=free(arg0)': a module is missing before ':'" },
		{ "x:=free(arg0)", "bad allocator 'x:=free(arg0)': a name is missing" },
		{ "0xy=free(arg0)", "bad allocator '0xy=free(arg0)': the address is no hexadecimal number" },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct entries_custom c;
		struct err e = { 0 };

		assert_int_equal(entries_parse_custom(cases[i].text, &c, &e), -EINVAL);
		assert_string_equal(e.text, cases[i].why);
		assert_int_equal(e.exit_code, 2);
		assert_true(e.hint[0] && !c.name && !c.module);
	}
}

static void assert_custom(const struct victim *v, const char *text, const char *name)
{
	const struct entry_found *f;
	struct entries_custom c;
	struct entries found;
	struct err e = { 0 };

	parse(&c, text);
	if (entries_find(v->pid, &c, 1, &found, &e))
		fail_msg("%s", e.text);
	f = found_at(&found, said(v, name));
	assert_non_null(f);
	assert_int_equal(f->role, c.role);
	assert_int_equal(f->fixed_bytes, c.fixed_bytes);
	assert_true(f->arg_size == c.arg_size && f->arg_count == c.arg_count && f->arg_pointer == c.arg_pointer);
	assert_non_null(found_at(&found, said(v, "malloc")));
	assert_true(found.dense == (c.role == PMM_ROLE_CUSTOM_ALLOC));
	entries_fini(&found);
	entries_custom_fini(&c);
}

static void test_custom(void **state)
{
	char text[128];
	struct entries found;
	struct victim v;

	(void)state;
	start(&v, path_of("entries_list"), NULL, NULL, NULL);
	find(&v, &found);
	assert_custom(&v, "pool_get=malloc(arg0)", "pool_get");
	assert_custom(&v, "entries_list:pool_put=free(arg0)", "pool_put");
	assert_custom(&v, "pool_fixed=malloc(16)", "pool_fixed");	/* only in the symbol table */
	snprintf(text, sizeof(text), "libc:0x%lx=free(arg0)",
		 said(&v, "free") - found_at(&found, said(&v, "free"))->module_start);
	assert_custom(&v, text, "free");
	entries_fini(&found);
	stop(&v);
}

static void test_custom_missing(void **state)
{
	struct entries_custom c;
	struct entries found;
	struct err e = { 0 };
	struct victim v;

	(void)state;
	start(&v, path_of("entries_list"), NULL, NULL, NULL);
	parse(&c, "libc:pool_get=malloc(arg0)");
	assert_int_equal(entries_find(v.pid, &c, 1, &found, &e), -ENOENT);
	assert_non_null(strstr(e.text, "has no function 'libc:pool_get': looked in "));
	assert_non_null(strstr(e.text, "libc.so.6' (no symbol table, "));
	assert_true(found.nr == 0 && e.hint[0]);
	entries_fini(&found);
	entries_custom_fini(&c);
	parse(&c, "libnone:pool_get=malloc(arg0)");
	assert_int_equal(entries_find(v.pid, &c, 1, &found, &e), -ENOENT);
	assert_non_null(strstr(e.text, "has no program or library 'libnone' loaded"));
	entries_fini(&found);
	entries_custom_fini(&c);
	stop(&v);
}

static void test_refused(void **state)
{
	struct entries_custom c[5];
	struct entries found;
	struct err e = { 0 };
	struct victim v;
	unsigned nr = 0;

	(void)state;
	start(&v, path_of("entries_list"), NULL, NULL, NULL);
	parse(&c[0], "close_first=free(arg0)");
	parse(&c[1], "close_second=free(arg0)");
	parse(&c[2], "chosen=free(arg0)");
	parse(&c[3], "entered=free(arg0)");
	parse(&c[4], "not_entered=free(arg0)");
	assert_int_equal(entries_find(v.pid, c, NR(c), &found, &e), 0);
	assert_true(!strncmp(found_at(&found, said(&v, "entered"))->refused, "a branch from elsewhere (0x", 27));
	assert_null(found_at(&found, said(&v, "not_entered"))->refused);
	assert_string_equal(found_at(&found, said(&v, "close_first"))->refused,
			    "another function begins within the bytes that would be overwritten");
	assert_null(found_at(&found, said(&v, "close_second"))->refused);
	for (size_t i = 0; i < found.nr; i++)
		if (!strcmp(found.v[i].name, "chosen")) {
			assert_string_equal(found.v[i].refused, "which code runs is decided when the program starts (ifunc)");
			nr++;
		}
	assert_int_equal(nr, 1);
	for (size_t i = 0; i < NR(c); i++)
		entries_custom_fini(&c[i]);
	entries_fini(&found);
	stop(&v);
}

/* ---- nothing to be found -------------------------------------------------------------------------------------- */

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

/* ... but its functions can be named by their addresses in the file. */
static void test_bare_by_address(void **state)
{
	struct entries_custom c[2];
	struct entries found;
	struct err e = { 0 };
	struct victim v;
	char text[64];

	(void)state;
	start(&v, path_of("entries_list_bare"), NULL, NULL, NULL);
	snprintf(text, sizeof(text), "0x%lx=malloc(arg0)", said(&v, "malloc"));
	parse(&c[0], text);
	snprintf(text, sizeof(text), "entries_list_bare:0x%lX=free(arg0)", said(&v, "free"));
	parse(&c[1], text);
	assert_int_equal(entries_find(v.pid, c, 2, &found, &e), 0);
	assert_int_equal(found.nr, 2);
	assert_int_equal(found_at(&found, said(&v, "malloc"))->role, PMM_ROLE_CUSTOM_ALLOC);
	assert_int_equal(found_at(&found, said(&v, "free"))->role, PMM_ROLE_CUSTOM_FREE);
	assert_int_equal(found.allocator, ENTRIES_CUSTOM);
	assert_non_null(strstr(found.allocator_path, "/entries_list_bare"));
	assert_true(found.dense);
	for (size_t i = 0; i < NR(c); i++)
		entries_custom_fini(&c[i]);
	entries_fini(&found);
	stop(&v);
}

static void traced(void)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

/* Stopped before its first instruction: the C library is not there yet. */
static void test_starting(void **state)
{
	pid_t pid = fork();
	struct entries found;
	struct err e = { 0 };
	int status;

	(void)state;
	if (!pid) {
		traced();
		execl(path_of("entries_list"), "entries_list", NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(entries_find(pid, NULL, 0, &found, &e), -EAGAIN);
	assert_non_null(strstr(e.text, "has only just been started"));
	entries_fini(&found);
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
		cmocka_unit_test(test_glibc), cmocka_unit_test(test_glibc_static), cmocka_unit_test(test_glibc_static_pie),
		cmocka_unit_test(test_debuglink), { "xz: symbols in .gnu_debugdata", test_mini, NULL, NULL, NULL },
		{ "musl-gcc: dynamic", test_musl, NULL, NULL, NULL }, { "musl-gcc: static", test_musl_static, NULL, NULL, NULL },
		{ "libjemalloc.so.2", test_jemalloc, NULL, NULL, NULL },
		{ "libtcmalloc_minimal.so.4", test_tcmalloc, NULL, NULL, NULL },
		{ "libmimalloc.so.2", test_mimalloc, NULL, NULL, NULL },
		cmocka_unit_test(test_cxx), cmocka_unit_test(test_cxx_own_operators),
		{ "deleted program (needs root)", test_deleted, NULL, NULL, NULL },
		{ "other mount namespace (needs root)", test_mount_namespace, NULL, NULL, NULL },
		cmocka_unit_test(test_parse), cmocka_unit_test(test_parse_bad), cmocka_unit_test(test_custom),
		cmocka_unit_test(test_custom_missing), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bare), cmocka_unit_test(test_bare_by_address),
		cmocka_unit_test(test_starting), cmocka_unit_test(test_gone),
	};
	ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
	char *slash = n > 0 ? strrchr(dir, '/') : NULL;

	if (slash)
		*slash = '\0';
	return cmocka_run_group_tests(tests, NULL, NULL);
}
