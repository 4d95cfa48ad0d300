/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls of the kernel module's device. */
#include "src/kmod/kmod_device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PIECE		1024	/* records that are asked for at once */
#define FIRST		64	/* room for processes at first */
#define ATTEMPTS	4	/* at a list that grows meanwhile */

static int call_ioctl(void *ctx, unsigned long request, void *arg)
{
	int rc;

	do {
		rc = ioctl(((struct kmod_device *)ctx)->fd, request, arg);
	} while (rc < 0 && errno == EINTR);
	return rc < 0 ? -errno : rc;
}

static ssize_t call_read(void *ctx, void *to, size_t bytes)
{
	ssize_t n;

	do {
		n = read(((struct kmod_device *)ctx)->fd, to, bytes);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static const struct kmod_ops device_ops = { call_ioctl, call_read };

/* A call that failed, in words; `what` was to be done. */
static int failed(int rc, const char *what, struct err *e)
{
	switch (rc) {
	case -EPERM:
		err_set(e, rc, "cannot %s: the kernel module allows it to administrators only",
			what);
		err_hint(e, "run as root, with CAP_SYS_ADMIN of the initial user namespace");
		break;
	case -EPROTONOSUPPORT:
	case -ENOTTY:
	case -E2BIG:
		err_set(e, -EPROTONOSUPPORT,
			"cannot %s: the kernel module speaks another version than this pmm (%u)",
			what, PMM_KMOD_VERSION);
		err_hint(e, "build and load the module of this pmm: pmm kmod unload; make -C kmod; "
			    "pmm kmod load");
		return -EPROTONOSUPPORT;
	default:
		err_set(e, rc, "cannot %s: %s", what, strerror(-rc));
	}
	return rc;
}

static void open_failed(int rc, const char *path, struct err *e)
{
	switch (rc) {
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
		err_set(e, rc, "the kernel module pmm is not loaded: there is no '%s'", path);
		err_hint(e, "'pmm kmod load' loads it, as root; 'make -C kmod' builds it");
		break;
	case -EACCES:
	case -EPERM:
		err_set(e, rc,
			"'%s' may not be opened: it belongs to root, and to a group if a rule of "
			"udev says so", path);
		err_hint(e, "run as root, or as a member of that group");
		break;
	default:
		err_set(e, rc, "cannot open '%s': %s", path, strerror(-rc));
	}
}

int kmod_device_open(struct kmod_device *d, const char *path, struct err *e)
{
	struct pmm_kmod_config config;
	int rc;

	*d = (struct kmod_device){ .fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK),
				   .ops = &device_ops, .ctx = d };
	if (d->fd < 0) {
		rc = -errno;
		open_failed(rc, path, e);
		return rc;
	}
	rc = kmod_device_config(d, &config, e);
	if (rc)
		kmod_device_close(d);
	return rc;
}

void kmod_device_close(struct kmod_device *d)
{
	if (d->ops && d->fd >= 0)
		close(d->fd);
	*d = (struct kmod_device){ .fd = -1 };
}

int kmod_device_config(struct kmod_device *d, struct pmm_kmod_config *out, struct err *e)
{
	int rc;

	*out = (struct pmm_kmod_config){ .size = sizeof(*out), .version = PMM_KMOD_VERSION };
	rc = d->ops->ioctl(d->ctx, PMM_GET_CONFIG, out);
	return rc < 0 ? failed(rc, "ask the kernel module for its configuration", e) : 0;
}

/* Start or stop; `what`: in words. */
static int change(struct kmod_device *d, unsigned set, pid_t pid, const char *what, struct err *e)
{
	struct pmm_kmod_config c = { .size = sizeof(c), .version = PMM_KMOD_VERSION, .set = set };
	int rc;

	if (set == PMM_KMOD_SET_START)
		c.start_pid = pid;
	else
		c.stop_pid = pid;
	rc = d->ops->ioctl(d->ctx, PMM_SET_CONFIG, &c);
	if (rc >= 0)
		return 0;
	if (rc == -ESRCH) {
		err_set(e, rc, set == PMM_KMOD_SET_START
				       ? "there is no process %d"
				       : "the kernel module does not monitor process %d", (int)pid);
		err_hint(e, set == PMM_KMOD_SET_START
				    ? "'ps -e' lists all processes with their numbers"
				    : "'pmm kmod status' lists those that it monitors");
		return rc;
	}
	if (rc == -EUSERS) {
		err_set(e, rc, "cannot monitor process %d: the kernel module has as many as it may",
			(int)pid);
		err_hint(e, "stop one: pmm kmod stop PID");
		return rc;
	}
	return failed(rc, what, e);
}

int kmod_device_start(struct kmod_device *d, pid_t pid, struct err *e)
{
	return change(d, PMM_KMOD_SET_START, pid, "monitor a process", e);
}

int kmod_device_stop(struct kmod_device *d, pid_t pid, struct err *e)
{
	return change(d, PMM_KMOD_SET_STOP, pid, "stop monitoring a process", e);
}

/* ---- the list of processes ---- */

/* Ask for as many as there is room for; *count: how many there are. */
static int ask_processes(struct kmod_device *d, struct kmod_processes *to, uint32_t *count,
			 struct err *e)
{
	struct pmm_kmod_pids p = { .size = sizeof(p), .version = PMM_KMOD_VERSION,
				   .capacity = (uint32_t)to->v.nr,
				   .element_bytes = sizeof(*to->v.v),
				   .processes = (uintptr_t)to->v.v };
	int rc = d->ops->ioctl(d->ctx, PMM_MONITORED_PIDS, &p);

	if (rc < 0)
		return failed(rc, "ask the kernel module for the processes that it monitors", e);
	if (p.count > KMOD_MAX_PROCESSES)
		return err_set(e, -EBADMSG, "the kernel module claims to monitor %u processes",
			       p.count);
	*count = p.count;
	return 0;
}

int kmod_device_processes(struct kmod_device *d, struct kmod_processes *out, struct err *e)
{
	uint32_t count = FIRST, room = 0;

	for (unsigned i = 0; i < ATTEMPTS && count > room; i++) {
		int rc;

		/* a few more than there were: others may begin meanwhile */
		room = i ? count + count / 8 + 1 : FIRST;
		if (vec_resize(&out->v, room))
			return err_set(e, -ENOMEM, "out of memory");
		rc = ask_processes(d, out, &count, e);
		if (rc)
			return rc;
	}
	if (count > room)
		return err_set(e, -EAGAIN, "the list of monitored processes grows all the time");
	out->v.nr = count;
	vec_each(&out->v, p)
		p->comm[sizeof(p->comm) - 1] = '\0';
	return 0;
}

void kmod_processes_fini(struct kmod_processes *p)
{
	vec_fini(&p->v);
}

static int not_monitored(pid_t pid, struct err *e)
{
	err_set(e, -ESRCH, "the kernel module does not monitor process %d", (int)pid);
	err_hint(e,
		 "'pmm kmod start %d' begins to; a program that is compiled with PMM_KMOD begins "
		 "by itself", (int)pid);
	return -ESRCH;
}

int kmod_device_process(struct kmod_device *d, pid_t pid, struct pmm_kmod_process *out,
			struct err *e)
{
	struct kmod_processes all = { 0 };
	int rc = kmod_device_processes(d, &all, e);
	uint64_t newest = 0;

	if (!rc) {
		rc = -ESRCH;
		vec_each(&all.v, p)
			if (p->pid == pid && p->number >= newest) {
				*out = *p;
				newest = p->number;
				rc = 0;
			}
		if (rc)
			not_monitored(pid, e);
	}
	kmod_processes_fini(&all);
	return rc;
}

/* ---- the log ---- */

/* Take over a piece, unless all of it came after now_ns: false. */
static bool take_piece(struct kmod_records *to, uint32_t count, uint64_t now_ns)
{
	size_t first = to->v.nr;
	bool earlier = false;

	for (uint32_t i = 0; i < count; i++) {
		struct pmm_kmod_record *r = &to->v.v[first + i];

		r->function[sizeof(r->function) - 1] = '\0';
		r->file[sizeof(r->file) - 1] = '\0';
		earlier |= r->time_ns <= now_ns;
	}
	if (earlier)
		to->v.nr += count;
	else
		to->later += count;
	return earlier;
}

static int read_piece(struct kmod_device *d, struct pmm_kmod_log *l, struct kmod_records *out,
		      struct err *e)
{
	int rc;

	if (vec_reserve(&out->v, out->v.nr + PIECE))
		return err_set(e, -ENOMEM, "out of memory for the log of process %d", l->pid);
	l->records = (uintptr_t)(out->v.v + out->v.nr);
	l->capacity = PIECE;
	l->count = 0;
	rc = d->ops->ioctl(d->ctx, PMM_READ_LOG, l);
	if (rc == -ESRCH)
		return not_monitored(l->pid, e);
	if (rc < 0)
		return failed(rc, "read the log of a process", e);
	if (l->count > PIECE)
		return err_set(e, -EBADMSG, "the kernel module gives more records than it was "
					    "asked for");
	return 0;
}

int kmod_device_log(struct kmod_device *d, pid_t pid, uint64_t now_ns, uint64_t max_bytes,
		    struct kmod_records *out, struct err *e)
{
	struct pmm_kmod_log l = { .size = sizeof(l), .version = PMM_KMOD_VERSION, .pid = pid,
				  .flags = PMM_KMOD_RESTART };
	uint64_t most = max_bytes ? max_bytes / sizeof(*out->v.v) : KMOD_MAX_RECORDS, all = 0;

	for (;;) {
		int rc = read_piece(d, &l, out, e);

		if (rc || !l.count)
			return rc;
		l.flags = 0;
		all += l.count;
		/* what is logged while it is read comes at the end, for as long as it is read */
		if (!take_piece(out, l.count, now_ns))
			return 0;
		if (all > most || all > KMOD_MAX_RECORDS) {
			rc = err_set(e, -EFBIG, "the log of process %d has more than %llu entries, "
						"which takes more memory than allowed", (int)pid,
				     (unsigned long long)most);
			err_hint(e, "raise --memory-limit");
			return rc;
		}
	}
}

void kmod_records_fini(struct kmod_records *r)
{
	vec_fini(&r->v);
}

/* ---- events ---- */

ssize_t kmod_device_events(struct kmod_device *d, struct pmm_kmod_event *to, size_t max,
			   struct err *e)
{
	ssize_t n = d->ops->read(d->ctx, to, max * sizeof(*to));

	if (n == -EAGAIN)
		return 0;
	if (n < 0)
		return failed((int)n, "read events of the kernel module", e);
	if ((size_t)n % sizeof(*to) || (size_t)n > max * sizeof(*to))
		return err_set(e, -EBADMSG, "the kernel module gives half an event");
	n /= (ssize_t)sizeof(*to);
	for (ssize_t i = 0; i < n; i++) {
		if (to[i].size != sizeof(*to))
			return err_set(e, -EBADMSG, "the kernel module gives events of %u bytes",
				       to[i].size);
		to[i].comm[sizeof(to[i].comm) - 1] = '\0';
	}
	return n;
}
