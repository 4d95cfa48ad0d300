/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * include/pmm/bpf.h: what filters say, as libseccomp and people write them, and programs that are
 * none.
 */
#include "tests/unit/unit.h"

#include <linux/audit.h>
#include <linux/seccomp.h>

#include "include/pmm/bpf.h"

#define LOAD(name)	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define IF(op, k, t, f)	BPF_JUMP(BPF_JMP | (op) | BPF_K, k, t, f)
#define RET(k)		BPF_STMT(BPF_RET | BPF_K, k)
#define ALLOW		RET(SECCOMP_RET_ALLOW)
#define KILL		RET(SECCOMP_RET_KILL_PROCESS)
#define SET(k)		BPF_STMT(BPF_LD | BPF_IMM, k)

static uint32_t says(const struct sock_filter *v, size_t nr, uint32_t syscall_nr)
{
	uint32_t verdict = 1;

	assert_int_equal(bpf_run(v, nr, &(struct bpf_call){ .nr = syscall_nr }, &verdict), 0);
	return verdict;
}

static int fails(const struct sock_filter *v, size_t nr)
{
	uint32_t verdict;

	return bpf_run(v, nr, &(struct bpf_call){ .nr = 9 }, &verdict);
}

#define SAYS(v, nr, verdict)	assert_int_equal(says(v, NR(v), nr), verdict)
#define FAILS(error, ...) do {						\
	const struct sock_filter f_[] = { __VA_ARGS__ };		\
	assert_int_equal(fails(f_, NR(f_)), error);			\
} while (0)
#define GIVES(result, ...) do {						\
	const struct sock_filter f_[] = { __VA_ARGS__, BPF_STMT(BPF_RET | BPF_A, 0) };	\
	assert_int_equal(says(f_, NR(f_), 9), result);			\
} while (0)

/* The head of all filters of libseccomp, then a list. */
static void architecture_and_x32(void **state)
{
	const struct sock_filter v[] = {
		LOAD(arch), IF(BPF_JEQ, AUDIT_ARCH_X86_64, 0, 5),
		LOAD(nr), IF(BPF_JGE, 0x40000000, 3, 0),
		IF(BPF_JEQ, 9, 3, 0), IF(BPF_JEQ, 11, 2, 0),
		RET(SECCOMP_RET_ERRNO | 1), KILL, ALLOW,
	};

	(void)state;
	SAYS(v, 9, SECCOMP_RET_ALLOW);
	SAYS(v, 11, SECCOMP_RET_ALLOW);
	SAYS(v, 10, SECCOMP_RET_ERRNO | 1);
	SAYS(v, 0x40000009, SECCOMP_RET_KILL_PROCESS);
}

/* libseccomp's binary tree, and ranges. */
static void trees_and_ranges(void **state)
{
	const struct sock_filter v[] = {
		LOAD(nr), IF(BPF_JGT, 100, 3, 0),
		IF(BPF_JGE, 10, 0, 1), IF(BPF_JGT, 20, 0, 4),
		KILL,
		IF(BPF_JEQ, 319, 2, 0), IF(BPF_JSET, 0x80, 0, 1),
		RET(SECCOMP_RET_LOG), ALLOW,
	};

	(void)state;
	SAYS(v, 9, SECCOMP_RET_KILL_PROCESS);
	SAYS(v, 10, SECCOMP_RET_ALLOW);
	SAYS(v, 20, SECCOMP_RET_ALLOW);
	SAYS(v, 21, SECCOMP_RET_KILL_PROCESS);
	SAYS(v, 319, SECCOMP_RET_ALLOW);
	SAYS(v, 128, SECCOMP_RET_LOG);
	SAYS(v, 256, SECCOMP_RET_ALLOW);
}

/* As containers' filters look at clone: no namespaces. */
static void first_argument(void **state)
{
	const struct sock_filter v[] = {
		LOAD(nr),
		IF(BPF_JEQ, 56, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 20),
		IF(BPF_JEQ, 0, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 16),
		IF(BPF_JSET, 0x7e020000, 0, 1),
		RET(SECCOMP_RET_ERRNO | 1),
		ALLOW,
	};
	struct bpf_call call = { .nr = 56, .known = 1, .args = { 0x400 } };
	uint32_t verdict;

	(void)state;
	assert_int_equal(bpf_run(v, NR(v), &call, &verdict), 0);
	assert_int_equal(verdict, SECCOMP_RET_ALLOW);
	call.args[0] = 0x20000;
	assert_int_equal(bpf_run(v, NR(v), &call, &verdict), 0);
	assert_int_equal(verdict, SECCOMP_RET_ERRNO | 1);
	call.args[0] = 1ull << 40 | 0x20000;	/* the upper half is looked at, too */
	assert_int_equal(bpf_run(v, NR(v), &call, &verdict), 0);
	assert_int_equal(verdict, SECCOMP_RET_ERRNO | 1);
	call.known = 0;
	assert_int_equal(bpf_run(v, NR(v), &call, &verdict), -ENODATA);
}

/*
 * As filters against writable code look at mprotect: the third one is known, whatever the others
 * are.
 */
