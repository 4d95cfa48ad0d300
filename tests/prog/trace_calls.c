/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace_calls N [wait]: N times each of mmap, mprotect, madvise, mremap, munmap, and N calls that fail; then a child that does the same once. */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void calls(int n)
{
	while (n--) {
		char *p = mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		mprotect(p, 1 << 20, PROT_READ | PROT_WRITE);
		madvise(p, 1 << 20, MADV_DONTNEED);
		p = mremap(p, 1 << 20, 3 << 20, MREMAP_MAYMOVE);
		munmap(p, 3 << 20);
		munmap((void *)1, 4096);
	}
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	pid_t child;

	if (argc > 2)
		usleep(100000);
	calls(n);
	child = fork();
	if (!child) {
		calls(1);
		_exit(5);
	}
	waitpid(child, NULL, 0);
	return 3;
}
