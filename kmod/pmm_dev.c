// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /dev/pmm: calls, events and rings (include/pmm/kmod.h).
 *
 * A process logs for itself only: what it may do with an inherited descriptor of another process is
 * to configure and to read, as its capabilities allow.
 */
#include <linux/capability.h>
#include <linux/eventfd.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "pmm_compat.h"
#include "pmm_module.h"
#include "pmm_parse.h"

#define BATCH	16	/* entries copied at a time */

/* An open file. */
struct handle {
	struct pmm_listener listener;
	struct pmm_target *own;		/* the opener's process; set once */
	struct mutex lock;		/* reading, of events and of the log */
	struct pmm_target *reading;	/* whose log is read; NULL */
	struct pmm_log_cursor cursor;
};

/* ---- what all calls begin with */

/*
 * The caller's structure, whose first fields are its size and version. Copied once; what follows
 * those parts that are known must be 0.
 */
static int take(void *to, size_t known, unsigned int cmd, const void __user *from)
{
	const u32 *head = to;
	size_t bytes = _IOC_SIZE(cmd);
	int err;

	if (bytes < known)
		return -EINVAL;
	err = copy_struct_from_user(to, known, from, bytes);
	if (err)
		return err;
	if (head[0] != bytes)
		return -EINVAL;
	return head[1] == PMM_KMOD_VERSION ? 0 : -EPROTONOSUPPORT;
}

static int give(void __user *to, const void *from, size_t bytes)
{
	return copy_to_user(to, from, bytes) ? -EFAULT : 0;
}

/* Both end inside their arrays. */
static bool place_ends(const char *function, const char *file)
{
	return strnlen(function, PMM_KMOD_FUNCTION_BYTES) < PMM_KMOD_FUNCTION_BYTES &&
	       strnlen(file, PMM_KMOD_FILE_BYTES) < PMM_KMOD_FILE_BYTES;
}

/* The caller's own target, made at its first need. ERR_PTR: it is not the opener, or may not. */
static struct pmm_target *own_target(struct handle *h)
{
	struct pmm_target *t;

	if (task_tgid(current) != h->listener.pid)
		return ERR_PTR(-EPERM);
	/* what the thread that made it has written; pairs with cmpxchg() below */
	t = smp_load_acquire(&h->own);
	if (t)
		return t;
	t = pmm_target_start(h->listener.pid, true);
	if (!IS_ERR(t) && cmpxchg(&h->own, NULL, t)) {
		pmm_target_put(t);
		t = h->own;
	}
	return t;
}

/* ---- logging */

static void fill(struct pmm_log_request *r, const struct pmm_kmod_record *record, u64 now_ns)
{
	r->pointer = record->pointer;
	r->bytes = record->bytes;
	r->prev = record->prev;
	r->caller = record->caller;
	r->time_ns = record->time_ns && record->time_ns < now_ns ? record->time_ns : now_ns;
	r->tid = task_pid_vnr(current);
	r->kind = record->kind;
	r->flags = record->flags;
}

static struct pmm_site *site_of(struct pmm_target *t, const struct pmm_kmod_record *record)
{
	struct pmm_site *site;

	if (!record->file[0] && !record->function[0] && !record->line)
		return NULL;
	site = pmm_sites_add(&t->log.sites, record->function, record->file, record->line);
	if (!site)
		t->log.counts.sites_lost++;
	return site;
}

/* The target's group pays, also when its process is in another one now. */
static int enter(struct pmm_target *t, const struct pmm_kmod_record *record,
		 struct pmm_log_request *r)
{
	struct mem_cgroup *before;
	int err = mutex_lock_killable(&t->lock);

	if (err)
		return err;
	if (t->stopped) {
		err = -ESRCH;
	} else {
		pmm_target_catch_up(t);
		before = pmm_set_payer(t->memcg);
		r->site = site_of(t, record);
		pmm_log_enter(&t->log, r);
		pmm_set_payer(before);
	}
	mutex_unlock(&t->lock);
	return err;
}

static int record_log(struct handle *h, unsigned int cmd, void __user *arg)
{
	struct pmm_kmod_record record;
	struct pmm_log_request r;
	struct pmm_target *t;
	int err = take(&record, sizeof(record), cmd, arg);

	if (err)
		return err;
	if (record.reserved || !place_ends(record.function, record.file))
		return -EINVAL;
	fill(&r, &record, ktime_get_coarse_real_ns());
	err = pmm_log_check(&r);
	if (err)
		return err;
	t = own_target(h);
	return IS_ERR(t) ? PTR_ERR(t) : enter(t, &record, &r);
}

