/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/names/stack_names.c, and src/kernel/user_stack.c on programs of their own: stacks of
 * processes that are stopped at a fault, named after they have ended and their files are gone.
 */
#include "tests/unit/symbol_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/regs_arch.h"
#include "src/base/nanotime.h"
#include "src/kernel/user_stack.h"
#include "src/base/str.h"
#include "src/names/stack_names.h"
#include "tests/unit/unit.h"

static struct images im;
static struct user_stacks *stacks;
static struct user_stack got;

static int begin(void **state)
{
	(void)state;
	stacks = user_stacks_new(&im);
	return stacks ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	user_stacks_free(stacks);
	images_fini(&im);
	return 0;
}

/* What a program says its return addresses are, the outermost first. */
struct said {
	uint64_t chain[16];
	unsigned nr;
	uint64_t pc;			/* where it stopped */
};

static void copy_of(pid_t pid, struct user_stack_copy *c, uint8_t *bytes, size_t room)
{
	struct user_regs_struct r;
	struct iovec local = { bytes, 0 }, remote;

	assert_int_equal(ptrace(PTRACE_GETREGS, pid, NULL, &r), 0);
	*c = (struct user_stack_copy){
		.bytes = bytes,
		.regs = { .ip = arch_pc(&r), .sp = arch_sp(&r),
			  .saved = { r.rbp, r.rbx, r.r12, r.r13, r.r14, r.r15 } },
	};
	remote.iov_base = (void *)c->regs.sp;
	/* the most that is there */
	for (local.iov_len = room; local.iov_len; local.iov_len -= 256) {
		remote.iov_len = local.iov_len;
		if (process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)local.iov_len)
			break;
	}
	c->nr_bytes = local.iov_len;
}

/* Run a program under the directory to its fault, walk its stack, end it. */
static void run(const char *name, struct said *said)
{
	static uint8_t bytes[60 * 1024];
	struct user_stack_copy copy;
	const char *path = fixture_path(name);
	int pipes[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		dup2(pipes[1], 1);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(path, path, NULL);
		_exit(127);
	}
	close(pipes[1]);
	for (;;) {
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSTOPPED(status));
		if (WSTOPSIG(status) == SIGILL)
			break;
		assert_int_equal(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
	}
	n = read(pipes[0], said->chain, sizeof(said->chain));
	assert_true(n > 0 && n % 8 == 0);
	said->nr = (unsigned)n / 8;
	close(pipes[0]);
	copy_of(pid, &copy, bytes, sizeof(bytes));
	said->pc = copy.regs.ip;
	user_stack_walk(stacks, pid, nanotime(), &copy, &got);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	images_exit(&im, pid, nanotime());
}

static const char victim_c[] =
	"#include <unistd.h>\n"
	"unsigned long chain[8]; int n;\n"
	"#define NOTE chain[n++] = (unsigned long)__builtin_return_address(0)\n"
	"#define FN __attribute__((noinline))\n"
	"FN void inner(void)\n"
	"{\n"
	"	NOTE;\n"
	"	if (write(1, chain, n * 8) < 0)\n"
	"		return;\n"
	"	__asm__ volatile(\".globl here\\nhere: ud2\");\n"	/* line 10 */
	"}\n"
	"FN void middle(int k)\n"
	"{\n"
	"	char v[k];\n"
	"	NOTE;\n"
	"	__asm__ volatile(\"\" : : \"r\"(v) : \"memory\");\n"
	"	inner();\n"						/* line 17 */
	"	__asm__ volatile(\"\");\n"
	"}\n"
	"FN int outer(int k)\n"
	"{\n"
	"	NOTE;\n"
	"	middle(k * 100);\n"					/* line 23 */
	"	return k;\n"
	"}\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	NOTE;\n"
	"	(void)argv;\n"
	"	return outer(argc) - 1;\n"				/* line 30 */
	"}\n";

/*
 * The chain that it has noted, each frame, to its outermost one; or to the first in a C library
 * without unwind information.
 */
static void expect_chain(const struct said *said, const char *symbols, bool bare_libc)
{
	const uint64_t here = fixture_address(symbols, "here"), bias = said->pc - here;
	const uint64_t start = fixture_address(symbols, "_start");

	assert_int_equal(said->nr, 4);
	assert_int_equal(stack_frame_address(got.frame[0]), here);
	for (unsigned i = 1; i < 4; i++) {
		assert_int_equal(stack_frame_address(got.frame[i]), said->chain[4 - i] - 1 - bias);
		assert_int_equal(stack_frame_module(got.frame[i]),
				 stack_frame_module(got.frame[0]));
	}
	if (bare_libc) {
		assert_int_equal(got.end, USER_STACK_NO_RULE);
		assert_int_equal(got.nr, 5);
		return;
	}
	assert_int_equal(got.end, USER_STACK_COMPLETE);
	assert_in_range(stack_frame_address(got.frame[got.nr - 1]), start, start + 63);
}

