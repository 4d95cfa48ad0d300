/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks of threads: how deep they have become, and signals of memory (SIGSEGV, SIGBUS) with the
 * address, the registers, the stack, and what is known of that stack.
 */
#include "bpf/stack.h"
#include "bpf/user_regs.h"

#define NR_SIGBUS	7
#define NR_SIGSEGV	11
#define SIG_IGNORED	1	/* SIG_DFL 0, SIG_IGN 1 */

#define EXPANDED_BYTES	(128ull << 10)	/* that exec gives a stack beyond what it needs */

/* Functions touch their frames from the stack pointer upwards, and a little below it. */
#define BELOW_BYTES	(64ull << 10)
#define ABOVE_BYTES	(64ull << 20)

/* So large may a frame be that leaves its stack. */
#define JUMP_BYTES	(1ull << 30)

/* signal_generate: SEND_SIG_NOINFO and SEND_SIG_PRIV, which are no pointers */
#define NO_INFO		4096

#define CLONE_THREAD	0x10000	/* linux/sched.h */

struct kernel_siginfo {
	int si_signo, si_code;
	union {
		struct {
			void *_addr;
		} _sigfault;
	} _sifields;
} KERNEL_TYPE;

struct sigaction {
	void *sa_handler;
} KERNEL_TYPE;

struct k_sigaction {
	struct sigaction sa;
} KERNEL_TYPE;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct stack_key);
	__type(value, struct stack_row);
} stack_threads SEC(".maps");

/* ---- growth ---- */

/* Of a program that has just begun, or has grown before anybody looked. */
static __always_inline u64 deepest_so_far(const struct stack *s, struct mm_struct *mm)
{
	u64 begin = PAGE_DOWN(BPF_CORE_READ(mm, start_stack));

	if (s->sort != STACK_MAIN)
		return s->top;
	if (s->start && s->start + EXPANDED_BYTES + PAGE_BYTES < begin)
		return s->start;
	return begin;
}

/*
 * A number that differs where a record is due between two depths: all bits below the highest one
 * set, without a branch, of which there would be too many ways for the verifier.
 */
static __always_inline u64 step_of(u64 depth)
{
	u64 step = depth / STACK_FIRST_BYTES;

	if (config.min_bytes)
		return depth / config.min_bytes;
	step |= step >> 1;
	step |= step >> 2;
	step |= step >> 4;
	step |= step >> 8;
	step |= step >> 16;
	return step;
}

static __always_inline struct stack_row *row_of(const struct trace_task *t,
						struct task_struct *task, const struct stack *s)
{
	struct stack_key key = { .start_ns = BPF_CORE_READ(task, start_time), .tid = t->tid };
	struct stack_row *row = bpf_map_lookup_elem(&stack_threads, &key), new = { 0 };

	if (row && row->sort == s->sort && row->top == s->top)
		return row;
	new.sort = s->sort;
	new.top = s->top;
	new.tgid = t->tgid;
	bpf_get_current_comm(new.comm, sizeof(new.comm));
	if (bpf_map_update_elem(&stack_threads, &key, &new, BPF_ANY)) {
		TRACE_COUNT(TRACE_STACK_GROWTH, dropped);
		return NULL;
	}
	return bpf_map_lookup_elem(&stack_threads, &key);
}

struct fault {
	u64 address, ip, sp;
	struct pt_regs *regs;	/* of the user's code */
};

static __always_inline void report(const struct trace_task *t, const struct fault *f,
				   const struct stack *s, u64 depth)
{
	struct trace_room *room;

	if (!trace_recorded(TRACE_STACK_GROWTH))
		return;
	room = trace_room(t, TRACE_STACK_GROWTH);
	if (!room)
		return;
	room->r.a[0] = f->address;
	room->r.a[1] = f->ip;
	room->r.a[2] = depth;
	room->r.a[3] = s->unlimited ? 0 : s->top - s->low;
	room->r.a[4] = s->sort;
	trace_send_stack(room, f->regs);
}

