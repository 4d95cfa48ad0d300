/* SPDX-License-Identifier: GPL-2.0-or-later
 * 1000 blocks that live for no time (briefly), 100 for 170 ms (a_moment; bucket 5: 160 to 320 ms)
 * and 50 for 660 ms (a_while; bucket 7: 640 to 1280 ms).
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
	usleep(170000);
	for (int i = 0; i < 100; i++)
		free(moment[i]);
	usleep(490000);
	for (int i = 0; i < 50; i++)
		free(while_[i]);
	return 0;
}
