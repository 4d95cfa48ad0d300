/* SPDX-License-Identifier: GPL-2.0-or-later
 * String functions and their like on random texts, each in a block that is just large enough: nothing must be found, and what they return and
 * write must be what it is without pmm.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <wchar.h>

#define ROUNDS	100
#define MOST	12

char *__strtok_r(char *s, const char *set, char **rest);

static uint32_t seed = 1;

static unsigned any(unsigned below)
{
	seed = seed * 1664525 + 1013904223;
	return (unsigned)((uint64_t)(seed >> 4) * below >> 28);
}

/* ---- blocks that are just large enough */
static void *blocks[64];
static unsigned nr_blocks;

static void *block(size_t bytes)
{
	return blocks[nr_blocks++] = malloc(bytes);
}

static void release(void)
{
	while (nr_blocks)
		free(blocks[--nr_blocks]);
}

static char *text_of(unsigned n)
{
	char *s = block(n + 1);

	for (unsigned i = 0; i < n; i++)
		s[i] = "abAB,"[any(5)];
	s[n] = 0;
	return s;
}

static char *text(void)
{
	return text_of(any(MOST));
}

static wchar_t *wide(void)
{
	unsigned n = any(MOST);
	wchar_t *w = block((n + 1) * sizeof(*w));

	for (unsigned i = 0; i < n; i++)
		w[i] = L"ab\x1234"[any(3)];
	w[n] = 0;
	return w;
}

static void *same(const void *p, size_t n)
{
	return memcpy(block(n), p, n);
}

static char *room(size_t n)
{
	char *p = block(n);

	memset(p, '#', n);
	return p;
}

static wchar_t *wide_room(size_t n)
{
	wchar_t *p = block(n * sizeof(*p));

	for (size_t i = 0; i < n; i++)
		p[i] = L'#';
	return p;
}

/* ---- what came of it */
static void number(const char *of, long n)
{
	printf("%s %ld\n", of, n);
}

static void order(const char *of, int n)
{
	number(of, (n > 0) - (n < 0));
}

/* A place in memory that begins at `from`. */
static void place(const char *of, const void *p, const void *from)
{
	number(of, p ? (const char *)p - (const char *)from : -1);
}

static void bytes(const char *of, const void *p, size_t n)
{
	printf("%s ", of);
	for (size_t i = 0; i < n; i++)
		printf("%02x", ((const unsigned char *)p)[i]);
	putchar('\n');
}

/* ---- by kind */
/* More than there is may be asked for where the function stops before. */
static void stops_before(void)
{
	char *s = text_of(1 + any(MOST)), *t = text(), *p;
	wchar_t *w = wide(), *v = wide();
	size_t n = strlen(s), at = any((unsigned)n), much = 1000 + any(1000), m = wcslen(w);

	number("strnlen", (long)strnlen(s, much));
	order("strncmp", strncmp(s, t, much));
	order("strncasecmp", strncasecmp(s, t, much));
	place("memchr", memchr(s, s[at], much), s);
	p = room(n), place("memccpy", memccpy(p, s, s[at], much), p), bytes("memccpy", p, n);
	p = strndup(s, much), blocks[nr_blocks++] = p, bytes("strndup", p, n + 1);
	p = room(n + 1), *p = 0, place("strncat", strncat(p, s, much), p), bytes("strncat", p, n + 1);
	number("wcsnlen", (long)wcsnlen(w, much));
	order("wcsncmp", wcsncmp(w, v, much));
	place("wmemchr", wmemchr(w, w[any((unsigned)m + 1)], much), w);
	printf("%.*s %.*ls\n", (int)much, s, (int)much, m && w[0] < 128 ? L"wide" : L"other");
}

static void looked_at(void)
{
	char *s = text(), *t = text(), *set = text_of(any(3));
	int c = "ab,x"[any(4)];
	size_t n = any(MOST + 4);

	number("strlen", (long)strlen(s));
	number("strnlen", (long)strnlen(s, n));
	order("strcmp", strcmp(s, t));
	order("strncmp", strncmp(s, t, n));
	order("strcasecmp", strcasecmp(s, t));
	order("strncasecmp", strncasecmp(s, t, n));
	order("strcoll", strcoll(s, t));
	place("strchr", strchr(s, c), s);
	place("strchr end", strchr(s, 0), s);
	place("index", index(s, c), s);
	place("strchrnul", strchrnul(s, c), s);
	place("strrchr", strrchr(s, c), s);
	place("rindex", rindex(s, c), s);
	place("strstr", strstr(s, set), s);
	place("strcasestr", strcasestr(s, set), s);
	number("strspn", (long)strspn(s, set));
	number("strcspn", (long)strcspn(s, set));
	place("strpbrk", strpbrk(s, set), s);
}