/* `before`: the deepest page so far. */
static __always_inline void grow(const struct trace_task *t, struct task_struct *task,
				 const struct fault *f, const struct stack *s, u64 before)
{
	struct stack_row *row = row_of(t, task, s);
	u64 depth = s->top - PAGE_DOWN(f->address), former;

	if (!row)
		return;
	former = row->depth;
	if (former < s->top - before)
		former = s->top - before;
	if (depth < former)
		depth = former;
	row->depth = depth;
	row->limit = s->unlimited ? 0 : s->top - s->low;
	bpf_get_current_comm(row->comm, sizeof(row->comm));
	if (step_of(depth) != step_of(former))
		report(t, f, s, depth);
}

/* Is it near the stack pointer? Most faults are not, which is all they cost. */
static __always_inline bool is_near(const struct fault *f)
{
	return f->address + BELOW_BYTES - f->sp < BELOW_BYTES + ABOVE_BYTES;
}

static __always_inline int fault(struct task_struct *task, const struct fault *f)
{
	struct mm_struct *mm = task->mm;
	struct remembered *m;
	struct trace_task t;
	u64 page = PAGE_DOWN(f->address), before;

	if (!is_near(f) || !mm || !trace_wanted(&t))
		return 0;
	m = recall(task, mm);
	if (!m) {
		TRACE_COUNT(TRACE_STACK_GROWTH, dropped);
		return 0;
	}
	if (!m->stack.sort) {
		if (!m->looks)
			row_of(&t, task, &m->stack);
		if (look(m, task, mm, f->sp))
			m->deepest = deepest_so_far(&m->stack, mm);
	}
	refresh_limit(m, task, mm, page);
	if (!m->stack.sort || page >= m->stack.top || !stack_has(&m->stack, f->sp))
		return 0;
	if (page >= m->deepest || page < m->stack.low)
		return 0;
	before = m->deepest;
	m->deepest = page;
	trace_seen(TRACE_STACK_GROWTH);
	grow(&t, task, f, &m->stack, before);
	return 0;
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(stack_user_with_areas, unsigned long address, struct pt_regs *regs,
	     unsigned long error)
{
	struct fault f = { address, regs->ip, regs->sp, regs };

	return fault(bpf_get_current_task_btf(), &f);
}

/* Of the user's memory, in a system call: a buffer on the stack. */
static __always_inline bool is_on_behalf(struct task_struct *task, int disabled, u64 address)
{
	return !disabled && address < BPF_CORE_READ(task, mm, task_size);
}

SEC("tp_btf/page_fault_kernel")
int BPF_PROG(stack_kernel_with_areas, unsigned long address, struct pt_regs *regs,
	     unsigned long error)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *user = (void *)bpf_task_pt_regs(task);
	struct fault f = { address, user->ip, user->sp, user };

	return is_on_behalf(task, task->pagefault_disabled, address) ? fault(task, &f) : 0;
}

/* Where interrupts are on, areas are cheap to find: a program that begins, a new thread. */

SEC("tp_btf/sched_process_exec")
int BPF_PROG(stack_exec_with_areas, struct task_struct *p)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct mm_struct *mm = task->mm;
	struct remembered *m;
	struct trace_task t;

	if (!mm || !trace_wanted(&t))
		return 0;
	m = recall(task, mm);
	if (m && !m->stack.sort && look_main(m, task, mm, mm->start_stack))
		m->deepest = deepest_so_far(&m->stack, mm);
	return 0;
}

/* In the thread that makes it. */
SEC("tp_btf/task_newtask")
int BPF_PROG(stack_thread_with_areas, struct task_struct *p, u64 clone_flags)
{
	struct mm_struct *mm = p->mm;
	u64 block = control_block(p);
	struct bounds area, guard;
	struct remembered *m;
	struct trace_task t;

	if (!(clone_flags & CLONE_THREAD) || !mm || !block || !trace_wanted(&t))
		return 0;
	m = recall(p, mm);
	if (!m || !bounds_find(&area, p, block) || !is_open(&area) ||
	    !bounds_find(&guard, p, area.start - 1) || !is_closed(&guard))
		return 0;
	thread_stack(&m->stack, &area, &guard, block);
	m->deepest = m->stack.top;
	return 0;
}

