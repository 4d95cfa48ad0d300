/* SPDX-License-Identifier: GPL-2.0-or-later
 * Text printed into a block, wide characters, what is read from elsewhere: right, or `wrong' by one byte or character.
 */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <wchar.h>

#include "check_string.h"

static void print(char *to, size_t n, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	if (n)
		vsnprintf(to, n, format, list);
	else
		vsprintf(to, format, list);
	va_end(list);
}

int main(int argc, char **argv)
{
	wchar_t *w[4], other[16] = L"other";
	double part = 0.5;
	int fd[2];

	begin(argc, argv);
	for (int i = 0; i < 4; i++)
		w[i] = wmemset((wchar_t *)block(), L'x', SIZE / sizeof(wchar_t)), w[i][more ? 4 : 5] = more && i != 1 ? L'x' : 0;
	printf("%d ", sprintf(block(), "%.3f %.*s", part, (int)(SIZE - 7 + more), elsewhere()));
	printf("%d ", snprintf(block(), SIZE + more, "%g %s and more", part, elsewhere()));
	printf("%d\n", snprintf(block(), 1000, "%g%g%g%g%g%g%d", part, part, part, part, part, part, 77777));
	print(block(), SIZE + more, "%g %s and more", part, elsewhere());
	print(block(), 0, "%s", elsewhere());
	CALL(wcslen(w[0]));
	wcscpy(w[1], more ? L"123456" : L"12345");
	wmemcpy(w[2], other, 6 + more);
	wmemset(w[3], L'y', 6 + more);
	if (pipe(fd) || write(fd[1], other, SIZE + more) < 0 || read(fd[0], block(), 1000) < SIZE)
		return 1;
	return 0;
}
