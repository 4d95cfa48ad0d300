/*
 * Blocks that live for no time, for about 120 ms (bucket 4: 80 ms to 160 ms) and for about 480 ms
 * (bucket 6: 320 to 640).
 *
 * 1000 blocks of `briefly`, 100 of `a_moment`, 50 of `a_while`; on a busy machine a bucket higher.
 */
#include <stdlib.h>
#include <unistd.h>

#include "victim.h"

SITE static void *briefly(void) { return malloc(16); }
SITE static void *a_moment(void) { return malloc(32); }
SITE static void *a_while(void) { return malloc(64); }

int main(void)
{
	void *moment[100], *while_[50];

	for (int i = 0; i < 1000; i++)
		free(hide(briefly()));
	for (int i = 0; i < 50; i++)
		while_[i] = a_while();
	for (int i = 0; i < 100; i++)
		moment[i] = a_moment();
	usleep(120000);
	for (int i = 0; i < 100; i++)
		free(moment[i]);
	usleep(360000);
	for (int i = 0; i < 50; i++)
		free(while_[i]);
	return 0;
}
