/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Programs that fill what malloc_usable_size() says there is, and resize: no error, no byte of theirs changed. <immintrin.h> comes behind pmm.h. */
#include "order.h"
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

static int nr_wrong;

/* Fill all of it, have it moved, and look at what was there. */
static void use(void *start, size_t least, size_t more)
{
	size_t all = malloc_usable_size(start), i;
	unsigned char *p = (unsigned char *)start;

	nr_wrong += all < least;
	memset(p, 0x55, all);
	p = (unsigned char *)realloc(p, all + more);
	for (i = 0; i < all; i++)
		nr_wrong += p[i] != 0x55;
	all = malloc_usable_size(p);
	memset(p, 0xAA, all);
	pmm_check_block(p);
	free(p);
}

/* What a child is told of a block of its parent's. */
static int size_in_child(size_t size)
{
	void *p = malloc(size);
	int status = -1;
	pid_t child = fork();

	if (!child) {
		free(malloc(1));	/* in the full form it has a ledger of its own now */
		_exit((int)malloc_usable_size(p));
	}
	waitpid(child, &status, 0);
	free(p);
	return WEXITSTATUS(status);
}

static void use_all(void)
{
	size_t size, more;
	void *aligned;

	for (size = 1; size < 200; size++)
		for (more = 1; more < 400; more += 19) {
			use(malloc(size), size, more);
			use(calloc(1, size), size, more);
			if (!posix_memalign(&aligned, 16, size))
				use(aligned, size, more);
		}
}

int main(void)
{
	struct pmm_stats stats;
	void *real = (malloc)(20);

	BEGIN();
	pmm_set(PMM_AT_EXIT, 0);
	use_all();
	pmm_set(PMM_CANARY, PMM_BEHIND | PMM_BEFORE);
	use_all();
	printf("%d in a child, ", size_in_child(20));
	pmm_get_stats(&stats);
	printf("%d wrong, %d errors, %d live, none %d, untracked %d\n", nr_wrong, (int)stats.nr_errors, (int)stats.nr_live,
		(int)malloc_usable_size(NULL), malloc_usable_size(real) == (malloc_usable_size)(real));
	(free)(real);
	return 0;
}
