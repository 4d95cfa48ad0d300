/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the module's parts with kernel interfaces know of each other.
 *
 * A *target* is a monitored process. It is identified by its struct pid, so that a number that is
 * used again is not mistaken, and lives as long as it is referenced: by the table, an open file, a
 * ring, a reader.
 *
 * Locks, outer ones first:
 *	mmap_lock (the kernel's; mmap() and the end of a mapping come with it)
 *	pmm_table_lock		the table of targets, their numbers
 *	pmm_target.lock		one target: its log, rings and figures
 *	pmm_events_lock		open files and their events
 * So user memory is never touched under any of them. All are mutexes; nothing here runs in
 * interrupts. When the kernel reclaims memory it only tries a target's lock (pmm_shrink.c).
 */
#ifndef KMOD_PMM_MODULE_H
#define KMOD_PMM_MODULE_H

#ifdef __KERNEL__
#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/wait.h>
#else
#include "pmm_kernel_user.h"
#endif

#include "pmm_log.h"
#include "pmm_ring.h"
#include "pmm_trend.h"

/* ---- pmm_main.c: parameters and configuration */

/* Of the whole module; each is read without a lock, and in one piece on 32 bits too. */
struct pmm_settings {
	u32 scan, interval_ms, keep_s, window, processes;
	atomic64_t growth_bytes, resident_bytes, logged_bytes;
};

extern struct pmm_settings pmm_settings;
extern struct pmm_log_limits pmm_limits;

/* All but `set` and the pids. */
void pmm_config_get(struct pmm_kmod_config *config);
/*
 * Do what `set` says; the fields are checked. `may_all`: CAP_SYS_ADMIN of caller and opener. 0 or
 * -errno with nothing changed.
 */
int pmm_config_set(const struct pmm_kmod_config *config, bool may_all);

/* May the caller, and whoever opened this file, monitor others? */
bool pmm_may_all(struct file *file);

/* ---- pmm_target.c: the table of targets */

struct pmm_figures {
	u64 virtual_bytes, resident_bytes, shared_bytes, code_bytes, data_bytes, stack_bytes;
	u64 swap_bytes, page_table_bytes, minor_faults, major_faults;
	u32 threads;
};

struct pmm_target {
	struct kref ref;
	struct pid *pid;
	struct mem_cgroup *memcg;	/* pays for what the kernel thread enters; NULL: nobody */
	struct list_head lru;		/* of those that it pays for: pmm_shrink.c */
	/* pmm_table_lock */
	struct hlist_node node;
	struct list_head list;		/* by number; empty: not in the table any more */
	u64 number;
	/* lock */
	struct mutex lock;
	struct pmm_log log;
	struct list_head rings;		/* struct pmm_map */
	u32 nr_rings;
	u64 overflows, torn;		/* of rings that are gone */
	/*
	 * Nobody wants it monitored. It stays in the table, unseen, while the process lives: its
	 * own records shall not begin anew.
	 */
	bool stopped;
	u32 passed_by;			/* looks in a row that found it locked */
	u64 exec_id;			/* task_struct.self_exec_id of the program it is */
	struct task_struct *task;	/* its leader at the last look; NULL: not looked at yet */
	struct pid *parent;
	char comm[TASK_COMM_LEN];
	u32 state, status, flags, alerts;
	u64 since_ns, seen_ns, ended_ns;
	struct pmm_figures figures;
	struct pmm_trend trend;
};

int pmm_table_init(void);
/* The thread has ended and no file is open: all targets go. */
void pmm_table_exit(void);

/*
 * Monitor a process, the caller's own with by_itself. If there is no room, the oldest dead one is
 * forgotten. Returns the target, held, or ERR_PTR:
 * -ESRCH no such process, or by_itself and stopped by another process; -EINVAL a kernel thread;
 * -EUSERS too many.
 */
struct pmm_target *pmm_target_start(struct pid *pid, bool by_itself);
/* Do not monitor it any more: its log is gone. 0, -ESRCH; -EINTR the caller is killed. */
int pmm_target_stop(struct pid *pid);
/*
 * Whom a number of the caller's pid namespace names, held: the process that has it; if that is not
 * monitored, the last one that had it, has ended and is. NULL: there is neither.
 */
struct pid *pmm_target_pid(int number);
/* A monitored process, held; NULL. */
struct pmm_target *pmm_target_find(struct pid *pid);
/* Forget one that is dead, or was stopped and has ended. */
void pmm_target_forget(struct pmm_target *t);

static inline struct pmm_target *pmm_target_get(struct pmm_target *t)
{
	kref_get(&t->ref);
	return t;
}

void pmm_target_put(struct pmm_target *t);

/* Ended, and waited for; without the lock as of some moment ago. */
static inline bool pmm_target_is_dead(const struct pmm_target *t)
{
	u32 state = READ_ONCE(t->state);

	return state == PMM_KMOD_EXITED || state == PMM_KMOD_KILLED;
}

/*
 * The next target behind t in order of number, the first for NULL; held, NULL at the end; t is put.
 * `number` is that of t when it was given, and becomes that of the next: t may have begun anew
 * meanwhile, with another one, and comes again then. Stopped ones are among them.
 */
struct pmm_target *pmm_target_next(struct pmm_target *t, u64 *number);

/*
 * Take what is in the target's rings into its log; under its lock. Only the process itself waits
 * for memory. How many records.
 */
u32 pmm_target_drain(struct pmm_target *t);
/* One ring, which the program exec_id has mapped; that of another program is let alone. */
u32 pmm_target_drain_one(struct pmm_target *t, struct pmm_ring *ring, u64 exec_id, bool last);
/* Its log is empty, and nothing is missing in it; under its lock. */
void pmm_target_empty(struct pmm_target *t);
/* By a thread of the process, under its lock: what is older than what it asks for now. */
void pmm_target_catch_up(struct pmm_target *t);
/* The process has become another program, if exec_id says so; under its lock. */
void pmm_target_check_exec(struct pmm_target *t, u64 exec_id);
/*
 * All there is to say about it, as seen from a pid namespace; takes and leaves its lock. 0; -EINTR
 * the caller is killed.
 */
int pmm_target_describe(struct pmm_target *t, struct pid_namespace *ns,
			struct pmm_kmod_process *out);
/* The same under its lock, after a drain. */
void pmm_target_describe_locked(struct pmm_target *t, struct pid_namespace *ns,
				struct pmm_kmod_process *out);

/* ---- pmm_shrink.c: memory of targets that gives way */

int pmm_shrink_init(void);
/* Nothing gives way any more, and no target is held for that: they can go. */
void pmm_shrink_stop(void);
/* All targets have gone. */
void pmm_shrink_exit(void);

/*
 * All zeros, but reference, lock and memcg, which pays for it. NULL. From now on its log may give
 * way.
 */
struct pmm_target *pmm_target_alloc(struct mem_cgroup *memcg);
/* Its log is empty. */
void pmm_target_free(struct pmm_target *t);

/* ---- pmm_map.c: rings that are mapped */

struct pmm_map {
	struct kref ref;		/* of mappings */
	struct list_head list;		/* of its target's rings; target's lock */
	struct pmm_target *target;
	u64 exec_id;			/* of the program that has mapped it */
	struct pmm_ring ring;
	struct page **pages;
	unsigned long nr_pages;
};

/*
 * mmap(): make a ring for the target and map it. 0; -EINVAL not of a ring's size, or not shared;
 * -ENOSPC the process has too many; -ENOMEM.
 */
int pmm_map_new(struct pmm_target *t, struct vm_area_struct *vma);
/* Rings there are now. */
int pmm_map_count(void);

/* ---- pmm_scan.c: the kernel thread */

int pmm_scan_init(void);
void pmm_scan_exit(void);
/* Look at the settings again, and at all targets soon. */
void pmm_scan_kick(void);
/* There is a ring where there was none: it is to be drained. */
void pmm_scan_wake(void);
/* A process's memory, whichever of its threads still has it; NULL. mmput_async() later. */
struct mm_struct *pmm_mm_of(struct task_struct *leader);
/* The first look at a target, by whoever starts it. */
void pmm_scan_look(struct pmm_target *t);

/* ---- pmm_event.c: events for open files */

#define PMM_EVENTS	256

struct eventfd_ctx;

struct pmm_listener {
	struct list_head list;
	struct pid *pid;		/* of the opener's process */
	struct pid_namespace *ns;	/* and its pid namespace */
	bool all;			/* the opener may see all processes */
	wait_queue_head_t wait;
	struct eventfd_ctx *eventfd;
	struct pmm_kmod_event *events;	/* PMM_EVENTS, a ring */
	u32 first, nr;
	u64 lost;
};

/* 0 or -ENOMEM */
int pmm_listener_init(struct pmm_listener *l, bool all);
void pmm_listener_exit(struct pmm_listener *l);
bool pmm_listener_has(struct pmm_listener *l);
/* The first event is copied, and with `take` gone; false: there is none. */
bool pmm_listener_next(struct pmm_listener *l, struct pmm_kmod_event *out, bool take);
/* The listener's from now on; NULL: none. */
void pmm_listener_set_eventfd(struct pmm_listener *l, struct eventfd_ctx *eventfd);

/* Tell all that may know. Target's lock or none. */
void pmm_event(const struct pmm_target *t, u32 type, u64 value, u64 limit);

/* ---- pmm_dev.c and pmm_proc.c: the interfaces */

int pmm_dev_init(void);
void pmm_dev_exit(void);
int pmm_proc_init(void);
void pmm_proc_exit(void);

#endif
