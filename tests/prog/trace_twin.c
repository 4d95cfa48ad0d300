/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_twin NAME FILE [THEN...]: waits for a line from standard input, then in its first thread and in one that is called "aside":
 * 3 mmap, 3 munmap, 1 shmget, an open of FILE, 40 page faults, a child that ends with status 7, and one that dies of SIGSEGV. In between does THEN:
 * "setuid UID", "name NAME", "group DIRECTORY", or executes itself with "exec". Before it waits, it starts "child NAME" with the same FILE.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES	(40 * 4096)

static const char *file;

static void child(int sig)
{
	pid_t pid = fork();

	if (!pid && sig)
		*(volatile char *)64 = 1;
	if (!pid)
		_exit(7);
	waitpid(pid, NULL, 0);
}

/* Nothing else faults in here: the kernel may have taken the stack's or the code's pages meanwhile. */
static __attribute__((noinline)) void fill(volatile char *p)
{
	for (int at = 0; at < BYTES; at += 4096)
		p[at] = 1;
}

static void *dose(void *aside)
{
	if (aside)
		prctl(PR_SET_NAME, "aside");
	for (int i = 0; i < 3; i++) {
		char *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		madvise(p, BYTES, MADV_NOHUGEPAGE);
		if (!i)
			fill(p);
		munmap(p, BYTES);
	}
	shmctl(shmget(IPC_PRIVATE, BYTES, 0600), IPC_RMID, NULL);
	close(open(file, O_RDONLY));
	child(0);
	child(SIGSEGV);
	return NULL;
}

static void both(void)
{
	pthread_t thread;

	dose(NULL);
	pthread_create(&thread, NULL, dose, "");
	pthread_join(thread, NULL);
}

static void then(char **argv)
{
	char path[256];
	FILE *f;

	if (!strcmp(argv[0], "setuid"))
		_exit(setuid(atoi(argv[1])) ? 1 : (both(), 0));
	if (!strcmp(argv[0], "name"))
		prctl(PR_SET_NAME, argv[1]);
	if (!strcmp(argv[0], "exec"))
		execl("/proc/self/exe", argv[1], argv[1], file, NULL);
	snprintf(path, sizeof(path), "%s/cgroup.procs", argv[1]);
	f = fopen(path, "w");
	if (f)
		fprintf(f, "%d", (int)getpid()), fclose(f);
	both();
}

int main(int argc, char **argv)
{
	char line[16];

	file = argv[2];
	prctl(PR_SET_NAME, argv[1]);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	if (argc > 4 && !strcmp(argv[3], "child") && !fork())
		prctl(PR_SET_NAME, argv[4]);
	if (read(0, line, 1) != 1)
		return 1;
	both();
	if (argc > 4 && strcmp(argv[3], "child"))
		then(argv + 3);
	while (wait(NULL) > 0)
		continue;
	return 0;
}
