/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which stack a thread runs on.
 *
 * The first thread's stack is known by mm->start_stack and RLIMIT_STACK. Another thread's is the
 * area that has both its control block (fsbase, which the C library puts at the top of the stack)
 * and its stack pointer, above an area without access: its guard. Any other stack is not known.
 */
#ifndef BPF_STACK_H
#define BPF_STACK_H

#include "bpf/stack_abi.h"
#include "bpf/trace.h"

#define PAGE_BYTES	4096ull
#define PAGE_DOWN(at)	((at) & ~(PAGE_BYTES - 1))
#define PAGE_UP(at)	PAGE_DOWN((at) + PAGE_BYTES - 1)

#define VM_ACCESS	7ull	/* VM_READ | VM_WRITE | VM_EXEC; linux/mm.h */
#define VM_WRITE	2ull
#define RLIMIT_STACK	3
#define MAX_MAIN_BYTES	(1ull << 36)	/* what "unlimited" is taken for */

#define MAX_LOOKS	8	/* for a thread's stack: each takes microseconds */
#define ERR_NOENT	-2	/* errno of bpf_find_vma() */

struct rlimit {
	unsigned long rlim_cur;
} KERNEL_TYPE;

struct rlimit_pair {		/* the kernel's, whose size is the distance in the array */
	unsigned long cur, max;
};

struct signal_struct___limits {
	struct rlimit rlim[1];
} KERNEL_TYPE;

struct thread_struct {
	unsigned long fsbase;
} KERNEL_TYPE;

struct task_struct___thread {
	struct thread_struct thread;
} KERNEL_TYPE;

struct mm_struct___env {
	unsigned long env_end;
} KERNEL_TYPE;

/* An area of memory; end 0: none. */
struct bounds {
	u64 start, end, flags;
};

/* What is known of a stack: [low, top), with `guard` bytes below that nobody may access. */
struct stack {
	u64 low, top;
	u64 guard;
	u64 start;		/* of the area that is mapped; 0: not known */
	u32 sort;		/* enum stack_sort */
	u32 unlimited;
};

/* How far the search for a thread's stack has come. */
enum phase { PHASE_MAIN, PHASE_BLOCK, PHASE_GUARD, PHASE_DONE };

/* What a thread remembers. */
struct remembered {
	u64 mm, start_stack;	/* of the program it was in */
	struct stack stack;
	u64 deepest;		/* page */
	u32 phase, looks;
	struct bounds block;	/* the area of its control block */
	/* the signal that is to be delivered: the area it is about */
	u64 signal_address;
	struct bounds hit;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct remembered);
} thread_stacks SEC(".maps");

static long bounds_take(struct task_struct *task, struct vm_area_struct *vma, void *data)
{
	struct bounds *b = data;

	b->start = BPF_CORE_READ(vma, vm_start);
	b->end = BPF_CORE_READ(vma, vm_end);
	b->flags = BPF_CORE_READ(vma, vm_flags);
	return 0;
}

/*
 * With interrupts off, as in faults and signals, the kernel answers once in a run of a program, and
 * that takes 12 us. False: it cannot say now; b->end is 0 where there is nothing.
 */
static __always_inline bool bounds_find(struct bounds *b, struct task_struct *task, u64 address)
{
	struct bounds found = { 0 };
	long rc = bpf_find_vma(task, address, bounds_take, &found, 0);

	*b = found;
	return !rc || rc == ERR_NOENT;
}

static __always_inline bool is_open(const struct bounds *b)
{
	return b->end && b->flags & VM_ACCESS;
}

static __always_inline bool is_closed(const struct bounds *b)
{
	return b->end && !(b->flags & VM_ACCESS);
}

static __always_inline u64 stack_limit(struct task_struct *task)
{
	struct signal_struct___limits *s = (void *)BPF_CORE_READ(task, signal);
	struct rlimit *limits = __builtin_preserve_access_index(&s->rlim[0]);
	unsigned long bytes = 0;

	bpf_probe_read_kernel(&bytes, sizeof(bytes),
			      (char *)limits + RLIMIT_STACK * sizeof(struct rlimit_pair));
	return bytes;
}

