// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /proc/pmm: cfg, summary and pid (doc/kmod.md).
 *
 * pid is as long as the logs are, and they change while it is read. A reader has a cursor in the
 * log that it is at, so each piece goes on where the last one ended; the target's lock is held for
 * one piece, some 40 lines, at a time. To skip, seq_file has any number of lines shown in one
 * piece: others get the lock after every 256 of them.
 */
#include <linux/capability.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/proc_fs.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "pmm_module.h"
#include "pmm_parse.h"
#include "pmm_text.h"

#define NAME_BYTES	(4 * TASK_COMM_LEN + 1)
#define PIECE		16	/* characters escaped at a time */
#define MOST_LINES	256	/* passed under the target's lock at a time */

/* ---- cfg */

static int cfg_show(struct seq_file *s, void *unused)
{
	struct pmm_kmod_config c;

	pmm_config_get(&c);
	seq_printf(s, "INTERVAL %-8u milliseconds between two looks at the processes\n",
		   c.interval_ms);
	seq_printf(s, "SCAN %-12u 1: they are looked at, 0: they are not\n", c.scan);
	seq_puts(s, "START_PID n       begin to monitor the process n\n");
	seq_puts(s, "STOP_PID n        stop, and forget its log\n");
	return 0;
}

static int cfg_open(struct inode *inode, struct file *file)
{
	return single_open(file, cfg_show, NULL);
}

static ssize_t cfg_write(struct file *file, const char __user *from, size_t bytes, loff_t *at)
{
	struct pmm_kmod_config config;
	char text[PMM_PARSE_MAX_BYTES];
	int err;

	if (bytes > sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, bytes))
		return -EFAULT;
	err = pmm_parse_cfg(text, bytes, &config);
	if (!err)
		err = pmm_config_set(&config, pmm_may_all(file));
	return err ? err : bytes;
}

static const struct proc_ops cfg_ops = {
	.proc_open = cfg_open,
	.proc_read = seq_read,
	.proc_write = cfg_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

/* ---- what readers of pid and summary have */

struct reader {
	struct pid_namespace *ns;	/* of who has opened it */
	bool pointers;			/* who has opened it may see them */
	bool shown;			/* they are shown in this piece */
	bool with_logs;			/* pid; else summary */
	bool in_log;			/* at an entry, not at the target itself */
	struct pmm_target *target;	/* that the next line is of; NULL: none yet, or the end */
	u64 number;			/* of that, when it was found */
	struct pmm_log_cursor cursor;	/* in its log */
	loff_t at;			/* position of the next line; 0: it has to be found */
	u32 lines;			/* passed since its lock was taken */
	u64 nr;				/* number of the target among those shown, from 1 */
};

static bool may_see_pointers(void)
{
	return ns_capable_noaudit(&init_user_ns, CAP_SYS_PTRACE) ||
	       ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN);
}

/*
 * Each of these goes to a line and returns 1 with its target locked; 0 at the end; -EINTR if the
 * caller is killed while it waits for a lock.
 */

/* The next one to show; the one before was unlocked. */
static int next_target(struct reader *r)
{
	while ((r->target = pmm_target_next(r->target, &r->number))) {
		if (mutex_lock_killable(&r->target->lock)) {
			pmm_target_put(r->target);
			r->target = NULL;
			return -EINTR;
		}
		r->lines = 0;
		if (!r->target->stopped && pid_nr_ns(r->target->pid, r->ns)) {
			pmm_target_drain(r->target);
			r->in_log = false;
			r->nr++;
			return 1;
		}
		mutex_unlock(&r->target->lock);
	}
	return 0;
}

/* Unlock the target, and leave it for the next one. */
static int leave_target(struct reader *r)
{
	pmm_cursor_end(&r->cursor);
	mutex_unlock(&r->target->lock);
	return next_target(r);
}

/* The entry behind the cursor, or the next target. */
static int find_entry(struct reader *r)
{
	return pmm_cursor_look(&r->cursor, &r->target->log) ? 1 : leave_target(r);
}

/*
 * The cursor keeps the place while others have the lock. Who takes it again at once would get it
 * before those who spin for it.
 */
static int let_others(struct reader *r)
{
	mutex_unlock(&r->target->lock);
	usleep_range(10, 50);
	r->lines = 0;
	if (fatal_signal_pending(current))
		return -EINTR;
	return mutex_lock_killable(&r->target->lock);
}

