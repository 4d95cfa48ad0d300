/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Live events of the kernel module. */
#include "src/session/kmod/kmod_watch.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/document/event.h"
#include "src/view/kmod/kmod_view.h"

#define AT_ONCE		64	/* events that are read at once */

struct watched {
	pid_t pid;
	bool ended;
};

struct kmod_watch {
	struct kmod_device *device;
	struct loop *loop;
	struct loop_source *source;
	const struct session_sink *sink;
	struct watched *watched;
	size_t nr_watched;
	int rc;
	struct err err;
};

static struct watched *find(struct kmod_watch *w, pid_t pid)
{
	for (size_t i = 0; i < w->nr_watched; i++)
		if (w->watched[i].pid == pid)
			return &w->watched[i];
	return NULL;
}

static bool all_ended(const struct kmod_watch *w)
{
	for (size_t i = 0; i < w->nr_watched; i++)
		if (!w->watched[i].ended)
			return false;
	return w->nr_watched;
}

/* False: no more of them are wanted. */
static bool hand_over(struct kmod_watch *w, const struct pmm_kmod_event *e)
{
	struct watched *p = find(w, e->pid);
	struct event event = { 0 };
	int rc;

	if (w->nr_watched && !p)
		return true;
	kmod_view_event(&event, e);
	rc = event_error(&event);
	if (!rc)
		rc = session_event(w->sink, &event);
	event_fini(&event);
	if (rc && rc != -EPIPE)
		w->rc = err_set(&w->err, rc, "cannot write events: %s", strerror(-rc));
	if (p && (e->type == PMM_KMOD_EVENT_ENDED || e->type == PMM_KMOD_EVENT_STOPPED))
		p->ended = true;
	return !rc && !all_ended(w);
}

static void on_events(void *arg, uint32_t happened)
{
	struct pmm_kmod_event v[AT_ONCE];
	struct kmod_watch *w = arg;
	ssize_t n = kmod_device_events(w->device, v, AT_ONCE, &w->err);
	bool more = true;

	if (n < 0)
		w->rc = (int)n;
	else if (!n && (happened & (EPOLLERR | EPOLLHUP)))
		w->rc = err_set(&w->err, -EIO, "the kernel module has closed the device");
	for (ssize_t i = 0; i < n && more; i++)
		more = hand_over(w, &v[i]);
	if (w->rc || !more)
		loop_stop(w->loop);
}

static int start_all(struct kmod_watch *w, struct err *e)
{
	int rc = 0;
	size_t i;

	for (i = 0; i < w->nr_watched && !rc; i++) {
		rc = kmod_device_start(w->device, w->watched[i].pid, e);
		if (rc == -EEXIST)	/* it is monitored already */
			rc = 0;
	}
	return rc;
}

int kmod_watch_new(struct kmod_watch **out, struct kmod_device *d, struct loop *l,
		   const struct kmod_watch_options *o, const struct session_sink *to,
		   struct err *e)
{
	struct kmod_watch *w = calloc(1, sizeof(*w));
	int rc;

	if (w)
		w->watched = calloc(o->nr_pids + 1, sizeof(*w->watched));
	if (!w || !w->watched) {
		free(w);
		return err_set(e, -ENOMEM, "out of memory");
	}
	w->device = d;
	w->loop = l;
	w->sink = to;
	w->nr_watched = o->nr_pids;
	for (size_t i = 0; i < o->nr_pids; i++)
		w->watched[i].pid = o->pids[i];
	rc = loop_add_fd(l, d->fd, EPOLLIN, on_events, w, &w->source);
	if (rc)
		err_set(e, rc, "cannot wait for events of the kernel module: %s", strerror(-rc));
	else
		rc = start_all(w, e);
	if (rc) {
		kmod_watch_free(w);
		return rc;
	}
	*out = w;
	return 0;
}

int kmod_watch_result(const struct kmod_watch *w, struct err *e)
{
	if (w->rc)
		*e = w->err;
	return w->rc;
}

void kmod_watch_free(struct kmod_watch *w)
{
	if (!w)
		return;
	loop_del(w->loop, w->source);
	free(w->watched);
	free(w);
}
