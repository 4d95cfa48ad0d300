/* SPDX-License-Identifier: GPL-2.0-or-later
 * A program whose blocks live for too long. Obeys (attach.h):
 *   l  leaks 3 blocks of 1000 bytes at `leak` -> "leaked"
 *   h  holds 4 blocks of 500 bytes at `hold` -> "held"
 *   u  frees 2 of those -> "freed"
 *   g  from now on 2000 bytes at `grow` every 50 ms -> "grows"
 *   c  from now on 2000 bytes at `cache` every 50 ms until it has 40 such blocks -> "fills"
 *   m  leaks 10 bytes at each of 30 depths of `deep` -> "many"
 *   x  executes `sleep 1000` in its place
 */
#include <poll.h>
#include <stdint.h>
#include <time.h>

#include "attach.h"

SITE static void *leak(void) { return malloc(1000); }
SITE static void *hold(void) { return malloc(500); }
SITE static void *grow(void) { return malloc(2000); }
SITE static void *cache(void) { return malloc(2000); }

SITE static void deep(int n)
{
	if (n)
		deep(n - 1);
	else
		hide(malloc(10));
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* An order, or '\n' when none came until `due` (0: none ever). Time lost is made up for: many in a row come then. */
static char order_until(int64_t due)
{
	int64_t left = due - now_ms();
	int timeout_ms = !due ? -1 : left > 0 ? (int)left : 0;
	struct pollfd p = { .fd = 0, .events = POLLIN };
	char c = '\n';

	if (poll(&p, 1, timeout_ms) == 1 && read(0, &c, 1) != 1)
		c = 0;
	return c;
}

int main(void)
{
	void *held[64];
	unsigned nr_held = 0, cached = 40;
	int growing = 0;
	int64_t due = 0;
	char c = 0;

	say("ready\n");
	do {
		if (!growing && cached >= 40)
			due = 0;
		else if (!due)
			due = now_ms() + 50;
		else if (c == '\n')
			due += 50;
		c = order_until(due);
		if (c == '\n' && growing)
			hide(grow());
		if (c == '\n' && cached < 40 && ++cached)
			hide(cache());
		for (int i = 0; c == 'l' && i < (int)opaque(3); i++)
			hide(leak());
		for (int i = 0; c == 'h' && i < (int)opaque(4); i++)
			held[nr_held++ % 64] = hide(hold());
		for (int i = 0; c == 'm' && i < (int)opaque(30); i++)
			deep(i);
		for (int i = 0; c == 'u' && i < 2; i++)
			free(held[--nr_held]);
		growing |= c == 'g';
		cached = c == 'c' ? 0 : cached;
		if (c == 'x')
			execlp("sleep", "sleep", "1000", (char *)0);
		if (c && c != '\n')
			say(c == 'l' ? "leaked\n" : c == 'h' ? "held\n" : c == 'u' ? "freed\n" : c == 'g' ? "grows\n" :
			    c == 'm' ? "many\n" : "fills\n");
	} while (c);
	return 0;
}