/* `top`: 0: by the end of the environment, behind which are but the program's name and a word. */
static __always_inline void main_stack(struct stack *s, struct task_struct *task,
				       struct mm_struct *mm, u64 top)
{
	struct mm_struct___env *env = (void *)mm;
	u64 limit = stack_limit(task);

	s->sort = STACK_MAIN;
	s->unlimited = limit > MAX_MAIN_BYTES;
	if (s->unlimited)
		limit = MAX_MAIN_BYTES;
	s->top = top ? top : PAGE_UP(BPF_CORE_READ(env, env_end) + 1);
	s->low = s->top > limit ? s->top - limit : 0;
}

static __always_inline bool is_first_thread(struct task_struct *task)
{
	return BPF_CORE_READ(task, pid) == BPF_CORE_READ(task, tgid);
}

static __always_inline bool stack_has(const struct stack *s, u64 sp)
{
	return sp >= s->low && sp < s->top;
}

static __always_inline u64 control_block(struct task_struct *task)
{
	struct task_struct___thread *t = (void *)task;

	return BPF_CORE_READ(t, thread.fsbase);
}

static __always_inline void thread_stack(struct stack *s, const struct bounds *area,
					 const struct bounds *guard, u64 block)
{
	s->sort = STACK_THREAD;
	s->low = s->start = area->start;
	s->top = PAGE_UP(block + 1);
	s->guard = guard->end - guard->start;
}

/* The stack of the first thread has the kernel's own mark. */
static __always_inline bool look_main(struct remembered *m, struct task_struct *task,
				      struct mm_struct *mm, u64 sp)
{
	struct bounds b;
	struct stack s = { 0 };

	if (!bounds_find(&b, task, mm->start_stack))
		return false;
	m->phase = PHASE_BLOCK;
	if (!is_open(&b))
		return false;
	main_stack(&s, task, mm, b.end);
	s.start = b.start;
	if (!stack_has(&s, sp))
		return false;
	m->stack = s;
	return true;
}

static __always_inline void look_block(struct remembered *m, struct task_struct *task, u64 sp)
{
	u64 block = control_block(task);

	if (!block || sp >= block) {
		m->phase = PHASE_DONE;
		return;
	}
	if (bounds_find(&m->block, task, block))
		m->phase = is_open(&m->block) && sp >= m->block.start ? PHASE_GUARD : PHASE_DONE;
}

static __always_inline bool look_guard(struct remembered *m, struct task_struct *task)
{
	struct bounds guard;

	if (!bounds_find(&guard, task, m->block.start - 1))
		return false;
	m->phase = PHASE_DONE;
	if (!is_closed(&guard))
		return false;
	thread_stack(&m->stack, &m->block, &guard, control_block(task));
	return true;
}

/*
 * One step of the search; true: it is found. A fork in a thread has that one's stack, so a first
 * thread may have either.
 */
static __always_inline bool look(struct remembered *m, struct task_struct *task,
				 struct mm_struct *mm, u64 sp)
{
	if (m->phase == PHASE_DONE || m->looks >= MAX_LOOKS)
		return false;
	m->looks++;
	if (m->phase == PHASE_MAIN && is_first_thread(task))
		return look_main(m, task, mm, sp);
	if (m->phase <= PHASE_BLOCK) {
		look_block(m, task, sp);
		return false;
	}
	return look_guard(m, task);
}

/* The limit may have been raised. */
static __always_inline void refresh_limit(struct remembered *m, struct task_struct *task,
					  struct mm_struct *mm, u64 address)
{
	if (m->stack.sort == STACK_MAIN && address < m->stack.low)
		main_stack(&m->stack, task, mm, m->stack.top);
}

/* What a task remembers of the program it is in now. */
static __always_inline struct remembered *recall(struct task_struct *task, struct mm_struct *mm)
{
	struct remembered *m = bpf_task_storage_get(&thread_stacks, task, NULL,
						    BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (m && (m->mm != (u64)mm || m->start_stack != mm->start_stack)) {
		__builtin_memset(m, 0, sizeof(*m));
		m->mm = (u64)mm;
		m->start_stack = mm->start_stack;
	}
	return m;
}

#endif
