/* SPDX-License-Identifier: MIT */
/*
 * sprintf() and its like, which write text into a block, of strings that may be ones
 * (agent/strings/format.h).
 *
 * The real function is given no more room than the block has: as long as the text fits, nothing is
 * different. Only when it does not is it written again, after the finding, as far as may be.
 *
 * What comes after the format may be in vector registers, which the rest of the agent does not
 * touch; here they are saved as in any function with `...' (agent/meson.build). The loader, which
 * has not saved them when it calls the allocator, does not come by here.
 */
#include <stdarg.h>

#include "agent/strings/format.h"
#include "agent/strings/strings.h"

HOOK_AS(int, vsprintf, char *to, const char *format, va_list list);
HOOK_AS(int, vsnprintf, char *to, size_t n, const char *format, va_list list);
HOOK_AS(int, __vsprintf_chk, char *to, int flag, size_t room, const char *format, va_list list);
HOOK_AS(int, __vsnprintf_chk, char *to, size_t n, int flag, size_t room, const char *format,
	va_list list);
HOOK_AS(int, sprintf, char *to, const char *format, ...);
HOOK_AS(int, snprintf, char *to, size_t n, const char *format, ...);
HOOK_AS(int, __sprintf_chk, char *to, int flag, size_t room, const char *format, ...);
HOOK_AS(int, __snprintf_chk, char *to, size_t n, int flag, size_t room, const char *format, ...);

#define PLAIN (-1)

/* flag: as in the checked form, PLAIN: the plain one. */
static int real_print(char *to, size_t n, int flag, const char *format, va_list list)
{
	return flag == PLAIN ? NEXT(vsnprintf)(to, n, format, list)
			     : NEXT(__vsnprintf_chk)(to, n, flag, n, format, list);
}

/* Text of at most n bytes, NUL included, into a block in which `left` are left, which is less. */
static SLOW int print_bounded(char *to, size_t n, size_t left, int flag, const char *format,
			      va_list list, const char *function, const struct caller *from)
{
	va_list again;
	int length;

	va_copy(again, list);
	length = real_print(to, left, flag, format, list);
	if (length >= 0 && (size_t)length >= left)
		length = real_print(to,
				    least(n, bounds_over(to, least(n, (size_t)length + 1),
							 PMM_ACCESS_WRITE, function, from)),
				    flag, format, again);
	va_end(again);
	return length;
}

static int print(char *to, const char *format, va_list list, const char *function,
		 const struct caller *from)
{
	size_t left = bounds_left(to, 1);

	return FORMATTED(left == SIZE_MAX ? NEXT(vsprintf)(to, format, list)
					  : print_bounded(to, SIZE_MAX, left, PLAIN, format, list,
							  function, from),
			 format, list, function, from);
}

static int print_within(char *to, size_t n, const char *format, va_list list, const char *function,
			const struct caller *from)
{
	size_t left = bounds_left(to, n != 0);

	return FORMATTED(n <= left
				 ? NEXT(vsnprintf)(to, n, format, list)
				 : print_bounded(to, n, left, PLAIN, format, list, function, from),
			 format, list, function, from);
}

/*
 * `room` is what the compiler knew: when that does not suffice the real function ends the program.
 */
static int print_checked(char *to, int flag, size_t room, const char *format, va_list list,
			 const char *function, const struct caller *from)
{
	size_t left = bounds_left(to, 1);

	return FORMATTED(
		room <= left ? NEXT(__vsprintf_chk)(to, flag, room, format, list)
			     : print_bounded(to, room, left, flag, format, list, function, from),
		format, list, function, from);
}

static int print_within_checked(char *to, size_t n, int flag, size_t room, const char *format,
				va_list list, const char *function, const struct caller *from)
{
	size_t left = bounds_left(to, n != 0);

	return FORMATTED(n <= left || n > room
				 ? NEXT(__vsnprintf_chk)(to, n, flag, room, format, list)
				 : print_bounded(to, n, left, flag, format, list, function, from),
			 format, list, function, from);
}

HOOK(int, vsprintf, char *to, const char *format, va_list list)
{
	return print(to, format, list, "vsprintf", FROM);
}

HOOK(int, vsnprintf, char *to, size_t n, const char *format, va_list list)
{
	return print_within(to, n, format, list, "vsnprintf", FROM);
}

HOOK(int, __vsprintf_chk, char *to, int flag, size_t room, const char *format, va_list list)
{
	return print_checked(to, flag, room, format, list, "vsprintf", FROM);
}

HOOK(int, __vsnprintf_chk, char *to, size_t n, int flag, size_t room, const char *format,
     va_list list)
{
	return print_within_checked(to, n, flag, room, format, list, "vsnprintf", FROM);
}

/* The forms with `...' in terms of those above. */
#define LISTED(last, call) ({			\
	va_list list_;				\
	int length_;				\
						\
	va_start(list_, last);			\
	length_ = call;				\
	va_end(list_);				\
	length_;				\
})

HOOK(int, sprintf, char *to, const char *format, ...)
{
	return LISTED(format, print(to, format, list_, "sprintf", FROM));
}

HOOK(int, snprintf, char *to, size_t n, const char *format, ...)
{
	return LISTED(format, print_within(to, n, format, list_, "snprintf", FROM));
}

HOOK(int, __sprintf_chk, char *to, int flag, size_t room, const char *format, ...)
{
	return LISTED(format, print_checked(to, flag, room, format, list_, "sprintf", FROM));
}

HOOK(int, __snprintf_chk, char *to, size_t n, int flag, size_t room, const char *format, ...)
{
	return LISTED(format,
		      print_within_checked(to, n, flag, room, format, list_, "snprintf", FROM));
}
