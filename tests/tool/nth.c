/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nth: runs a program under ptrace(2) and does something to it at its N-th system call.
 *
 *     nth [-c CALL,...] [-l LOG] [-v VARIANT] ACTION [N] -- COMMAND [ARG...]
 *
 *     list     nothing; the log names all calls, a line each: "NUMBER NAME FAILURES TID", FAILURES
 *              is how many variants `fail` knows
 *     fail N   the call is not made and fails with an error number that is plausible for it;
 *              VARIANT (0) chooses among them
 *     short N  a call that reads or writes does half of what it is asked to
 *     kill N   SIGKILL for the whole process when the call has returned
 *     stop N   the same with SIGSTOP
 *
 * Calls count over all threads and forked children of the command, in the order of their
 * beginnings, as long as they run its executable: a child that executes another program is let go.
 * The dynamic loader's own calls do not count; with -c calls of those names alone do. When the
 * action is done, all are let go as they stop next. The exit status is the command's, 128 + signal
 * when it was killed. The log then says "did NUMBER NAME ERRNO".
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS                                                                                    \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |  \
	 PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)
#define NR_TASKS 256
#define NR_ERRORS 4

/*
 * What a call may fail with, most likely first. Calls that cannot fail, or only when called
 * wrongly, are not here.
 */
struct call {
	const char *name;
	int errors[NR_ERRORS];
	bool halved;		/* its third argument is how many bytes it is to transfer */
	bool made;		/* it has its effect although it fails */
};

#define C(call, ...) [SYS_##call] = { .name = #call, .errors = { __VA_ARGS__ } }
#define C_IO(call, ...) [SYS_##call] = { .name = #call, .errors = { __VA_ARGS__ }, .halved = true }
#define C_MADE(call, ...) [SYS_##call] = { .name = #call, .errors = { __VA_ARGS__ }, .made = true }

