/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event loop.
 *
 * One epoll set. Timers are a binary heap in memory; one timerfd in the set is armed for the
 * earliest, so that the set's descriptor is readable whenever there is something to do. The timerfd
 * is never read: arming it anew takes its readiness back.
 *
 * Deleted sources are freed at the end of the step, since the events that the kernel has already
 * reported point to them.
 */
#include "src/base/loop.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/nanotime.h"
#include "src/base/vec.h"

#define MOST_EVENTS	64
#define MOST_SIGNALS	64	/* of one source in a step */
#define NOWHERE		SIZE_MAX

enum kind { FD, TIMER, CHILD, SIGNALS };

struct loop_source {
	enum kind kind;
	bool deleted;
	int fd;			/* in the epoll set; -1: not, or not any more */
	pid_t pid;
	union {
		void (*fd)(void *arg, uint32_t events);
		void (*timer)(void *arg, uint64_t now_ns);
		void (*child)(void *arg, pid_t pid, int status);
		void (*signals)(void *arg, const struct signalfd_siginfo *signal);
	} call;
	void *arg;
	struct loop_source *next, **link;	/* of all, or of those to be freed */
	/* timers */
	uint64_t at_ns;
	uint64_t turn;		/* of the same time the lower one is first */
	size_t place;		/* in the heap; NOWHERE: not set, or due now */
	bool due;
};

struct loop {
	int epoll, timer;
	bool stepping, stop;
	struct loop_source *all, *deleted;
	size_t nr_timers;
	VEC(struct loop_source *) heap;	/* room for all timers */
	VEC(struct loop_source *) due;	/* likewise: those of this step */
	uint64_t next_turn;
	uint64_t armed_ns;
};

/* ---- the heap of timers ---- */

static bool is_before(const struct loop_source *a, const struct loop_source *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->turn < b->turn;
}

static void put(struct loop *l, size_t place, struct loop_source *s)
{
	l->heap.v[place] = s;
	s->place = place;
}

static void sift_up(struct loop *l, struct loop_source *s, size_t place)
{
	while (place && is_before(s, l->heap.v[(place - 1) / 2])) {
		put(l, place, l->heap.v[(place - 1) / 2]);
		place = (place - 1) / 2;
	}
	put(l, place, s);
}

static void sift_down(struct loop *l, struct loop_source *s, size_t place)
{
	for (size_t child; (child = 2 * place + 1) < l->heap.nr; place = child) {
		if (child + 1 < l->heap.nr && is_before(l->heap.v[child + 1], l->heap.v[child]))
			child++;
		if (!is_before(l->heap.v[child], s))
			break;
		put(l, place, l->heap.v[child]);
	}
	put(l, place, s);
}

static void heap_del(struct loop *l, struct loop_source *s)
{
	struct loop_source *last = l->heap.v[--l->heap.nr];
	size_t place = s->place;

	s->place = NOWHERE;
	if (last == s)
		return;
	if (place && is_before(last, l->heap.v[(place - 1) / 2]))
		sift_up(l, last, place);
	else
		sift_down(l, last, place);
}

/* The timerfd for the earliest; in a step that is done once, at its end. */
static void arm(struct loop *l)
{
	uint64_t at_ns = l->heap.nr ? l->heap.v[0]->at_ns : LOOP_NEVER;
	struct itimerspec t = { 0 };

	if (l->stepping || at_ns == l->armed_ns)
		return;
	if (at_ns != LOOP_NEVER) {
		t.it_value.tv_sec = (time_t)(at_ns / 1000000000);
		t.it_value.tv_nsec = at_ns ? (long)(at_ns % 1000000000) : 1; /* 0 disarms */
	}
	timerfd_settime(l->timer, TFD_TIMER_ABSTIME, &t, NULL);
	l->armed_ns = at_ns;
}

/* ---- the loop itself ---- */

int loop_new(struct loop **out)
{
	struct epoll_event ev = { .events = EPOLLIN };
	struct loop *l = calloc(1, sizeof(*l));
	int rc = 0;

	*out = NULL;
	if (!l)
		return -ENOMEM;
	l->armed_ns = LOOP_NEVER;
	l->timer = -1;
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll >= 0)
		l->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (l->timer < 0 || epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->timer, &ev))
		rc = -errno;
	if (rc)
		loop_free(l);
	else
		*out = l;
	return rc;
}

