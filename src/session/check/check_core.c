/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a core file is. The kernel makes its name by a pattern, of much that is not known any more;
 * what could be meant is opened, and the file says whose it is.
 */
#include "src/session/check/check_core.h"

#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "src/base/str.h"
#include "src/core/core.h"
#include "src/session/session.h"

#define KERNEL		"/proc/sys/kernel/"
#define MOST_FILES	1000

static void read_line(const char *path, char *line, int bytes)
{
	FILE *f = fopen(path, "re");

	if (!f || !fgets(line, bytes, f))
		*line = '\0';
	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = '\0';
}

/* The names that a process's core file may have, for glob(). */
static void add_names(struct str *s, const char *pattern, pid_t pid)
{
	char uses_pid[8];

	read_line(KERNEL "core_uses_pid", uses_pid, sizeof(uses_pid));
	for (const char *p = pattern; *p; p++) {
		if (*p != '%')
			str_addc(s, *p);
		else if (!*++p)
			break;
		else if (*p == '%')
			str_addc(s, '%');
		else if (*p == 'p')
			str_addf(s, "%d", (int)pid);
		else
			str_addc(s, '*');
	}
	if (uses_pid[0] == '1' && !strstr(pattern, "%p"))
		str_addf(s, ".%d", (int)pid);
}

static bool is_of(const char *path, pid_t pid)
{
	struct core c = { 0 };
	bool is = !core_open(path, &c, NULL) && c.pid == pid;

	core_close(&c);
	return is;
}

/* The file by that pattern which is of the process, if it is where we are, or where all are. */
static bool find(const char *pattern, pid_t pid, char path[PATH_MAX])
{
	struct str names = STR_INIT;
	glob_t files = { 0 };
	bool found = false;

	add_names(&names, pattern, pid);
	if (!str_error(&names) && !glob(str_text(&names), GLOB_NOSORT, NULL, &files))
		for (size_t i = 0; i < files.gl_pathc && i < MOST_FILES && !found; i++)
			found = is_of(files.gl_pathv[i], pid) && realpath(files.gl_pathv[i], path);
	globfree(&files);
	str_fini(&names);
	return found;
}

/* By its default action, signal(7). */
static bool makes_core(int signal)
{
	static const int with_core[] = { SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS,
					 SIGFPE,  SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS };

	for (size_t i = 0; i < sizeof(with_core) / sizeof(*with_core); i++)
		if (with_core[i] == signal)
			return true;
	return false;
}

static void note_none(const struct session_sink *to)
{
	struct rlimit lim = { .rlim_max = RLIM_INFINITY };

	getrlimit(RLIMIT_CORE, &lim);
	if (lim.rlim_max)
		session_note(to, "no core file was written, for a reason that the kernel does not "
				 "say (see core(5))");
	else
		session_note(to, "no core file was written: the hard limit on core files is 0");
}

void check_core_note(const struct session_sink *to, pid_t pid, int status)
{
	char pattern[256], path[PATH_MAX];

	if (!WIFSIGNALED(status) || !makes_core(WTERMSIG(status)))
		return;
	if (!WCOREDUMP(status)) {
		note_none(to);
		return;
	}
	read_line(KERNEL "core_pattern", pattern, sizeof(pattern));
	if (pattern[0] == '|')
		session_note(to, "core file    given to '%s' by the kernel%s", pattern + 1,
			     strstr(pattern, "systemd-coredump") ? ": see coredumpctl(1)" : "");
	else if (find(pattern, pid, path))
		session_note(to, "core file    %s", path);
	else
		session_note(to,
			     "core file    written as '%s' says in " KERNEL
			     "core_pattern; relative to the directory that the program was in",
			     pattern);
}