static int add_site(struct handle *h, unsigned int cmd, void __user *arg)
{
	struct mem_cgroup *before;
	struct pmm_kmod_site made;
	struct pmm_target *t;
	struct pmm_site *site;
	int err = take(&made, sizeof(made), cmd, arg);

	if (err)
		return err;
	if (made.id || !place_ends(made.function, made.file))
		return -EINVAL;
	t = own_target(h);
	if (IS_ERR(t))
		return PTR_ERR(t);
	err = mutex_lock_killable(&t->lock);
	if (err)
		return err;
	pmm_target_catch_up(t);
	before = pmm_set_payer(t->memcg);
	site = t->stopped ? NULL : pmm_sites_add(&t->log.sites, made.function, made.file,
						 made.line);
	pmm_set_payer(before);
	err = site ? 0 : t->stopped ? -ESRCH : t->log.sites.nr == PMM_SITES_MAX ? -ENOSPC : -ENOMEM;
	made.id = site ? site->id : 0;
	mutex_unlock(&t->lock);
	return err ? err : give(arg, &made, sizeof(made));
}

static int drain(struct handle *h)
{
	struct pmm_target *t = own_target(h);
	int err = IS_ERR(t) ? PTR_ERR(t) : mutex_lock_killable(&t->lock);
	u32 nr;

	if (err)
		return err;
	nr = pmm_target_drain(t);
	mutex_unlock(&t->lock);
	return nr;
}

static int pmm_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct pmm_target *t = own_target(file->private_data);

	return IS_ERR(t) ? PTR_ERR(t) : pmm_map_new(t, vma);
}

/* ---- configuration and lists */

static int set_config(struct file *file, unsigned int cmd, void __user *arg)
{
	struct pmm_kmod_config config;
	int err = take(&config, sizeof(config), cmd, arg);

	if (err)
		return err;
	if (memchr_inv(config.reserved, 0, sizeof(config.reserved)) || config.window)
		return -EINVAL;
	err = pmm_config_check(&config);
	return err ? err : pmm_config_set(&config, pmm_may_all(file));
}

static int get_config(unsigned int cmd, void __user *arg)
{
	struct pmm_kmod_config config;
	int err = take(&config, sizeof(config), cmd, arg);

	if (err)
		return err;
	pmm_config_get(&config);
	return give(arg, &config, sizeof(config));
}

/* One of the list. `step` is what the caller takes for its size. */
static int give_process(struct pmm_target *t, u64 to, u32 step)
{
	struct pmm_kmod_process process;
	void __user *at = u64_to_user_ptr(to);
	int err = pmm_target_describe(t, task_active_pid_ns(current), &process);

	if (err)
		return err;
	if (copy_to_user(at, &process, sizeof(process)))
		return -EFAULT;
	return clear_user(at + sizeof(process), step - sizeof(process)) ? -EFAULT : 0;
}

static bool may_see(const struct pmm_target *t, bool all)
{
	return !READ_ONCE(t->stopped) && (all || t->pid == task_tgid(current)) && pid_vnr(t->pid);
}

static int monitored_pids(struct file *file, unsigned int cmd, void __user *arg)
{
	struct pmm_kmod_pids pids;
	struct pmm_target *t = NULL;
	bool all = pmm_may_all(file);
	u64 number = 0;
	int err = take(&pids, sizeof(pids), cmd, arg);

	if (err)
		return err;
	if (pids.reserved || pids.count || pids.element_bytes < sizeof(struct pmm_kmod_process) ||
	    pids.element_bytes > PAGE_SIZE)
		return -EINVAL;
	while ((t = pmm_target_next(t, &number))) {
		if (!may_see(t, all))
			continue;
		if (pids.count < pids.capacity)
			err = give_process(t, pids.processes + (u64)pids.count * pids.element_bytes,
					   pids.element_bytes);
		if (err || fatal_signal_pending(current)) {
			pmm_target_put(t);
			return err ? err : -EINTR;
		}
		pids.count++;
	}
	return give(arg, &pids, sizeof(pids));
}

/* ---- reading a log, under the handle's lock */

static void end_reading(struct handle *h)
{
	struct pmm_target *t = h->reading;

	if (!t)
		return;
	mutex_lock(&t->lock);
	pmm_cursor_end(&h->cursor);
	mutex_unlock(&t->lock);
	h->reading = NULL;
	pmm_target_put(t);
}

