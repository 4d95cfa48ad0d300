/* SPDX-License-Identifier: GPL-2.0-or-later */
/* src/kernel/rights.c: files made here as each refusal has them, and what is said of it. */
#include "tests/unit/made_root.h"

#include "src/kernel/rights.h"

#define ADMIN	"0000000000200000"
#define BPF	"0000008000000000"
#define PERFMON	"0000004000000000"
#define BOTH	"000000c000000000"

/* A machine as Debian has it, with BTF; "": without that file. */
static struct rights machine(const char *caps, const char *seccomp, const char *lockdown)
{
	struct rights r;
	char status[128];

	snprintf(status, sizeof(status), "Name:\tpmm\nCapEff:\t%s\nSeccomp:\t%s\n", caps, seccomp);
	root_put("/proc/self/status", status);
	root_put("/proc/self/uid_map", "         0          0 4294967295\n");
	root_put("/proc/sys/kernel/unprivileged_bpf_disabled", "2\n");
	root_put("/proc/sys/kernel/perf_event_paranoid", "3\n");
	root_put("/sys/kernel/btf/vmlinux", "x");
	root_put("/sys/kernel/security/lockdown", lockdown);
	rights_read(root, &r);
	return r;
}

static void is(struct rights_reason reason, const char *why, const char *remedy)
{
	assert_string_equal(reason.why, why);
	if (remedy)
		assert_string_equal(reason.remedy, remedy);
	else
		assert_null(reason.remedy);
}

#define AS_ROOT	"run pmm as root, or give it CAP_BPF and CAP_PERFMON"

static void test_capabilities(void **state)
{
	struct rights r = machine("0", "0", "[none] integrity confidentiality\n");

	(void)state;
	assert_false(rights_may_bpf(&r));
	assert_int_equal(r.lockdown, LOCKDOWN_NONE);
	is(rights_why_no_bpf(&r, -EPERM),
	   "pmm may not load programs into the kernel: it is not root and lacks CAP_BPF and "
	   "CAP_PERFMON (kernel.unprivileged_bpf_disabled is 2)", AS_ROOT);
	r = machine(BPF, "0", "");
	r.bpf_disabled = -1;
	is(rights_why_no_bpf(&r, -EPERM),
	   "pmm may not load programs into the kernel: it is not root and lacks CAP_PERFMON",
	   AS_ROOT);
	r = machine(PERFMON, "0", "");
	is(rights_why_no_bpf(&r, 0),
	   "pmm may not load programs into the kernel: it is not root and lacks CAP_BPF "
	   "(kernel.unprivileged_bpf_disabled is 2)", AS_ROOT);
	r = machine(BOTH, "0", "");
	assert_true(rights_may_bpf(&r));
	assert_false(rights_is_admin(&r));
	is(rights_why_no_bpf(&r, 0), "", NULL);
	r = machine(ADMIN, "0", "");
	assert_true(rights_may_bpf(&r));
	assert_true(rights_is_admin(&r));
	is(rights_why_no_bpf(&r, 0), "", NULL);
}

static void test_what_takes_their_force(void **state)
{
	struct rights r = machine(ADMIN, "0", "none integrity [confidentiality]\n");

	(void)state;
	is(rights_why_no_bpf(&r, -EPERM),
	   "the kernel is locked down (confidentiality): programs may not read its memory",
	   "boot with lockdown=integrity, or without lockdown");
	r = machine(ADMIN, "0", "none [integrity] confidentiality\n");
	assert_int_equal(r.lockdown, LOCKDOWN_INTEGRITY);
	is(rights_why_no_bpf(&r, 0), "", NULL);
	is(rights_why_no_bpf(&r, -EPERM),
	   "bpf() is refused in spite of pmm's capabilities; why is not known",
	   "look for a security module's message in the kernel's log (dmesg)");
	r = machine(ADMIN, "2", "");
	is(rights_why_no_bpf(&r, -EPERM),
	   "bpf() is refused, probably by the seccomp filter that pmm runs under, as in a "
	   "container",
	   "let the container's seccomp profile allow bpf() and perf_event_open(), or run pmm "
	   "outside of it");
	is(rights_why_no_bpf(&r, 0), "", NULL);
	root_put("/proc/self/uid_map", "0 1000 1\n");
	rights_read(root, &r);
	assert_false(rights_may_bpf(&r));
	is(rights_why_no_bpf(&r, -EPERM),
	   "pmm may not load programs into the kernel: it runs in a user namespace, where "
	   "capabilities do not count for that", "run pmm as root outside of the container");
}

static void test_the_kernel_has_it_not(void **state)
{
	struct rights r = machine(ADMIN, "0", "");

	(void)state;
	is(rights_why_no_bpf(&r, -ENOSYS), "this kernel has no eBPF",
	   "boot a kernel with CONFIG_BPF_SYSCALL=y");
	is(rights_why_no_bpf(&r, -ENOMEM), "programs cannot be loaded: Cannot allocate memory",
	   NULL);
	root_drop("/sys/kernel/btf/vmlinux");
	rights_read(root, &r);
	is(rights_why_no_bpf(&r, 0),
	   "this kernel does not describe its types (no /sys/kernel/btf/vmlinux)",
	   "boot a kernel with CONFIG_DEBUG_INFO_BTF=y");
}

static void test_perf(void **state)
{
	struct rights r = machine("0", "0", "");

	(void)state;
	is(rights_why_no_perf(&r, -EACCES),
	   "perf events are closed to users: kernel.perf_event_paranoid is 3",
	   "sysctl kernel.perf_event_paranoid=2, or give pmm CAP_PERFMON");
	r = machine(PERFMON, "2", "");
	is(rights_why_no_perf(&r, -EPERM),
	   "perf_event_open() is refused, probably by the seccomp filter that pmm runs under, as "
	   "in a container", "let the container's seccomp profile allow perf_event_open()");
	r = machine("0", "0", "");
	r.perf_paranoid = 2;
	is(rights_why_no_perf(&r, -EACCES), "perf_event_open() is refused; why is not known", NULL);
	is(rights_why_no_perf(&r, -ENOSYS), "this kernel has no perf events",
	   "boot a kernel with CONFIG_PERF_EVENTS=y");
	is(rights_why_no_perf(&r, -EMFILE), "perf events cannot be opened: Too many open files",
	   NULL);
}

static void test_nothing_can_be_read(void **state)
{
	struct rights r;

	(void)state;
	rights_read("/nonexistent", &r);
	assert_int_equal(r.bpf_disabled, -1);
	assert_int_equal(r.perf_paranoid, -1);
	assert_int_equal(r.lockdown, LOCKDOWN_NOT_KNOWN);
	assert_false(r.user_namespace || r.seccomp || r.btf || rights_may_bpf(&r));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capabilities),
		cmocka_unit_test(test_what_takes_their_force),
		cmocka_unit_test(test_the_kernel_has_it_not),
		cmocka_unit_test(test_perf),
		cmocka_unit_test(test_nothing_can_be_read),
	};

	return cmocka_run_group_tests(tests, root_begin, root_end);
}