/* Linux before 5.17: the first thread's stack alone. */
static __always_inline int fault_without_areas(struct task_struct *task, const struct fault *f)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct stack s = { 0 };
	struct stack_row *row;
	struct trace_task t;
	u64 depth;

	if (!is_near(f) || !mm || !is_first_thread(task) || !trace_wanted(&t))
		return 0;
	main_stack(&s, task, mm, 0);
	if (!stack_has(&s, f->sp) || f->address < s.low || f->address >= s.top)
		return 0;
	row = row_of(&t, task, &s);
	depth = s.top - PAGE_DOWN(f->address);
	if (!row || depth <= row->depth)
		return 0;
	trace_seen(TRACE_STACK_GROWTH);
	grow(&t, task, f, &s, deepest_so_far(&s, mm));
	return 0;
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(stack_user_without_areas, unsigned long address, struct pt_regs *regs,
	     unsigned long error)
{
	struct fault f = { address, regs->ip, regs->sp, regs };

	return fault_without_areas((void *)bpf_get_current_task(), &f);
}

/* ---- signals ---- */

struct verdict {
	struct stack stack;
	u64 flags, extra;
};

static __always_inline bool may_grow_to(const struct stack *s, u64 address)
{
	return s->sort == STACK_MAIN && address >= s->low && address < s->start;
}

/*
 * A signal has two tracepoints, so areas can be looked up twice: that of the address, then the one
 * of the stack. A stack that has met its neighbour has one where its next page has the guard gap.
 */
static __always_inline u64 place_to_look(const struct remembered *m, u64 address)
{
	return may_grow_to(&m->stack, address) ? PAGE_DOWN(address) - STACK_GUARD_GAP : address;
}

/* The area of the stack pointer, or above what was hit, as a stack. */
static __always_inline void other_stack(struct verdict *v, struct task_struct *task, u64 address,
					u64 sp, const struct bounds *hit)
{
	bool guard = is_closed(hit);
	u64 above = PAGE_DOWN(address) + PAGE_BYTES;
	struct bounds b;

	/* a stack pointer that is not above the address has left the stack with it */
	if (!bounds_find(&b, task, guard ? hit->end : sp > above ? sp : above) ||
	    !(b.flags & VM_WRITE) || address >= b.start)
		return;
	v->stack.sort = STACK_OTHER;
	v->stack.low = v->stack.start = b.start;
	v->stack.top = b.end;
	v->stack.guard = guard ? hit->end - hit->start : 0;
}

static __always_inline bool is_in_guard(const struct stack *s, u64 address)
{
	return s->guard && address < s->low && address >= s->low - s->guard;
}

/* The nearest area that ends less than the guard gap below an address. */
static __always_inline void find_neighbour(struct verdict *v, struct task_struct *task, u64 address,
					   const struct bounds *hit)
{
	struct bounds b = *hit;

	if (!b.end && !bounds_find(&b, task, PAGE_DOWN(address) - STACK_GUARD_GAP / 2))
		return;
	if (!b.end)
		return;
	v->flags |= STACK_NEIGHBOUR;
	v->extra = b.end;
}

static __always_inline void judge_with_areas(struct verdict *v, struct task_struct *task,
					     u64 address, u64 sp)
{
	struct mm_struct *mm = task->mm;
	struct bounds hit = { 0 };
	struct remembered *m;
	bool left;

	__builtin_memset(v, 0, sizeof(*v));
	m = mm ? recall(task, mm) : NULL;
	if (!m)
		return;
	refresh_limit(m, task, mm, address);
	v->stack = m->stack;
	if (m->signal_address == address)
		hit = m->hit;
	/* a stack pointer below it may have left it; one in another area that is open has not */
	left = v->stack.sort && sp < v->stack.low && sp + JUMP_BYTES >= v->stack.low &&
	       !is_open(&hit);
	if (!v->stack.sort || !(stack_has(&v->stack, sp) || is_in_guard(&v->stack, address) ||
				(left && !hit.end))) {
		__builtin_memset(&v->stack, 0, sizeof(v->stack));
		other_stack(v, task, address, sp, &hit);
	}
	/* where nobody may write, as in what an allocator reserves, and which is no stack's guard */
	if (!v->stack.sort && left)
		v->stack = m->stack;
	v->extra = v->stack.guard;
	if (is_in_guard(&v->stack, address))
		v->flags |= STACK_HIT_GUARD;
	if (may_grow_to(&v->stack, address))
		find_neighbour(v, task, address, &hit);
}

