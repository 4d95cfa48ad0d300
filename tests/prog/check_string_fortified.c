/* SPDX-License-Identifier: GPL-2.0-or-later
 * What programs built with _FORTIFY_SOURCE call where the compiler knows little: right, or `wrong' by one byte or character.
 */
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wchar.h>

#include "check_string.h"

#define TEXT(name)	char *name(char *to, const char *from, size_t room);
#define TEXT_N(name)	char *name(char *to, const char *from, size_t n, size_t room);
#define MEMORY(name)	void *name(void *to, const void *from, size_t n, size_t room);
#define WIDE(name)	wchar_t *name(wchar_t *to, const wchar_t *from, size_t room);
#define WIDE_N(name)	wchar_t *name(wchar_t *to, const wchar_t *from, size_t n, size_t room);
TEXT(__strcpy_chk) TEXT(__stpcpy_chk) TEXT(__strcat_chk)
TEXT_N(__strncpy_chk) TEXT_N(__stpncpy_chk) TEXT_N(__strncat_chk)
MEMORY(__memcpy_chk) MEMORY(__memmove_chk) MEMORY(__mempcpy_chk)
WIDE(__wcpcpy_chk) WIDE(__wcscat_chk)
WIDE_N(__wmemmove_chk) WIDE_N(__wmempcpy_chk) WIDE_N(__wcsncpy_chk) WIDE_N(__wcsncat_chk)
void *__memset_chk(void *to, int c, size_t n, size_t room);
void __explicit_bzero_chk(void *to, size_t n, size_t room);
wchar_t *__wmemset_chk(wchar_t *to, wchar_t c, size_t n, size_t room);
ssize_t __pread_chk(int fd, void *to, size_t n, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *to, size_t n, off_t at, size_t room);
ssize_t __recv_chk(int fd, void *to, size_t n, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *to, size_t n, size_t room, int flags, struct sockaddr *peer, socklen_t *bytes);
ssize_t __readlink_chk(const char *path, char *to, size_t n, size_t room);
size_t __fread_chk(void *to, size_t room, size_t each, size_t nr, FILE *f);
char *__fgets_chk(char *to, size_t room, int n, FILE *f);
size_t __fread_unlocked_chk(void *to, size_t room, size_t each, size_t nr, FILE *f);
char *__fgets_unlocked_chk(char *to, size_t room, int n, FILE *f);

/* ... with an empty string. */
static void *empty(void) { return memset(room(), 0, sizeof(wchar_t)); }

int main(int argc, char **argv)
{
	size_t large = opaque(1000), n;
	FILE *f = tmpfile();
	int s[2];

	begin(argc, argv);
	n = SIZE + more;
	__strcpy_chk(room(), elsewhere(), large);
	__stpcpy_chk(room(), elsewhere(), large);
	__strcat_chk(empty(), elsewhere(), large);
	__strncpy_chk(room(), elsewhere(), n, large);
	__stpncpy_chk(room(), elsewhere(), n, large);
	__strncat_chk(empty(), elsewhere(), 100, large);
	__memcpy_chk(room(), elsewhere(), n, large);
	__memmove_chk(room(), elsewhere(), n, large);
	__mempcpy_chk(room(), elsewhere(), n, large);
	__memset_chk(room(), 'x', n, large);
	__explicit_bzero_chk(room(), n, large);
	__wcpcpy_chk(room(), more ? L"123456" : L"12345", large);
	__wcscat_chk(empty(), more ? L"123456" : L"12345", large);
	__wcsncat_chk(empty(), L"12345678", 5 + more, large);
	__wcsncpy_chk(room(), L"1", 6 + more, large);
	__wmemmove_chk(room(), L"123456", 6 + more, large);
	__wmempcpy_chk(room(), L"123456", 6 + more, large);
	__wmemset_chk(room(), L'x', 6 + more, large);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s) || write(s[1], elsewhere(), n) < 0 || write(s[1], elsewhere(), n) < 0)
		return 1;
	CALL(__recv_chk(s[0], room(), 1000, large, 0));
	CALL(__recvfrom_chk(s[0], room(), 1000, large, 0, NULL, NULL));
	CALL(fprintf(f, "%.*s\nmore\n", (int)(n - 2), "0123456789012345678901234567890") + fflush(f));
	CALL(__pread_chk(fileno(f), room(), n, 0, large) + __pread64_chk(fileno(f), room(), n, 0, large));
	CALL(fseek(f, 0, SEEK_SET) + (long)__fread_chk(room(), large, 1, n, f) + fseek(f, 0, SEEK_SET));
	CALL(!__fgets_chk(room(), large, 1000, f) + fseek(f, 0, SEEK_SET));
	CALL((long)__fread_unlocked_chk(room(), large, 1, n, f) + fseek(f, 0, SEEK_SET));
	CALL(__fgets_unlocked_chk(room(), large, 1000, f));
	CALL(symlink("twenty-four-bytes-at-most" + !more, "link") + __readlink_chk("link", room(), 1000, large) + unlink("link"));
	return 0;
}
