/* SPDX-License-Identifier: GPL-2.0-or-later
 * Processes that cannot be attached to, each for another reason; says "ready", ends with status 48 at the end of input.
 *   trace PID  traces that process until then
 *   filter     has a seccomp filter (that allows everything)
 *   strict     is in seccomp's strict mode; ends with status 48 as well
 *   mdwe       may not make memory executable (Linux 6.3)
 *   zombie     has a child that has ended and is not waited for -> "zombie PID"
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "attach.h"

#define SET_MDWE	65	/* PR_SET_MDWE, and PR_MDWE_REFUSE_EXEC_GAIN is 1 */

static int filter(void)
{
	struct sock_filter allow = { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW };
	struct sock_fprog all = { 1, &allow };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all, 0, 0);
}

static int zombie(void)
{
	siginfo_t info;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	if (pid < 0 || waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT))
		return 1;
	say_number("zombie ", (unsigned long)pid);
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int failed = 2;

	free(hide(malloc(10)));
	if (!strcmp(how, "trace"))
		failed = ptrace(PTRACE_SEIZE, atoi(argv[2]), NULL, NULL) != 0;
	if (!strcmp(how, "filter"))
		failed = filter();
	if (!strcmp(how, "strict"))
		failed = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
	if (!strcmp(how, "mdwe"))
		failed = prctl(SET_MDWE, 1, 0, 0, 0);
	if (!strcmp(how, "zombie"))
		failed = zombie();
	say(failed ? "FAILED " : "ready\n");
	if (failed)
		say_number("", (unsigned long)errno);
	while (order())
		;
	syscall(SYS_exit, failed ? 1 : 48);
	return 0;
}
