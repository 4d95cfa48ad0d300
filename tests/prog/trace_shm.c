/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace_shm: each call on shared memory once, the program break up, down and too far, a second arena of malloc. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

static void *allocate(void *arg)
{
	free(malloc(100));
	return arg;
}

int main(void)
{
	int id = shmget(IPC_PRIVATE, 8192, IPC_CREAT | 0600), fd;
	void *p = shmat(id, NULL, SHM_RDONLY);
	pthread_t thread;
	char name[64];

	shmdt(p);
	shmdt(p);
	shmctl(id, IPC_RMID, NULL);
	snprintf(name, sizeof(name), "/pmm_trace_shm.%d", (int)getpid());
	fd = shm_open(name, O_CREAT | O_RDWR | O_EXCL, 0600);
	shm_unlink(name);
	close(fd);
	shm_open("/pmm no such name", O_RDWR, 0);
	close(memfd_create("a name", 0));
	pthread_create(&thread, NULL, allocate, NULL);
	pthread_join(thread, NULL);
	sbrk(1 << 20);
	sbrk(-(1 << 19));
	sbrk(1ll << 46);
	return 0;
}
