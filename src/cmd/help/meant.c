/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a word on the command line is meant to be. */
#include "src/cmd/help/meant.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/track/source.h"
#include "src/proc/elf_check.h"
#include "src/proc/proc.h"

const struct cmd *meant_command(const char *word)
{
	struct stat st;

	if (proc_parse_pid(word))
		return &cmd_report;
	return !stat(word, &st) && S_ISREG(st.st_mode) && !(st.st_mode & 0111) ? &cmd_report : NULL;
}

bool meant_program(const char *word)
{
	struct elf_check *program = malloc(sizeof(*program));	/* too large for a stack */
	const bool found = program && elf_check(word, program, NULL) != ELF_CHECK_NOT_FOUND;

	free(program);
	return found;
}

/* ---- pmm itself ----------------------------------------------------------------------------- */

/* Does the process run this very program? */
static bool is_pmm(pid_t pid)
{
	struct stat own, its;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return !stat("/proc/self/exe", &own) && !stat(path, &its) && own.st_dev == its.st_dev &&
	       own.st_ino == its.st_ino;
}

/* Children of one thread that are not pmm: how many so far, the last one in *child. */
static unsigned children_of(const char *task, pid_t *child)
{
	char path[64];
	unsigned nr = 0;
	int pid;
	FILE *f;

	snprintf(path, sizeof(path), "%s/children", task);
	f = fopen(path, "re");
	while (f && fscanf(f, "%d", &pid) == 1)
		if (proc_alive(pid) && !is_pmm(pid)) {
			*child = pid;
			nr++;
		}
	if (f)
		fclose(f);
	return nr;
}

/* The only program that it has launched; 0: none, or more than one. */
static pid_t launched_by(pid_t pmm)
{
	struct proc_thread *thread = NULL;
	ssize_t threads = proc_threads(pmm, &thread);
	unsigned nr = 0;
	pid_t child = 0;

	for (ssize_t i = 0; i < threads; i++) {
		char task[48];

		snprintf(task, sizeof(task), "/proc/%d/task/%d", (int)pmm, (int)thread[i].tid);
		nr += children_of(task, &child);
	}
	free(thread);
	return nr == 1 ? child : 0;
}

pid_t meant_process(pid_t pid)
{
	pid_t child = is_pmm(pid) ? launched_by(pid) : 0;
	char comm[PROC_COMM_BYTES] = "";

	if (!child)
		return pid;
	proc_comm(child, comm);
	cmd_note("process %d is pmm, which has launched process %d ('%s'): that is meant", (int)pid,
		 (int)child, comm);
	return child;
}

char *meant_operand(char *text, char room[MEANT_BYTES])
{
	const pid_t n = source_is_process(text) ? proc_parse_pid(text) : 0;
	const pid_t pid = n ? meant_process(n) : 0;

	if (pid == n)
		return text;
	snprintf(room, MEANT_BYTES, "%d", (int)pid);
	return room;
}
