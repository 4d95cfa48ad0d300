/* SPDX-License-Identifier: MIT */
/*
 * System calls that fill or read something of a known size: what is known of a file, the machine, a
 * socket, a descriptor.
 *
 * The kernel would answer EFAULT where the program natively writes into released memory and
 * continues (agent/strings/passing.h).
 */
#include "agent/strings/passing.h"
#include "agent/strings/strings.h"

#define FILES_BYTES	8u		/* two descriptors */
#define EVENT_BYTES	12u		/* struct epoll_event */
#define POLL_BYTES	8u
#define TIME_BYTES	16u
#define SYSINFO_BYTES	112u
#define UTSNAME_BYTES	390u
#define USAGE_BYTES	144u
#define CTL_DEL		2		/* epoll_ctl(), which does not look at its event */

/*
 * A function `name`, with its parameters and arguments in brackets, that passes on n bytes at p, of
 * which it writes `came` when it is back with `got`.
 */
#define PASSES(type, name, said, params, args, p, n, how, came)				\
EXPORT type hook_##name params __asm__(#name);						\
EXPORT type hook_##name params								\
{											\
	struct passing w;								\
	type got;									\
											\
	p = passing_begin(&w, p, n, how, said, FROM);					\
	got = NEXT(name) args;								\
	passing_end(&w, came, said, FROM);						\
	return got;									\
}

#define IF_DONE(n)	(got == 0 ? (n) : 0)
#define IF_SOME(n)	(got > 0 ? (size_t)got * (n) : 0)

#define FILLS(name, said, params, args, p, n)                                                      \
	PASSES(int, name, said, params, args, p, n, PASS_OUT, IF_DONE(n))
#define READS(name, said, params, args, p, n)                                                      \
	PASSES(int, name, said, params, args, p, n, PASS_IN, 0)

FILLS(fstat, "fstat", (int fd, void *to), (fd, to), to, STAT_BYTES)
FILLS(fstat64, "fstat", (int fd, void *to), (fd, to), to, STAT_BYTES)
FILLS(__fxstat, "fstat", (int v, int fd, void *to), (v, fd, to), to, STAT_BYTES)
FILLS(__fxstat64, "fstat", (int v, int fd, void *to), (v, fd, to), to, STAT_BYTES)
FILLS(fstatfs, "fstatfs", (int fd, void *to), (fd, to), to, STATFS_BYTES)
FILLS(fstatfs64, "fstatfs", (int fd, void *to), (fd, to), to, STATFS_BYTES)
FILLS(uname, "uname", (void *to), (to), to, UTSNAME_BYTES)
FILLS(sysinfo, "sysinfo", (void *to), (to), to, SYSINFO_BYTES)
FILLS(getrusage, "getrusage", (int who, void *to), (who, to), to, USAGE_BYTES)
FILLS(clock_gettime, "clock_gettime", (int clock, void *to), (clock, to), to, TIME_BYTES)
FILLS(getentropy, "getentropy", (void *to, size_t n), (to, n), to, n)
PASSES(long, getrandom, "getrandom", (void *to, size_t n, unsigned flags), (to, n, flags), to, n,
       PASS_OUT, IF_SOME(1))
PASSES(long, getdents64, "getdents64", (int fd, void *to, size_t n), (fd, to, n), to, n, PASS_OUT,
       IF_SOME(1))

FILLS(pipe, "pipe", (int *to), (to), to, FILES_BYTES)
FILLS(pipe2, "pipe2", (int *to, int flags), (to, flags), to, FILES_BYTES)
FILLS(socketpair, "socketpair", (int domain, int type, int protocol, int *to),
      (domain, type, protocol, to), to, FILES_BYTES)
PASSES(int, waitpid, "waitpid", (int pid, int *status, int options), (pid, status, options), status,
       status ? sizeof(int) : 0, PASS_OUT, got > 0 ? sizeof(int) : 0)

READS(setsockopt, "setsockopt", (int fd, int level, int name, const void *from, unsigned n),
      (fd, level, name, from, n), from, n)
READS(bind, "bind", (int fd, const void *name, unsigned n), (fd, name, n), name, n)
READS(connect, "connect", (int fd, const void *name, unsigned n), (fd, name, n), name, n)

READS(epoll_ctl, "epoll_ctl", (int ep, int how, int fd, const void *event), (ep, how, fd, event),
      event, how == CTL_DEL ? 0 : EVENT_BYTES)
PASSES(int, epoll_wait, "epoll_wait", (int ep, void *to, int nr, int time), (ep, to, nr, time), to,
       nr > 0 ? (size_t)nr * EVENT_BYTES : 0, PASS_OUT, IF_SOME(EVENT_BYTES))
