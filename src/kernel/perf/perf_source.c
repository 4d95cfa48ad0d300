/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of given processes by perf events, for users who may not load programs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/nanotime.h"
#include "src/kernel/event_class.h"
#include "src/kernel/kernel_source.h"
#include "src/kernel/perf/perf_exec.h"
#include "src/kernel/perf/perf_state_priv.h"
#include "src/kernel/perf/perf_taker.h"
#include "src/kernel/rights.h"
#include "src/proc/fds.h"
#include "src/proc/task.h"

#define RING_BYTES	(4u << 20)	/* of each processor, if so much may be locked */
#define MAX_STACK	(60u << 10)	/* a record has 64 KiB at most */
#define STACK_STEP	8u
#define ATTACH_ROUNDS	16		/* threads may start threads meanwhile */
/* Stacks of page faults that are read: so many bytes a second, and at once after a rest. */
#define STACK_RATE	(16ull << 20)
#define STACK_BURST	(16ull << 20)
#define SECOND_NS	1000000000ull

struct perf_source {
	struct perf_set set;
	struct perf_taker taker;
	int failed[PERF_MAX_KINDS];
	uint32_t groups;
	bool life;			/* the class is asked for, not only needed */
	uint64_t allowed_bytes, filled_ns; /* of sampled stacks */
	int sampled;			/* its kind; -1: none */
	char comm[TRACE_COMM_BYTES];
};

static bool is_asked_for(const struct perf_source *s, enum kernel_group group)
{
	return s->groups >> group & 1;
}

/* ---- which events are opened ---- */

static unsigned add_kind(struct perf_source *s, struct perf_kind kind)
{
	s->set.kinds[s->set.nr_kinds] = kind;
	return s->set.nr_kinds++;
}

static uint32_t stack_size(const struct kernel_options *o)
{
	uint32_t bytes = o->stack_bytes < MAX_STACK ? o->stack_bytes : MAX_STACK;

	return bytes / STACK_STEP * STACK_STEP;
}

/*
 * All page faults are counted. With `--sample 1` each record has its stack. Else stacks are in
 * records of their own, of each N-th, or of as many as a small ring has room for: of minor faults,
 * since the kernel (6.3 to 6.18) mixes up the records of two events of the same name. Major ones
 * have records with stacks in any case.
 */
static void add_faults(struct perf_source *s, const struct kernel_options *o)
{
	struct perf_kind k = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS,
			       .period = 1, .kind = TRACE_FAULT };

	if (o->sample == 1) {
		k.stack_bytes = stack_size(o);
		add_kind(s, k);
		return;
	}
	add_kind(s, k);
	k.config = PERF_COUNT_SW_PAGE_FAULTS_MIN;
	k.period = o->sample ? o->sample : 1;
	k.stack_bytes = stack_size(o);
	k.spare = true;
	s->sampled = (int)add_kind(s, k);
	s->taker.sampled = true;
}

/* The kernel mixes up the records of two events of the same name. */
static bool is_twice(const struct perf_source *s, const struct group_perf *p)
{
	for (unsigned i = 0; i < s->set.nr_kinds; i++)
		if (s->set.kinds[i].type == p->type && s->set.kinds[i].config == p->config)
			return true;
	return false;
}

static void add_counters(struct perf_source *s, const struct kernel_options *o)
{
	uint32_t counters = o->counters ? o->counters : kernel_hardware_counters();

	for (unsigned i = 0; i < KERNEL_NR_COUNTERS; i++) {
		const struct group_perf *p = &kernel_counters[i];

		if (counters >> i & 1 && !is_twice(s, p))
			add_kind(s, (struct perf_kind){ .type = p->type, .config = p->config,
							.period = p->period, .kind = p->kind,
							.stack_bytes = stack_size(o) });
	}
}

static void choose_kinds(struct perf_source *s, const struct kernel_options *o)
{
	add_kind(s, (struct perf_kind){ .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_DUMMY, .side = true });
	if (is_asked_for(s, KERNEL_FAULTS))
		add_faults(s, o);
	if (is_asked_for(s, KERNEL_MAJOR))
		add_kind(s, (struct perf_kind){ .type = PERF_TYPE_SOFTWARE,
						.config = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
						.period = 1, .kind = TRACE_FAULT_MAJOR,
						.stack_bytes = stack_size(o) });
	if (is_asked_for(s, KERNEL_PMC))
		add_counters(s, o);
}

/* ---- threads ---- */

/* It has been started by a thread that was attached to by then, and has copies of its events. */
static void on_twice(void *arg, pid_t tid)
{
	struct perf_source *s = arg;

	perf_set_detach(&s->set, tid);
}

static int attach_thread(struct perf_source *s, pid_t pid, pid_t tid, bool at_exec)
{
	uint64_t start = at_exec ? nanotime() : perf_exec_start(pid);
	int rc;

	if (perf_task_find(&s->taker.tasks, tid))
		return 0;
	rc = perf_set_attach(&s->set, tid, at_exec, s->failed);
	if (rc == -ESRCH)
		return 0;
	return rc ? rc : perf_taker_given(&s->taker, pid, tid, start, at_exec);
}

