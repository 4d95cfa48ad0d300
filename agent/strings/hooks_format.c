/* SPDX-License-Identifier: MIT */
/*
 * printf() and its like where they print to streams, descriptors and memory of their own: only what
 * they read is looked at.
 */
#include "agent/strings/format.h"
#include "agent/strings/strings.h"

struct file;

/*
 * The function that is given a va_list, and the one with `...' in terms of it; `called' is what
 * findings call it.
 */
#define PRINTS_LIST(name, called, params, args)							\
EXPORT int hook_##name params __asm__(#name);							\
EXPORT int hook_##name params									\
{												\
	return FORMATTED(NEXT(name) args, format, list, called, FROM);				\
}

#define PRINTS(name, list_name, called, params, args)						\
EXPORT int hook_##name params __asm__(#name);							\
EXPORT int hook_##name params									\
{												\
	va_list list;										\
	int length;										\
												\
	va_start(list, format);									\
	length = FORMATTED(NEXT(list_name) args, format, list, called, FROM);			\
	va_end(list);										\
	return length;										\
}

PRINTS_LIST(vprintf, "vprintf", (const char *format, va_list list), (format, list))
PRINTS_LIST(vfprintf, "vfprintf", (struct file * f, const char *format, va_list list),
	    (f, format, list))
PRINTS_LIST(vdprintf, "vdprintf", (int fd, const char *format, va_list list), (fd, format, list))
PRINTS_LIST(vasprintf, "vasprintf", (char **to, const char *format, va_list list),
	    (to, format, list))
PRINTS_LIST(__vprintf_chk, "vprintf", (int flag, const char *format, va_list list),
	    (flag, format, list))
PRINTS_LIST(__vfprintf_chk, "vfprintf",
	    (struct file * f, int flag, const char *format, va_list list), (f, flag, format, list))
PRINTS_LIST(__vdprintf_chk, "vdprintf", (int fd, int flag, const char *format, va_list list),
	    (fd, flag, format, list))
PRINTS_LIST(__vasprintf_chk, "vasprintf", (char **to, int flag, const char *format, va_list list),
	    (to, flag, format, list))

PRINTS(printf, vprintf, "printf", (const char *format, ...), (format, list))
PRINTS(fprintf, vfprintf, "fprintf", (struct file *f, const char *format, ...), (f, format, list))
PRINTS(dprintf, vdprintf, "dprintf", (int fd, const char *format, ...), (fd, format, list))
PRINTS(asprintf, vasprintf, "asprintf", (char **to, const char *format, ...), (to, format, list))
PRINTS(__printf_chk, __vprintf_chk, "printf", (int flag, const char *format, ...),
       (flag, format, list))
PRINTS(__fprintf_chk, __vfprintf_chk, "fprintf",
       (struct file * f, int flag, const char *format, ...), (f, flag, format, list))
PRINTS(__dprintf_chk, __vdprintf_chk, "dprintf", (int fd, int flag, const char *format, ...),
       (fd, flag, format, list))
PRINTS(__asprintf_chk, __vasprintf_chk, "asprintf", (char **to, int flag, const char *format, ...),
       (to, flag, format, list))
