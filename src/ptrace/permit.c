/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * May a process be traced, and if not, why: the answer of the kernel, and what /proc says about its
 * reasons.
 */
#include "src/ptrace/stop.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "arch/elf_arch.h"
#include "src/ptrace/confined.h"
#include "src/proc/proc.h"
#include "src/proc/task.h"

#define CAP_SYS_PTRACE_BIT	19
#define PF_KTHREAD		0x00200000u
#define PMM_WAITS		500u	/* for another pmm to let go */
#define PMM_WAIT_NS		10000000

static int refuse_thread(pid_t pid, pid_t tgid, struct err *e)
{
	int rc = err_set(e, -ESRCH, "%d is a thread of process %d", (int)pid, (int)tgid);

	err_hint(e, "use the process: %d", (int)tgid);
	return rc;
}

/*
 * Is it there, and is it a process? Finds a thread of it that lives: the first one may have ended
 * before the others.
 */
static int check_there(pid_t pid, pid_t *live, struct err *e)
{
	uint64_t tgid;
	int rc = pid > 0 ? task_status(pid, 0, "Tgid", 10, &tgid) : -ESRCH;

	if (rc == -ESRCH) {
		err_set(e, rc, "no process %d", (int)pid);
		err_hint(e, "'ps -e' lists all processes with their numbers");
		return rc;
	}
	if (rc)
		return err_set(e, rc, "cannot read process %d: %s", (int)pid, strerror(-rc));
	if ((pid_t)tgid == getpid())
		return err_set(e, -EINVAL, "process %d is pmm itself", (int)pid);
	if ((pid_t)tgid != pid)
		return refuse_thread(pid, (pid_t)tgid, e);
	*live = task_live(pid);
	return *live > 0 ? 0 : task_say_ended(pid, e);
}

static int check_kind(pid_t pid, pid_t live, struct err *e)
{
	unsigned char head[20];
	uint64_t flags;
	char path[64];
	ssize_t n;
	int fd;

	if (!task_stat(pid, live, 9, &flags) && flags & PF_KTHREAD)
		return err_set(e, -EPERM, "process %d is a thread of the kernel", (int)pid);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/exe", (int)pid, (int)live);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;	/* forbidden: the next check says so */
	n = read(fd, head, sizeof(head));
	close(fd);
	if (n == sizeof(head) &&
	    (head[EI_CLASS] != ELFCLASS64 || (head[18] | head[19] << 8) != ARCH_ELF_MACHINE)) {
		err_set(e, -ENOTSUP, "process %d is not a 64-bit " ARCH_NAME " program", (int)pid);
		err_hint(e, "only those can be attached to");
		return -ENOTSUP;
	}
	return 0;
}

static int check_tracer(pid_t pid, pid_t live, struct err *e)
{
	char comm[PROC_COMM_BYTES] = "?";
	pid_t tracer = task_tracer(pid, live);

	for (unsigned i = 0; i < PMM_WAITS && tracer && task_is_pmm(tracer); i++) {
		nanosleep(&(struct timespec){ .tv_nsec = PMM_WAIT_NS }, NULL);
		tracer = task_tracer(pid, live);
	}
	if (!tracer)
		return 0;
	proc_comm(tracer, comm);
	err_set(e, -EBUSY, "process %d is being traced by '%s' (process %d)", (int)pid, comm,
		(int)tracer);
	err_hint(e, "the kernel allows one tracer at a time: let that one detach first");
	return -EBUSY;
}

/*
 * Are our capabilities those of a user namespace, worth nothing outside? The first namespace maps
 * all numbers (user_namespaces(7)).
 */
static bool in_user_namespace(void)
{
	FILE *f = fopen("/proc/self/uid_map", "re");
	unsigned long inside = 0, outside = 0, nr = UINT32_MAX;

	if (f && fscanf(f, "%lu %lu %lu", &inside, &outside, &nr) != 3)
		nr = UINT32_MAX;
	if (f)
		fclose(f);
	return inside || outside || nr != UINT32_MAX;
}

static bool have_capability(void)
{
	uint64_t caps = 0;

	return !task_status(getpid(), 0, "CapEff", 16, &caps) && caps >> CAP_SYS_PTRACE_BIT & 1;
}