/* All of a process, and those that they start meanwhile. */
static int attach_process(struct perf_source *s, pid_t pid, bool at_exec)
{
	size_t before = SIZE_MAX;
	int rc = 0;

	for (int round = 0; !rc && round < ATTACH_ROUNDS && before != s->taker.tasks.tasks.nr;
	     round++) {
		struct task_list list = { 0 };

		before = s->taker.tasks.tasks.nr;
		rc = task_list(pid, &list);
		for (size_t i = 0; !rc && i < list.tids.nr; i++)
			rc = attach_thread(s, pid, list.tids.v[i], at_exec);
		vec_fini(&list.tids);
	}
	return rc;
}

/* ---- why not ---- */

/* The first process of another user; 0: there is none. */
static pid_t of_another_user(const struct kernel_options *o)
{
	char path[32];
	struct stat st;

	for (size_t i = 0; i < o->nr_pids; i++) {
		snprintf(path, sizeof(path), "/proc/%d", (int)o->pids[i]);
		if (!stat(path, &st) && st.st_uid != geteuid())
			return o->pids[i];
	}
	return 0;
}

/* For a reason of the machine's, or of the user's. */
static void say_rights(int rc, struct err *e)
{
	struct rights rights;
	struct rights_reason reason;

	rights_read("", &rights);
	reason = rights_why_no_perf(&rights, rc);
	err_set(e, rc, "%s", reason.why);
	if (reason.remedy)
		err_hint(e, "%s", reason.remedy);
}

static int refuse(const struct kernel_options *o, int rc, struct err *e)
{
	bool denied = rc == -EACCES || rc == -EPERM;
	pid_t foreign = denied ? of_another_user(o) : 0;

	if (rc == -ENOMEM) {
		err_set(e, rc, "out of memory");
	} else if (rc == -ENOBUFS) {
		err_set(e, rc, "perf events find no room in the memory that a user may lock");
		err_hint(e, "ulimit -l unlimited, or sysctl kernel.perf_event_mlock_kb=4096");
	} else if (rc == -EMFILE) {
		err_set(e, rc, "too many threads: perf events need a descriptor for each of them, "
			       "each processor and each sort of event");
		err_hint(e, "raise the limit of open files (ulimit -n), or name fewer events");
	} else if (foreign) {
		err_set(e, rc, "process %d is another user's, which perf events may not see",
			(int)foreign);
	} else {
		say_rights(rc, e);
	}
	return rc;
}

/* What cannot be a filter here: nobody may be traced by mistake. */
static int refuse_filters(const struct kernel_options *o, struct err *e)
{
	if (!o->memcg && !o->by_uid && (o->nr_pids || o->by_targets))
		return 0;
	err_set(e, -ENOTSUP, "perf events see given processes of one's own only, with their "
			     "children: no control groups, no users, not all processes");
	err_hint(e, "give '-- COMMAND' or '--pid PID'; run pmm as root for the others");
	return -ENOTSUP;
}

/* ---- operations ---- */

static void perf_close(void *state)
{
	struct perf_source *s = state;

	perf_set_fini(&s->set);
	perf_taker_fini(&s->taker);
	free(s);
}

static void fill(struct perf_source *s, const struct kernel_options *o)
{
	s->groups = o->groups;
	s->life = o->kinds[TRACE_RENAME / 64] >> TRACE_RENAME % 64 & 1;
	s->sampled = -1;
	s->allowed_bytes = STACK_BURST;
	s->filled_ns = nanotime();
	memcpy(s->taker.wanted, o->kinds, sizeof(s->taker.wanted));
	s->taker.min_bytes = o->min_bytes;
	if (o->comm) {
		strncpy(s->comm, o->comm, sizeof(s->comm) - 1);
		s->taker.comm = s->comm;
	}
	s->taker.uid = geteuid();
	s->taker.alone = !o->follow;
	s->taker.mapped = o->mapped;
	s->taker.mapped_arg = o->mapped_arg;
	s->taker.twice = on_twice;
	s->taker.twice_arg = s;
	choose_kinds(s, o);
}

/* Without a process to trace: does it work on ourselves? */
static int attach_all(struct perf_source *s, const struct kernel_options *o)
{
	int rc = 0;

	fds_raise();		/* the command was forked with the limit as it was */
	if (!o->nr_pids)
		return perf_set_attach(&s->set, getpid(), true, s->failed);
	for (size_t i = 0; !rc && i < o->nr_pids; i++)
		rc = attach_process(s, o->pids[i], o->at_exec);
	return rc;
}

static int perf_open(const struct kernel_options *o, void **state, struct err *e)
{
	struct perf_source *s;
	int rc = refuse_filters(o, e);

	if (rc)
		return rc;
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_set(e, -ENOMEM, "out of memory");
	fill(s, o);
	rc = perf_set_init(&s->set, o->ring_bytes ? o->ring_bytes : RING_BYTES,
			   o->ring_bytes ? o->ring_bytes : KERNEL_RING_BYTES);
	if (!rc)
		rc = attach_all(s, o);
	if (rc) {
		refuse(o, rc, e);
		perf_close(s);
		return rc;
	}
	*state = s;
	return 0;
}

