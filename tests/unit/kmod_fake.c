/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel module that is none. */
#include "tests/unit/unit.h"

#include "tests/unit/kmod_fake.h"

static int set_config(struct kmod_fake *f, const struct pmm_kmod_config *c)
{
	if (c->set & PMM_KMOD_SET_START)
		f->started = c->start_pid;
	if (c->set & PMM_KMOD_SET_STOP)
		f->stopped = c->stop_pid;
	return f->started == 404 || f->stopped == 404 ? -ESRCH : 0;
}

static int list(struct kmod_fake *f, struct pmm_kmod_pids *p)
{
	struct pmm_kmod_process *to = (void *)(uintptr_t)p->processes;

	if (p->element_bytes < sizeof(*to) || p->reserved)
		return -EINVAL;
	f->nr_processes += f->calls > 1 ? f->more_each_time : 0;
	p->count = f->nr_processes;
	for (uint32_t i = 0; i < p->count && i < p->capacity && f->processes; i++)
		to[i] = f->processes[i];
	return 0;
}

static int read_log(struct kmod_fake *f, struct pmm_kmod_log *l)
{
	struct pmm_kmod_record *to = (void *)(uintptr_t)l->records;

	if (l->flags & PMM_KMOD_RESTART)
		f->at = 0;
	for (l->count = 0; l->count < l->capacity && f->at < f->nr_records; l->count++) {
		to[l->count] = f->records[f->at++];
		if (f->endless && f->at == f->nr_records)
			f->at = 0;
	}
	return 0;
}

static int fake_ioctl(void *ctx, unsigned long request, void *arg)
{
	struct kmod_fake *f = ctx;
	const struct {
		uint32_t size, version;
	} *head = arg;

	f->calls++;
	if (f->fail)
		return f->fail;
	if (head->size != _IOC_SIZE(request))
		return -EINVAL;
	if (head->version != PMM_KMOD_VERSION)
		return -EPROTONOSUPPORT;
	switch (request) {
	case PMM_GET_CONFIG:
		*(struct pmm_kmod_config *)arg = f->config;
		return 0;
	case PMM_SET_CONFIG:
		return set_config(f, arg);
	case PMM_MONITORED_PIDS:
		return list(f, arg);
	case PMM_READ_LOG:
		return read_log(f, arg);
	default:
		return -ENOTTY;
	}
}

static ssize_t fake_read(void *ctx, void *to, size_t bytes)
{
	struct kmod_fake *f = ctx;
	size_t n = f->event_bytes < bytes ? f->event_bytes : bytes;

	if (f->fail)
		return f->fail;
	if (!n)
		return -EAGAIN;
	memcpy(to, f->events, n);
	f->event_bytes -= n;
	return (ssize_t)n;
}

static const struct kmod_ops fake_ops = { fake_ioctl, fake_read };

void kmod_fake_init(struct kmod_fake *f)
{
	*f = (struct kmod_fake){ .config = { .size = sizeof(f->config),
					     .version = PMM_KMOD_VERSION,
					     .interval_ms = 1000, .scan = 1 } };
	f->device = (struct kmod_device){ .fd = -1, .ops = &fake_ops, .ctx = f };
}