static int begin_reading(struct handle *h, struct pid *pid)
{
	struct pmm_target *t = pmm_target_find(pid);
	int err;

	end_reading(h);
	if (!t)
		return -ESRCH;
	err = mutex_lock_killable(&t->lock);
	if (err) {
		pmm_target_put(t);
		return err;
	}
	pmm_target_drain(t);
	pmm_cursor_begin(&h->cursor, &t->log);
	mutex_unlock(&t->lock);
	h->reading = t;
	return 0;
}

static void record_of(struct pmm_kmod_record *to, const struct pmm_log_entry *entry)
{
	memset(to, 0, sizeof(*to));
	to->size = sizeof(*to);
	to->version = PMM_KMOD_VERSION;
	to->kind = entry->kind;
	to->line = entry->site ? entry->site->line : 0;
	to->bytes = entry->bytes;
	to->pointer = entry->pointer;
	to->prev = entry->prev;
	to->caller = entry->caller;
	to->time_ns = entry->time_ns;
	to->tid = entry->tid;
	strscpy(to->function, pmm_site_function(entry->site), sizeof(to->function));
	strscpy(to->file, pmm_site_file(entry->site), sizeof(to->file));
}

/* Up to `max` entries behind the cursor; -EINTR. */
static int read_batch(struct handle *h, struct pmm_kmod_record *batch, int max)
{
	struct pmm_target *t = h->reading;
	struct pmm_log_entry *entry;
	int nr = mutex_lock_killable(&t->lock);

	if (nr)
		return nr;
	while (nr < max) {
		entry = pmm_cursor_look(&h->cursor, &t->log);
		if (!entry)
			break;
		record_of(&batch[nr++], entry);
		pmm_cursor_pass(&h->cursor, entry);
	}
	mutex_unlock(&t->lock);
	return nr;
}

static int read_entries(struct handle *h, struct pmm_kmod_log *log)
{
	struct pmm_kmod_record *batch = kmalloc_array(BATCH, sizeof(*batch), PMM_GFP);
	u64 to = log->records;
	int err = batch ? 0 : -ENOMEM;
	int nr;

	while (!err && log->count < log->capacity) {
		nr = read_batch(h, batch, min_t(u32, BATCH, log->capacity - log->count));
		if (nr <= 0) {
			err = nr;
			break;
		}
		err = give(u64_to_user_ptr(to), batch, nr * sizeof(*batch));
		to += nr * sizeof(*batch);
		log->count += nr;
		if (fatal_signal_pending(current))
			err = -EINTR;
		cond_resched();
	}
	kfree(batch);
	return err;
}

static int read_from(struct handle *h, struct pid *pid, struct pmm_kmod_log *log)
{
	int err = 0;

	if (!h->reading || h->reading->pid != pid || log->flags & PMM_KMOD_RESTART)
		err = begin_reading(h, pid);
	return err ? err : read_entries(h, log);
}

static int read_log(struct file *file, unsigned int cmd, void __user *arg)
{
	struct handle *h = file->private_data;
	struct pmm_kmod_log log;
	struct pid *pid;
	int err = take(&log, sizeof(log), cmd, arg);

	if (err)
		return err;
	if (log.flags & ~PMM_KMOD_RESTART || log.count)
		return -EINVAL;
	pid = pmm_target_pid(log.pid);
	if (!pid)
		return pmm_may_all(file) ? -ESRCH : -EPERM;
	if (pid != task_tgid(current) && !pmm_may_all(file)) {
		put_pid(pid);
		return -EPERM;
	}
	err = mutex_lock_interruptible(&h->lock);
	if (!err) {
		err = read_from(h, pid, &log);
		mutex_unlock(&h->lock);
	}
	put_pid(pid);
	return err ? err : give(arg, &log, sizeof(log));
}

/* ---- events */

/* Events of all processes are for those who may see all, whoever has opened the file. */
static bool may_hear(const struct handle *h)
{
	return !h->listener.all || capable(CAP_SYS_ADMIN);
}

static int set_eventfd(struct handle *h, int fd)
{
	struct eventfd_ctx *ctx = NULL;

	if (!may_hear(h))
		return -EPERM;
	if (fd >= 0)
		ctx = eventfd_ctx_fdget(fd);
	else if (fd != -1)
		return -EBADF;
	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	pmm_listener_set_eventfd(&h->listener, ctx);
	return 0;
}