/* What it shows now is no part of what is shown here: it comes again behind the others. */
static bool began_anew(const struct reader *r)
{
	return READ_ONCE(r->target->number) != r->number;
}

/* One line on. */
static int advance(struct reader *r)
{
	struct pmm_log_entry *entry;

	if (!r->with_logs)
		return leave_target(r);
	if (!r->in_log) {
		pmm_cursor_begin(&r->cursor, &r->target->log);
		r->in_log = true;
	} else {
		entry = pmm_cursor_look(&r->cursor, &r->target->log);
		if (entry)
			pmm_cursor_pass(&r->cursor, entry);
	}
	if (++r->lines == MOST_LINES) {
		if (let_others(r))
			return -EINTR;
		if (began_anew(r))
			return leave_target(r);
	}
	return find_entry(r);
}

/* Unlock the target, and be at none. */
static void let_go(struct reader *r)
{
	pmm_cursor_end(&r->cursor);
	mutex_unlock(&r->target->lock);
	pmm_target_put(r->target);
	r->target = NULL;
}

/* Where the last piece ended; an entry that has gone meanwhile is not waited for. */
static int resume(struct reader *r)
{
	if (!r->target)
		return 0;
	if (mutex_lock_killable(&r->target->lock))
		return -EINTR;
	r->lines = 0;
	if (began_anew(r))
		return leave_target(r);
	return r->in_log ? find_entry(r) : 1;
}

/* From the first line on. */
static int seek(struct reader *r, loff_t at)
{
	int there;

	if (r->target) {
		if (mutex_lock_killable(&r->target->lock))
			return -EINTR;
		let_go(r);
	}
	r->at = 0;
	r->nr = 0;
	there = next_target(r);
	while (there > 0 && r->at < at) {
		there = advance(r);
		r->at++;
	}
	return there;
}

/* What seq_file takes; after an error the place has to be found anew. */
static void *result_of(struct reader *r, int there)
{
	if (there < 0)
		r->at = 0;
	return there < 0 ? ERR_PTR(there) : there ? r : NULL;
}

static void *reader_start(struct seq_file *s, loff_t *at)
{
	struct reader *r = s->private;
	int there;

	r->shown = r->pointers && may_see_pointers();
	there = *at && *at == r->at ? resume(r) : seek(r, *at);
	r->at = *at;
	return result_of(r, there);
}

static void *reader_next(struct seq_file *s, void *v, loff_t *at)
{
	struct reader *r = s->private;

	r->at = ++*at;
	return result_of(r, advance(r));
}

static void reader_stop(struct seq_file *s, void *v)
{
	struct reader *r = s->private;

	if (!IS_ERR_OR_NULL(v))
		mutex_unlock(&r->target->lock);
}

/* ---- pid */

static void show_pointer(struct seq_file *s, const struct reader *r, const char *name, u64 pointer)
{
	if (r->shown)
		seq_printf(s, " %s: 0x%llx", name, pointer);
	else
		seq_printf(s, " %s: (hidden)", name);
}

/* Escaped, piece by piece. */
static void show_text(struct seq_file *s, const char *text)
{
	char piece[PIECE + 1], escaped[4 * PIECE + 1];

	if (!*text)
		seq_putc(s, '?');
	for (; *text; text += strlen(piece)) {
		strscpy(piece, text, sizeof(piece));
		seq_puts(s, pmm_text_escape(escaped, sizeof(escaped), piece, false));
	}
}

static void show_site(struct seq_file *s, const struct pmm_site *site)
{
	if (!site) {
		seq_puts(s, " ?\n");
		return;
	}
	seq_putc(s, ' ');
	show_text(s, pmm_site_function(site));
	seq_printf(s, "() %u ", site->line);
	show_text(s, pmm_site_file(site));
	seq_putc(s, '\n');
}

static void show_entry(struct seq_file *s, const struct reader *r, const struct pmm_log_entry *e)
{
	char time[9];

	seq_printf(s, "{%s @%s} Sz: %lluB", pmm_text_kind(e->kind),
		   pmm_text_time(time, e->time_ns), e->bytes);
	show_pointer(s, r, "Pointer", e->pointer);
	if (e->kind == PMM_KMOD_REALLOC)
		show_pointer(s, r, "Prev Pointer", e->prev);
	show_pointer(s, r, "Caller", e->caller);
	show_site(s, e->site);
}