static const struct call calls[] = {
	C(mmap, ENOMEM),
	C(mprotect, ENOMEM),
	C(brk, ENOMEM),
	C(mremap, ENOMEM),
	C(madvise, ENOMEM, EINVAL),
	C(munmap, ENOMEM),
	C(msync, EIO),
	C(mlock, ENOMEM),
	C(clone, EAGAIN),
	C(clone3, EAGAIN),
	C(fork, EAGAIN),
	C(vfork, EAGAIN),
	C(execve, ENOMEM, ENOENT),
	C(wait4, EINTR),
	C(waitid, EINTR),
	C_IO(read, EIO, ENOMEM, EINTR),
	C_IO(pread64, EIO, ENOMEM),
	C(readv, EIO),
	C(preadv, EIO),
	C_IO(write, ENOSPC, EIO, EINTR),
	C_IO(pwrite64, ENOSPC, EIO),
	C(writev, ENOSPC),
	C(pwritev, ENOSPC),
	C(sendfile, EIO),
	C(copy_file_range, EIO),
	C(process_vm_readv, EFAULT, EPERM, ENOMEM),
	C(process_vm_writev, EFAULT, EPERM, ENOMEM),
	C(open, EMFILE, ENOMEM, EACCES),
	C(openat, EMFILE, ENOMEM, EACCES, ENOENT),
	C_MADE(close, EINTR),
	C(memfd_create, EMFILE, ENOMEM),
	C(pipe, EMFILE),
	C(pipe2, EMFILE),
	C(eventfd2, EMFILE),
	C(signalfd4, EMFILE, ENOMEM),
	C(timerfd_create, EMFILE),
	C(timerfd_settime, EINVAL),
	C(epoll_create1, EMFILE, ENOMEM),
	C(epoll_ctl, ENOMEM, ENOSPC),
	C(epoll_wait, EINTR),
	C(epoll_pwait, EINTR),
	C(inotify_init1, EMFILE),
	C(inotify_add_watch, ENOSPC),
	C(pidfd_open, EMFILE, ESRCH, ENOSYS),
	C(pidfd_getfd, EPERM, EMFILE),
	C(pidfd_send_signal, EPERM, ESRCH),
	C(dup, EMFILE),
	C(dup2, EMFILE),
	C(dup3, EMFILE),
	C(fcntl, ENOMEM, EMFILE),
	C(socket, EMFILE, EPERM),
	C(socketpair, EMFILE),
	C(bind, EADDRINUSE, EACCES),
	C(listen, EADDRINUSE),
	C(connect, ECONNREFUSED, EAGAIN),
	C(accept4, EMFILE),
	C(setsockopt, ENOMEM),
	C(getsockopt, ENOMEM),
	C(sendmsg, ENOBUFS, EPIPE),
	C(recvmsg, ENOMEM, EINTR),
	C(sendto, ENOBUFS),
	C(recvfrom, ENOMEM, EINTR),
	C(getsockname, ENOBUFS),
	C(poll, EINTR, ENOMEM),
	C(ppoll, EINTR, ENOMEM),
	C(select, EINTR, ENOMEM),
	C(pselect6, EINTR, ENOMEM),
	C(stat, ENOMEM, EACCES),
	C(fstat, ENOMEM, EIO),
	C(lstat, ENOMEM, EACCES),
	C(newfstatat, ENOMEM, EACCES),
	C(statx, ENOMEM, EACCES),
	C(statfs, ENOMEM),
	C(fstatfs, EIO),
	C(access, EACCES),
	C(faccessat, EACCES),
	C(faccessat2, EACCES),
	C(readlink, EACCES, ENOMEM),
	C(readlinkat, EACCES, ENOMEM),
	C(getdents64, EIO, ENOMEM),
	C(lseek, EIO),
	C(ftruncate, ENOSPC, EIO),
	C(fallocate, ENOSPC, EOPNOTSUPP),
	C(fsync, EIO),
	C(fdatasync, EIO),
	C(flock, ENOLCK, EINTR),
	C(rename, ENOSPC, EACCES),
	C(renameat, ENOSPC),
	C(renameat2, ENOSPC),
	C(link, EPERM, EEXIST),
	C(linkat, EPERM, EEXIST),
	C(unlink, EROFS),
	C(unlinkat, EROFS),
	C(mkdir, ENOSPC),
	C(mkdirat, ENOSPC),
	C(rmdir, EROFS),
	C(symlink, ENOSPC),
	C(chmod, EPERM),
	C(fchmod, EPERM),
	C(fchmodat, EPERM),
	C(chown, EPERM),
	C(fchown, EPERM),
	C(fchownat, EPERM),
	C(utimensat, EPERM),
	C(getxattr, EOPNOTSUPP),
	C(ioctl, ENOTTY),
	C(getcwd, ENOENT, ENOMEM),
	C(chdir, EACCES),
	C(ptrace, 0),
	C(kill, EPERM, ESRCH),
	C(tkill, EPERM, ESRCH),
	C(tgkill, EPERM, ESRCH),
	C(rt_sigtimedwait, EAGAIN, EINTR),
	C(prctl, EINVAL, EPERM),
	C(prlimit64, EPERM),
	C(getrlimit, EPERM),
	C(setrlimit, EPERM),
	C(sigaltstack, ENOMEM),
	C(seccomp, EINVAL, EACCES),
	C(setns, EPERM),
	C(unshare, EPERM),
	C(setpgid, EPERM),
	C(setsid, EPERM),
	C(nanosleep, EINTR),
	C(clock_nanosleep, EINTR),
	C(sched_getaffinity, EPERM),
	C(sched_setaffinity, EPERM),
	C(sched_setscheduler, EPERM),
	C(setpriority, EACCES),
	C(getrandom, EINTR, ENOSYS),
	C(userfaultfd, EPERM),
	C(membarrier, EPERM),
	C(kcmp, EPERM),
	C(process_madvise, EPERM),
	C(perf_event_open, EACCES, EMFILE),
	C(bpf, EPERM, ENOMEM),
};

static const struct call *call_of(uint64_t nr)
{
	static const struct call none = { .name = NULL };

	return nr < sizeof(calls) / sizeof(calls[0]) ? &calls[nr] : &none;
}

static const char *name_of(uint64_t nr)
{
	static char number[32];

	if (call_of(nr)->name)
		return call_of(nr)->name;
	snprintf(number, sizeof(number), "call_%" PRIu64, nr);
	return number;
}

/*
 * A request to a thread that has stopped fails only when the thread is killed, which would have to
 * be true, or when the kernel finds no memory for its vector registers.
 */
static const int *ptrace_errors(uint64_t request, uint64_t what)
{
	static const int none[NR_ERRORS], refused[NR_ERRORS] = { EPERM, ESRCH },
					  no_memory[NR_ERRORS] = { ENOMEM };

	if (request == PTRACE_SEIZE || request == PTRACE_ATTACH)
		return refused;
	return (request == PTRACE_GETREGSET || request == PTRACE_SETREGSET) && what != NT_PRSTATUS
		       ? no_memory
		       : none;
}

static const int *errors_of(uint64_t nr, const uint64_t args[6])
{
	return nr == SYS_ptrace ? ptrace_errors(args[0], args[2]) : call_of(nr)->errors;
}

static int nr_variants(uint64_t nr, const uint64_t args[6])
{
	int n = 0;

	while (n < NR_ERRORS && errors_of(nr, args)[n])
		n++;
	return n;
}