/* How many sampled stacks are there, and may be read now? */
static uint64_t samples_allowed(struct perf_source *s, uint64_t now_ns)
{
	const struct perf_kind *k = &s->set.kinds[s->sampled];
	uint64_t each = perf_sample_bytes(k), there = 0;
	uint64_t won = (now_ns - s->filled_ns) * STACK_RATE / SECOND_NS;

	s->allowed_bytes = s->allowed_bytes + won > STACK_BURST ? STACK_BURST
								: s->allowed_bytes + won;
	s->filled_ns = now_ns;
	vec_each(&s->set.readers, r)
		if (r->spare)
			there += (perf_ring_head(&r->ring) - r->ring.tail) / each;
	if (there > s->allowed_bytes / each)
		there = s->allowed_bytes / each;
	s->allowed_bytes -= there * each;
	return there;
}

static int take_next(struct perf_source *s, struct perf_reader *r)
{
	const struct perf_event *e = perf_set_event(&s->set, perf_record_id(r->next));

	if (e)
		return perf_taker_take(&s->taker, &s->set.kinds[e->kind], e->tid, r->next);
	s->taker.damaged++;
	return 0;
}

static int perf_step(void *state, kernel_take *take, void *arg)
{
	struct perf_source *s = state;
	uint64_t now = nanotime(), samples = 0;
	struct perf_reader *r;
	int rc = 0;

	s->taker.take = take;
	s->taker.take_arg = arg;
	s->taker.taken = 0;
	perf_set_step(&s->set);
	if (s->sampled >= 0)
		samples = samples_allowed(s, now);
	perf_taker_share(&s->taker, samples);
	while (!rc && (r = perf_set_next(&s->set, now))) {
		if (r->spare && !samples) {
			r->next = NULL;		/* the rest at a later step */
			continue;
		}
		samples -= r->spare;
		rc = take_next(s, r);
		perf_set_pass(&s->set, r);
	}
	return rc ? rc : (int)s->taker.taken;
}

static int perf_table(void *state, enum kernel_table table, kernel_entry *entry, void *arg)
{
	struct perf_source *s = state;

	return perf_faults_table(&s->taker.faults, table, entry, arg);
}

static int perf_find(void *state, enum kernel_table table, const void *key, void *value)
{
	struct perf_source *s = state;

	return perf_faults_find(&s->taker.faults, table, key, value);
}

static int perf_fd(void *state)
{
	const struct perf_source *s = state;

	return s->set.filling;
}

static int perf_target(void *state, pid_t pid, bool add)
{
	struct perf_source *s = state;

	return add ? attach_process(s, pid, false) : -ENOTSUP;
}

/* What is lost of processes and mappings counts where it is missed first. */
static enum trace_kind lost_kind(const struct perf_source *s, const struct perf_kind *k)
{
	if (k->kind)
		return k->kind;
	if (s->taker.wanted[TRACE_MMAP / 64] >> TRACE_MMAP % 64 & 1)
		return TRACE_MMAP;
	return s->life ? TRACE_FORK : is_asked_for(s, KERNEL_FAULTS) ? TRACE_FAULT
								     : TRACE_FAULT_MAJOR;
}

static int perf_counts(void *state, struct trace_counts counts[TRACE_NR_KINDS])
{
	struct perf_source *s = state;
	const struct perf_kind *side = &s->set.kinds[0];
	uint64_t damaged = s->taker.damaged;

	memcpy(counts, s->taker.counts, sizeof(s->taker.counts));
	/* the kernel's own numbers have what its records have said, and what they have not */
	for (int kind = 0; s->set.counts_lost && kind < TRACE_NR_KINDS; kind++)
		counts[kind].lost = 0;
	counts[lost_kind(s, side)].lost += counts[TRACE_NONE].lost;
	for (unsigned i = 0; i < s->set.nr_kinds; i++)
		if (!s->set.kinds[i].spare)
			counts[lost_kind(s, &s->set.kinds[i])].lost += perf_set_lost(&s->set, i);
	vec_each(&s->set.readers, r)
		damaged += r->ring.damaged;
	counts[lost_kind(s, side)].lost += damaged;
	counts[TRACE_FAULT].dropped += s->taker.faults.left_out;
	counts[TRACE_FAULT_MAJOR].dropped += s->taker.faults.major_left_out;
	return 0;
}

static void perf_group(void *state, enum kernel_group group, struct kernel_group_state *out)
{
	const struct perf_source *s = state;
	bool failed = false;

	for (unsigned i = 0; i < s->set.nr_kinds; i++)
		failed |= s->failed[i];
	if (is_asked_for(s, group) && (group != KERNEL_LIFE || s->life))
		perf_state(group, failed, out);
}

const struct kernel_source_ops perf_source = {
	.name = "perf",
	.by_process = true,
	.open = perf_open,
	.step = perf_step,
	.table = perf_table,
	.find = perf_find,
	.target = perf_target,
	.counts = perf_counts,
	.group = perf_group,
	.fd = perf_fd,
	.close = perf_close,
};
