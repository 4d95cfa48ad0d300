/* SPDX-License-Identifier: MIT */
/*
 * The forms that programs built with _FORTIFY_SOURCE call: they are given how large the destination
 * is as far as the compiler knew. What is more than that ends the program, as without us; else they
 * are the plain functions.
 */
#include "agent/strings/hooks_io.h"
#include "agent/strings/hooks_wide.h"

/*
 * Unless it `fits' what the compiler knew the real function is called. The rest is the plain
 * hook's, which is jumped to.
 */
#define FORTIFIED(type, name, fits, params, args, plain_args)                                      \
	EXPORT type hook___##name##_chk params __asm__("__" #name "_chk");                         \
	EXPORT type hook___##name##_chk params                                                     \
	{                                                                                          \
		if (unlikely(!(fits)))                                                             \
			return ((__typeof__(&hook___##name##_chk))string_next_or_find(             \
				NEXT___##name##_chk))args;                                         \
		return hook_##name plain_args;                                                     \
	}

FORTIFIED(void *, memcpy, n <= room, (void *to, const void *source, size_t n, size_t room),
	  (to, source, n, room), (to, source, n))
FORTIFIED(void *, memmove, n <= room, (void *to, const void *source, size_t n, size_t room),
	  (to, source, n, room), (to, source, n))
FORTIFIED(void *, mempcpy, n <= room, (void *to, const void *source, size_t n, size_t room),
	  (to, source, n, room), (to, source, n))
FORTIFIED(void *, memset, n <= room, (void *to, int c, size_t n, size_t room), (to, c, n, room),
	  (to, c, n))
FORTIFIED(void, explicit_bzero, n <= room, (void *to, size_t n, size_t room), (to, n, room),
	  (to, n))
FORTIFIED(char *, strncpy, n <= room, (char *to, const char *source, size_t n, size_t room),
	  (to, source, n, room), (to, source, n))
FORTIFIED(char *, stpncpy, n <= room, (char *to, const char *source, size_t n, size_t room),
	  (to, source, n, room), (to, source, n))

/*
 * NAME_fits() and NAME_joined_fits(): a string of `type`s, and one behind another of which at most
 * n are taken, by their function for lengths. A string is measured once more than by the real
 * function, unless its room, which is counted in these, is not known.
 */
#define TEXT_FITS(NAME, type, nlen)                                                                \
	static inline bool NAME##_fits(const type *source, size_t room)                            \
	{                                                                                          \
		return room >= SIZE_MAX / sizeof(type) || NEXT(nlen)(source, room) < room;         \
	}                                                                                          \
                                                                                                   \
	static inline bool NAME##_joined_fits(const type *to, const type *source, size_t n,        \
					      size_t room)                                         \
	{                                                                                          \
		size_t length;                                                                     \
                                                                                                   \
		if (room >= SIZE_MAX / sizeof(type))                                               \
			return true;                                                               \
		length = NEXT(nlen)(to, room);                                                     \
		return length < room &&                                                            \
		       NEXT(nlen)(source, least(n, room - length)) < room - length;                \
	}

TEXT_FITS(string, char, strnlen)
TEXT_FITS(wide, wide, wcsnlen)

FORTIFIED(char *, strcpy, string_fits(source, room), (char *to, const char *source, size_t room),
	  (to, source, room), (to, source))
FORTIFIED(char *, stpcpy, string_fits(source, room), (char *to, const char *source, size_t room),
	  (to, source, room), (to, source))
FORTIFIED(char *, strcat, string_joined_fits(to, source, SIZE_MAX, room),
	  (char *to, const char *source, size_t room), (to, source, room), (to, source))
FORTIFIED(char *, strncat, string_joined_fits(to, source, n, room),
	  (char *to, const char *source, size_t n, size_t room), (to, source, n, room),
	  (to, source, n))

/* ---- wide characters: room is counted in them, as n is --------------------------------------- */

FORTIFIED(wide *, wmemcpy, n <= room, (wide * to, const wide *source, size_t n, size_t room),
	  (to, source, n, room), (to, source, n))
FORTIFIED(wide *, wmemmove, n <= room, (wide * to, const wide *source, size_t n, size_t room),
	  (to, source, n, room), (to, source, n))
FORTIFIED(wide *, wmempcpy, n <= room, (wide * to, const wide *source, size_t n, size_t room),
	  (to, source, n, room), (to, source, n))
FORTIFIED(wide *, wmemset, n <= room, (wide * to, wide c, size_t n, size_t room), (to, c, n, room),
	  (to, c, n))
FORTIFIED(wide *, wcsncpy, n <= room, (wide * to, const wide *source, size_t n, size_t room),
	  (to, source, n, room), (to, source, n))

FORTIFIED(wide *, wcscpy, wide_fits(source, room), (wide * to, const wide *source, size_t room),
	  (to, source, room), (to, source))
FORTIFIED(wide *, wcpcpy, wide_fits(source, room), (wide * to, const wide *source, size_t room),
	  (to, source, room), (to, source))
FORTIFIED(wide *, wcscat, wide_joined_fits(to, source, SIZE_MAX, room),
	  (wide * to, const wide *source, size_t room), (to, source, room), (to, source))
FORTIFIED(wide *, wcsncat, wide_joined_fits(to, source, n, room),
	  (wide * to, const wide *source, size_t n, size_t room), (to, source, n, room),
	  (to, source, n))

/* ---- reading --------------------------------------------------------------------------------- */

static inline bool items_fit(size_t each, size_t nr, size_t room)
{
	size_t n;

	return !__builtin_mul_overflow(each, nr, &n) && n <= room;
}

FORTIFIED(long, read, n <= room, (int fd, void *to, size_t n, size_t room), (fd, to, n, room),
	  (fd, to, n))
FORTIFIED(long, pread, n <= room, (int fd, void *to, size_t n, long at, size_t room),
	  (fd, to, n, at, room), (fd, to, n, at))
FORTIFIED(long, pread64, n <= room, (int fd, void *to, size_t n, long at, size_t room),
	  (fd, to, n, at, room), (fd, to, n, at))
FORTIFIED(long, recv, n <= room, (int fd, void *to, size_t n, size_t room, int flags),
	  (fd, to, n, room, flags), (fd, to, n, flags))
FORTIFIED(long, recvfrom, n <= room,
	  (int fd, void *to, size_t n, size_t room, int flags, void *peer, void *peer_bytes),
	  (fd, to, n, room, flags, peer, peer_bytes), (fd, to, n, flags, peer, peer_bytes))
FORTIFIED(long, readlink, n <= room, (const char *path, char *to, size_t n, size_t room),
	  (path, to, n, room), (path, to, n))
FORTIFIED(long, readlinkat, n <= room, (int dir, const char *path, char *to, size_t n, size_t room),
	  (dir, path, to, n, room), (dir, path, to, n))
FORTIFIED(char *, realpath, room >= PATH_BYTES, (const char *path, char *to, size_t room),
	  (path, to, room), (path, to))
FORTIFIED(char *, getcwd, n <= room, (char *to, size_t n, size_t room), (to, n, room), (to, n))
FORTIFIED(int, gethostname, n <= room, (char *to, size_t n, size_t room), (to, n, room), (to, n))
FORTIFIED(char *, fgets, n > 0 && (size_t)n <= room, (char *to, size_t room, int n, struct file *f),
	  (to, room, n, f), (to, n, f))
FORTIFIED(size_t, fread, items_fit(each, nr, room),
	  (void *to, size_t room, size_t each, size_t nr, struct file *f), (to, room, each, nr, f),
	  (to, each, nr, f))
FORTIFIED(char *, fgets_unlocked, n > 0 && (size_t)n <= room,
	  (char *to, size_t room, int n, struct file *f), (to, room, n, f), (to, n, f))
FORTIFIED(size_t, fread_unlocked, items_fit(each, nr, room),
	  (void *to, size_t room, size_t each, size_t nr, struct file *f), (to, room, each, nr, f),
	  (to, each, nr, f))