static void copied(void)
{
	char *s = text(), *t = text(), *p;
	size_t n = strlen(s), m = strlen(t), some = any(MOST + 4), less = some < n ? some : n;

	p = room(n + 1), place("strcpy", strcpy(p, s), p), bytes("strcpy", p, n + 1);
	p = room(n + 1), place("stpcpy", stpcpy(p, s), p), bytes("stpcpy", p, n + 1);
	p = room(some), place("strncpy", strncpy(p, s, some), p), bytes("strncpy", p, some);
	p = room(some), place("stpncpy", stpncpy(p, s, some), p), bytes("stpncpy", p, some);
	p = room(n + m + 1), strcpy(p, t), place("strcat", strcat(p, s), p), bytes("strcat", p, n + m + 1);
	p = room(less + m + 1), strcpy(p, t), place("strncat", strncat(p, s, some), p), bytes("strncat", p, less + m + 1);
	p = strdup(s), blocks[nr_blocks++] = p, bytes("strdup", p, n + 1);
	p = strndup(s, some), blocks[nr_blocks++] = p, bytes("strndup", p, less + 1);
	n = strxfrm(NULL, s, 0), number("strxfrm", (long)n);
	p = room(n + 1), number("strxfrm", (long)strxfrm(p, s, n + 1)), bytes("strxfrm", p, n + 1);
	p = room(some), number("strxfrm", (long)strxfrm(p, s, some));
}

static void cut(void)
{
	char *s = text(), *t = same(s, strlen(s) + 1), *u = same(s, strlen(s) + 1), *v = same(s, strlen(s) + 1), *at = v, *rest = NULL, *p;
	const char *sets[] = { ",", "aA", "" };
	const char *set = sets[any(3)];
	size_t n = strlen(s) + 1;

	for (p = strtok(s, set); p; p = strtok(NULL, set))
		place("strtok", p, s), number("strtok", (long)strlen(p));
	for (p = strtok_r(t, set, &rest); p; p = strtok_r(NULL, set, &rest))
		place("strtok_r", p, t), place("strtok_r rest", rest, t);
	for (p = __strtok_r(u, set, &rest); p; p = __strtok_r(NULL, set, &rest))
		place("__strtok_r", p, u), place("__strtok_r rest", rest, u);
	while ((p = strsep(&at, set)))
		place("strsep", p, v), place("strsep rest", at, v);
	bytes("strtok", s, n), bytes("strtok_r", t, n), bytes("__strtok_r", u, n), bytes("strsep", v, n);
}

static void of_memory(void)
{
	size_t n = any(MOST), k = any(MOST) % (n + 1);
	char *s = text_of((unsigned)n), *t = text_of((unsigned)n), *what = text_of(any(3)), *p;
	int c = "abA,x"[any(5)];

	p = room(n), place("memcpy", memcpy(p, s, n), p), bytes("memcpy", p, n);
	p = room(n), place("mempcpy", mempcpy(p, s, n), p), bytes("mempcpy", p, n);
	p = same(s, n), place("memmove", memmove(p + k, p, n - k), p), bytes("memmove", p, n);
	p = same(s, n), memmove(p, p + k, n - k), bytes("memmove", p, n);
	p = same(s, n), bcopy(p, p + k, n - k), bytes("bcopy", p, n);
	p = room(n), place("memset", memset(p, c, k), p), bytes("memset", p, n);
	p = room(n), bzero(p, k), bytes("bzero", p, n);
	p = room(n), explicit_bzero(p + k, n - k), bytes("explicit_bzero", p, n);
	p = room(n), place("memccpy", memccpy(p, s, c, n), p), bytes("memccpy", p, n);
	place("memchr", memchr(s, c, n), s);
	place("memrchr", memrchr(s, c, n), s);
	place("rawmemchr", rawmemchr(s, s[any((unsigned)n + 1)]), s);
	place("memmem", memmem(s, n, what, strlen(what)), s);
	order("memcmp", memcmp(s, t, n));
	number("bcmp", bcmp(s, t, n) != 0);
	number("memcmp same", memcmp(s, same(s, n + 1), n + 1));
}