static ssize_t read_events(struct handle *h, char __user *to, size_t bytes)
{
	struct pmm_kmod_event event;
	size_t done = 0;

	while (bytes - done >= sizeof(event) && pmm_listener_next(&h->listener, &event, false)) {
		if (copy_to_user(to + done, &event, sizeof(event)))
			return done ? done : -EFAULT;
		pmm_listener_next(&h->listener, &event, true);
		done += sizeof(event);
	}
	return done;
}

static ssize_t pmm_read(struct file *file, char __user *to, size_t bytes, loff_t *at)
{
	struct handle *h = file->private_data;
	ssize_t done;

	if (bytes < sizeof(struct pmm_kmod_event))
		return -EINVAL;
	if (!may_hear(h))
		return -EPERM;
	do {
		if (!pmm_listener_has(&h->listener)) {
			if (file->f_flags & O_NONBLOCK)
				return -EAGAIN;
			if (wait_event_interruptible(h->listener.wait,
						     pmm_listener_has(&h->listener)))
				return -ERESTARTSYS;
		}
		if (mutex_lock_interruptible(&h->lock))
			return -ERESTARTSYS;
		done = read_events(h, to, bytes);
		mutex_unlock(&h->lock);
	} while (!done);
	return done;
}

static __poll_t pmm_poll(struct file *file, struct poll_table_struct *table)
{
	struct handle *h = file->private_data;

	poll_wait(file, &h->listener.wait, table);
	return pmm_listener_has(&h->listener) ? EPOLLIN | EPOLLRDNORM : 0;
}

/* ---- the device */

static int pmm_open(struct inode *inode, struct file *file)
{
	struct handle *h = kzalloc(sizeof(*h), PMM_GFP);

	if (!h)
		return -ENOMEM;
	mutex_init(&h->lock);
	if (pmm_listener_init(&h->listener, capable(CAP_SYS_ADMIN))) {
		kfree(h);
		return -ENOMEM;
	}
	file->private_data = h;
	return nonseekable_open(inode, file);
}

static int pmm_release(struct inode *inode, struct file *file)
{
	struct handle *h = file->private_data;

	end_reading(h);
	pmm_listener_exit(&h->listener);
	pmm_target_put(h->own);
	kfree(h);
	return 0;
}

static long pmm_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct handle *h = file->private_data;
	void __user *at = (void __user *)arg;

	if (_IOC_TYPE(cmd) != PMM_KMOD_IOC)
		return -ENOTTY;
	if (cmd == PMM_DRAIN)
		return drain(h);
	if (cmd == PMM_SET_EVENTFD)
		return set_eventfd(h, (int)arg);
	/* a newer program's structure may be longer, and so its number another */
	switch (cmd & ~IOCSIZE_MASK) {
	case PMM_RECORD_LOG & ~IOCSIZE_MASK:
		return record_log(h, cmd, at);
	case PMM_SET_CONFIG & ~IOCSIZE_MASK:
		return set_config(file, cmd, at);
	case PMM_GET_CONFIG & ~IOCSIZE_MASK:
		return get_config(cmd, at);
	case PMM_MONITORED_PIDS & ~IOCSIZE_MASK:
		return monitored_pids(file, cmd, at);
	case PMM_ADD_SITE & ~IOCSIZE_MASK:
		return add_site(h, cmd, at);
	case PMM_READ_LOG & ~IOCSIZE_MASK:
		return read_log(file, cmd, at);
	default:
		return -ENOTTY;
	}
}

#ifdef CONFIG_COMPAT
/* A number is no address: compat_ptr() of s390 would take a bit from -1. */
static long pmm_compat_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return cmd == PMM_SET_EVENTFD ? pmm_ioctl(file, cmd, arg) :
					compat_ptr_ioctl(file, cmd, arg);
}
#endif

static const struct file_operations pmm_fops = {
	.owner = THIS_MODULE,
	.open = pmm_open,
	.release = pmm_release,
	.read = pmm_read,
	.poll = pmm_poll,
	.mmap = pmm_mmap,
	.unlocked_ioctl = pmm_ioctl,
#ifdef CONFIG_COMPAT
	.compat_ioctl = pmm_compat_ioctl,
#endif
};

static struct miscdevice pmm_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "pmm",
	.fops = &pmm_fops,
	.mode = 0600,
};

int pmm_dev_init(void)
{
	return misc_register(&pmm_device);
}

void pmm_dev_exit(void)
{
	misc_deregister(&pmm_device);
}
