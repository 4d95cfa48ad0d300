/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a command and ends or stops it behind a system call of a given number, whichever of its
 * threads makes it.
 *
 *	step [-t] [-a] [-s SECONDS] [-i SIGNAL] N CMD [ARG...]
 *
 * Calls are counted from the first one behind exec, of all threads together. -t: only those that
 * act on another process or on a file, which are the only steps that leave something (see acts()).
 * Behind the N-th: SIGKILL, or with -s SIGSTOP. -a: SIGKILL to its children first. -i: that signal,
 * by number, and it goes on. With -s the command is waited for for so many seconds at most, or
 * until SIGTERM, though nobody lets it go on.
 *
 * Says what happened in a last line and tells it by its status:
 *
 *	0	killed N CALL		it was killed there
 *	0	stopped N CALL		it was stopped there (-s), which is said at once,
 *		ended			... and somebody has killed it since
 *	1	ended STATUS COUNT	it made fewer calls: its status, and their number
 *	2	stays			... and is stopped still; killed now
 *	3				wrong usage, or it cannot be traced
 *
 * Children that it makes by fork are not traced. Its output is its own.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OPTIONS                                                                                    \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)

static struct {
	bool acting, all;
	long stop_s;
	int signal;
	unsigned long n, count;
	pid_t pid;
	bool begun;			/* it has called exec */
} S;

static void fail(const char *what)
{
	fprintf(stderr, "step: %s: %s\n", what, strerror(errno));
	if (S.pid)
		kill(S.pid, SIGKILL);
	exit(3);
}

/*
 * Calls that change another process, or a file that other processes have mapped. What comes between
 * two of them leaves nothing behind.
 */
static bool acts(long call)
{
	static const long list[] = {
		SYS_ptrace,	 SYS_process_vm_writev,
		SYS_pwrite64,	 SYS_write,
		SYS_writev,	 SYS_ftruncate,
		SYS_fallocate,	 SYS_fcntl,
		SYS_prlimit64,	 SYS_kill,
		SYS_tgkill,	 SYS_pidfd_open,
		SYS_pidfd_getfd, SYS_clone,
		SYS_clone3,	 SYS_fork,
		SYS_vfork,	 SYS_memfd_create,
		SYS_exit,
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (call == list[i])
			return true;
	return false;
}

static void kill_children(void)
{
	char path[64];
	FILE *f;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)S.pid, (int)S.pid);
	f = fopen(path, "re");
	while (f && fscanf(f, "%d", &child) == 1)
		kill(child, SIGKILL);
	if (f)
		fclose(f);
}

/* Reap all of it. Its status. */
static int reap(void)
{
	int status, its = 0;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL)) > 0 || (pid < 0 && errno == EINTR))
		if (pid == S.pid && (WIFEXITED(status) || WIFSIGNALED(status)))
			its = status;
	return its;
}

static void begin(char **argv)
{
	int go[2];
	char c;

	if (pipe(go))
		fail("pipe");
	S.pid = fork();
	if (S.pid < 0)
		fail("fork");
	if (!S.pid) {
		close(go[1]);
		if (read(go[0], &c, 1) != 1)
			_exit(127);
		close(go[0]);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (ptrace(PTRACE_SEIZE, S.pid, NULL, OPTIONS))
		fail("ptrace");
	close(go[0]);
	if (write(go[1], "", 1) != 1)
		fail("write");
	close(go[1]);
}

/* The number of the call that a thread has just made; -1 = it is on its way into one. */
static long call_made(pid_t tid)
{
	struct __ptrace_syscall_info info = { 0 };
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) <= 0 ||
	    info.op != PTRACE_SYSCALL_INFO_EXIT || ptrace(PTRACE_GETREGS, tid, NULL, &regs))
		return -1;
	return (long)regs.orig_rax;
}

/* Group stops last as long as they would; everything else goes on to the next call. */
static void go_on(pid_t tid, int status)
{
	int event = status >> 16, signal = WSTOPSIG(status);

	if (event == PTRACE_EVENT_STOP &&
	    (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU))
		ptrace(PTRACE_LISTEN, tid, NULL, NULL);
	else
		ptrace(S.begun ? PTRACE_SYSCALL : PTRACE_CONT, tid, NULL,
		       event || signal == (SIGTRAP | 0x80) ? 0L : (long)signal);
}

static int kill_here(long call)
{
	if (S.all)
		kill_children();
	kill(S.pid, SIGKILL);
	reap();
	printf("killed %lu %ld\n", S.n, call);
	return 0;
}

static volatile sig_atomic_t enough;

static void on_term(int signal)
{
	(void)signal;
	enough = 1;
}

static bool gone(void)
{
	siginfo_t info = { 0 };

	return !waitid(P_PID, (id_t)S.pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
	       info.si_pid == S.pid;
}

/* Each thread is let go into a stop that is not ours: with SIGSTOP pending for all of it. */
static void let_go_stopped(pid_t tid)
{
	int status;
	pid_t other;

	kill(S.pid, SIGSTOP);
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
	while ((other = waitpid(-1, &status, __WALL | WUNTRACED)) > 0) {
		if (!WIFSTOPPED(status))
			break; /* its last thread has ended, or it was killed already */
		if (ptrace(PTRACE_DETACH, other, NULL,
			   status >> 16 || WSTOPSIG(status) == (SIGTRAP | 0x80)
				   ? 0L
				   : (long)WSTOPSIG(status)))
			break; /* no thread of it is ours any more: it has stopped as our child */
	}
}

static int stop_here(pid_t tid, long call)
{
	struct timespec ts = { .tv_nsec = 20000000 };

	signal(SIGTERM, on_term);
	let_go_stopped(tid);
	printf("stopped %lu %ld\n", S.n, call);
	fflush(stdout);
	for (long i = 0; i < S.stop_s * 50 && !enough && !gone(); i++)
		nanosleep(&ts, NULL);
	if (gone()) {
		printf("ended\n");
		return 0;
	}
	printf("stays\n");
	kill(S.pid, SIGKILL);
	reap();
	return 2;
}

static int run(void)
{
	int status, its = 0;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL)) > 0 || (tid < 0 && errno == EINTR)) {
		long call;

		if (tid == S.pid && (WIFEXITED(status) || WIFSIGNALED(status)))
			its = status;
		if (tid < 0 || !WIFSTOPPED(status))
			continue;
		if (status >> 16 == PTRACE_EVENT_EXEC)
			S.begun = true;
		call = WSTOPSIG(status) == (SIGTRAP | 0x80) && S.begun ? call_made(tid) : -1;
		if (call >= 0 && (!S.acting || acts(call)) && ++S.count == S.n) {
			if (!S.signal)
				return S.stop_s ? stop_here(tid, call) : kill_here(call);
			kill(S.pid, S.signal);
		}
		go_on(tid, status);
	}
	printf("ended %d %lu\n", WIFEXITED(its) ? WEXITSTATUS(its) : 128 + WTERMSIG(its), S.count);
	return 1;
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "+tas:i:")) > 0) {
		if (c == 't')
			S.acting = true;
		else if (c == 'a')
			S.all = true;
		else if (c == 'i')
			S.signal = atoi(optarg);
		else if (c == 's')
			S.stop_s = atol(optarg);
		else
			return 3;
	}
	if (argc - optind < 2)
		return 3;
	S.n = strtoul(argv[optind], NULL, 10);
	begin(argv + optind + 1);
	return run();
}