static void show_wrong(struct seq_file *s, const struct reader *r)
{
	const struct pmm_log *log = &r->target->log;
	u64 i = log->nr_wrong > PMM_LOG_NR_WRONG ? log->nr_wrong - PMM_LOG_NR_WRONG : 0;
	const struct pmm_log_wrong *w;
	char time[9];

	for (; i < log->nr_wrong; i++) {
		w = &log->wrong[i % PMM_LOG_NR_WRONG];
		seq_printf(s, "{%s FREE @%s}", w->twice ? "DOUBLE" : "FOREIGN",
			   pmm_text_time(time, w->time_ns));
		show_pointer(s, r, "Pointer", w->pointer);
		show_pointer(s, r, "Caller", w->caller);
		show_site(s, w->site);
	}
}

static void show_footprint(struct seq_file *s, const struct pmm_kmod_process *p)
{
	if (!(p->flags & PMM_KMOD_SEEN)) {
		seq_puts(s, "Footprint: not looked at yet\n");
		return;
	}
	seq_printf(s, "Footprint: virtual %llu KiB, resident %llu KiB, shared %llu KiB, code %llu KiB, data %llu KiB, stack %llu KiB, swap %llu KiB, page tables %llu KiB\n",
		   p->virtual_bytes >> 10, p->resident_bytes >> 10, p->shared_bytes >> 10,
		   p->code_bytes >> 10, p->data_bytes >> 10, p->stack_bytes >> 10,
		   p->swap_bytes >> 10, p->page_table_bytes >> 10);
	seq_printf(s, "Growth: %lld bytes/s over %u looks, Threads: %u, Faults: %llu minor, %llu major, Alerts: %u\n",
		   p->growth_bytes_per_s, p->samples, p->threads, p->minor_faults, p->major_faults,
		   p->alerts);
}

/* What the log does not have; all of it 0 is not shown. */
static void show_losses(struct seq_file *s, const struct pmm_kmod_process *p)
{
	if (p->overflows || p->over_limit || p->no_memory || p->evicted || p->torn || p->bad ||
	    p->sites_lost)
		seq_printf(s, "Lost: %llu ring full, %llu over the limit, %llu no memory, %llu evicted, %llu torn, %llu senseless, %llu without place\n",
			   p->overflows, p->over_limit, p->no_memory, p->evicted, p->torn, p->bad,
			   p->sites_lost);
	if (p->double_frees || p->foreign_frees || p->evicted_frees || p->replaced)
		seq_printf(s, "Frees: %llu double, %llu foreign, %llu maybe of evicted; %llu missing\n",
			   p->double_frees, p->foreign_frees, p->evicted_frees, p->replaced);
}

static void show_state(struct seq_file *s, const struct pmm_kmod_process *p)
{
	seq_printf(s, "State: %s", pmm_text_state(p->state));
	if (p->state == PMM_KMOD_KILLED || (p->state == PMM_KMOD_ZOMBIE && p->status & 0x7f))
		seq_printf(s, " (signal %u)", p->status & 0x7f);
	else if (p->state == PMM_KMOD_EXITED || p->state == PMM_KMOD_ZOMBIE)
		seq_printf(s, " (status %u)", p->status >> 8 & 0xff);
}

static void show_target(struct seq_file *s, const struct reader *r)
{
	struct pmm_kmod_process p;
	char name[NAME_BYTES];

	pmm_target_describe_locked(r->target, r->ns, &p);
	seq_printf(s, "%s[%llu] PID: %d, Comp: %s, PPID: %d, ", r->nr > 1 ? "\n" : "", r->nr, p.pid,
		   pmm_text_escape(name, sizeof(name), p.comm, true), p.ppid);
	show_state(s, &p);
	seq_printf(s, ", Log count: %llu, %llu bytes\n", p.entries, p.entry_bytes);
	show_footprint(s, &p);
	if (p.allocations)
		seq_printf(s, "Logged: %llu allocations, %llu bytes; %llu frees, %llu bytes; lost %llu bytes; peak %llu entries, %llu bytes\n",
			   p.allocations, p.allocated_bytes, p.frees, p.freed_bytes, p.lost_bytes,
			   p.peak_entries, p.peak_bytes);
	show_losses(s, &p);
	show_wrong(s, r);
}

