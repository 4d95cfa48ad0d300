/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page faults of the processor, before the kernel handles them: counted by process, area and file;
 * one of some with the user stack. What the kernel maps without a fault (MAP_POPULATE, pages
 * around one that was touched, get_user_pages()) is not seen.
 */
#include "bpf/area.h"

#define NR_AREAS	6

/* What a thread remembers. */
struct areas {
	u64 mm;
	u32 next;		/* the area to be forgotten next */
	u32 pad;
	struct area area[NR_AREAS];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct areas);
} thread_areas SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct fault_key);
	__type(value, struct fault_row);
} fault_rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct fault_sampling);
} fault_sampling SEC(".maps");

/* ---- areas that are remembered ---- */

/*
 * Another number whenever mappings have changed; odd: they may have changed all the same. Before
 * Linux 6.4 it is made of their sizes.
 */
static __always_inline u32 seq_of(struct mm_struct *mm)
{
	struct mm_struct___seqcount *counted = (void *)mm;
	struct mm_struct___number *number = (void *)mm;

	if (bpf_core_field_exists(counted->mm_lock_seq.sequence))
		return counted->mm_lock_seq.sequence;
	if (bpf_core_field_exists(number->mm_lock_seq))
		return (u32)number->mm_lock_seq * 2;
	return (mm->total_vm * 3 + mm->data_vm * 5 + mm->exec_vm * 7 + mm->map_count * 11) * 2 + 1;
}

/* `same`: the number of the mappings has not changed. Before 6.4 that must do. */
static __always_inline bool in_use(struct vm_area_struct *vma, bool same)
{
	struct vm_area_struct___count *count = (void *)vma;
	struct vm_area_struct___flag *flag = (void *)vma;

	if (bpf_core_field_exists(count->vm_refcnt))
		return BPF_CORE_READ(count, vm_refcnt.refs.counter) != 0;
	if (bpf_core_field_exists(flag->detached))
		return !BPF_CORE_READ(flag, detached);
	return same;
}

/* Is it the area that it was? Its ends may have changed. */
static __always_inline bool area_refresh(struct area *a, u64 mm, u32 seq)
{
	struct vm_area_struct *vma = (void *)a->vma;
	u64 start = BPF_CORE_READ(vma, vm_start);

	if ((u64)BPF_CORE_READ(vma, vm_mm) != mm || (u64)BPF_CORE_READ(vma, vm_file) != a->file ||
	    area_flags(vma) != a->flags || !in_use(vma, a->seq == seq)) {
		a->end = 0;
		a->start = 0;
		return false;
	}
	a->pgoff += (s64)(start - a->start) >> AREA_PAGE_SHIFT;
	a->start = start;
	a->end = BPF_CORE_READ(vma, vm_end);
	a->seq = seq;
	return true;
}

/* Below a stack there is nothing but the way it grows. */
static __always_inline bool grows(const struct area *a, u64 address)
{
	return a->area == FAULT_STACK && address < a->start &&
	       a->start - address <= AREA_GUARD_BYTES;
}

static __always_inline void forget(struct areas *all, u64 mm)
{
	all->mm = mm;
	for (int i = 0; i < NR_AREAS; i++)
		all->area[i].start = all->area[i].end = 0;
}

/* The area that is remembered for an address; NULL: none. */
static __always_inline struct area *recall(struct areas *all, u64 address, u64 mm, u32 seq)
{
	if (all->mm != mm) {
		forget(all, mm);
		return NULL;
	}
	for (int i = 0; i < NR_AREAS; i++) {
		struct area *a = &all->area[i];

		if (address - a->start >= a->end - a->start)
			continue;
		if (a->seq == seq && !(seq & 1))
			return a;
		if (area_refresh(a, mm, seq) && address - a->start < a->end - a->start)
			return a;
	}
	for (int i = 0; i < NR_AREAS; i++) {
		struct area *a = &all->area[i];

		if (!a->end || (a->seq == seq && !(seq & 1)))
			continue;
		if (area_refresh(a, mm, seq) && address - a->start < a->end - a->start)
			return a;
	}
	return NULL;
}

