/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Odd places to call from: before main, a handler that hits pmm in the midst, a child, blocks of and to code without the header, after exit. */
#include "order.h"
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t ticks;
static void *early;

__attribute__((constructor)) static void before_main(void)
{
	early = malloc(5);
}

static void after_exit(void)	/* runs after pmm's own handler: that is registered later */
{
	free(malloc(77));
	free(early);
}

static void tick(int signo)
{
	(void)signo;
	pmm_check();
	pmm_report(0);
	pmm_trace("%s", "");
	ticks++;
}

static void storm(void)
{
	struct itimerval every = { { 0, 200 }, { 0, 200 } }, never = { { 0, 0 }, { 0, 0 } };
	void *p[100] = { NULL };
	unsigned i;

	signal(SIGALRM, tick);
	setitimer(ITIMER_REAL, &every, NULL);
	for (i = 0; ticks < 300; i++) {
		free(p[i % 100]);
		p[i % 100] = malloc(i % 500);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	for (i = 0; i < 100; i++)
		free(p[i]);
}

int main(void)
{
	struct pmm_stats stats;
	char *line = NULL, *text;
	size_t room = 0;
	FILE *file;
	int status = 0;

	BEGIN();
	atexit(after_exit);
	file = fmemopen((char[]){ "a line that is read\n" }, 20, "r");
	if (!file || getline(&line, &room, file) != 20)
		return 1;
	fclose(file);
	free(line);			/* the library's block, at an address that was never ours */
	storm();
	text = strdup("ours");
	(free)(text);			/* ours, by code without the header */
	if (fork() == 0) {
		free(malloc(10));
		pmm_get_stats(&stats);
		_exit(stats.nr_live <= 2 ? 0 : 1);
	}
	wait(&status);
	pmm_get_stats(&stats);
	printf("enough ticks: %d, child %d, %d live, %d of a library, %d errors, %d passed\n", ticks >= 300, WEXITSTATUS(status),
		(int)stats.nr_live, (int)stats.nr_foreign, (int)stats.nr_errors, (int)stats.nr_passed);
	fflush(stdout);
	pmm_set(PMM_AT_EXIT, 0);
	pmm_report_on(SIGUSR1, PMM_BLOCKS);
	raise(SIGUSR1);
	return 0;
}
