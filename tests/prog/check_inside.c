/* SPDX-License-Identifier: GPL-2.0-or-later
 * Accesses to released blocks made by functions that pmm looks at, or by what these call. `pmm check` finds a use after free in each function
 * below but main (in in_posix_memalign a write, elsewhere a read), and no stack has a frame of the agent.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define HERE(name, call) __attribute__((noinline)) static void name(void) { call; __asm__ volatile("" ::: "memory"); }

static char text[256], *volatile gone;
static volatile size_t many;

HERE(in_snprintf, snprintf(text, sizeof(text), "%.9s", gone))
HERE(in_strlen, many = strlen(gone + 4096))
HERE(in_strcmp, many = (size_t)strcmp(gone, text))
HERE(in_memcpy, memcpy(text, gone, many))
HERE(in_wcslen, many = wcslen((wchar_t *)gone))
HERE(in_strdup, free(strdup(gone)))
HERE(in_posix_memalign, many = (size_t)posix_memalign((void **)gone, 64, 64))
HERE(in_sigaction, sigaction(SIGUSR1, (struct sigaction *)gone, NULL))
HERE(in_sigprocmask, sigprocmask(SIG_BLOCK, (sigset_t *)gone, NULL))

int main(void)
{
	static void (*const all[])(void) = {
		in_snprintf, in_strlen, in_strcmp, in_memcpy, in_wcslen, in_strdup, in_posix_memalign, in_sigaction, in_sigprocmask,
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		many = 20;
		gone = calloc(1, 160 + i);
		free(gone);
		all[i]();
	}
	return 0;
}
