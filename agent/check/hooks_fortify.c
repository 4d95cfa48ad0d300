/*
 * The forms that programs built with _FORTIFY_SOURCE call: they are told how large the destination is as far as the compiler knew. What is
 * more than that ends the program, as without us; else they are the plain functions.
 */
#include "agent/check/strings.h"

/* Unless it `fits' what the compiler knew the real function is called. The rest is the plain hook's, which is jumped to. */
#define FORTIFIED(type, name, fits, params, args, plain_args)							\
EXPORT type hook___##name##_chk params __asm__("__" #name "_chk");						\
EXPORT type hook___##name##_chk params										\
{														\
	if (unlikely(!(fits)))											\
		return ((__typeof__(&hook___##name##_chk))string_next_or_find(NEXT___##name##_chk)) args;	\
	return hook_##name plain_args;										\
}

FORTIFIED(void *, memcpy, n <= room, (void *to, const void *source, size_t n, size_t room), (to, source, n, room), (to, source, n))
FORTIFIED(void *, memmove, n <= room, (void *to, const void *source, size_t n, size_t room), (to, source, n, room), (to, source, n))
FORTIFIED(void *, mempcpy, n <= room, (void *to, const void *source, size_t n, size_t room), (to, source, n, room), (to, source, n))
FORTIFIED(void *, memset, n <= room, (void *to, int c, size_t n, size_t room), (to, c, n, room), (to, c, n))
FORTIFIED(void, explicit_bzero, n <= room, (void *to, size_t n, size_t room), (to, n, room), (to, n))
FORTIFIED(char *, strncpy, n <= room, (char *to, const char *source, size_t n, size_t room), (to, source, n, room), (to, source, n))
FORTIFIED(char *, stpncpy, n <= room, (char *to, const char *source, size_t n, size_t room), (to, source, n, room), (to, source, n))

/* A string is measured once more than by the real function, unless its room is not known. */
static inline bool string_fits(const char *source, size_t room)
{
	return room == SIZE_MAX || NEXT(strnlen)(source, room) < room;
}

static inline bool joined_fits(const char *to, const char *source, size_t n, size_t room)
{
	size_t length;

	if (room == SIZE_MAX)
		return true;
	length = NEXT(strnlen)(to, room);
	return length < room && NEXT(strnlen)(source, least(n, room - length)) < room - length;
}

FORTIFIED(char *, strcpy, string_fits(source, room), (char *to, const char *source, size_t room), (to, source, room), (to, source))
FORTIFIED(char *, stpcpy, string_fits(source, room), (char *to, const char *source, size_t room), (to, source, room), (to, source))
FORTIFIED(char *, strcat, joined_fits(to, source, SIZE_MAX, room), (char *to, const char *source, size_t room), (to, source, room),
	  (to, source))
FORTIFIED(char *, strncat, joined_fits(to, source, n, room), (char *to, const char *source, size_t n, size_t room),
	  (to, source, n, room), (to, source, n))