/* Yama's mode, 0 = there is none. */
static int yama_scope(void)
{
	FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0;

	if (f && fscanf(f, "%d", &scope) != 1)
		scope = 0;
	if (f)
		fclose(f);
	return scope;
}

static int explain_yama(pid_t pid, int scope, struct err *e)
{
	err_set(e, -EPERM, "the kernel forbids to trace process %d: yama ptrace_scope is %d",
		(int)pid, scope);
	if (scope >= 3)
		err_hint(e, "no process may be traced on this machine until it is started "
			    "again with another setting");
	else
		err_hint(e, "run pmm as root%s",
			 scope == 1 ? ", or: echo 0 | sudo tee /proc/sys/kernel/yama/ptrace_scope"
				    : "");
	return -EPERM;
}

static int explain_user(pid_t pid, uid_t uid, struct err *e)
{
	struct passwd *user = getpwuid(uid);

	if (user)
		err_set(e, -EPERM, "process %d belongs to user '%s'", (int)pid, user->pw_name);
	else
		err_set(e, -EPERM, "process %d belongs to user %u", (int)pid, (unsigned)uid);
	err_hint(e, "run pmm as that user or as root");
	return -EPERM;
}

/*
 * The kernel has said no: find out which of its rules it was (ptrace(2), "Ptrace access mode
 * checking").
 */
static int explain_denied(pid_t pid, struct err *e)
{
	int scope = yama_scope();
	struct stat st = { 0 };
	uint64_t uid = 0;
	char path[64];

	task_status(pid, 0, "Uid", 10, &uid);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	stat(path, &st);
	if (have_capability()) {
		if (scope >= 3)
			return explain_yama(pid, scope, e);
		if (in_user_namespace()) {
			err_set(e, -EPERM,
				"process %d is outside of the user namespace that pmm runs in",
				(int)pid);
			err_hint(e, "run pmm outside of it, as root");
			return -EPERM;
		}
	} else if (uid != geteuid()) {
		return explain_user(pid, (uid_t)uid, e);
	} else if (scope) {
		return explain_yama(pid, scope, e);
	} else if (st.st_uid != uid) {
		err_set(e, -EPERM,
			"process %d has made itself untraceable (it has or had privileges, or "
			"asked for it)",
			(int)pid);
		err_hint(e, "run pmm as root");
		return -EPERM;
	}
	err_set(e, -EPERM, "the kernel forbids to trace process %d", (int)pid);
	err_hint(e, "run pmm as root, outside of containers that drop CAP_SYS_PTRACE; a security "
		    "module may forbid it too");
	return -EPERM;
}

/* The kernel asks for the same right to open a process's memory as to trace it. */
static int check_right(pid_t pid, pid_t live, struct err *e)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/mem", (int)pid, (int)live);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	else if (errno == EACCES || errno == EPERM)
		return explain_denied(pid, e);
	return 0;
}

/* Linux 6.6, proc(5): the processor checks where functions return to, and hooks change that. */
static int check_shadow_stack(pid_t pid, struct err *e)
{
	char path[64], line[256];
	bool on = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		on |= !strncmp(line, "x86_Thread_features:", 20) && strstr(line, "shstk");
	if (f)
		fclose(f);
	if (!on)
		return 0;
	err_set(e, -ENOTSUP, "process %d runs with a shadow stack", (int)pid);
	err_hint(e, "start it without: GLIBC_TUNABLES=glibc.cpu.x86_shstk=off");
	return -ENOTSUP;
}

int stop_possible(pid_t pid, struct err *e)
{
	pid_t live = 0;
	int rc = check_there(pid, &live, e);

	if (!rc)
		rc = check_kind(pid, live, e);
	if (!rc)
		rc = check_tracer(pid, live, e);
	if (!rc)
		rc = check_right(pid, live, e);
	return rc;
}

int stop_allowed(pid_t pid, struct err *e)
{
	int rc = stop_possible(pid, e);

	if (!rc)
		rc = check_shadow_stack(pid, e);
	if (!rc)
		rc = confined_check(pid, CONFINED_ATTACH, e);
	return rc;
}
