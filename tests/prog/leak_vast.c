/*
 * Large blocks that are mostly untouched: BLOCKS GIB [whole]. Each but the first holds the only pointer to the one before, and each the only one to
 * a block of 77 bytes, in its last word; one word in each GiB is written besides. A static variable points to the last. A block of 78 bytes
 * is definitely lost. With "whole" all of the blocks is written, and a filter forbids to make children.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define LEAK_THREADS	/* a main() of its own */
#include "leak.h"

#define GIB	(1ul << 30)

static void **last;
static bool whole;

static int no_children(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

SITE static void small(void **at) { *at = make(77); }
SITE static void lost(void) { hide(make(78)); }

SITE static void vast(size_t gib)
{
	void **block = hide(malloc(gib * GIB));

	if (!block)
		_exit(98);
	if (whole)
		memset(block, 0, gib * GIB);
	for (size_t at = 0; at < gib; at++)
		block[at * GIB / 8] = NULL;
	block[0] = (void *)last;
	small(&block[gib * GIB / 8 - 1]);
	last = block;
}

int main(int argc, char **argv)
{
	int blocks = argc > 2 ? atoi(argv[1]) : 0;

	whole = argc > 3;
	if (whole && no_children())
		return 1;
	say("ready\n");
	while (rest(0)) {
		for (int i = 0; i < blocks; i++)
			vast(strtoul(argv[2], NULL, 10));
		lost();
		scrub();
		say("done\n");
	}
	exit(0);
}
