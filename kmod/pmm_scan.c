// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel thread (pmm_module.h): looks at all targets once an interval, and takes what is in
 * their rings more often. With scanning off it still sees which of them have ended.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "pmm_module.h"
#include "pmm_text.h"

#define PATIENCE	8	/* a target is locked */
#define DRAIN_MS	100	/* at least so often, while there are rings */

static struct task_struct *thread;
static DECLARE_WAIT_QUEUE_HEAD(wakeup);
static bool kicked;		/* look at all now */
static bool woken;		/* the pause is too long */

/* The leader may have ended. */
struct mm_struct *pmm_mm_of(struct task_struct *leader)
{
	struct mm_struct *mm = get_task_mm(leader);
	struct task_struct *at, *other = NULL;

	if (mm || !leader->exit_state)
		return mm;
	rcu_read_lock();
	for_each_thread(leader, at) {
		if (READ_ONCE(at->mm)) {
			other = at;
			get_task_struct(other);
			break;
		}
	}
	rcu_read_unlock();
	if (!other)
		return NULL;
	mm = get_task_mm(other);
	put_task_struct(other);
	return mm;
}

static u64 bytes(unsigned long pages)
{
	return (u64)pages << PAGE_SHIFT;
}

static u64 counter(struct mm_struct *mm, int which)
{
	return bytes(get_mm_counter(mm, which));
}

static void measure_memory(struct mm_struct *mm, struct pmm_figures *f)
{
	f->virtual_bytes = bytes(mm->total_vm);
	f->resident_bytes = bytes(get_mm_rss(mm));
	f->shared_bytes = counter(mm, MM_FILEPAGES) + counter(mm, MM_SHMEMPAGES);
	f->code_bytes = bytes(mm->exec_vm);
	f->data_bytes = bytes(mm->data_vm);
	f->stack_bytes = bytes(mm->stack_vm);
	f->swap_bytes = counter(mm, MM_SWAPENTS);
	f->page_table_bytes = mm_pgtables_bytes(mm);
}

/* Faults of threads that have ended are in the signal structure. */
static void measure_threads(struct task_struct *leader, struct pmm_figures *f)
{
	struct task_struct *at;

	rcu_read_lock();
	f->minor_faults = READ_ONCE(leader->signal->min_flt);
	f->major_faults = READ_ONCE(leader->signal->maj_flt);
	for_each_thread(leader, at) {
		f->minor_faults += READ_ONCE(at->min_flt);
		f->major_faults += READ_ONCE(at->maj_flt);
	}
	f->threads = get_nr_threads(leader);
	rcu_read_unlock();
}

static void note_parent(struct pmm_target *t, struct task_struct *leader)
{
	struct pid *parent = NULL;

	/* one that was released, as exec() of another thread does it, has no parent to ask */
	rcu_read_lock();
	if (pid_alive(leader))
		parent = get_pid(task_tgid(rcu_dereference(leader->real_parent)));
	rcu_read_unlock();
	if (!parent)
		return;
	put_pid(t->parent);
	t->parent = parent;
}

/* A limit is passed now, and was not before: an event, and a line in the kernel's log. */
static void alert(struct pmm_target *t, u32 flag, u32 type, u64 value, u64 limit)
{
	bool over = limit && value > limit, was = t->flags & flag;
	char name[4 * TASK_COMM_LEN + 1];

	if (over == was)
		return;
	t->flags ^= flag;
	if (!over)
		return;
	t->alerts++;
	pmm_event(t, type, value, limit);
	pr_warn_ratelimited("process %d (%s): %s %llu bytes, limit %llu\n", pid_nr(t->pid),
			    pmm_text_escape(name, sizeof(name), t->comm, true),
			    type == PMM_KMOD_EVENT_GROWTH   ? "grows steadily, by" :
			    type == PMM_KMOD_EVENT_RESIDENT ? "has resident" :
							      "has outstanding",
			    value, limit);
}

static void judge(struct pmm_target *t)
{
	alert(t, PMM_KMOD_OVER_GROWTH, PMM_KMOD_EVENT_GROWTH, pmm_trend_growth(&t->trend),
	      atomic64_read(&pmm_settings.growth_bytes));
	alert(t, PMM_KMOD_OVER_RESIDENT, PMM_KMOD_EVENT_RESIDENT, t->figures.resident_bytes,
	      atomic64_read(&pmm_settings.resident_bytes));
	alert(t, PMM_KMOD_OVER_LOGGED, PMM_KMOD_EVENT_LOGGED, t->log.bytes,
	      atomic64_read(&pmm_settings.logged_bytes));
}

static void look_alive(struct pmm_target *t, struct task_struct *leader)
{
	struct mm_struct *mm = pmm_mm_of(leader);

	t->seen_ns = ktime_get_real_ns();
	note_parent(t, leader);
	get_task_comm(t->comm, leader);
	if (!mm)
		return;
	measure_memory(mm, &t->figures);
	mmput_async(mm);
	measure_threads(leader, &t->figures);
	t->flags |= PMM_KMOD_SEEN;
	pmm_trend_add(&t->trend, ktime_to_ms(ktime_get_boottime()), t->figures.resident_bytes);
}

