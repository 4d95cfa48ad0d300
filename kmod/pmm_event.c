// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events for open files of the device (pmm_module.h): each file has a ring of its own.
 */
#include <linux/slab.h>

#include "pmm_compat.h"
#include "pmm_module.h"

static DEFINE_MUTEX(pmm_events_lock);
static LIST_HEAD(listeners);

int pmm_listener_init(struct pmm_listener *l, bool all)
{
	memset(l, 0, sizeof(*l));
	l->events = kvcalloc(PMM_EVENTS, sizeof(*l->events), PMM_GFP);
	if (!l->events)
		return -ENOMEM;
	l->pid = get_pid(task_tgid(current));
	l->ns = get_pid_ns(task_active_pid_ns(current));
	l->all = all;
	init_waitqueue_head(&l->wait);
	mutex_lock(&pmm_events_lock);
	list_add_tail(&l->list, &listeners);
	mutex_unlock(&pmm_events_lock);
	return 0;
}

void pmm_listener_exit(struct pmm_listener *l)
{
	mutex_lock(&pmm_events_lock);
	list_del(&l->list);
	mutex_unlock(&pmm_events_lock);
	if (l->eventfd)
		eventfd_ctx_put(l->eventfd);
	kvfree(l->events);
	put_pid_ns(l->ns);
	put_pid(l->pid);
}

bool pmm_listener_has(struct pmm_listener *l)
{
	return READ_ONCE(l->nr);
}

bool pmm_listener_next(struct pmm_listener *l, struct pmm_kmod_event *out, bool take)
{
	bool any;

	mutex_lock(&pmm_events_lock);
	any = l->nr;
	if (any) {
		*out = l->events[l->first];
		if (take) {
			l->first = (l->first + 1) % PMM_EVENTS;
			WRITE_ONCE(l->nr, l->nr - 1);
		}
	}
	mutex_unlock(&pmm_events_lock);
	return any;
}

void pmm_listener_set_eventfd(struct pmm_listener *l, struct eventfd_ctx *eventfd)
{
	struct eventfd_ctx *old;

	mutex_lock(&pmm_events_lock);
	old = l->eventfd;
	l->eventfd = eventfd;
	mutex_unlock(&pmm_events_lock);
	if (old)
		eventfd_ctx_put(old);
}

static bool may_know(const struct pmm_listener *l, const struct pmm_target *t)
{
	return (l->all || l->pid == t->pid) && pid_nr_ns(t->pid, l->ns);
}

static void tell(struct pmm_listener *l, const struct pmm_target *t,
		 const struct pmm_kmod_event *event)
{
	struct pmm_kmod_event *to;

	if (l->nr < PMM_EVENTS) {
		to = &l->events[(l->first + l->nr) % PMM_EVENTS];
		*to = *event;
		to->pid = pid_nr_ns(t->pid, l->ns);
		to->lost = l->lost;
		l->lost = 0;
		WRITE_ONCE(l->nr, l->nr + 1);
	} else {
		l->lost++;
	}
	wake_up_interruptible(&l->wait);
	if (l->eventfd)
		pmm_eventfd_signal(l->eventfd);
}

void pmm_event(const struct pmm_target *t, u32 type, u64 value, u64 limit)
{
	struct pmm_kmod_event event = {
		.size = sizeof(event),
		.type = type,
		.number = t->number,
		.time_ns = ktime_get_real_ns(),
		.value = value,
		.limit = limit,
	};
	struct pmm_listener *l;

	memcpy(event.comm, t->comm, sizeof(event.comm));
	mutex_lock(&pmm_events_lock);
	list_for_each_entry(l, &listeners, list)
		if (may_know(l, t))
			tell(l, t, &event);
	mutex_unlock(&pmm_events_lock);
}
