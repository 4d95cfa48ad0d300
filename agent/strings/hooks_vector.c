/* SPDX-License-Identifier: MIT */
/*
 * System calls with several buffers. Those in the guard pool that do not hold all are stood in for
 * (agent/fault/bounce.h), in a list of our own.
 */
#include "agent/strings/passing.h"
#include "agent/strings/strings.h"

#define MOST	64u		/* buffers; the kernel takes 1024, but hardly anybody has more */

struct part {
	void *start;
	size_t bytes;
};

struct message {		/* struct msghdr */
	void *name;
	unsigned name_bytes;
	struct part *part;
	size_t nr_parts;
	void *control;
	size_t control_bytes;
	int flags;
};

HOOK_AS(long, readv, int fd, const struct part *part, int nr);
HOOK_AS(long, writev, int fd, const struct part *part, int nr);
HOOK_AS(long, recvmsg, int fd, struct message *m, int flags);
HOOK_AS(long, sendmsg, int fd, const struct message *m, int flags);

/* Do all buffers hold what they are said to? Or are they too many to be looked at, or not there? */
static bool all_fit(const struct part *part, size_t nr)
{
	if (!part || !nr || nr > MOST || !passing_readable(part, nr * sizeof(*part)) ||
	    !bounds_fits(part, nr * sizeof(*part)))
		return true;
	for (size_t i = 0; i < nr; i++)
		if (unlikely(!passing_fits(part[i].start, part[i].bytes)))
			return false;
	return true;
}

/* What is given to the kernel: the program's list with what stands in for its buffers. */
struct list {
	struct part part[MOST];
	struct passing passing[MOST];
	size_t nr;
};

static void list_pass(struct list *l, const struct part *part, size_t nr, unsigned how,
		      const char *function, const struct caller *from)
{
	l->nr = nr;
	for (size_t i = 0; i < nr; i++) {
		l->part[i] = part[i];
		l->part[i].start = passing_begin(&l->passing[i], part[i].start, part[i].bytes, how,
						 function, from);
	}
}

/* `got` bytes came in all, negative: none. */
static void list_done(struct list *l, long got, const char *function, const struct caller *from)
{
	for (size_t i = 0; i < l->nr; i++) {
		size_t here = got <= 0 ? 0 : least((size_t)got, l->part[i].bytes);

		passing_end(&l->passing[i], here, function, from);
		got -= (long)here;
	}
}

static SLOW long readv_bounded(int fd, const struct part *part, int nr, const struct caller *from)
{
	struct list l;
	long got;

	list_pass(&l, part, (size_t)nr, PASS_OUT, "readv", from);
	got = NEXT(readv)(fd, l.part, nr);
	list_done(&l, got, "readv", from);
	return got;
}

HOOK(long, readv, int fd, const struct part *part, int nr)
{
	return nr <= 0 || all_fit(part, (size_t)nr) ? NEXT(readv)(fd, part, nr)
						    : readv_bounded(fd, part, nr, FROM);
}

static SLOW long writev_bounded(int fd, const struct part *part, int nr, const struct caller *from)
{
	struct list l;
	long done;

	list_pass(&l, part, (size_t)nr, PASS_IN, "writev", from);
	done = NEXT(writev)(fd, l.part, nr);
	list_done(&l, 0, "writev", from);
	return done;
}

HOOK(long, writev, int fd, const struct part *part, int nr)
{
	return nr <= 0 || all_fit(part, (size_t)nr) ? NEXT(writev)(fd, part, nr)
						    : writev_bounded(fd, part, nr, FROM);
}

/* A message's address and control data. */
struct besides {
	struct passing name, control;
	void *old_name, *old_control;
	size_t name_bytes, control_bytes;
};

static void besides_pass(struct besides *b, struct message *m, unsigned how, const char *function,
			 const struct caller *from)
{
	b->old_name = m->name;
	b->old_control = m->control;
	b->name_bytes = m->name_bytes;
	b->control_bytes = m->control_bytes;
	m->name = passing_begin(&b->name, m->name, m->name ? m->name_bytes : 0, how, function,
				from);
	m->control = passing_begin(&b->control, m->control, m->control ? m->control_bytes : 0, how,
				   function, from);
}

/* filled: as much of them as the message says now. */
static void besides_done(struct besides *b, struct message *m, bool filled, const char *function,
			 const struct caller *from)
{
	passing_end(&b->name, filled ? least(b->name_bytes, m->name_bytes) : 0, function, from);
	passing_end(&b->control, filled ? least(b->control_bytes, m->control_bytes) : 0, function,
		    from);
	m->name = b->old_name;
	m->control = b->old_control;
}

/* Is there nothing to be stood in for, or a message that is not there? */
static bool message_fits(const struct message *m)
{
	return !m || !passing_readable(m, sizeof(*m)) || !bounds_fits(m, sizeof(*m)) ||
	       (all_fit(m->part, m->nr_parts) && passing_fits(m->name, m->name_bytes) &&
		passing_fits(m->control, m->control_bytes));
}

/* Buffers that are too many are passed on as they are. */
static bool few(const struct message *m)
{
	return m->part && m->nr_parts <= MOST &&
	       passing_readable(m->part, m->nr_parts * sizeof(*m->part));
}

static SLOW long recvmsg_bounded(int fd, struct message *m, int flags, const struct caller *from)
{
	struct part *part = m->part;
	struct besides b;
	struct list l;
	long got;

	list_pass(&l, part, few(m) ? m->nr_parts : 0, PASS_OUT, "recvmsg", from);
	besides_pass(&b, m, PASS_OUT, "recvmsg", from);
	if (l.nr)
		m->part = l.part;
	got = NEXT(recvmsg)(fd, m, flags);
	m->part = part;
	besides_done(&b, m, got >= 0, "recvmsg", from);
	list_done(&l, got, "recvmsg", from);
	return got;
}

HOOK(long, recvmsg, int fd, struct message *m, int flags)
{
	return message_fits(m) ? NEXT(recvmsg)(fd, m, flags) : recvmsg_bounded(fd, m, flags, FROM);
}

static SLOW long sendmsg_bounded(int fd, const struct message *m, int flags,
				 const struct caller *from)
{
	struct message own = *m;
	struct besides b;
	struct list l;
	long done;

	list_pass(&l, m->part, few(m) ? m->nr_parts : 0, PASS_IN, "sendmsg", from);
	besides_pass(&b, &own, PASS_IN, "sendmsg", from);
	if (l.nr)
		own.part = l.part;
	done = NEXT(sendmsg)(fd, &own, flags);
	besides_done(&b, &own, false, "sendmsg", from);
	list_done(&l, 0, "sendmsg", from);
	return done;
}

HOOK(long, sendmsg, int fd, const struct message *m, int flags)
{
	return message_fits(m) ? NEXT(sendmsg)(fd, m, flags) : sendmsg_bounded(fd, m, flags, FROM);
}