/* Is it one of the calls that count? */
static bool is_counted(const char *list, uint64_t nr)
{
	const char *name = name_of(nr);
	size_t length = strlen(name);

	for (const char *word = list; word; word = strchr(word, ',')) {
		word += *word == ',';
		if (!strncmp(word, name, length) && (!word[length] || word[length] == ','))
			return true;
	}
	return !list;
}

enum action { LIST, FAIL, SHORT, KILL, STOP, NR_ACTIONS };

static const char *const actions[] = {
	[LIST] = "list", [FAIL] = "fail", [SHORT] = "short", [KILL] = "kill", [STOP] = "stop"
};
_Static_assert(sizeof(actions) / sizeof(actions[0]) == NR_ACTIONS, "each action has a name");

/* A followed thread. */
struct task {
	pid_t tid;
	bool inside;		/* between the beginning and the end of a call */
	bool chosen;		/* of the N-th call */
	int error;		/* that this call is to return, or 0 */
	uint64_t nr;
	/* which of its registers has another value as long as the call lasts; 0: none */
	size_t changed;
	uint64_t was;
};

static struct {
	enum action action;
	unsigned long n, at;	/* the wanted call; calls so far */
	int variant;
	bool done;
	const char *only;	/* names of calls, with commas; NULL: all count */
	FILE *log;
	pid_t command;
	dev_t device;
	ino_t file;		/* of the command's executable */
	uint64_t loader, loader_end;
	struct task tasks[NR_TASKS];
} nth;

static void die(const char *what)
{
	fprintf(stderr, "nth: %s: %s\n", what, strerror(errno));
	exit(125);
}

static struct task *task_of(pid_t tid)
{
	struct task *free_one = NULL;

	for (size_t i = 0; i < NR_TASKS; i++) {
		if (nth.tasks[i].tid == tid)
			return &nth.tasks[i];
		if (!nth.tasks[i].tid && !free_one)
			free_one = &nth.tasks[i];
	}
	if (!free_one)
		die("too many threads");
	*free_one = (struct task){ .tid = tid };
	return free_one;
}

/* Where the dynamic loader's code is in a process that has just called exec. */
static void find_loader(pid_t pid)
{
	char path[64], line[4096];
	uint64_t word[2], base = 0, start, end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	f = fopen(path, "r");
	while (f && fread(word, sizeof(word), 1, f) == 1)
		if (word[0] == AT_BASE)
			base = word[1];
	if (f)
		fclose(f);
	nth.loader = nth.loader_end = base;
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "r");
	while (f && base && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 &&
		    start == nth.loader_end)
			nth.loader_end = end;
	if (f)
		fclose(f);
}

static bool is_command(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (stat(path, &st))
		return false;
	if (!nth.file) {
		nth.device = st.st_dev;
		nth.file = st.st_ino;
	}
	return st.st_dev == nth.device && st.st_ino == nth.file;
}

static void set_register(pid_t tid, size_t offset, uint64_t value)
{
	if (ptrace(PTRACE_POKEUSER, tid, (void *)offset, (void *)value) && errno != ESRCH)
		die("set a register");
}

/* For the call's time: the C library expects its arguments to be there afterwards. */
static void set_argument(struct task *t, size_t offset, uint64_t was, uint64_t value)
{
	t->changed = offset;
	t->was = was;
	set_register(t->tid, offset, value);
}

static void note(const char *what, const struct task *t)
{
	if (nth.log) {
		fprintf(nth.log, "%s %lu %s %s\n", what, nth.at, name_of(t->nr),
			t->error ? strerrorname_np(t->error) : "0");
		fflush(nth.log);
	}
}

/* The N-th call begins. */
static void begin_action(struct task *t, const uint64_t args[6])
{
	const struct call *c = call_of(t->nr);

	t->chosen = true;
	if (nth.action == FAIL && nth.variant < nr_variants(t->nr, args)) {
		t->error = errors_of(t->nr, args)[nth.variant];
		if (t->nr == SYS_brk)		/* says no by returning where the break is */
			set_argument(t, offsetof(struct user_regs_struct, rdi), args[0], 0);
		else if (!c->made)
			set_register(t->tid, offsetof(struct user_regs_struct, orig_rax),
				     (uint64_t)-1);
	} else if (nth.action == SHORT && c->halved && args[2] > 1) {
		set_argument(t, offsetof(struct user_regs_struct, rdx), args[2], args[2] / 2);
	} else if (nth.action == FAIL || nth.action == SHORT) {
		t->chosen = false;
		note("cannot", t);
		nth.done = true;
		return;
	}
	note("did", t);
}

