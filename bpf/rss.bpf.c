/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resident size of processes, by kind, as the kernel counts it.
 *
 * Until 6.1 the tracepoint passes the count. Since 6.2 counters have a part for each processor, of
 * up to some 32 pages, and the tracepoint passes where they are: the parts are added up here, as
 * percpu_counter_sum() does.
 */
#include "bpf/user_regs.h"

#include "bpf/pages_abi.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, struct rss_process);
} rss_processes SEC(".maps");

/* Each processor's copy is at a distance that all objects of processors share. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} rss_anchor SEC(".maps");

struct bpf_array {
	void *pptrs[1];
} KERNEL_TYPE;

typedef struct {
	s64 counter;
} KERNEL_TYPE atomic64_t;

typedef atomic64_t atomic_long_t;

/* until 6.1 */
struct mm_rss_stat {
	atomic_long_t count[RSS_NR_KINDS];
} KERNEL_TYPE;

struct mm_struct___counts {
	struct mm_rss_stat rss_stat;
} KERNEL_TYPE;

/* since 6.2 */
struct percpu_counter {
	s64 count;
	s32 *counters;
} KERNEL_TYPE;

struct mm_struct___percpu {
	struct percpu_counter rss_stat[RSS_NR_KINDS];
} KERNEL_TYPE;

#define MAX_CPUS	64	/* parts of others are left out */
#define PAGE_BYTES	4096ull
#define HAS_COUNT	(config.nr_args == 3)

/* How far each processor's copy is from the address that stands for all of them. */
static u64 distance[MAX_CPUS];
static u32 nr_distances;

/* A pointer as a number, which can be computed with. */
static __always_inline u64 number_of_pointer(void *volatile pointer)
{
	u64 number = 0;

	bpf_probe_read_kernel(&number, sizeof(number), (void *)&pointer);
	return number;
}

static __always_inline void find_distances(void)
{
	u64 map = number_of_pointer(&rss_anchor), common = 0;
	u32 key = 0, nr = 0;

	bpf_probe_read_kernel(&common, sizeof(common),
			      (void *)(map + bpf_core_field_offset(struct bpf_array, pptrs)));
	for (u32 cpu = 0; common && cpu < MAX_CPUS; cpu++) {
		void *own = bpf_map_lookup_percpu_elem(&rss_anchor, &key, cpu);

		if (!own)
			break;
		distance[cpu] = number_of_pointer(own) - common;
		nr = cpu + 1;
	}
	nr_distances = nr;
}

static __noinline s64 sum_of_parts(struct mm_struct *mm, u32 kind)
{
	struct mm_struct___percpu *percpu = (void *)mm;
	struct percpu_counter *c = __builtin_preserve_access_index(&percpu->rss_stat[0]);
	s64 sum, base;
	s32 part;

	c = (void *)c + kind * bpf_core_type_size(struct percpu_counter);
	sum = BPF_CORE_READ(c, count);
	base = (s64)BPF_CORE_READ(c, counters);
	for (u32 cpu = 0; cpu < MAX_CPUS && cpu < nr_distances; cpu++)
		if (!bpf_probe_read_kernel(&part, sizeof(part), (void *)(base + distance[cpu])))
			sum += part;
	return sum;
}

static __noinline s64 count_of(struct mm_struct *mm, u32 kind)
{
	struct mm_struct___counts *counts = (void *)mm;
	atomic_long_t *c = __builtin_preserve_access_index(&counts->rss_stat.count[0]);
	s64 pages = 0;

	bpf_probe_read_kernel(&pages, sizeof(pages), (void *)c + kind * sizeof(pages));
	return pages;
}

/*
 * Bytes of a kind that a memory has now. Functions of their own, so that clang does not bring a
 * look for a member that this kernel has not to where the verifier sees it.
 */
static __always_inline u64 bytes_of(struct mm_struct *mm, u32 kind)
{
	s64 pages = HAS_COUNT ? count_of(mm, kind) : sum_of_parts(mm, kind);

	return pages > 0 ? pages * PAGE_BYTES : 0;
}