static void of_wide(void)
{
	wchar_t *s = wide(), *t = wide(), *p;
	size_t n = wcslen(s), m = wcslen(t), some = any(MOST + 4), less = some < n ? some : n, k = any(MOST) % (n + 1);
	const size_t each = sizeof(*s);
	wchar_t c = L"ab\x1234x"[any(4)], what[2] = { c, 0 };

	number("wcslen", (long)n);
	number("wcsnlen", (long)wcsnlen(s, some));
	order("wcscmp", wcscmp(s, t));
	order("wcsncmp", wcsncmp(s, t, some));
	place("wcschr", wcschr(s, c), s);
	place("wcsrchr", wcsrchr(s, c), s);
	place("wcsstr", wcsstr(s, what), s);
	place("wmemchr", wmemchr(s, c, n), s);
	order("wmemcmp", wmemcmp(s, t, n < m ? n : m));
	p = wide_room(n + 1), place("wcscpy", wcscpy(p, s), p), bytes("wcscpy", p, (n + 1) * each);
	p = wide_room(n + 1), place("wcpcpy", wcpcpy(p, s), p), bytes("wcpcpy", p, (n + 1) * each);
	p = wide_room(some), place("wcsncpy", wcsncpy(p, s, some), p), bytes("wcsncpy", p, some * each);
	p = wide_room(n + m + 1), wcscpy(p, t), place("wcscat", wcscat(p, s), p), bytes("wcscat", p, (n + m + 1) * each);
	p = wide_room(less + m + 1), wcscpy(p, t), place("wcsncat", wcsncat(p, s, some), p), bytes("wcsncat", p, (less + m + 1) * each);
	p = wide_room(n), place("wmemcpy", wmemcpy(p, s, n), p), bytes("wmemcpy", p, n * each);
	p = wide_room(n), place("wmempcpy", wmempcpy(p, s, n), p), bytes("wmempcpy", p, n * each);
	p = same(s, n * each), place("wmemmove", wmemmove(p + k, p, n - k), p), bytes("wmemmove", p, n * each);
	p = wide_room(n), place("wmemset", wmemset(p, c, k), p), bytes("wmemset", p, n * each);
}

static int print(char *to, size_t n, const char *format, ...)
{
	va_list list;
	int got;

	va_start(list, format);
	got = n ? vsnprintf(to, n, format, list) : vsprintf(to, format, list);
	va_end(list);
	return got;
}

static void printed(void)
{
	char *s = text(), *t = text(), *p;
	size_t n = strlen(s) + strlen(t) + 5, some = 1 + any(20);	/* "12:S/T" and its end */

	p = room(n), number("sprintf", sprintf(p, "%d:%s/%s", 12, s, t)), bytes("sprintf", p, n);
	p = room(some), number("snprintf", snprintf(p, some, "%d:%s/%s", 12, s, t)), bytes("snprintf", p, some);
	p = room(n), number("vsprintf", print(p, 0, "%d:%s/%s", 12, s, t)), bytes("vsprintf", p, n);
	p = room(some), number("vsnprintf", print(p, some, "%d:%s/%s", 12, s, t)), bytes("vsnprintf", p, some);
	number("snprintf", snprintf(NULL, 0, "%.*s %5.2f %lc", (int)some, s, some / 7.0, (wint_t)L'w'));
}

static void of_files(int fd[2], int pair[2])
{
	size_t n = 1 + any(MOST), k = any((unsigned)n);
	char *s = text_of((unsigned)n), *p;
	struct iovec parts[2] = { { s, k }, { s + k, n - k } };
	struct msghdr m = { .msg_iov = parts, .msg_iovlen = 2 };

	number("write", write(fd[1], s, n)), p = room(n), number("read", read(fd[0], p, n)), bytes("read", p, n);
	number("writev", writev(fd[1], parts, 2)), p = room(n);
	parts[0].iov_base = p, parts[1].iov_base = p + k, number("readv", readv(fd[0], parts, 2)), bytes("readv", p, n);
	number("send", send(pair[1], s, n, 0)), p = room(n), number("recv", recv(pair[0], p, n, 0)), bytes("recv", p, n);
	parts[0].iov_base = s, parts[1].iov_base = s + k, number("sendmsg", sendmsg(pair[1], &m, 0)), p = room(n);
	parts[0].iov_base = p, parts[1].iov_base = p + k, number("recvmsg", recvmsg(pair[0], &m, 0)), bytes("recvmsg", p, n);
	number("sendto", sendto(pair[1], s, n, 0, NULL, 0)), p = room(n);
	number("recvfrom", recvfrom(pair[0], p, n, 0, NULL, NULL)), bytes("recvfrom", p, n);
	number("pread", pread(fd[0], p, n, 0)), number("pwrite", pwrite(fd[1], p, n, 0));	/* pipes cannot */
	number("read", read(-1, p, n)), number("recv", recv(-1, p, n, 0));
	p = room(n), number("readlink", readlink("/proc/self/cwd/../no such", p, n));
	p = room(4096), number("realpath", realpath("/../", p) == p), bytes("realpath", p, 2);
	p = room(3), number("getcwd", chdir("/") || getcwd(p, 3) != p), bytes("getcwd", p, 2);
}

int main(void)
{
	int fd[2], pair[2];

	if (pipe(fd) || socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
		return 1;
	for (unsigned i = 0; i < ROUNDS; i++) {
		looked_at(), release();
		stops_before(), release();
		copied(), release();
		cut(), release();
		of_memory(), release();
		of_wide(), release();
		printed(), release();
		of_files(fd, pair), release();
	}
	return 0;
}
