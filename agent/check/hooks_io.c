/*
 * Reading and writing: buffers that the kernel or the C library fills or empties.
 *
 * What is read may be less than there was asked for, and asking for more than the buffer holds is no access: it is looked at what came. The
 * kernel does not fault on a guard page but says EFAULT.
 */
#include "agent/check/strings.h"

#define EFAULT	14

struct file;

extern int *__errno_location(void) __attribute__((weak));

HOOK_AS(long, read, int fd, void *to, size_t n);
HOOK_AS(long, pread, int fd, void *to, size_t n, long at);
HOOK_AS(long, pread64, int fd, void *to, size_t n, long at);
HOOK_AS(long, recv, int fd, void *to, size_t n, int flags);
HOOK_AS(long, recvfrom, int fd, void *to, size_t n, int flags, void *peer, void *peer_bytes);
HOOK_AS(size_t, fread, void *to, size_t each, size_t nr, struct file *f);
HOOK_AS(char *, fgets, char *to, int n, struct file *f);

/* `got` is what a system call that was to fill n bytes returned. */
static void filled(const void *to, size_t n, long got, size_t left, const char *function, const struct caller *from)
{
	if (likely(got < 0 || (size_t)got <= left)) {
		if (likely(got >= 0) || !&__errno_location || *__errno_location() != EFAULT || !bounds_guarded(to))
			return;
		got = (long)n;
	}
	bounds_over(to, (size_t)got, PMM_ACCESS_WRITE, function, from);
}

/* A system call, with its arguments in brackets; those of a buffer that is long enough pass. */
#define FILLING(name, args)							\
	size_t left = bounds_left(to, n != 0);					\
	long got;								\
										\
	if (likely(n <= left))							\
		return NEXT(name) args;						\
	got = NEXT(name) args;							\
	filled(to, n, got, left, #name, FROM);					\
	return got

HOOK(long, read, int fd, void *to, size_t n)
{
	FILLING(read, (fd, to, n));
}

HOOK(long, pread, int fd, void *to, size_t n, long at)
{
	FILLING(pread, (fd, to, n, at));
}

HOOK(long, pread64, int fd, void *to, size_t n, long at)
{
	FILLING(pread64, (fd, to, n, at));
}

HOOK(long, recv, int fd, void *to, size_t n, int flags)
{
	FILLING(recv, (fd, to, n, flags));
}

HOOK(long, recvfrom, int fd, void *to, size_t n, int flags, void *peer, void *peer_bytes)
{
	FILLING(recvfrom, (fd, to, n, flags, peer, peer_bytes));
}

HOOK(size_t, fread, void *to, size_t each, size_t nr, struct file *f)
{
	size_t n, left, got;

	if (__builtin_mul_overflow(each, nr, &n) || n <= (left = bounds_left(to, n != 0)))
		return NEXT(fread)(to, each, nr, f);
	got = NEXT(fread)(to, each, nr, f) * each;
	if (got > left && !bounds_guarded(to))		/* else the access itself was stopped */
		bounds_over(to, got, PMM_ACCESS_WRITE, "fread", FROM);
	return each ? got / each : 0;
}

HOOK(char *, fgets, char *to, int n, struct file *f)
{
	size_t left = bounds_left(to, n > 0), got;
	char *line;

	if (n <= 0 || (size_t)n <= left)
		return NEXT(fgets)(to, n, f);
	line = NEXT(fgets)(to, n, f);
	if (!line || bounds_guarded(to))
		return line;
	got = NEXT(strnlen)(to, (size_t)n - 1) + 1;
	if (got > left)
		bounds_over(to, got, PMM_ACCESS_WRITE, "fgets", FROM);
	return line;
}
