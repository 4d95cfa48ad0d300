// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of targets (pmm_module.h): by struct pid in a hash, and in order of number.
 */
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/memcontrol.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "pmm_compat.h"
#include "pmm_module.h"

#define TABLE_BITS	10

static DEFINE_MUTEX(pmm_table_lock);
static struct hlist_head by_pid[1 << TABLE_BITS];
static LIST_HEAD(by_number);
static u64 last_number;
static u32 nr_targets;

struct kmem_cache *pmm_os_entries;

int pmm_table_init(void)
{
	int err;

	pmm_os_entries = kmem_cache_create("pmm_entry", sizeof(struct pmm_log_entry), 0,
					   SLAB_ACCOUNT | SLAB_RECLAIM_ACCOUNT, NULL);
	if (!pmm_os_entries)
		return -ENOMEM;
	err = pmm_shrink_init();
	if (err)
		kmem_cache_destroy(pmm_os_entries);
	return err;
}

static struct hlist_head *bucket_of(struct pid *pid)
{
	return &by_pid[hash_ptr(pid, TABLE_BITS)];
}

static struct pmm_target *find(struct pid *pid)
{
	struct pmm_target *t;

	hlist_for_each_entry(t, bucket_of(pid), node)
		if (t->pid == pid)
			return t;
	return NULL;
}

static void unlink_target(struct pmm_target *t)
{
	hlist_del(&t->node);
	list_del_init(&t->list);
	nr_targets--;
}

static void free_target(struct kref *ref)
{
	struct pmm_target *t = container_of(ref, struct pmm_target, ref);

	pmm_log_clear(&t->log);
	if (t->task)
		put_task_struct(t->task);
	mem_cgroup_put(t->memcg);
	put_pid(t->parent);
	put_pid(t->pid);
	pmm_target_free(t);
}

void pmm_target_put(struct pmm_target *t)
{
	if (t)
		kref_put(&t->ref, free_target);
}

void pmm_table_exit(void)
{
	struct pmm_target *t, *next;

	pmm_shrink_stop();
	list_for_each_entry_safe(t, next, &by_number, list) {
		unlink_target(t);
		pmm_target_put(t);
	}
	pmm_shrink_exit();
	kmem_cache_destroy(pmm_os_entries);
}

/* A process with memory of its own: its leader, held; or ERR_PTR. */
static struct task_struct *leader_of(struct pid *pid)
{
	struct task_struct *task = get_pid_task(pid, PIDTYPE_TGID);

	if (!task)
		return ERR_PTR(-ESRCH);
	if (task->flags & PF_KTHREAD) {
		put_task_struct(task);
		return ERR_PTR(-EINVAL);
	}
	if (task->exit_state && thread_group_empty(task)) {
		put_task_struct(task);
		return ERR_PTR(-ESRCH);
	}
	return task;
}

static struct mem_cgroup *memcg_of(struct task_struct *task)
{
	struct mm_struct *mm = pmm_mm_of(task);
	struct mem_cgroup *memcg = mm ? get_mem_cgroup_from_mm(mm) : NULL;

	if (mm)
		mmput_async(mm);
	return memcg;
}

/* Its number and its place among the others. */
static void enlist(struct pmm_target *t)
{
	t->number = ++last_number;
	list_add_tail(&t->list, &by_number);
}

/* Begin to monitor: under its lock, or not in the table yet. */
static void begin(struct pmm_target *t, struct task_struct *task, bool by_itself)
{
	t->stopped = false;
	t->exec_id = READ_ONCE(task->self_exec_id);
	t->state = PMM_KMOD_RUNNING;
	t->flags = by_itself ? PMM_KMOD_BY_ITSELF : 0;
	t->since_ns = ktime_get_real_ns();
	t->alerts = 0;
	memset(&t->figures, 0, sizeof(t->figures));
	pmm_trend_init(&t->trend, pmm_settings.window);
	get_task_comm(t->comm, task);
}

/*
 * The oldest of the dead goes before its time, for others that begin by themselves only one that
 * did. It is out of the table; the caller retires it.
 */
static struct pmm_target *take_dead(bool by_itself)
{
	struct pmm_target *t;

