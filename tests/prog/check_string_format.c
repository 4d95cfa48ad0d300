/* SPDX-License-Identifier: GPL-2.0-or-later
 * Strings that are printed: of a block that they fill, `wrong' as they lack their end. As many characters of it as it has may be asked for.
 */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <wchar.h>

#include "check_string.h"

int __vprintf_chk(int flag, const char *format, va_list list);
int __vfprintf_chk(FILE *f, int flag, const char *format, va_list list);
int __vdprintf_chk(int fd, int flag, const char *format, va_list list);
int __vasprintf_chk(char **to, int flag, const char *format, va_list list);
int __vsprintf_chk(char *to, int flag, size_t buffer, const char *format, va_list list);
int __vsnprintf_chk(char *to, size_t n, int flag, size_t buffer, const char *format, va_list list);
int __printf_chk(int flag, const char *format, ...);
int __fprintf_chk(FILE *f, int flag, const char *format, ...);
int __dprintf_chk(int fd, int flag, const char *format, ...);
int __asprintf_chk(char **to, int flag, const char *format, ...);
int __sprintf_chk(char *to, int flag, size_t buffer, const char *format, ...);
int __snprintf_chk(char *to, size_t n, int flag, size_t buffer, const char *format, ...);

static FILE *null;
static char *made, buffer[1000];

/* Each function with a list, with that list. */
static void lists(unsigned which, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	switch (which) {
	case 0: vfprintf(null, format, list); break;
	case 1: vdprintf(fileno(null), format, list); break;
	case 2: vasprintf(&made, format, list); break;
	case 3: vsprintf(buffer, format, list); break;
	case 4: vsnprintf(buffer, sizeof(buffer), format, list); break;
	case 5: __vfprintf_chk(null, 1, format, list); break;
	case 6: __vdprintf_chk(fileno(null), 1, format, list); break;
	case 7: __vasprintf_chk(&made, 1, format, list); break;
	case 8: __vsprintf_chk(buffer, 1, sizeof(buffer), format, list); break;
	case 9: __vsnprintf_chk(buffer, sizeof(buffer), 1, sizeof(buffer), format, list); break;
	case 10: vprintf(format, list); break;
	default: __vprintf_chk(1, format, list);
	}
	va_end(list);
}

int main(int argc, char **argv)
{
	wchar_t *w;

	begin(argc, argv);
	null = fopen("/dev/null", "w");
	if (!null || !freopen("/dev/null", "w", stdout))
		return 1;
	fprintf(null, "%d %s %f\n", 1, text(), 0.5);
	fprintf(null, "%*d%-3c%%%m%llu%5.1f%e%g%f%f%f%f%f%Lf%hhd%p%n%.*s%zd|%s|\n", 3, 1, 'c', 7ull, .1, .2, .3, .4, .5, .6, .7, .8, 1.5L, 9,
		(void *)buffer, &(int){ 0 }, (int)(SIZE + more), block(), (size_t)1, "literal");
	fprintf(null, "%.24s %.*s %s %.0s\n", block(), -1, "negative", (char *)hide(NULL), block());
	fprintf(null, text());
	w = wmemset((wchar_t *)block(), L'x', SIZE / sizeof(wchar_t)), w[5] = more ? L'x' : 0;
	fprintf(null, "%ls", w);
	dprintf(fileno(null), "%5s", text());
	CALL(asprintf(&made, "%-*s", 3, text()));
	sprintf(buffer, "%s|", text());
	snprintf(buffer, sizeof(buffer), "%s|", text());
	__fprintf_chk(null, 1, "%s|", text());
	__dprintf_chk(fileno(null), 1, "%s|", text());
	CALL(__asprintf_chk(&made, 1, "%s|", text()));
	__sprintf_chk(buffer, 1, sizeof(buffer), "%s|", text());
	__snprintf_chk(buffer, sizeof(buffer), 1, sizeof(buffer), "%s|", text());
	printf("%s|", text());
	__printf_chk(1, "%s|", text());
	for (unsigned i = 0; i < 12; i++)
		lists(i, "%s|%d", text(), 1);
	if (!more)
		fprintf(null, "%2$s %1$d", 1, text());	/* by number: not looked at */
	return 0;
}