/* Closes what is the source's own. */
static void source_free(struct loop_source *s)
{
	if (s->kind != FD && s->fd >= 0)
		close(s->fd);
	free(s);
}

static void free_list(struct loop_source **list)
{
	while (*list) {
		struct loop_source *s = *list;

		*list = s->next;
		source_free(s);
	}
}

void loop_free(struct loop *l)
{
	if (!l)
		return;
	free_list(&l->all);
	free_list(&l->deleted);
	vec_fini(&l->heap);
	vec_fini(&l->due);
	if (l->timer >= 0)
		close(l->timer);
	if (l->epoll >= 0)
		close(l->epoll);
	free(l);
}

int loop_fd(const struct loop *l)
{
	return l->epoll;
}

void loop_fds(const struct loop *l, int fds[LOOP_NR_FDS])
{
	fds[0] = l->epoll;
	fds[1] = l->timer;
}

/* ---- sources ---- */

static struct loop_source *source_new(enum kind kind, int fd, void *arg)
{
	struct loop_source *s = malloc(sizeof(*s));

	if (s)
		*s = (struct loop_source){ .kind = kind, .fd = fd, .arg = arg, .place = NOWHERE,
					   .at_ns = LOOP_NEVER };
	return s;
}

static void source_add(struct loop *l, struct loop_source *s, struct loop_source **out)
{
	s->next = l->all;
	s->link = &l->all;
	if (s->next)
		s->next->link = &s->next;
	l->all = s;
	if (out)
		*out = s;
}

/* A source with a descriptor, which is closed with it on failure where it is its own. */
static int fd_add(struct loop *l, struct loop_source *s, uint32_t events, struct loop_source **out)
{
	struct epoll_event ev = { .events = events, .data.ptr = s };

	if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, s->fd, &ev)) {
		int rc = -errno;

		source_free(s);
		return rc;
	}
	source_add(l, s, out);
	return 0;
}

int loop_add_fd(struct loop *l, int fd, uint32_t events, void (*call)(void *arg, uint32_t events),
		void *arg, struct loop_source **out)
{
	struct loop_source *s = source_new(FD, fd, arg);

	if (!s)
		return -ENOMEM;
	s->call.fd = call;
	return fd_add(l, s, events, out);
}

int loop_add_timer(struct loop *l, uint64_t at_ns, void (*call)(void *arg, uint64_t now_ns),
		   void *arg, struct loop_source **out)
{
	struct loop_source *s = source_new(TIMER, -1, arg);

	if (!s || vec_reserve(&l->heap, l->nr_timers + 1) ||
	    vec_reserve(&l->due, l->nr_timers + 1)) {
		free(s);
		return -ENOMEM;
	}
	s->call.timer = call;
	l->nr_timers++;
	source_add(l, s, out);
	loop_set_timer(l, s, at_ns);
	return 0;
}

void loop_set_timer(struct loop *l, struct loop_source *timer, uint64_t at_ns)
{
	if (timer->place != NOWHERE)
		heap_del(l, timer);
	timer->due = false;
	timer->at_ns = at_ns;
	timer->turn = l->next_turn++;
	if (at_ns != LOOP_NEVER)
		sift_up(l, timer, l->heap.nr++);
	arm(l);
}

int loop_add_child(struct loop *l, pid_t pid, void (*call)(void *arg, pid_t pid, int status),
		   void *arg, struct loop_source **out)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct loop_source *s;

	if (fd < 0)
		return -errno;
	s = source_new(CHILD, fd, arg);
	if (!s) {
		close(fd);
		return -ENOMEM;
	}
	s->pid = pid;
	s->call.child = call;
	return fd_add(l, s, EPOLLIN, out);
}

int loop_add_signals(struct loop *l, const sigset_t *set,
		     void (*call)(void *arg, const struct signalfd_siginfo *signal), void *arg,
		     struct loop_source **out)
{
	int fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
	struct loop_source *s;

