/* SPDX-License-Identifier: GPL-2.0-or-later
 * Tokens, strings in strings, wide strings and the fortified forms of what reads: right, or `wrong' as the string fills its block
 * and lacks its end.
 */
#include <unistd.h>
#include <wchar.h>

#include "check_string.h"

wchar_t *__wmemcpy_chk(wchar_t *to, const wchar_t *from, size_t n, size_t room);
wchar_t *__wcscpy_chk(wchar_t *to, const wchar_t *from, size_t room);
ssize_t __read_chk(int fd, void *to, size_t n, size_t room);

/* Six characters, or five and their end. */
static wchar_t *wide(void)
{
	wchar_t *w = wmemset((wchar_t *)block(), L'x', SIZE / sizeof(wchar_t));

	w[SIZE / sizeof(wchar_t) - 1] = more ? L'x' : 0;
	return hide(w);
}

int main(int argc, char **argv)
{
	char *rest, *p;
	int fd[2];

	begin(argc, argv);
	CALL(strtok(text(), ","));
	CALL(strtok_r(text(), "x", &rest));
	p = text(), CALL(strsep(&p, ","));
	p = block(), p[3] = p[9] = ',', CALL(strtok(p, ",") == p), CALL(strtok(NULL, ",") == p + 4);	/* no token goes as far */
	CALL(strcasestr(text(), "XY"));
	CALL(strcasestr(block(), "XX"));
	CALL(wcsncmp(wide(), L"xxxxxxxx", 8));
	CALL(wcschr(wide(), L'y'));
	CALL(wcschr(wide(), L'x'));
	CALL(wcsrchr(wide(), L'y'));
	CALL(wcsstr(wide(), L"xy"));
	CALL(wcsncat(wmemset(room(), 0, 1), L"12345678", 5 + more));
	__wmemcpy_chk(room(), L"123456", opaque(6 + more), opaque(100));
	__wcscpy_chk(room(), more ? L"123456" : L"12345", opaque(100));
	return pipe(fd) || write(fd[1], elsewhere(), SIZE + more) < 0 || __read_chk(fd[0], room(), 1000, opaque(1000)) < SIZE;
}
