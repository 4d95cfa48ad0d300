/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmm doctor: what the kernel offers. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "src/base/fmt.h"
#include "src/kernel/rights.h"
#include "src/kmod/kmod_device.h"
#include "src/session/doctor/doctor.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif
#define TRY_BYTES    (2ul << 20)
#define CAPS_PTRACE  (1ull << 19)
#define CAPS_ADMIN   (1ull << 21)
#define CAPS_BPF     (1ull << 39)

/* A number in a one-line file; `otherwise` when there is none. */
static long number_in(const char *path, long otherwise)
{
	FILE *f = fopen(path, "re");
	long n;

	if (!f)
		return otherwise;
	if (fscanf(f, "%ld", &n) != 1)
		n = otherwise;
	fclose(f);
	return n;
}

static void check_memfd(struct doctor *d)
{
	int fd = memfd_create("pmm-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *p;

	if (fd < 0 || ftruncate(fd, TRY_BYTES) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK)) {
		doctor_add(d, "memfd", DOCTOR_NO, true, "allow memfd_create (seccomp profile?)",
			   "no memory file can be made for the ledger: %s", strerror(errno));
		goto out;
	}
	doctor_add(d, "memfd", DOCTOR_OK, true, NULL, "memory files can be made and sealed");
	p = mmap(NULL, TRY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p != MAP_FAILED && !madvise(p, TRY_BYTES, MADV_POPULATE_WRITE))
		doctor_add(d, "populate", DOCTOR_OK, true, NULL,
			   "the ledger's memory can be allocated in advance (MADV_POPULATE_WRITE)");
	else if (p != MAP_FAILED && errno == EINVAL)
		doctor_add(d, "populate", DOCTOR_NOTE, true, "Linux 5.14 or later is faster",
			   "the ledger's memory is allocated page by page: the kernel has no "
			   "MADV_POPULATE_WRITE");
	else
		doctor_add(d, "populate", DOCTOR_NO, true, NULL,
			   "the ledger's memory cannot be allocated in advance: %s",
			   strerror(errno));
	if (p != MAP_FAILED)
		munmap(p, TRY_BYTES);
out:
	if (fd >= 0)
		close(fd);
}

static void check_wipe_on_fork(struct doctor *d)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || madvise(p, 4096, MADV_WIPEONFORK))
		doctor_add(d, "wipeonfork", DOCTOR_NOTE, false, "Linux 4.14 or later has it",
			   "fork cannot be noticed by memory (MADV_WIPEONFORK): %s",
			   strerror(errno));
	else
		doctor_add(d, "wipeonfork", DOCTOR_OK, false, NULL,
			   "fork can be noticed by memory (MADV_WIPEONFORK)");
	if (p != MAP_FAILED)
		munmap(p, 4096);
}

static void check_pidfd(struct doctor *d)
{
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	if (fd < 0)
		doctor_add(d, "pidfd", DOCTOR_NOTE, false, "Linux 5.3 or later has them",
			   "ends of processes are noticed by polling (pidfd_open): %s",
			   strerror(errno));
	else
		doctor_add(d, "pidfd", DOCTOR_OK, false, NULL,
			   "ends of processes are noticed at once (pidfds)");
	if (fd >= 0)
		close(fd);
}

static unsigned long long effective_capabilities(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	unsigned long long caps = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "CapEff: %llx", &caps) == 1)
			break;
	if (f)
		fclose(f);
	return caps;
}

static void check_ptrace(struct doctor *d, unsigned long long caps)
{
	long scope = number_in("/proc/sys/kernel/yama/ptrace_scope", 0);
	const char *remedy = "run pmm as root, or: sysctl kernel.yama.ptrace_scope=0";

	if (caps & CAPS_PTRACE && scope < 3)
		doctor_add(d, "ptrace", DOCTOR_OK, false, NULL,
			   "processes of all users may be read, unless the kernel forbids one (CAP_SYS_PTRACE)");
	else if (scope == 0)
		doctor_add(d, "ptrace", DOCTOR_OK, false, NULL,
			   "this user's processes may be read");
	else
		doctor_add(d, "ptrace", DOCTOR_NOTE, false, remedy,
			   "processes that pmm has not started may not be read (yama "
			   "ptrace_scope is %ld)",
			   scope);
}

/*
 * The files behind mappings, also deleted ones. Their names need an address: the first one of
 * ours.
 */
static void check_map_files(struct doctor *d)
{
	unsigned long start, end;
	FILE *f = fopen("/proc/self/maps", "re");
	char path[96];
	int fd = -1;

	if (f && fscanf(f, "%lx-%lx", &start, &end) == 2) {
		snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx", start, end);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (fd >= 0)
		doctor_add(
			d, "map_files", DOCTOR_OK, false, NULL,
			"files that were replaced or deleted can be read through their mappings");
	else
		doctor_add(d, "map_files", DOCTOR_NOTE, false,
			   "needs CAP_CHECKPOINT_RESTORE; run pmm as root",
			   "files that were replaced or deleted cannot be read through their "
			   "mappings: %s",
			   strerror(errno));
	if (fd >= 0)
		close(fd);
	if (f)
		fclose(f);
}

static void check_ebpf(struct doctor *d)
{
	struct rights rights;
	struct rights_reason reason;

	rights_read("", &rights);
	reason = rights_why_no_bpf(&rights, 0);
	if (*reason.why)
		doctor_add(d, "ebpf", DOCTOR_NOTE, false, reason.remedy, "%s", reason.why);
	else
		doctor_add(d, "ebpf", DOCTOR_OK, false, NULL,
			   "programs may be loaded into the kernel, and its types are known (BTF)");
}

static void check_capabilities(struct doctor *d, unsigned long long caps)
{
	doctor_add(d, "privileges", DOCTOR_OK, false, NULL, "user %u%s%s%s", (unsigned)geteuid(),
		   caps & CAPS_PTRACE ? ", CAP_SYS_PTRACE" : "",
		   caps & CAPS_ADMIN ? ", CAP_SYS_ADMIN" : "", caps & CAPS_BPF ? ", CAP_BPF" : "");
}

static void check_module(struct doctor *d)
{
	struct kmod_processes all = { 0 };
	struct kmod_device module;
	struct err e = { 0 };
	int rc = kmod_device_open(&module, KMOD_DEVICE_PATH, &e);

	if (rc == -ENOENT) {
		doctor_add(d, "kmod", DOCTOR_NOTE, false,
			   "'pmm kmod load' loads it; only programs that log to it need it "
			   "(PMM_KMOD, doc/kmod.md)",
			   "the kernel module is not loaded");
		return;
	}
	if (!rc)
		rc = kmod_device_processes(&module, &all, &e);
	if (rc)
		doctor_add(d, "kmod", DOCTOR_NOTE, false, NULL, "%s", e.text);
	else
		doctor_add(d, "kmod", DOCTOR_OK, false, NULL,
			   "the kernel module is loaded and monitors %s",
			   fmt_many(all.v.nr, "process").s);
	kmod_processes_fini(&all);
	kmod_device_close(&module);
}

void doctor_kernel(struct doctor *d)
{
	unsigned long long caps = effective_capabilities();
	struct utsname u;

	if (!uname(&u))
		doctor_add(d, "kernel", DOCTOR_OK, false, NULL, "%s %s on %s", u.sysname, u.release,
			   u.machine);
	check_memfd(d);
	check_wipe_on_fork(d);
	check_pidfd(d);
	check_capabilities(d, caps);
	check_ptrace(d, caps);
	check_map_files(d);
	check_ebpf(d);
	check_module(d);
}
