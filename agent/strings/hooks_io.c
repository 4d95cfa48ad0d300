/* SPDX-License-Identifier: MIT */
/*
 * System calls: buffers that the kernel fills or empties.
 *
 * What is read may be less than there was asked for, and asking for more than the buffer holds is
 * no access: it is looked at what came. What is written is looked at before. How they are passed
 * on: agent/strings/passing.h.
 */
#include "agent/strings/hooks_io.h"

#include "agent/strings/passing.h"


/* ---- filled ---------------------------------------------------------------------------------- */

/*
 * A call, with its arguments in brackets, that fills n bytes of `to`; a buffer that is long enough
 * passes. `bytes`: what came of it.
 */
#define FILLING(type, name, said, args, n, bytes)				\
	struct passing w;							\
	type got;								\
	long came;								\
										\
	to = passing_begin(&w, to, n, PASS_OUT, said, FROM);			\
	got = NEXT(name) args;							\
	came = bytes;								\
	passing_end(&w, came < 0 ? 0 : (size_t)came, said, FROM)

HOOK(long, read, int fd, void *to, size_t n)
{
	FILLING(long, read, "read", (fd, to, n), n, got);
	return got;
}

HOOK(long, pread, int fd, void *to, size_t n, long at)
{
	FILLING(long, pread, "pread", (fd, to, n, at), n, got);
	return got;
}

HOOK(long, pread64, int fd, void *to, size_t n, long at)
{
	FILLING(long, pread64, "pread", (fd, to, n, at), n, got);
	return got;
}

HOOK(long, recv, int fd, void *to, size_t n, int flags)
{
	FILLING(long, recv, "recv", (fd, to, n, flags), n, got);
	return got;
}

HOOK(long, recvfrom, int fd, void *to, size_t n, int flags, void *peer, void *peer_bytes)
{
	FILLING(long, recvfrom, "recvfrom", (fd, to, n, flags, peer, peer_bytes), n, got);
	return got;
}

HOOK(long, readlink, const char *path, char *to, size_t n)
{
	FILLING(long, readlink, "readlink", (path, to, n), n, got);
	return got;
}

HOOK(long, readlinkat, int dir, const char *path, char *to, size_t n)
{
	FILLING(long, readlinkat, "readlinkat", (dir, path, to, n), n, got);
	return got;
}

/* Bytes of a string that came, with its NUL. */
static long string_bytes(const char *s, size_t n)
{
	size_t length = NEXT(strnlen)(s, n);

	return (long)(length < n ? length + 1 : n);
}

HOOK(char *, getcwd, char *to, size_t n)
{
	char *block = to;

	if (!to)
		return NEXT(getcwd)(to, n);
	FILLING(char *, getcwd, "getcwd", (to, n), n, got ? string_bytes(to, n) : -1);
	return got ? block : NULL;
}

HOOK(int, gethostname, char *to, size_t n)
{
	FILLING(int, gethostname, "gethostname", (to, n), n, got ? -1 : string_bytes(to, n));
	return got;
}

/* The buffer must hold any path there is, but what counts is what is written. */
HOOK(char *, realpath, const char *path, char *to)
{
	char *block = to;

	if (!to)
		return NEXT(realpath)(path, to);
	FILLING(char *, realpath, "realpath", (path, to), PATH_BYTES,
		got ? string_bytes(to, PATH_BYTES) : -1);
	return got ? block : NULL;
}

/* ---- emptied --------------------------------------------------------------------------------- */

/* A call, with its arguments in brackets, that reads n bytes of `from`. */
#define EMPTYING(name, said, args)							\
	struct passing w;							\
	long got;								\
										\
	from = passing_begin(&w, from, n, PASS_IN, said, FROM);			\
	got = NEXT(name) args;							\
	passing_end(&w, 0, said, FROM);						\
	return got

HOOK(long, write, int fd, const void *from, size_t n)
{
	EMPTYING(write, "write", (fd, from, n));
}

HOOK(long, pwrite, int fd, const void *from, size_t n, long at)
{
	EMPTYING(pwrite, "pwrite", (fd, from, n, at));
}

HOOK(long, pwrite64, int fd, const void *from, size_t n, long at)
{
	EMPTYING(pwrite64, "pwrite", (fd, from, n, at));
}

HOOK(long, send, int fd, const void *from, size_t n, int flags)
{
	EMPTYING(send, "send", (fd, from, n, flags));
}

HOOK(long, sendto, int fd, const void *from, size_t n, int flags, const void *peer,
     unsigned peer_bytes)
{
	EMPTYING(sendto, "sendto", (fd, from, n, flags, peer, peer_bytes));
}
