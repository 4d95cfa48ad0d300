/* SPDX-License-Identifier: GPL-2.0-or-later
 * Memory that a copy does not have: copy_odd. Prints the addresses of four pages, each of which begins with its number, 1 to 4: one
 * that is not copied (MADV_DONTFORK), one that a copy gets empty (MADV_WIPEONFORK), one that may not be read (PROT_NONE), one as any other
 * with nothing mapped behind it. With the argument uffd it has a userfaultfd that tells of forks, and a fifth, behind which is one that nobody
 * brings; with filter one may not make children.
 * Ends with 7.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "no_children.h"

/* Nobody brings what is missing in the page. */
static int told_of_forks(const char *page)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_EVENT_FORK };
	struct uffdio_register missing = { .range = { (uintptr_t)page, 4096 }, .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	return fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &missing);
}

int main(int argc, char **argv)
{
	char *page[5], *brought, c;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 0; i < 5; i++) {	/* apart from each other */
		page[i] = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		munmap(page[i] + 4096, 4096);
		*(uint64_t *)(void *)page[i] = (uint64_t)i + 1;
	}
	if (madvise(page[0], 4096, MADV_DONTFORK) || madvise(page[1], 4096, MADV_WIPEONFORK) || mprotect(page[2], 4096, PROT_NONE))
		return 1;
	brought = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(brought + 12288, 4096);
	*(uint64_t *)(void *)brought = 5;
	if ((argc > 1 && !strcmp(argv[1], "uffd") && told_of_forks(brought + 4096)) || (argc > 1 && !strcmp(argv[1], "filter") && no_children())) {
		puts("cannot");
		return 7;
	}
	printf("%p %p %p %p", (void *)page[0], (void *)page[1], (void *)page[2], (void *)page[3]);
	if (argc > 1)
		printf(" %p", (void *)brought);
	puts("");
	while (read(0, &c, 1) > 0)
		;
	return 7;
}
