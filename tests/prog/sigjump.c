/* SPDX-License-Identifier: GPL-2.0-or-later
 * A timer whose handler jumps out of whatever main is doing, most often out of malloc or free, 2000
 * times. The allocator (libbump.so) allows that. What was under way at a jump may or may not count;
 * everything before and after must.
 *
 * expect:
 *   own before   allocs=1000 frees=0 bytes=17000 live=17000 blocks=1000
 *   own after    allocs=1000 frees=500 bytes=18000 live=9000 blocks=500
 */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "victim.h"

static sigjmp_buf back;

SITE static void *before(void) { return malloc(17); }
SITE static void *during(size_t bytes) { return malloc(bytes); }
SITE static void *after(void) { return malloc(18); }

static void handler(int sig)
{
	siglongjmp(back, sig);
}

int main(void)
{
	struct itimerval every = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction sa = { .sa_handler = handler };
	static volatile int jumps;

	for (int i = 0; i < 1000; i++)
		hide(before());
	sigaction(SIGALRM, &sa, NULL);
	if (!sigsetjmp(back, 1))
		setitimer(ITIMER_REAL, &every, NULL);
	if (jumps++ < 2000)
		for (size_t n = 0;; n++)
			free(hide(during(n % 100)));
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	for (int i = 0; i < 1000; i++) {
		void *p = hide(after());

		if (i & 1)
			free(p);
	}
	return write(1, "unharmed\n", 9) != 9;
}
