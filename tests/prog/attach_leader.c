/* SPDX-License-Identifier: GPL-2.0-or-later */ /* The program of attach_victim.c, run by another thread than the first one, which has ended. */
#include <pthread.h>

#define main victim_main
#include "attach_victim.c"
#undef main

static int nr_arguments;

static void *run(void *arguments)
{
	exit(victim_main(nr_arguments, arguments));
}

int main(int argc, char **argv)
{
	pthread_t thread;

	nr_arguments = argc;
	if (pthread_create(&thread, NULL, run, argv))
		return 1;
	pthread_exit(NULL);
}
