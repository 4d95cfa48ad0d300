/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Failed assertions, and what is done then: the argument is a PMM_REACTION, 4 asks a function that first wants another try. */
#include "order.h"

static int tries;

static int again(void *ctx, const char *text)
{
	printf("asked about %s\n", text);
	return ++*(int *)ctx < 3 ? PMM_RETRY : PMM_IGNORE;
}

int main(int argc, char **argv)
{
	int asked = 0, reaction = argc > 1 ? argv[1][0] - '0' : 0;

	BEGIN();
	pmm_set(PMM_AT_EXIT, 0);
	if (reaction == 4)
		pmm_set_react(again, &asked);
	else
		pmm_set(PMM_REACTION, (size_t)reaction);
	pmm_assert(tries++ >= (reaction == PMM_RETRY ? 2 : 100));
	printf("went on after %d tries\n", tries);
	return 0;
}
