/* SPDX-License-Identifier: GPL-2.0-or-later
 * Names that the kernel and the C library tell: right, or `wrong' as the block is one byte too small and said to be larger.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "check_string.h"

char *__getcwd_chk(char *to, size_t n, size_t room);
ssize_t __readlinkat_chk(int dir, const char *path, char *to, size_t n, size_t room);
char *__realpath_chk(const char *path, char *to, size_t room);
int __gethostname_chk(char *to, size_t n, size_t room);

/* A block for `what` and its end, or without the latter. */
static char *name(const char *what) { return hide(malloc(strlen(what) + 1 - more)); }

int main(int argc, char **argv)
{
	char host[256], *p;
	long sum;

	begin(argc, argv);
	sum = symlink("twenty-four-bytes-at-most" + !more, "link");
	sum += readlinkat(AT_FDCWD, "link", block(), 1000);
	sum += __readlinkat_chk(AT_FDCWD, "link", block(), 1000, opaque(1000)) + unlink("link");
	if (gethostname(host, sizeof(host)) || chdir("/"))
		return 1;
	sum += gethostname(name(host), sizeof(host)) + __gethostname_chk(name(host), sizeof(host), opaque(1000));
	p = getcwd(name("/"), 1000), sum += *p;
	p = __getcwd_chk(name("/"), 1000, opaque(1000)), sum += *p;
	p = realpath("/usr/..", name("/")), sum += *p;
	p = __realpath_chk("/usr/..", name("/"), opaque(PATH_MAX)), sum += *p;
	p = realpath("/", NULL), sum += *p, free(p);
	printf("%ld\n", sum);
	return 0;
}
