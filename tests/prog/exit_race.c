/*
 * Twenty threads call exit(7) at once while four allocate without pause: ends with status 7 whatever looks at it meanwhile.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *allocate(void *arg)
{
	for (;;)
		free(realloc(malloc(100), 5000));
	return arg;
}

static void *leave(void *arg)
{
	exit(7);
	return arg;
}

int main(void)
{
	pthread_t thread;

	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, allocate, NULL);
	usleep(20000);
	for (int i = 0; i < 20; i++)
		pthread_create(&thread, NULL, leave, NULL);
	pause();
	return 1;
}