	if (fd < 0)
		return -errno;
	s = source_new(SIGNALS, fd, arg);
	if (!s) {
		close(fd);
		return -ENOMEM;
	}
	s->call.signals = call;
	return fd_add(l, s, EPOLLIN, out);
}

void loop_del(struct loop *l, struct loop_source *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		epoll_ctl(l->epoll, EPOLL_CTL_DEL, s->fd, NULL);
	if (s->kind == TIMER) {
		loop_set_timer(l, s, LOOP_NEVER);
		l->nr_timers--;
	}
	*s->link = s->next;
	if (s->next)
		s->next->link = s->link;
	s->deleted = true;
	s->next = l->deleted;
	l->deleted = s;
	if (!l->stepping)
		free_list(&l->deleted);
}

/* ---- stepping ---- */

static int wait_status(const siginfo_t *info)
{
	switch (info->si_code) {
	case CLD_EXITED:
		return (info->si_status & 0xff) << 8;
	case CLD_DUMPED:
		return info->si_status | 0x80;
	default:
		return info->si_status;
	}
}

/* Its source stays, for the caller to delete, and gives no more events. */
static void child_ended(struct loop *l, struct loop_source *s)
{
	siginfo_t info = { 0 };
	int rc;

	do
		rc = waitid(P_PIDFD, (id_t)s->fd, &info, WEXITED | WNOHANG);
	while (rc < 0 && errno == EINTR);
	epoll_ctl(l->epoll, EPOLL_CTL_DEL, s->fd, NULL);
	close(s->fd);
	s->fd = -1;
	s->call.child(s->arg, s->pid, rc || !info.si_pid ? -1 : wait_status(&info));
}

static int signals_came(struct loop_source *s)
{
	struct signalfd_siginfo info;
	int nr = 0;

	while (!s->deleted && nr < MOST_SIGNALS &&
	       read(s->fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		s->call.signals(s->arg, &info);
		nr++;
	}
	return nr;
}

/* How many calls were made. */
static int happened(struct loop *l, struct loop_source *s, uint32_t events)
{
	if (!s || s->deleted)
		return 0;	/* the timerfd; or another callback has deleted it */
	if (s->kind == SIGNALS)
		return signals_came(s);
	if (s->kind == CHILD)
		child_ended(l, s);
	else
		s->call.fd(s->arg, events);
	return 1;
}

static int timers_due(struct loop *l)
{
	uint64_t now_ns = nanotime();
	int nr = 0;

	l->due.nr = 0;
	while (l->heap.nr && l->heap.v[0]->at_ns <= now_ns) {
		struct loop_source *s = l->heap.v[0];

		heap_del(l, s);
		s->due = true;
		l->due.v[l->due.nr++] = s;
	}
	for (size_t i = 0; i < l->due.nr; i++) {
		struct loop_source *s = l->due.v[i];

		if (!s->due)
			continue;	/* set anew or deleted by another one's callback */
		s->due = false;
		s->call.timer(s->arg, now_ns);
		nr++;
	}
	return nr;
}

static int wait_ms(int64_t wait_ns)
{
	if (wait_ns < 0)
		return -1;
	return wait_ns > (int64_t)INT_MAX * 1000000 ? INT_MAX : (int)((wait_ns + 999999) / 1000000);
}

int loop_step(struct loop *l, int64_t wait_ns)
{
	struct epoll_event ev[MOST_EVENTS];
	int n, nr = 0;

	if (l->stepping)
		return -EBUSY;
	n = epoll_wait(l->epoll, ev, MOST_EVENTS, wait_ms(wait_ns));
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	l->stepping = true;
	for (int i = 0; i < n; i++)
		nr += happened(l, ev[i].data.ptr, ev[i].events);
	nr += timers_due(l);
	l->stepping = false;
	free_list(&l->deleted);
	arm(l);
	return nr;
}

int loop_run(struct loop *l)
{
	int rc = 0;

	while (!l->stop && rc >= 0)
		rc = loop_step(l, -1);
	l->stop = false;
	return rc < 0 ? rc : 0;
}

void loop_stop(struct loop *l)
{
	l->stop = true;
}
