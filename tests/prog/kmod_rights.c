// SPDX-License-Identifier: GPL-2.0-or-later
/* What who is not privileged may do and see; each role is a child that gives up its rights by itself. */
#include "kmod_test.h"

#include <grp.h>
#include <linux/capability.h>
#include <sys/stat.h>

static int root_fd;	/* opened by who was privileged */
static int other;	/* a process of root's that is monitored */

static void capabilities(unsigned int low)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { .effective = low, .permitted = low } };

	if (syscall(SYS_capset, &head, data))
		die("capset");
}

static void become(unsigned int uid)
{
	if (setgroups(0, NULL) || setgid(uid) || setuid(uid))
		die("setuid");
}

/* Runs a role in a child of its own. */
static void as(void (*role)(void))
{
	int pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		role();
		_exit(failures ? 1 : 0);
	}
	IS(wait_for(pid), 0);
}

static void begin(void)
{
	root_fd = device(0);
	other = sleeper();
	IS(monitor(root_fd, PMM_KMOD_SET_START, other), 0);
}

/* By this descriptor the process may log for itself, and nothing else. */
static void only_own(int fd, int logs)
{
	struct pmm_kmod_config c = config_of(PMM_KMOD_SET_SCAN);
	struct pmm_kmod_process p[4];
	struct pmm_kmod_record r;

	IS(call(fd, PMM_SET_CONFIG, &c), -EPERM);
	for (unsigned int set = 1; set <= PMM_KMOD_SET_KEEP; set <<= 1) {
		c = config_of(set);
		c.interval_ms = 100;
		c.entries_per_process = c.entries_in_all = 100;
		c.start_pid = c.stop_pid = c.clear_pid = other;
		IS(call(fd, PMM_SET_CONFIG, &c), -EPERM);
	}
	/* whether there is such a process is not said */
	IS(monitor(fd, PMM_KMOD_SET_START, 999999), -EPERM);
	IS(monitor(fd, PMM_KMOD_SET_STOP, getpid()), -EPERM);
	IS(read_log(fd, other, 0, &r, 1), -EPERM);
	IS(read_log(fd, 999999, 0, &r, 1), -EPERM);
	IS(monitor(fd, PMM_KMOD_SET_START, getpid()), 0);
	IS(list(fd, p, 4), 1);
	IS(p[0].pid, getpid());
	IS(add(fd, 16, 5), logs ? 0 : -EPERM);
	IS(read_log(fd, getpid(), 0, &r, 1), logs);
	IS(process_of(fd, getpid()).entries, logs);
	IS(monitor(fd, PMM_KMOD_SET_CLEAR, getpid()), 0);
	IS(process_of(fd, getpid()).entries, 0);
	c = config_of(0);
	IS(call(fd, PMM_GET_CONFIG, &c), 0);
}

/* By a descriptor of who may see all: nothing, neither its events nor that there are some. */
static void nothing_of_others(void)
{
	struct pmm_kmod_event e;

	IS(read(root_fd, &e, sizeof(e)), -1);
	IS(errno, EPERM);
	IS(call(root_fd, PMM_SET_EVENTFD, (void *)-1l), -EPERM);
	only_own(root_fd, 0);
}

static void user_inherits(void)
{
	become(1000);
	nothing_of_others();
}

static void root_without_capabilities(void)
{
	int fd;

	capabilities(0);
	nothing_of_others();
	fd = device(0);
	only_own(fd, 1);
}

/* Every capability but the one that is needed. */
static void root_without_admin(void)
{
	int fd;

	capabilities(~(1u << CAP_SYS_ADMIN));
	fd = device(0);
	only_own(fd, 1);
}

static void user_cannot_open(void)
{
	const char *const files[] = { "/dev/pmm", "/proc/pmm/cfg", "/proc/pmm/pid",
				      "/proc/pmm/summary" };

	become(1000);
	for (int i = 0; i < 4; i++) {
		IS(open(files[i], O_RDONLY), -1);
		IS(errno, EACCES);
	}
}

/* A group may be let in (udev). */
static void member_of_group(void)
{
	gid_t group = 2000;

	if (setgroups(1, &group) || setgid(1000) || setuid(1000))
		die("setuid");
	only_own(device(0), 1);
}

/* The opener is not privileged, the caller is: as a program that is setuid would be. */
static void root_uses_users_file(void)
{
	int fd;

	if (seteuid(1000))
		die("seteuid");
	fd = device(0);
	if (seteuid(0))
		die("seteuid");
	only_own(fd, 1);
}

/* All capabilities, but in a user namespace of its own. */
static void root_of_a_namespace(void)
{
	int fd;

	if (unshare(CLONE_NEWUSER)) {
		if (errno == EINVAL || errno == ENOSYS)
			_exit(0);
		die("unshare");
	}
	nothing_of_others();
	fd = device(0);
	only_own(fd, 1);
}

static void callers(void)
{
	begin();
	as(user_inherits);
	as(root_without_capabilities);
	as(root_without_admin);
	as(user_cannot_open);
	if (chown("/dev/pmm", 0, 2000) || chmod("/dev/pmm", 0660))
		die("chmod");
	as(member_of_group);
	if (chmod("/dev/pmm", 0666))
		die("chmod");
	as(root_uses_users_file);
	as(root_of_a_namespace);
	end(other);
}