static void name_expect(struct stack_names *names, uint64_t frame, const char *function,
			uint32_t line)
{
	struct stack_name name[4];

	assert_int_equal(stack_names_find(names, frame, name, 4), 1);
	assert_string_equal(name[0].function, function);
	assert_string_equal(name[0].module, fixture_path("victim"));
	assert_string_equal(str_basename(name[0].file), "victim.c");
	assert_int_equal(name[0].line, line);
	assert_false(name[0].inlined);
	assert_int_equal(name[0].address, stack_frame_address(frame));
}

static void programs_of_all_kinds(void **state)
{
	static const struct {
		const char *how;
		bool stripped;
	} kind[] = {
		{ "gcc -O2 -g", false }, { "gcc -O2 -g -static", false },
		{ "gcc -O2 -g -no-pie", false }, { "gcc -O2 -g", true },
		{ "gcc -O2 -g -static", true }, { "gcc -O2 -g -static-pie", true },
		{ "clang -O2 -g", false }, { "musl-gcc -O2 -g", false },
		{ "musl-gcc -O2 -g -static", false },
	};

	(void)state;
	fixture_write("victim.c", victim_c, strlen(victim_c));
	for (size_t i = 0; i < NR(kind); i++) {
		const bool bare_libc = kind[i].how[0] == 'm';
		struct symbolizer_options o = { .full = true };
		struct stack_names *names;
		struct stack_name name;
		struct said said;

		fixture_run("rm -f victim; %s -o victim victim.c -fomit-frame-pointer "
			    "-fno-optimize-sibling-calls 2>/dev/null || [ %c != g ]", kind[i].how,
			    kind[i].how[0]);
		if (access(fixture_path("victim"), F_OK))
			continue;	/* a compiler that is not here */
		fixture_run("cp victim whole; if [ %d = 1 ]; then strip victim; fi",
			    kind[i].stripped);
		begin(NULL);
		run("victim", &said);
		expect_chain(&said, "whole", bare_libc);
		fixture_run("rm victim");
		names = stack_names_new(&im.modules, &o);
		assert_non_null(names);
		if (kind[i].stripped) {
			assert_int_equal(stack_names_find(names, got.frame[1], &name, 1), 1);
			assert_null(name.function);
			assert_string_equal(name.module, fixture_path("victim"));
			assert_int_equal(name.address, stack_frame_address(got.frame[1]));
		} else {
			name_expect(names, got.frame[0], "inner", 10);
			name_expect(names, got.frame[1], "middle", 17);
			name_expect(names, got.frame[2], "outer", 23);
			name_expect(names, got.frame[3], "main", 30);
			if (!bare_libc) {
				stack_names_find(names, got.frame[got.nr - 1], &name, 1);
				assert_string_equal(name.function, "_start");
			}
		}
		stack_names_free(names);
		end(NULL);
	}
}

static const char victim_cc[] =
	"#include <unistd.h>\n"
	"unsigned long chain[8]; int n;\n"
	"namespace shop {\n"
	"template <typename T> struct shelf {\n"
	"	__attribute__((always_inline)) T take(T k)\n"
	"	{\n"
	"		__asm__ volatile(\".globl here\\nhere: ud2\");\n"	/* line 7 */
	"		return k + 1;\n"
	"	}\n"
	"};\n"
	"__attribute__((noinline)) long sell(long k)\n"
	"{\n"
	"	shelf<long> s;\n"
	"	chain[n++] = (unsigned long)__builtin_return_address(0);\n"
	"	if (write(1, chain, n * 8) < 0)\n"
	"		return 0;\n"
	"	return s.take(k) * 3;\n"					/* line 17 */
	"}\n"
	"}\n"
	"int main(int argc, char **)\n"
	"{\n"
	"	chain[n++] = (unsigned long)__builtin_return_address(0);\n"
	"	return (int)shop::sell(argc) - 6;\n"
	"}\n";