PASSES(int, poll, "poll", (void *fds, unsigned long nr, int time), (fds, nr, time), fds,
       nr *POLL_BYTES, PASS_IN | PASS_OUT, got >= 0 ? nr * POLL_BYTES : 0)
PASSES(int, __poll_chk, "poll", (void *fds, unsigned long nr, int time, size_t n),
       (fds, nr, time, n), fds, nr *POLL_BYTES, PASS_IN | PASS_OUT, got >= 0 ? nr * POLL_BYTES : 0)

/* ---- several --------------------------------------------------------------------------------- */

HOOK_AS(int, select, int nr, void *in, void *out, void *except, void *time);

HOOK(int, select, int nr, void *in, void *out, void *except, void *time)
{
	size_t bytes = nr > 0 ? ((size_t)nr + 63) / 64 * 8 : 0;
	void *set[] = { in, out, except, time };
	struct passing w[4];
	size_t n[4];
	int got;

	for (unsigned i = 0; i < 4; i++) {
		n[i] = !set[i] ? 0 : i == 3 ? TIME_BYTES : bytes;
		set[i] = passing_begin(&w[i], set[i], n[i], PASS_IN | PASS_OUT, "select", FROM);
	}
	got = NEXT(select)(nr, set[0], set[1], set[2], set[3]);
	for (unsigned i = 0; i < 4; i++)
		passing_end(&w[i], got >= 0 ? n[i] : 0, "select", FROM);
	return got;
}

/* What comes with its length, which the program says first: room for so much. */
struct measured {
	struct passing what, length;
	unsigned *bytes;
	size_t room;
};

static void *measured_begin(struct measured *m, void *to, unsigned *bytes, const char *function,
			    const struct caller *from)
{
	m->bytes = passing_begin(&m->length, bytes, bytes ? sizeof(*bytes) : 0, PASS_IN | PASS_OUT,
				 function, from);
	m->room = to && m->bytes && bounds_suspect(to) && passing_readable(m->bytes, sizeof(*bytes))
			  ? *m->bytes
			  : 0;
	return passing_begin(&m->what, to, m->room, PASS_OUT, function, from);
}

static void measured_end(struct measured *m, bool done, const char *function,
			 const struct caller *from)
{
	passing_end(&m->what, done && m->room ? least(m->room, *m->bytes) : 0, function, from);
	passing_end(&m->length, done ? sizeof(*m->bytes) : 0, function, from);
}

#define MEASURES(type, name, params, args, to, bytes)						\
EXPORT type hook_##name params __asm__(#name);							\
EXPORT type hook_##name params									\
{												\
	struct measured m;									\
	type got;										\
												\
	to = measured_begin(&m, to, bytes, #name, FROM);					\
	bytes = m.bytes;									\
	got = NEXT(name) args;									\
	measured_end(&m, got >= 0, #name, FROM);						\
	return got;										\
}

MEASURES(int, getsockopt, (int fd, int level, int name, void *to, unsigned *bytes),
	 (fd, level, name, to, bytes), to, bytes)
MEASURES(int, getsockname, (int fd, void *to, unsigned *bytes), (fd, to, bytes), to, bytes)
MEASURES(int, getpeername, (int fd, void *to, unsigned *bytes), (fd, to, bytes), to, bytes)
MEASURES(int, accept, (int fd, void *to, unsigned *bytes), (fd, to, bytes), to, bytes)
MEASURES(int, accept4, (int fd, void *to, unsigned *bytes, int flags), (fd, to, bytes, flags), to,
	 bytes)

/* ---- ioctl ----------------------------------------------------------------------------------- */

#define NUMBER_BYTES	4u		/* what the older requests have at least */

/*
 * As asm-generic/ioctl.h has it: what the number of a request says of its argument; nothing before
 * there was that.
 */
static size_t request_bytes(unsigned long request)
{
	return request >> 30 & 3 ? request >> 16 & 0x3fff : 0;
}

/*
 * An argument of unknown size is looked at only where it cannot be accessed at all; then it is
 * taken for a number. Whether it is read or written is not always said.
 */
HOOK_AS(int, ioctl, int fd, unsigned long request, void *argument);

HOOK(int, ioctl, int fd, unsigned long request, void *argument)
{
	size_t n = request_bytes(request);
	bool reads = !n || request >> 30 & 1;
	struct passing w;
	int got;

	if (!n && bounds_guarded(argument))
		n = bounds_left(argument, 1) ? 0 : NUMBER_BYTES;
	argument = passing_begin(&w, argument, n, reads ? PASS_IN | PASS_OUT : PASS_OUT, "ioctl",
				 FROM);
	got = NEXT(ioctl)(fd, request, argument);
	passing_end(&w, got >= 0 ? n : 0, "ioctl", FROM);
	return got;
}
