/* SPDX-License-Identifier: GPL-2.0-or-later
 * Wide strings and memory, strings in the order of a language, memory in memory: right, or `wrong' by one byte or character, or as the
 * string fills its block and lacks its end.
 */
#include <wchar.h>

#include "check_string.h"

/* Six characters, or five and their end. */
static wchar_t *wide(void)
{
	wchar_t *w = wmemset((wchar_t *)block(), L'x', SIZE / sizeof(wchar_t));

	w[SIZE / sizeof(wchar_t) - 1] = more ? L'x' : 0;
	return hide(w);
}

int main(int argc, char **argv)
{
	char *p;
	wchar_t *w;

	begin(argc, argv);
	CALL(wcsncpy(room(), L"1", 6 + more));
	CALL(wcpcpy(room(), more ? L"123456" : L"12345"));
	w = room(), *w = 0, CALL(wcscat(w, more ? L"123456" : L"12345"));
	CALL(wcscmp(wide(), L"xxxxxxxx"));
	CALL(wcsnlen(wide(), 100));
	CALL(wmemmove(room(), L"123456", 6 + more));
	CALL(wmempcpy(room(), L"123456", 6 + more));
	CALL(wmemchr((wchar_t *)block(), L'y', 6 + more));
	w = wide(), CALL(wmemcmp(w, w, 6) + wmemcmp(wmemset((wchar_t *)block(), L'y', 6), L"yyyyyyyy", 6 + more));
	CALL(memmem(block(), SIZE + more, "xy", 2));
	p = block(), p[SIZE - 1] = more ? 'x' : 'y', memset(block(), 'y', SIZE), CALL(rawmemchr(p, 'y'));
	CALL(index(text(), 'y'));
	CALL(rindex(text(), 'y'));
	CALL(strcoll(text(), "xxy"));
	CALL(strcoll("xxy", text()));
	CALL(strxfrm((char *)elsewhere(), text(), 0));
	CALL(strxfrm(room(), elsewhere(), SIZE + more));
	CALL(strxfrm(block(), elsewhere(), opaque(SIZE)));		/* cut off where it ends */
	return 0;
}