static void third_argument(void **state)
{
	const struct sock_filter v[] = { LOAD(nr),	IF(BPF_JEQ, 10, 0, 2),
					 LOAD(args[2]), IF(BPF_JSET, 4, 1, 0),
					 ALLOW,		KILL };
	struct bpf_call call = { .nr = 10, .known = 1 << 2, .args = { 0, 0, 3 } };
	uint32_t verdict;

	(void)state;
	assert_int_equal(bpf_run(v, NR(v), &call, &verdict), 0);
	assert_int_equal(verdict, SECCOMP_RET_ALLOW);
	call.args[2] = 5;
	assert_int_equal(bpf_run(v, NR(v), &call, &verdict), 0);
	assert_int_equal(verdict, SECCOMP_RET_KILL_PROCESS);
	call.known = 1 << 1;
	assert_int_equal(bpf_run(v, NR(v), &call, &verdict), -ENODATA);
}

/* Only on the way to the verdict does it matter. */
static void arguments(void **state)
{
	const struct sock_filter v[] = { LOAD(nr), IF(BPF_JEQ, 9, 0, 1), LOAD(args[2]), ALLOW };
	uint32_t verdict;

	(void)state;
	SAYS(v, 10, SECCOMP_RET_ALLOW);
	assert_int_equal(bpf_run(v, NR(v), &(struct bpf_call){ .nr = 9 }, &verdict), -ENODATA);
	FAILS(-ENODATA, LOAD(instruction_pointer), ALLOW);
	FAILS(-ENODATA, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 60), ALLOW);
	FAILS(-EINVAL, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64), ALLOW);
	FAILS(-EINVAL, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2), ALLOW);
}

static void arithmetic(void **state)
{
	(void)state;
	GIVES(12, LOAD(nr), BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 3));
	GIVES(6, LOAD(nr), BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, 3));
	GIVES(27, LOAD(nr), BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, 3));
	GIVES(3, LOAD(nr), BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 3));
	GIVES(8, LOAD(nr), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 12));
	GIVES(13, LOAD(nr), BPF_STMT(BPF_ALU | BPF_OR | BPF_K, 12));
	GIVES(5, LOAD(nr), BPF_STMT(BPF_ALU | BPF_XOR | BPF_K, 12));
	GIVES(72, LOAD(nr), BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 3));
	GIVES(4, LOAD(nr), BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 1));
	GIVES(0xfffffff7, LOAD(nr), BPF_STMT(BPF_ALU | BPF_NEG, 0));
	GIVES(81, LOAD(nr), BPF_STMT(BPF_MISC | BPF_TAX, 0),
	      BPF_STMT(BPF_ALU | BPF_MUL | BPF_X, 0));
	GIVES(64, BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0));
	GIVES(64, BPF_STMT(BPF_LDX | BPF_W | BPF_LEN, 0), BPF_STMT(BPF_MISC | BPF_TXA, 0));
	GIVES(9, LOAD(nr), BPF_STMT(BPF_ST, 15), SET(1), BPF_STMT(BPF_LD | BPF_MEM, 15));
	GIVES(7, BPF_STMT(BPF_LDX | BPF_IMM, 7), BPF_STMT(BPF_STX, 0),
	      BPF_STMT(BPF_LD | BPF_MEM, 0));
	GIVES(2, SET(7), BPF_STMT(BPF_LDX | BPF_IMM, 7),
	      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 1), SET(2));
}

static void no_programs(void **state)
{
	static struct sock_filter longest[BPF_MAXINSNS + 1];

	(void)state;
	assert_int_equal(fails(NULL, 0), -EINVAL);
	FAILS(-EINVAL, LOAD(nr));
	FAILS(-EINVAL, BPF_STMT(BPF_JMP | BPF_JA, 1), ALLOW);
	FAILS(-EINVAL, BPF_STMT(BPF_JMP | BPF_JA, 0xffffffff), ALLOW);
	FAILS(-EINVAL, LOAD(nr), IF(BPF_JEQ, 9, 255, 0), ALLOW);
	FAILS(-EINVAL, BPF_STMT(BPF_ST, 16), ALLOW);
	FAILS(-EINVAL, BPF_STMT(BPF_LD | BPF_MEM, 0xffffffff), ALLOW);
	FAILS(-EINVAL, BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0), ALLOW);
	FAILS(-EINVAL, BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 32), ALLOW);
	FAILS(-EINVAL, BPF_STMT(BPF_ALU | 0xf0, 1), ALLOW);
	FAILS(-EINVAL, BPF_STMT(BPF_JMP | 0xf0, 0), ALLOW);
	FAILS(-EINVAL, BPF_STMT(BPF_RET | BPF_X, 0));
	FAILS(-EINVAL, BPF_STMT(0xff06, 0), ALLOW);
	for (size_t i = 0; i < NR(longest); i++)
		longest[i] = (struct sock_filter)SET(1);
	longest[BPF_MAXINSNS - 1] = longest[BPF_MAXINSNS] = (struct sock_filter)ALLOW;
	assert_int_equal(fails(longest, BPF_MAXINSNS), 0);
	assert_int_equal(fails(longest, BPF_MAXINSNS + 1), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(architecture_and_x32),
		cmocka_unit_test(trees_and_ranges),
		cmocka_unit_test(arguments),
		cmocka_unit_test(first_argument),
		cmocka_unit_test(third_argument),
		cmocka_unit_test(arithmetic),
		cmocka_unit_test(no_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