static __always_inline struct area *area_of(struct task_struct *task, struct mm_struct *mm,
					    struct area *found, u64 address)
{
	u32 seq = seq_of(mm);
	struct areas *all = bpf_task_storage_get(&thread_areas, task, NULL,
						 BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct area *a;

	if (!all) {
		area_find(found, task, address);
		return found;
	}
	a = recall(all, address, (u64)mm, seq);
	if (a)
		return a;
	__builtin_memset(found, 0, sizeof(*found));
	for (int i = 0; i < NR_AREAS; i++) {
		if (!grows(&all->area[i], address))
			continue;
		found->area = FAULT_STACK_GROWTH;
		return found;
	}
	area_find(found, task, address);
	if (!found->end) {
		if (found->area == FAULT_NOWHERE && area_guess(address) == FAULT_STACK)
			found->area = FAULT_STACK_GROWTH;
		return found;
	}
	found->seq = seq;
	if (all->next >= NR_AREAS)
		all->next = 0;
	all->area[all->next++] = *found;
	return found;
}

/* ---- counting ---- */

static __always_inline u32 access_of(u64 error)
{
	u32 access = error & TRACE_FAULT_FETCH ? FAULT_FETCH
		   : error & TRACE_FAULT_WRITE ? FAULT_WRITE : FAULT_READ;

	return error & TRACE_FAULT_PRESENT ? access + FAULT_READ_PRESENT : access;
}

static __always_inline void count(const struct fault_key *key, u64 error)
{
	struct fault_row *row = bpf_map_lookup_elem(&fault_rows, key);
	u32 access = access_of(error);

	if (!row) {
		struct fault_row first = { 0 };

		bpf_get_current_comm(first.comm, sizeof(first.comm));
		bpf_map_update_elem(&fault_rows, key, &first, BPF_NOEXIST);
		row = bpf_map_lookup_elem(&fault_rows, key);
		if (!row) {
			TRACE_COUNT(TRACE_FAULT, dropped);
			return;
		}
	}
	if (access < FAULT_NR_ACCESSES)
		__sync_fetch_and_add(&row->faults[access], 1);
	if (!(error & TRACE_FAULT_USER))
		__sync_fetch_and_add(&row->by_kernel, 1);
}

static __always_inline void count_program(const struct trace_task *t)
{
	struct fault_program *program = area_program(t, TRACE_FAULT);

	if (program)
		__sync_fetch_and_add(&program->faults, 1);
}

/* ---- stacks of some ---- */

/* How many faults the one that is due stands for; 0: none is. */
static __always_inline u32 due(struct fault_sampling *s)
{
	if (s->left > 1) {
		s->left--;
		return 0;
	}
	return s->gap ? s->gap : 1;
}

/*
 * `bytes` were copied: choose the next. As long as there was little to copy every fault is chosen,
 * then so few that no more than the rate is copied. Gaps vary, so that no rhythm of the program is
 * met.
 */
static __always_inline void choose_next(struct fault_sampling *s, u64 bytes)
{
	u64 now = bpf_ktime_get_ns(), earned = (now - s->last_ns) / FAULT_STACK_NS_PER_BYTE;

	if (earned >= FAULT_STACK_BURST) {
		s->allowed_bytes = FAULT_STACK_BURST;
		s->every = 1;
	} else {
		s->allowed_bytes += earned;
	}
	s->allowed_bytes -= bytes;
	if (s->allowed_bytes < 0) {
		s->allowed_bytes = 0;
		s->every *= 2;
	} else if (s->allowed_bytes > (s64)FAULT_STACK_BURST / 2) {
		s->every /= 2;
	}
	if (s->allowed_bytes > (s64)FAULT_STACK_BURST)
		s->allowed_bytes = FAULT_STACK_BURST;
	if (!s->every)
		s->every = 1;
	if (config.sample)
		s->every = config.sample;
	if (s->every > FAULT_MAX_GAP)
		s->every = FAULT_MAX_GAP;
	s->last_ns = now;
	s->gap = s->every == 1 ? 1 : s->every / 2 + 1 + bpf_get_prandom_u32() % s->every;
	s->left = s->gap;
}

struct fault {
	u64 address, ip, error;
	struct pt_regs *regs;	/* of the user's code */
};

static __always_inline void sample(const struct trace_task *t, const struct fault *f,
				   const struct area *a)
{
	u32 zero = 0, weight;
	struct fault_sampling *s = bpf_map_lookup_elem(&fault_sampling, &zero);
	struct trace_room *room;
	u64 bytes = 0;

	if (!s)
		return;
	weight = due(s);
	if (!weight)
		return;
	room = trace_room(t, TRACE_FAULT);
	if (room) {
		room->r.weight = weight;
		area_record(&room->r, f->address, f->ip, f->error, a);
		trace_send_stack(room, f->regs);
		bytes = sizeof(room->r) + sizeof(room->regs) + room->r.tail_bytes;
	}
	choose_next(s, bytes);
}

/* ---- programs ---- */

static __always_inline int fault(struct task_struct *task, const struct fault *f)
{
	struct area found, *a;
	struct fault_key key;
	struct trace_task t;
	struct mm_struct *mm;

	if (!trace_wanted(&t))
		return 0;
	mm = task->mm;
	if (!mm)
		return 0;
	trace_seen(TRACE_FAULT);
	a = area_of(task, mm, &found, f->address);
	if (config.filters & TRACE_FAULTS_BY_PROGRAM) {
		count_program(&t);
	} else {
		area_key(&key, a, t.tgid, f->address);
		count(&key, f->error);
	}
	if (trace_recorded(TRACE_FAULT))
		sample(&t, f, a);
	return 0;
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(faults_user_with_areas, unsigned long address, struct pt_regs *regs,
	     unsigned long error)
{
	struct fault f = { address, regs->ip, error, regs };

	return fault(bpf_get_current_task_btf(), &f);
}

/*
 * Of the user's memory, in a system call; where the kernel forbids them itself (`disabled`) it
 * handles none, as when a program such as this one reads user memory.
 */
static __always_inline bool is_on_behalf(struct task_struct *task, int disabled, u64 address)
{
	return !disabled && address < BPF_CORE_READ(task, mm, task_size);
}

SEC("tp_btf/page_fault_kernel")
int BPF_PROG(faults_kernel_with_areas, unsigned long address, struct pt_regs *regs,
	     unsigned long error)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *user = (void *)bpf_task_pt_regs(task);
	struct fault f = { address, user->ip, error & ~(u64)TRACE_FAULT_USER, user };

	return is_on_behalf(task, task->pagefault_disabled, address) ? fault(task, &f) : 0;
}

/* Linux before 5.17: no areas. */
static __always_inline int fault_without_areas(const struct fault *f)
{
	struct fault_key key = { 0 };
	struct area a = { 0 };
	struct trace_task t;

	if (!trace_wanted(&t))
		return 0;
	trace_seen(TRACE_FAULT);
	a.area = area_guess(f->address);
	if (config.filters & TRACE_FAULTS_BY_PROGRAM) {
		count_program(&t);
	} else {
		area_key(&key, &a, t.tgid, f->address);
		count(&key, f->error);
	}
	if (trace_recorded(TRACE_FAULT))
		sample(&t, f, &a);
	return 0;
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(faults_user_without_areas, unsigned long address, struct pt_regs *regs,
	     unsigned long error)
{
	struct fault f = { address, regs->ip, error, regs };

	return fault_without_areas(&f);
}

SEC("tp_btf/page_fault_kernel")
int BPF_PROG(faults_kernel_without_areas, unsigned long address, struct pt_regs *regs,
	     unsigned long error)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct pt_regs *user = area_user_regs(task);
	struct fault f = { address, BPF_CORE_READ(user, ip), error & ~(u64)TRACE_FAULT_USER, user };

	/* reading the kernel's memory forbids faults once more */
	return is_on_behalf(task, BPF_CORE_READ(task, pagefault_disabled) - 1, address) ?
		       fault_without_areas(&f) : 0;
}