	list_for_each_entry(t, &by_number, list) {
		if (pmm_target_is_dead(t) &&
		    (!by_itself || READ_ONCE(t->flags) & PMM_KMOD_BY_ITSELF)) {
			unlink_target(t);
			return t;
		}
	}
	return NULL;
}

static void switch_rings(struct pmm_target *t, bool on)
{
	struct pmm_map *map;

	list_for_each_entry(map, &t->rings, list)
		pmm_ring_switch(&map->ring, on);
}

/* Out of the table: whoever still holds it finds an empty log. */
static void retire(struct pmm_target *t)
{
	mutex_lock(&t->lock);
	if (!t->stopped)
		pmm_event(t, PMM_KMOD_EVENT_FORGOTTEN, t->log.entries, 0);
	t->stopped = true;
	switch_rings(t, false);
	pmm_log_clear(&t->log);
	mutex_unlock(&t->lock);
	pmm_target_put(t);
}

static struct pmm_target *new_target(struct pid *pid, struct task_struct *task, bool by_itself,
				     struct pmm_target **dead)
{
	struct mem_cgroup *memcg;
	struct pmm_target *t;
	u32 most = pmm_settings.processes;

	/* a quarter is for those whom an administrator wants to see */
	if (by_itself)
		most -= most / 4;
	if (nr_targets == most)
		*dead = take_dead(by_itself);
	if (nr_targets >= most)
		return ERR_PTR(-EUSERS);
	memcg = memcg_of(task);
	t = pmm_target_alloc(memcg);
	if (!t) {
		mem_cgroup_put(memcg);
		return ERR_PTR(-ENOMEM);
	}
	INIT_LIST_HEAD(&t->list);
	INIT_LIST_HEAD(&t->rings);
	pmm_log_init(&t->log, &pmm_limits, get_random_u64());
	t->pid = get_pid(pid);
	begin(t, task, by_itself);
	enlist(t);
	hlist_add_head(&t->node, bucket_of(pid));
	nr_targets++;
	return t;
}

/* One that was stopped is wanted again. false: another thread was faster. */
static bool revive(struct pmm_target *t, struct task_struct *task)
{
	bool was;

	mutex_lock(&t->lock);
	was = t->stopped;
	if (was) {
		begin(t, task, false);
		pmm_target_drain(t);
		pmm_target_empty(t);
		switch_rings(t, true);
	}
	mutex_unlock(&t->lock);
	return was;
}

static struct pmm_target *start(struct pid *pid, struct task_struct *task, bool by_itself,
				struct pmm_target **dead)
{
	struct pmm_target *t = find(pid);

	if (!t) {
		t = new_target(pid, task, by_itself, dead);
	} else if (t->stopped) {
		if (by_itself)
			return ERR_PTR(-ESRCH);
		list_del(&t->list);
		enlist(t);
	}
	return IS_ERR(t) ? t : pmm_target_get(t);
}

struct pmm_target *pmm_target_start(struct pid *pid, bool by_itself)
{
	struct task_struct *task = leader_of(pid);
	struct pmm_target *t, *dead = NULL;
	u64 before;
	bool begun;

	if (IS_ERR(task))
		return ERR_CAST(task);
	mutex_lock(&pmm_table_lock);
	before = last_number;
	t = start(pid, task, by_itself, &dead);
	begun = last_number != before;
	mutex_unlock(&pmm_table_lock);
	if (dead)
		retire(dead);
	if (begun && t->stopped)
		begun = revive(t, task);
	put_task_struct(task);
	if (begun) {
		pmm_scan_look(t);
		pmm_event(t, PMM_KMOD_EVENT_STARTED, 0, 0);
	}
	return t;
}

static int stop(struct pmm_target *t)
{
	int err = mutex_lock_killable(&t->lock);

	if (err)
		return err;
	switch_rings(t, false);
	pmm_target_drain(t);
	t->stopped = true;
	pmm_event(t, PMM_KMOD_EVENT_STOPPED, t->log.entries, 0);
	pmm_target_empty(t);
	mutex_unlock(&t->lock);
	return 0;
}

int pmm_target_stop(struct pid *pid)
{
	struct pmm_target *t = pmm_target_find(pid);
	int err;

	if (!t)
		return -ESRCH;
	err = stop(t);
	if (!err && pmm_target_is_dead(t))
		pmm_target_forget(t);
	pmm_target_put(t);
	return err;
}