/* Is a process wanted that another one, or the kernel, changes the memory of? */
static __always_inline bool is_wanted(u32 tgid)
{
	if (tgid == config.self || !tgid)
		return false;
	if (bpf_map_lookup_elem(&rss_processes, &tgid))
		return true;
	if (config.filters & TRACE_ONLY_TARGETS && !bpf_map_lookup_elem(&targets, &tgid))
		return false;
	return !(config.filters & (TRACE_ONLY_UID | TRACE_ONLY_COMM | TRACE_ONLY_MEMCG));
}

static __always_inline struct rss_process *process_of(u32 tgid, struct task_struct *leader,
						      struct mm_struct *mm)
{
	struct rss_process *p = bpf_map_lookup_elem(&rss_processes, &tgid), new = { 0 };
	u64 start = BPF_CORE_READ(leader, start_time);

	if (p && p->start_ns == start)
		return p;
	new.start_ns = start;
	new.first_ns = bpf_ktime_get_ns();
	for (u32 i = 0; i < RSS_NR_KINDS; i++)
		new.first[i] = new.now[i] = new.reported[i] = bytes_of(mm, i);
	bpf_probe_read_kernel(new.comm, sizeof(new.comm), leader->comm);
	if (bpf_map_update_elem(&rss_processes, &tgid, &new, BPF_ANY)) {
		TRACE_COUNT(TRACE_RSS, dropped);
		return NULL;
	}
	return bpf_map_lookup_elem(&rss_processes, &tgid);
}

static __always_inline void fill(struct trace_record *r, u32 kind, u64 bytes, s64 change)
{
	r->a[0] = kind;
	r->a[1] = bytes;
	r->a[2] = change;
	r->a[3] = change > 0 ? change : 0;
}

/* `own`: the process has done it itself, so that its stack says why. */
static __always_inline void report(const struct trace_task *t, bool own, struct rss_process *p,
				   u32 kind, u64 bytes)
{
	u64 step = config.min_bytes ? config.min_bytes : RSS_STEP_BYTES;
	s64 change = bytes - p->reported[kind];
	struct trace_record *r;
	struct trace_room *room;

	if ((u64)(change < 0 ? -change : change) < step)
		return;
	p->reported[kind] = bytes;
	if (own && config.stack_bytes) {
		room = trace_room(t, TRACE_RSS);
		if (!room)
			return;
		fill(&room->r, kind, bytes, change);
		trace_send_stack(room, trace_user_regs());
		return;
	}
	r = trace_begin(t, TRACE_RSS);
	if (!r)
		return;
	fill(r, kind, bytes, change);
	__builtin_memcpy(r->comm, p->comm, sizeof(r->comm));
	trace_end(r);
}

SEC("raw_tp/rss_stat")
int rss_stat(u64 *ctx)
{
	struct mm_struct *mm = (void *)ctx[0];
	struct task_struct *owner = BPF_CORE_READ(mm, owner), *leader;
	u32 kind = ctx[1];
	struct rss_process *p;
	struct trace_task t = { 0 };
	u64 bytes, resident;
	bool own;

	/* a memory that nobody has yet (fork, exec) or any more */
	if (!owner || kind >= RSS_NR_KINDS || BPF_CORE_READ(owner, mm) != mm)
		return 0;
	leader = BPF_CORE_READ(owner, group_leader);
	own = BPF_CORE_READ(leader, tgid) == (int)(bpf_get_current_pid_tgid() >> 32);
	if (own) {
		if (!trace_wanted(&t))
			return 0;
	} else {
		t.tgid = t.tid = trace_number_of(leader);
		if (!is_wanted(t.tgid))
			return 0;
	}
	trace_seen(TRACE_RSS);
	/* for the verifier, which has forgotten by now */
	asm volatile("" : "+r"(kind));
	kind &= RSS_NR_KINDS - 1;
	if (!HAS_COUNT && !nr_distances)
		find_distances();
	p = process_of(t.tgid, leader, mm);
	if (!p)
		return 0;
	bytes = bytes_of(mm, kind);
	p->now[kind] = bytes;
	__sync_fetch_and_add(&p->changes, 1);
	resident = p->now[RSS_FILE] + p->now[RSS_ANON] + p->now[RSS_SHMEM];
	if (resident > p->peak)
		p->peak = resident;
	if (own)
		bpf_get_current_comm(p->comm, sizeof(p->comm));
	if (trace_recorded(TRACE_RSS))
		report(&t, own, p, kind, bytes);
	return 0;
}
