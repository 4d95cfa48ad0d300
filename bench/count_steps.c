/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions in the agent's code, counted one by one: count_steps.h.
 */
#include "bench/count_steps.h"

#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define TRAP_FLAG "0x100"

/* Below the red zone: the compiler may have values there. */
#define CHANGE_FLAGS(HOW)								\
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"					\
			 "pushfq\n\t" HOW ", (%%rsp)\n\tpopfq\n\t"			\
			 "lea 128(%%rsp), %%rsp" : : : "memory", "cc")

static uintptr_t code, code_bytes;
static unsigned long count;
static pid_t monitor;

static void stepped(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *u = context;

	(void)signal;
	(void)info;
	count += (uintptr_t)u->uc_mcontext.gregs[REG_RIP] - code < code_bytes;
}

/* The code of the agent, if this is its module. */
static int look_for_code(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	if (!strstr(info->dlpi_name, "libpmm.so"))
		return 0;
	for (unsigned k = 0; k < info->dlpi_phnum; k++) {
		if (info->dlpi_phdr[k].p_type != PT_LOAD || !(info->dlpi_phdr[k].p_flags & PF_X))
			continue;
		code = info->dlpi_addr + info->dlpi_phdr[k].p_vaddr;
		code_bytes = info->dlpi_phdr[k].p_memsz;
	}
	return 1;
}

/* The parent, if it is `pmm`; 0: it is not. */
static pid_t find_monitor(void)
{
	char path[64], name[16] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)getppid());
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	return strcmp(name, "pmm\n") ? 0 : getppid();
}

int step_begin(void)
{
	struct sigaction sa = { .sa_sigaction = stepped, .sa_flags = SA_SIGINFO | SA_RESTART };

	dl_iterate_phdr(look_for_code, NULL);
	monitor = find_monitor();
	if (!code_bytes || !monitor) {
		fputs("bench: steps are counted under pmm run only\n", stderr);
		return -1;
	}
	if (sigaction(SIGTRAP, &sa, NULL) || kill(monitor, SIGSTOP)) {
		perror("bench: no steps");
		return -1;
	}
	count = 0;
	CHANGE_FLAGS("orq $" TRAP_FLAG);
	return 0;
}

unsigned long step_end(void)
{
	CHANGE_FLAGS("andq $~" TRAP_FLAG);
	kill(monitor, SIGCONT);
	return count;
}