static void end_action(struct task *t)
{
	if (t->changed)
		set_register(t->tid, t->changed, t->was);
	if (t->error && t->nr != SYS_brk)
		set_register(t->tid, offsetof(struct user_regs_struct, rax), (uint64_t)-t->error);
	nth.done = true;
	if (nth.action == KILL || nth.action == STOP)
		kill(nth.command, nth.action == KILL ? SIGKILL : SIGSTOP);
}

static void on_call(struct task *t)
{
	struct __ptrace_syscall_info info;
	const uint64_t *args = (const uint64_t *)info.entry.args;

	if (t->inside) {
		t->inside = false;
		if (t->chosen)
			end_action(t);
		t->chosen = false;
		return;
	}
	if (ptrace(PTRACE_GET_SYSCALL_INFO, t->tid, sizeof(info), &info) <= 0 ||
	    info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return;
	t->inside = true;
	t->nr = info.entry.nr;
	t->error = 0;
	t->changed = 0;
	if (nth.done || !is_counted(nth.only, t->nr) ||
	    (info.instruction_pointer >= nth.loader && info.instruction_pointer < nth.loader_end))
		return;
	nth.at++;
	if (nth.action == LIST)
		fprintf(nth.log, "%lu %s %d %d\n", nth.at, name_of(t->nr), nr_variants(t->nr, args),
			t->tid);
	else if (nth.at == nth.n)
		begin_action(t, args);
}

/* Let a stopped thread go on; for good when nothing is to be done any more. */
static void go_on(struct task *t, int signal)
{
	bool leave = nth.done && !t->chosen;

	ptrace(leave ? PTRACE_DETACH : PTRACE_SYSCALL, t->tid, NULL, (void *)(uintptr_t)signal);
	if (leave)
		t->tid = 0;
}

static void on_stop(struct task *t, int status)
{
	int signal = WSTOPSIG(status), event = status >> 16;

	if (signal == (SIGTRAP | 0x80)) {
		on_call(t);
		go_on(t, 0);
	} else if (event == PTRACE_EVENT_EXEC) {
		t->inside = false;
		if (!is_command(t->tid)) {
			ptrace(PTRACE_DETACH, t->tid, NULL, NULL);
			t->tid = 0;
			return;
		}
		find_loader(t->tid);
		go_on(t, 0);
	} else if (event == PTRACE_EVENT_STOP && signal != SIGTRAP && !nth.done) {
		ptrace(PTRACE_LISTEN, t->tid, NULL, NULL);
	} else {
		go_on(t, event ? 0 : signal);
	}
}

static void start(char **argv)
{
	int gate[2];
	char c = 0;

	if (pipe2(gate, O_CLOEXEC))
		die("pipe");
	nth.command = fork();
	if (!nth.command) {
		close(gate[1]);
		if (read(gate[0], &c, 1) == 1)
			execvp(argv[0], argv);
		fprintf(stderr, "nth: %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	if (nth.command < 0 ||
	    ptrace(PTRACE_SEIZE, nth.command, NULL, (void *)(uintptr_t)OPTIONS) ||
	    write(gate[1], &c, 1) != 1)
		die("start");
	close(gate[0]);
	close(gate[1]);
}

static int follow(void)
{
	int status, result = 125;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (tid <= 0)
			continue;
		if (WIFSTOPPED(status)) {
			on_stop(task_of(tid), status);
			continue;
		}
		task_of(tid)->tid = 0;
		if (tid == nth.command)
			result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	return result;
}

int main(int argc, char **argv)
{
	int opt, status;

	while ((opt = getopt(argc, argv, "+c:l:v:")) != -1) {
		if (opt == 'v')
			nth.variant = atoi(optarg);
		else if (opt == 'c')
			nth.only = optarg;
		else if (opt != 'l' || !(nth.log = fopen(optarg, "we")))
			die("arguments");
	}
	for (nth.action = LIST;
	     nth.action < NR_ACTIONS && optind < argc && strcmp(argv[optind], actions[nth.action]);
	     nth.action++)
		;
	optind++;
	if (nth.action < NR_ACTIONS && nth.action != LIST && optind < argc)
		nth.n = strtoul(argv[optind++], NULL, 10);
	if (optind < argc && !strcmp(argv[optind], "--"))
		optind++;
	if (nth.action == NR_ACTIONS || optind >= argc || (nth.action == LIST && !nth.log)) {
		fprintf(stderr, "usage: nth [-c CALL,...] [-l LOG] [-v VARIANT] "
				"list|fail|short|kill|stop [N] -- COMMAND [ARG...]\n");
		return 125;
	}
	start(argv + optind);
	status = follow();
	if (nth.log)
		fclose(nth.log);
	return status;
}