/* What reading this descriptor gives, from its begin. */
static const char *text_of(int fd)
{
	static char text[65536];
	size_t bytes = 0;
	ssize_t got;

	lseek(fd, 0, SEEK_SET);
	while ((got = read(fd, text + bytes, sizeof(text) - 1 - bytes)) > 0)
		bytes += (size_t)got;
	text[bytes] = 0;
	return text;
}

static int pid_fd, cfg_fd;
static int to_inside[2], to_outside[2];

static void say(int fd)
{
	if (write(fd, "x", 1) != 1)
		die("write");
}

static void hear(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		die("read");
}

static void hidden(int fd)
{
	IS(strstr(text_of(fd), "{MALLOC @") != NULL, 1);
	IS(strstr(text_of(fd), "Sz: 77B Pointer: (hidden) Caller: (hidden)") != NULL, 1);
	IS(strstr(text_of(fd), "0x") == NULL, 1);
}

static void reads_without(void)
{
	capabilities(1u << CAP_DAC_OVERRIDE);
	hidden(open("/proc/pmm/pid", O_RDONLY));
	/* opened by who may, read by who may not */
	hidden(pid_fd);
	IS(write(cfg_fd, "SCAN 0", 6), -1);
	IS(errno, EPERM);
}

static void reads_with_ptrace(void)
{
	capabilities(1u << CAP_DAC_OVERRIDE | 1u << CAP_SYS_PTRACE);
	IS(strstr(text_of(open("/proc/pmm/pid", O_RDONLY)), "Pointer: 0xabcde0 Caller: 0x0") !=
		   NULL, 1);
}

static void reads_with_admin(void)
{
	capabilities(1u << CAP_DAC_OVERRIDE | 1u << CAP_SYS_ADMIN);
	IS(strstr(text_of(pid_fd), "Pointer: 0xabcde0 Caller: 0x0") != NULL, 1);
}

/* Opened by who may not, read by who may: by the same process, with and without what it has. */
static void opened_without(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct all[2], few[2];
	int fd;

	if (syscall(SYS_capget, &head, all))
		die("capget");
	memcpy(few, all, sizeof(few));
	few[0].effective = 1u << CAP_DAC_OVERRIDE;
	few[1].effective = 0;
	if (syscall(SYS_capset, &head, few))
		die("capset");
	fd = open("/proc/pmm/pid", O_RDONLY);
	if (syscall(SYS_capset, &head, all))
		die("capset");
	hidden(fd);
}

static void pointers(void)
{
	int fd = device(0);

	IS(add(fd, 0xabcde0, 77), 0);
	pid_fd = open("/proc/pmm/pid", O_RDONLY);
	cfg_fd = open("/proc/pmm/cfg", O_RDWR);
	as(reads_without);
	as(opened_without);
	as(reads_with_ptrace);
	as(reads_with_admin);
}

/* In a pid namespace: its own numbers, and nothing of what is outside. */
static void inside(void)
{
	struct pmm_kmod_process p[4];
	struct pmm_kmod_event e;
	int fd = device(O_NONBLOCK), child, text = open("/proc/pmm/pid", O_RDONLY);

	IS(getpid(), 1);
	child = sleeper();
	IS(child, 2);
	IS(monitor(fd, PMM_KMOD_SET_START, other), -ESRCH);
	IS(monitor(fd, PMM_KMOD_SET_START, 2), 0);
	IS(add(fd, 16, 5), 0);
	IS(list(fd, p, 4), 2);
	IS(p[0].pid, 2);
	IS(p[0].ppid, 1);
	IS(p[1].pid, 1);
	IS(p[1].ppid, 0);
	for (int pid = 2; pid >= 1; pid--) {
		IS(read(fd, &e, sizeof(e)), sizeof(e));
		IS(e.pid, pid);
		IS(e.type, PMM_KMOD_EVENT_STARTED);
	}
	IS(strstr(text_of(text), "[1] PID: 2, Comp: kmod_rights, PPID: 1,") != NULL, 1);
	IS(strstr(text_of(text), "[2] PID: 1, Comp: kmod_rights, PPID: 0,") != NULL, 1);
	IS(strstr(text_of(text), "[3]") == NULL, 1);
	/* by a file of outside: numbers are the caller's all the same */
	IS(list(root_fd, p, 4), 2);
	IS(p[0].pid, 2);
	/* what happens outside is no event here */
	say(to_outside[1]);
	hear(to_inside[0]);
	IS(read(fd, &e, sizeof(e)), -1);
	IS(errno, EAGAIN);
	end(child);
	_exit(failures ? 1 : 0);
}

static void namespaces(void)
{
	struct pmm_kmod_process p[4];
	int pid;

	begin();
	if (pipe(to_inside) || pipe(to_outside))
		die("pipe");
	if (unshare(CLONE_NEWPID))
		die("unshare");
	fflush(stdout);
	pid = fork();
	if (!pid)
		inside();
	close(to_outside[1]);
	hear(to_outside[0]);
	IS(monitor(root_fd, PMM_KMOD_SET_START, getpid()), 0);
	say(to_inside[1]);
	IS(wait_for(pid), 0);
	IS(list(root_fd, p, 4) >= 2, 1);
	IS(p[0].pid, other);
	end(other);
}

CASES({ "callers", callers }, { "pointers", pointers }, { "namespaces", namespaces })