static void inlined_functions(void **state)
{
	struct symbolizer_options o = { .full = true };
	struct stack_names *names;
	struct stack_name name[4];
	struct said said;

	(void)state;
	fixture_write("victim.cc", victim_cc, strlen(victim_cc));
	fixture_run("g++ -O2 -g -o victim victim.cc");
	run("victim", &said);
	assert_int_equal(got.end, USER_STACK_COMPLETE);
	assert_int_equal(said.nr, 2);
	names = stack_names_new(&im.modules, &o);
	assert_int_equal(stack_names_find(names, got.frame[0], name, 4), 2);
	assert_string_equal(name[0].function, "shop::shelf<long>::take(long)");
	assert_int_equal(name[0].line, 7);
	assert_true(name[0].inlined);
	assert_string_equal(name[1].function, "shop::sell(long)");
	assert_string_equal(name[1].linkage, "_ZN4shop4sellEl");
	assert_int_equal(name[1].line, 17);
	assert_false(name[1].inlined);
	assert_int_equal(stack_names_find(names, got.frame[0], name, 1), 1);
	assert_int_equal(stack_names_find(names, got.frame[0], name, 0), 0);
	assert_int_equal(stack_names_find(names, got.frame[1], name, 4), 1);
	assert_string_equal(name[0].function, "main");
	assert_int_equal(name[0].line, 23);
	assert_int_equal(stack_names_error(names), 0);
	stack_names_free(names);
}

/* Another file at its path does not lend its names. */
static void a_file_that_is_another_one_now(void **state)
{
	struct symbolizer_options o = { .full = true };
	struct stack_names *names;
	struct said said;

	(void)state;
	fixture_write("victim.c", victim_c, strlen(victim_c));
	fixture_run("gcc -O2 -g -o victim victim.c -fno-optimize-sibling-calls && "
		    "sed 's/inner/other/; s/middle/another/' victim.c >b.c && "
		    "gcc -O2 -g -o b b.c -fno-optimize-sibling-calls");
	run("victim", &said);
	fixture_run("mv b victim");
	names = stack_names_new(&im.modules, &o);
	name_expect(names, got.frame[0], "inner", 10);
	name_expect(names, got.frame[1], "middle", 17);
	stack_names_free(names);
}

/* Its file is not open any more, and its build id says which it was. */
static void a_file_that_was_closed(void **state)
{
	struct symbolizer_options o = { .full = true };
	struct stack_names *names;
	struct stack_name name;
	struct module *m;
	struct said said;

	(void)state;
	fixture_write("victim.c", victim_c, strlen(victim_c));
	fixture_run("gcc -O2 -g -o victim victim.c -fno-optimize-sibling-calls");
	run("victim", &said);
	m = modules_at(&im.modules, stack_frame_module(got.frame[0]));
	close(m->fd);
	m->fd = -1;
	im.modules.nr_open--;
	names = stack_names_new(&im.modules, &o);
	name_expect(names, got.frame[1], "middle", 17);
	stack_names_free(names);

	m->file.build_id_len = 0;	/* nothing says it is still that one */
	names = stack_names_new(&im.modules, &o);
	assert_int_equal(stack_names_find(names, got.frame[1], &name, 1), 1);
	assert_null(name.function);
	assert_string_equal(name.module, fixture_path("victim"));
	stack_names_free(names);
}

static void what_is_in_no_file(void **state)
{
	struct stack_names *names = stack_names_new(&im.modules, NULL);
	struct stack_name name;

	(void)state;
	assert_int_equal(stack_names_find(names, stack_frame(0, 0x1234), &name, 1), 1);
	assert_null(name.function);
	assert_null(name.module);
	assert_int_equal(name.address, 0x1234);
	/* a number that nobody has given */
	assert_int_equal(stack_names_find(names, stack_frame(77, 0x1234), &name, 1), 1);
	assert_null(name.module);
	stack_names_free(names);
}

static void functions_of_the_kernel(void **state)
{
	FILE *f = popen("grep -m1 ' T vfs_read$' /proc/kallsyms", "r");
	struct stack_names *names = stack_names_new(&im.modules, NULL);
	unsigned long long address = 0;
	struct stack_name name;

	(void)state;
	if (fscanf(f, "%llx", &address) != 1)
		address = 0;
	pclose(f);
	assert_int_equal(stack_names_find(names, stack_frame(STACK_KERNEL, address + 3), &name, 1),
			 1);
	assert_string_equal(name.module, "[kernel]");
	if (address) {
		assert_string_equal(name.function, "vfs_read");
		assert_int_equal(name.offset, 3);
		assert_int_equal(name.address, address + 3);
		assert_null(stack_names_kernel(names));
	} else {
		assert_null(name.function);
		assert_non_null(stack_names_kernel(names));
	}
	stack_names_free(names);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_of_all_kinds),
		TEST(inlined_functions),
		TEST(a_file_that_is_another_one_now),
		TEST(a_file_that_was_closed),
		TEST(what_is_in_no_file),
		TEST(functions_of_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