struct pmm_target *pmm_target_find(struct pid *pid)
{
	struct pmm_target *t;

	mutex_lock(&pmm_table_lock);
	t = find(pid);
	t = t && !t->stopped ? pmm_target_get(t) : NULL;
	mutex_unlock(&pmm_table_lock);
	return t;
}

static struct pid *dead_of(int number, struct pid_namespace *ns)
{
	struct pmm_target *t;
	struct pid *pid = NULL;

	mutex_lock(&pmm_table_lock);
	list_for_each_entry_reverse(t, &by_number, list) {
		if (!t->stopped && pid_nr_ns(t->pid, ns) == number) {
			pid = get_pid(t->pid);
			break;
		}
	}
	mutex_unlock(&pmm_table_lock);
	return pid;
}

struct pid *pmm_target_pid(int number)
{
	struct pid *pid = find_get_pid(number), *dead;
	struct pmm_target *t = pid ? pmm_target_find(pid) : NULL;

	if (t) {
		pmm_target_put(t);
		return pid;
	}
	dead = number > 0 ? dead_of(number, task_active_pid_ns(current)) : NULL;
	if (!dead)
		return pid;
	put_pid(pid);
	return dead;
}

void pmm_target_forget(struct pmm_target *t)
{
	bool there;

	mutex_lock(&pmm_table_lock);
	there = !list_empty(&t->list);
	if (there)
		unlink_target(t);
	mutex_unlock(&pmm_table_lock);
	if (there)
		retire(t);
}

/*
 * Behind t, if it is where it was with that number; else, as it is not in the table any more or has
 * begun anew at its end, the first one with a greater number.
 */
static struct list_head *after(const struct pmm_target *t, u64 number)
{
	struct pmm_target *at;

	if (!t)
		return by_number.next;
	if (!list_empty(&t->list) && t->number == number)
		return t->list.next;
	list_for_each_entry(at, &by_number, list)
		if (at->number > number)
			break;
	return &at->list;
}

struct pmm_target *pmm_target_next(struct pmm_target *t, u64 *number)
{
	struct pmm_target *next = NULL;
	struct list_head *at;

	mutex_lock(&pmm_table_lock);
	at = after(t, *number);
	if (at != &by_number) {
		next = pmm_target_get(list_entry(at, struct pmm_target, list));
		*number = next->number;
	}
	mutex_unlock(&pmm_table_lock);
	pmm_target_put(t);
	return next;
}

u32 pmm_target_drain_one(struct pmm_target *t, struct pmm_ring *ring, u64 exec_id, bool last)
{
	struct mem_cgroup *before;
	u32 nr;

	if (t->stopped || exec_id != t->exec_id)
		return 0;
	before = pmm_set_payer(t->memcg);
	t->log.nowait = last || task_tgid(current) != t->pid;
	nr = pmm_ring_drain(ring, &t->log, ktime_get_real_ns(), last);
	t->log.nowait = false;
	pmm_set_payer(before);
	return nr;
}

u32 pmm_target_drain(struct pmm_target *t)
{
	struct pmm_map *map;
	u32 nr = 0;

	if (list_empty(&t->rings) || t->stopped)
		return 0;
	list_for_each_entry(map, &t->rings, list)
		nr += pmm_target_drain_one(t, &map->ring, map->exec_id, false);
	return nr;
}

void pmm_target_empty(struct pmm_target *t)
{
	struct pmm_map *map;

	pmm_log_empty(&t->log);
	t->overflows = 0;
	t->torn = 0;
	list_for_each_entry(map, &t->rings, list) {
		map->ring.overflows = 0;
		map->ring.torn = 0;
	}
}

void pmm_target_catch_up(struct pmm_target *t)
{
	pmm_target_drain(t);
	pmm_target_check_exec(t, current->self_exec_id);
}

void pmm_target_check_exec(struct pmm_target *t, u64 exec_id)
{
	if (t->exec_id == exec_id)
		return;
	t->exec_id = exec_id;
	pmm_event(t, PMM_KMOD_EVENT_EXEC, t->log.entries, 0);
	pmm_target_empty(t);
	pmm_sites_clear(&t->log.sites);
	pmm_trend_init(&t->trend, pmm_settings.window);
}
