/*
 * System calls with several buffers. Those in the guard pool that do not hold all are stood in for (agent/check/bounce.h), in a
 * list of our own.
 */
#include "agent/check/bounce.h"
#include "agent/check/strings.h"

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

/* Do all buffers hold what they are said to? Or are they too many to be looked at? */
static bool all_fit(const struct part *part, size_t nr)
{
	if (!part || nr > MOST || !bounds_fits(part, nr * sizeof(*part)))
		return true;
	for (size_t i = 0; i < nr; i++)
		if (unlikely(part[i].bytes > bounds_left(part[i].start, part[i].bytes)))
			return false;
	return true;
}

/* What is given to the kernel: the program's list with what stands in for its buffers. */
struct list {
	struct part part[MOST];
	struct bounce bounce[MOST];
	size_t left[MOST];
	size_t nr;
};

static void list_fill(struct list *l, const struct part *part, size_t nr)
{
	l->nr = nr;
	for (size_t i = 0; i < nr; i++) {
		l->part[i] = part[i];
		l->bounce[i].memory = NULL;
		l->left[i] = bounds_left(part[i].start, part[i].bytes);
		if (part[i].bytes > l->left[i])
			l->part[i].start = bounce_begin(&l->bounce[i], part[i].start, part[i].bytes, 0);
	}
}

/* `got` bytes came in all, negative: none. */
static void list_came(struct list *l, const struct part *part, long got, const char *function, const struct caller *from)
{
	for (size_t i = 0; i < l->nr; i++) {
		size_t here = got <= 0 ? 0 : least((size_t)got, part[i].bytes), may = here;

		if (here > l->left[i])
			may = bounds_over(part[i].start, here, PMM_ACCESS_WRITE, function, from);
		bounce_end(&l->bounce[i], least(may, here));
		got -= (long)here;
	}
}

static void list_empty(struct list *l, const struct part *part, size_t nr, const char *function, const struct caller *from)
{
	l->nr = nr;
	for (size_t i = 0; i < nr; i++) {
		size_t may = bounds_check(part[i].start, part[i].bytes, PMM_ACCESS_READ, function, from);

		l->part[i] = part[i];
		l->bounce[i].memory = NULL;
		if (may < part[i].bytes)
			l->part[i].start = bounce_begin(&l->bounce[i], part[i].start, part[i].bytes, may);
	}
}

static void list_done(struct list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		bounce_end(&l->bounce[i], 0);
}

static SLOW long readv_bounded(int fd, const struct part *part, int nr, const struct caller *from)
{
	struct list l;
	long got;

	list_fill(&l, part, (size_t)nr);
	got = NEXT(readv)(fd, l.part, nr);
	list_came(&l, part, got, "readv", from);
	return got;
}

HOOK(long, readv, int fd, const struct part *part, int nr)
{
	return nr <= 0 || all_fit(part, (size_t)nr) ? NEXT(readv)(fd, part, nr) : readv_bounded(fd, part, nr, FROM);
}

static SLOW long writev_bounded(int fd, const struct part *part, int nr, const struct caller *from)
{
	struct list l;
	long done;

	list_empty(&l, part, (size_t)nr, "writev", from);
	done = NEXT(writev)(fd, l.part, nr);
	list_done(&l);
	return done;
}

HOOK(long, writev, int fd, const struct part *part, int nr)
{
	return nr <= 0 || all_fit(part, (size_t)nr) ? NEXT(writev)(fd, part, nr) : writev_bounded(fd, part, nr, FROM);
}

static SLOW long recvmsg_bounded(int fd, struct message *m, int flags, const struct caller *from)
{
	struct part *part = m->part;
	struct list l;
	long got;

	list_fill(&l, part, m->nr_parts);
	m->part = l.part;
	got = NEXT(recvmsg)(fd, m, flags);
	m->part = part;
	list_came(&l, part, got, "recvmsg", from);
	return got;
}

HOOK(long, recvmsg, int fd, struct message *m, int flags)
{
	return !m || !bounds_fits(m, sizeof(*m)) || all_fit(m->part, m->nr_parts) ? NEXT(recvmsg)(fd, m, flags)
										 : recvmsg_bounded(fd, m, flags, FROM);
}

static SLOW long sendmsg_bounded(int fd, const struct message *m, int flags, const struct caller *from)
{
	struct message own = *m;
	struct list l;
	long done;

	list_empty(&l, m->part, m->nr_parts, "sendmsg", from);
	own.part = l.part;
	done = NEXT(sendmsg)(fd, &own, flags);
	list_done(&l);
	return done;
}

HOOK(long, sendmsg, int fd, const struct message *m, int flags)
{
	return !m || !bounds_fits(m, sizeof(*m)) || all_fit(m->part, m->nr_parts) ? NEXT(sendmsg)(fd, m, flags)
										 : sendmsg_bounded(fd, m, flags, FROM);
}