/* (signal, info, task, group, result) */
SEC("raw_tp/signal_generate")
int stack_raised_with_areas(struct bpf_raw_tracepoint_args *ctx)
{
	struct kernel_siginfo *info = (void *)ctx->args[1];
	struct task_struct *task = bpf_get_current_task_btf();
	struct mm_struct *mm = task->mm;
	struct remembered *m;
	struct trace_task t;

	if (ctx->args[0] != NR_SIGSEGV || ctx->args[2] != (u64)task || ctx->args[1] < NO_INFO ||
	    !mm || !trace_wanted(&t))
		return 0;
	if (BPF_CORE_READ(info, si_code) <= 0)
		return 0;
	m = recall(task, mm);
	if (!m)
		return 0;
	m->signal_address = (u64)BPF_CORE_READ(info, _sifields._sigfault._addr);
	bounds_find(&m->hit, task, place_to_look(m, m->signal_address));
	return 0;
}

static __always_inline void judge_without_areas(struct verdict *v, struct task_struct *task,
						u64 sp)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);

	__builtin_memset(v, 0, sizeof(*v));
	v->flags = STACK_NO_AREAS;
	if (!mm || !is_first_thread(task))
		return;
	main_stack(&v->stack, task, mm, 0);
	if (sp >= v->stack.top || sp + ABOVE_BYTES < v->stack.low)
		__builtin_memset(&v->stack, 0, sizeof(v->stack));
}

/* (signal, info, action) */
static __always_inline int deliver(struct bpf_raw_tracepoint_args *ctx, bool with_areas)
{
	struct kernel_siginfo *info = (void *)ctx->args[1];
	struct k_sigaction *action = (void *)ctx->args[2];
	int number = ctx->args[0], code;
	struct pt_regs *regs = trace_user_regs();
	struct trace_room *room;
	struct trace_task t;
	struct verdict v;
	u64 address = 0, sp = BPF_CORE_READ(regs, sp);

	if ((number != NR_SIGSEGV && number != NR_SIGBUS) || !trace_wanted(&t))
		return 0;
	trace_seen(TRACE_SEGV);
	if (!trace_recorded(TRACE_SEGV))
		return 0;
	code = BPF_CORE_READ(info, si_code);
	if (code > 0)
		address = (u64)BPF_CORE_READ(info, _sifields._sigfault._addr);
	if (with_areas)
		judge_with_areas(&v, bpf_get_current_task_btf(), address, sp);
	else
		judge_without_areas(&v, (void *)bpf_get_current_task(), sp);
	if ((u64)BPF_CORE_READ(action, sa.sa_handler) > SIG_IGNORED)
		v.flags |= STACK_HANDLED;
	room = trace_room(&t, TRACE_SEGV);
	if (!room)
		return 0;
	room->r.a[0] = address;
	room->r.a[1] = sp;
	room->r.a[2] = (u32)number | (u64)v.stack.sort << STACK_SORT_SHIFT | v.flags |
		       (u64)(u32)code << STACK_CODE_SHIFT;
	room->r.a[3] = v.stack.top;
	room->r.a[4] = v.stack.unlimited ? 0 : v.stack.top - v.stack.low;
	room->r.a[5] = v.extra;
	trace_send_deep_stack(room, regs);
	return 0;
}

SEC("raw_tp/signal_deliver")
int stack_signal_with_areas(struct bpf_raw_tracepoint_args *ctx)
{
	return deliver(ctx, true);
}

SEC("raw_tp/signal_deliver")
int stack_signal_without_areas(struct bpf_raw_tracepoint_args *ctx)
{
	return deliver(ctx, false);
}