/*
 * How it ended, as wait() says it. A leader that exec() of another thread has replaced shares its
 * signal structure with the new one.
 */
static u32 status_of(struct task_struct *task)
{
	struct signal_struct *signal = task->signal;

	return signal->flags & SIGNAL_GROUP_EXIT ? signal->group_exit_code : task->exit_code;
}

static void ended(struct pmm_target *t, bool zombie)
{
	u32 before = t->state;

	if (t->task)
		t->status = status_of(t->task);
	t->state = zombie			   ? PMM_KMOD_ZOMBIE :
		   t->task && (t->status & 0x7f) ? PMM_KMOD_KILLED :
						     PMM_KMOD_EXITED;
	if (before != PMM_KMOD_RUNNING)
		return;
	t->ended_ns = ktime_get_boottime_ns();
	if (!t->stopped)
		pmm_event(t, PMM_KMOD_EVENT_ENDED, t->status, 0);
}

/* Keep the leader at hand: its exit status can be read when nobody finds it any more. */
static void hold(struct pmm_target *t, struct task_struct *leader)
{
	if (t->task == leader) {
		put_task_struct(leader);
		return;
	}
	if (t->task)
		put_task_struct(t->task);
	t->task = leader;
}

static void look(struct pmm_target *t, bool measure)
{
	struct task_struct *leader;

	pmm_target_drain(t);
	leader = get_pid_task(t->pid, PIDTYPE_TGID);
	if (!leader) {
		ended(t, false);
		return;
	}
	hold(t, leader);
	if (t->stopped)
		return;
	if (leader->exit_state && thread_group_empty(leader)) {
		ended(t, true);
		return;
	}
	pmm_target_check_exec(t, READ_ONCE(leader->self_exec_id));
	if (!measure)
		return;
	look_alive(t, leader);
	judge(t);
}

void pmm_scan_look(struct pmm_target *t)
{
	mutex_lock(&t->lock);
	look(t, true);
	mutex_unlock(&t->lock);
}

/* Its log has been readable long enough. */
static bool is_over(struct pmm_target *t)
{
	u64 keep_ns = (u64)READ_ONCE(pmm_settings.keep_s) * NSEC_PER_SEC;

	return pmm_target_is_dead(t) &&
	       (t->stopped || ktime_get_boottime_ns() - t->ended_ns >= keep_ns);
}

/*
 * One whose lock is taken is passed by a few times: its owner may wait for memory, and the others
 * shall not wait with it.
 */
static bool lock_soon(struct pmm_target *t)
{
	if (mutex_trylock(&t->lock))
		return true;
	if (++t->passed_by < PATIENCE)
		return false;
	mutex_lock(&t->lock);
	return true;
}

/* `due`: the interval is over; else it is only about the rings. */
static void visit(struct pmm_target *t, bool due)
{
	bool over;

	if (!lock_soon(t))
		return;
	t->passed_by = 0;
	if (due && !pmm_target_is_dead(t))
		look(t, READ_ONCE(pmm_settings.scan));
	else
		pmm_target_drain(t);
	over = due && is_over(t);
	mutex_unlock(&t->lock);
	if (over)
		pmm_target_forget(t);
}

static void visit_all(bool due)
{
	struct pmm_target *t = NULL;
	u64 number = 0;

	while ((t = pmm_target_next(t, &number))) {
		if (due || READ_ONCE(t->nr_rings))
			visit(t, due);
		cond_resched();
		if (kthread_should_stop()) {
			pmm_target_put(t);
			return;
		}
	}
}

static unsigned int pause_ms(void)
{
	unsigned int interval = READ_ONCE(pmm_settings.interval_ms);

	return pmm_map_count() && interval > DRAIN_MS ? DRAIN_MS : interval;
}

static int run(void *unused)
{
	unsigned long next = jiffies;
	bool due;

	while (!kthread_should_stop()) {
		due = time_after_eq(jiffies, next);
		if (due)
			next = jiffies + msecs_to_jiffies(READ_ONCE(pmm_settings.interval_ms));
		if (due || pmm_map_count())
			visit_all(due);
		wait_event_interruptible_timeout(wakeup,
						 READ_ONCE(kicked) || READ_ONCE(woken) ||
						 kthread_should_stop(),
						 msecs_to_jiffies(pause_ms()));
		WRITE_ONCE(woken, false);
		if (READ_ONCE(kicked)) {
			WRITE_ONCE(kicked, false);
			next = jiffies;
		}
	}
	return 0;
}

void pmm_scan_kick(void)
{
	WRITE_ONCE(kicked, true);
	wake_up_interruptible(&wakeup);
}

void pmm_scan_wake(void)
{
	WRITE_ONCE(woken, true);
	wake_up_interruptible(&wakeup);
}

int pmm_scan_init(void)
{
	thread = kthread_run(run, NULL, "pmmthread");
	return PTR_ERR_OR_ZERO(thread);
}

void pmm_scan_exit(void)
{
	kthread_stop(thread);
}