static int pid_show(struct seq_file *s, void *v)
{
	struct reader *r = s->private;
	const struct pmm_log_entry *entry;

	if (!r->in_log) {
		show_target(s, r);
		return 0;
	}
	entry = pmm_cursor_look(&r->cursor, &r->target->log);
	if (entry)
		show_entry(s, r, entry);
	return 0;
}

/* ---- summary */

static int summary_show(struct seq_file *s, void *v)
{
	struct reader *r = s->private;
	struct pmm_kmod_process p;
	char name[NAME_BYTES];

	pmm_target_describe_locked(r->target, r->ns, &p);
	seq_printf(s, "pid=%d ppid=%d comm=%s state=%s status=%u number=%llu flags=0x%x", p.pid,
		   p.ppid, pmm_text_escape(name, sizeof(name), p.comm, false),
		   pmm_text_state(p.state), p.status, p.number, p.flags);
	seq_printf(s, " virtual_bytes=%llu resident_bytes=%llu shared_bytes=%llu code_bytes=%llu",
		   p.virtual_bytes, p.resident_bytes, p.shared_bytes, p.code_bytes);
	seq_printf(s, " data_bytes=%llu stack_bytes=%llu swap_bytes=%llu page_table_bytes=%llu",
		   p.data_bytes, p.stack_bytes, p.swap_bytes, p.page_table_bytes);
	seq_printf(s, " minor_faults=%llu major_faults=%llu threads=%u growth_bytes_per_s=%lld",
		   p.minor_faults, p.major_faults, p.threads, p.growth_bytes_per_s);
	seq_printf(s, " samples=%u alerts=%u entries=%llu entry_bytes=%llu allocations=%llu",
		   p.samples, p.alerts, p.entries, p.entry_bytes, p.allocations);
	seq_printf(s, " frees=%llu allocated_bytes=%llu freed_bytes=%llu lost_bytes=%llu", p.frees,
		   p.allocated_bytes, p.freed_bytes, p.lost_bytes);
	seq_printf(s, " peak_entries=%llu peak_bytes=%llu double_frees=%llu foreign_frees=%llu",
		   p.peak_entries, p.peak_bytes, p.double_frees, p.foreign_frees);
	seq_printf(s, " replaced=%llu evicted=%llu evicted_frees=%llu", p.replaced, p.evicted,
		   p.evicted_frees);
	seq_printf(s, " over_limit=%llu no_memory=%llu overflows=%llu torn=%llu bad=%llu sites_lost=%llu\n",
		   p.over_limit, p.no_memory, p.overflows, p.torn, p.bad, p.sites_lost);
	return 0;
}

/* ---- the files */

static const struct seq_operations pid_seq = {
	.start = reader_start,
	.next = reader_next,
	.stop = reader_stop,
	.show = pid_show,
};

static const struct seq_operations summary_seq = {
	.start = reader_start,
	.next = reader_next,
	.stop = reader_stop,
	.show = summary_show,
};

static int reader_open(struct file *file, const struct seq_operations *ops, bool with_logs)
{
	struct reader *r = __seq_open_private(file, ops, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->ns = get_pid_ns(task_active_pid_ns(current));
	r->pointers = may_see_pointers();
	r->with_logs = with_logs;
	return 0;
}

static int pid_open(struct inode *inode, struct file *file)
{
	return reader_open(file, &pid_seq, true);
}

static int summary_open(struct inode *inode, struct file *file)
{
	return reader_open(file, &summary_seq, false);
}

static int reader_release(struct inode *inode, struct file *file)
{
	struct seq_file *s = file->private_data;
	struct reader *r = s->private;

	if (r->target) {
		mutex_lock(&r->target->lock);
		let_go(r);
	}
	put_pid_ns(r->ns);
	return seq_release_private(inode, file);
}

static const struct proc_ops pid_ops = {
	.proc_open = pid_open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = reader_release,
};

static const struct proc_ops summary_ops = {
	.proc_open = summary_open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = reader_release,
};

static struct proc_dir_entry *folder;

int pmm_proc_init(void)
{
	folder = proc_mkdir("pmm", NULL);
	if (!folder)
		return -ENOMEM;
	if (proc_create("cfg", 0600, folder, &cfg_ops) &&
	    proc_create("pid", 0400, folder, &pid_ops) &&
	    proc_create("summary", 0400, folder, &summary_ops))
		return 0;
	proc_remove(folder);
	return -ENOMEM;
}

void pmm_proc_exit(void)
{
	proc_remove(folder);
}
