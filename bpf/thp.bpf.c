/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transparent huge pages: allocated by page faults, made of small pages by khugepaged and
 * madvise(MADV_COLLAPSE). The kernel has no tracepoint for a huge page fault; its allocation is
 * one of that order with these flags, in a process that does not collapse.
 */
#include "bpf/user_regs.h"

#include "bpf/huge_abi.h"

#define PAGE_BYTES	4096ull
#define HUGE_ORDER	9	/* 2 MiB */

/* include/linux/gfp_types.h; the same numbers from 5.10 to 6.18 */
#define GFP_MOVABLE	0x08u
#define GFP_DIRECT	0x400u
#define GFP_THISNODE	0x200000u
#define GFP_COMP	0x40000u
#define GFP_NOMEMALLOC	0x80000u
#define GFP_HUGE	(GFP_MOVABLE | GFP_COMP | GFP_NOMEMALLOC)

#define NR_MADVISE		28
#define NR_PROCESS_MADVISE	440
#define MADV_COLLAPSE		25

#define ARGS_FOLIO	6	/* of mm_khugepaged_scan_pmd: no more `writable` */

/* Their values are this kernel's at load time. */
#define SCAN(name) SCAN_##name,
enum scan_result {
	HUGE_STATUSES(SCAN)
};
#undef SCAN

static __always_inline u32 status_of(u32 status)
{
#define IS(name)                                                                                   \
	if (bpf_core_enum_value_exists(enum scan_result, SCAN_##name) &&                           \
	    status == bpf_core_enum_value(enum scan_result, SCAN_##name))                          \
		return HUGE_##name;
	HUGE_STATUSES(IS)
#undef IS
	return HUGE_UNKNOWN;
}

/* ---- faults ---- */

/* In madvise(MADV_COLLAPSE)? A fault has its error code where a call has its number. */
static __always_inline bool is_collapsing(struct pt_regs *regs)
{
	u64 nr = BPF_CORE_READ(regs, orig_ax);

	if (nr == NR_MADVISE)
		return BPF_CORE_READ(regs, dx) == MADV_COLLAPSE;
	return nr == NR_PROCESS_MADVISE && BPF_CORE_READ(regs, r10) == MADV_COLLAPSE;
}

/* Without success on its own node, a fault that may reclaim tries again without asking for that. */
static __always_inline bool is_tried_again(u64 page, u32 gfp)
{
	return !page && gfp & GFP_THISNODE && gfp & GFP_DIRECT;
}

SEC("raw_tp/mm_page_alloc")
int thp_alloc(u64 *c)
{
	struct trace_room *room;
	struct pt_regs *regs;
	struct trace_task t;

	if ((u32)c[1] != HUGE_ORDER || ((u32)c[2] & GFP_HUGE) != GFP_HUGE)
		return 0;
	if (is_tried_again(c[0], c[2]))
		return 0;
	if (!trace_recorded(TRACE_HUGE_FAULT) || trace_kernel_thread() || !trace_wanted(&t))
		return 0;
	regs = trace_user_regs();
	if (is_collapsing(regs))
		return 0;
	trace_seen(TRACE_HUGE_FAULT);
	room = trace_room(&t, TRACE_HUGE_FAULT);
	if (!room)
		return 0;
	room->r.a[0] = HUGE_ORDER;
	room->r.a[1] = (u32)c[2];
	room->r.a[2] = c[0] ? PAGE_BYTES << HUGE_ORDER : 0;
	room->r.a[3] = !c[0];
	trace_send_stack(room, regs);
	return 0;
}

/* ---- collapse ---- */

struct scanned {
	u32 kind, status;
	u64 file, unmapped;
};

/* khugepaged works on memory of processes that may be traced. */
static __always_inline bool wanted_owner(struct trace_task *t, struct task_struct *owner, u32 tgid)
{
	if (trace_wanted(t))
		return true;
	if (config.filters & (TRACE_ONLY_UID | TRACE_ONLY_COMM) || !trace_kernel_thread())
		return false;
	if (config.filters & TRACE_ONLY_TARGETS && !bpf_map_lookup_elem(&targets, &tgid))
		return false;
	if (config.filters & TRACE_ONLY_MEMCG)
		return trace_in_memcg(owner, &t->memcg);
	return config.filters & TRACE_ONLY_TARGETS;
}

static __always_inline int collapse(struct mm_struct *mm, const struct scanned *s)
{
	struct task_struct *owner;
	struct trace_record *r;
	struct trace_task t = { 0 };
	u32 tgid;

	if (!trace_recorded(s->kind))
		return 0;
	owner = BPF_CORE_READ(mm, owner);
	tgid = owner ? trace_number_of(BPF_CORE_READ(owner, group_leader)) : 0;
	if (!wanted_owner(&t, owner, tgid))
		return 0;
	trace_seen(s->kind);
	r = trace_begin(&t, s->kind);
	if (!r)
		return 0;
	r->a[0] = status_of(s->status);
	r->a[1] = tgid;
	r->a[2] = !trace_kernel_thread();
	r->a[3] = s->file;
	r->a[4] = s->unmapped;
	trace_end(r);
	return 0;
}

SEC("raw_tp/mm_khugepaged_scan_pmd")
int thp_scan(u64 *c)
{
	struct scanned s = { .kind = TRACE_KHUGEPAGED };

	if (config.nr_args == ARGS_FOLIO) {
		s.status = TRACE_ARGUMENT(c, 4);
		s.unmapped = (u32)TRACE_ARGUMENT(c, 5);
	} else {
		s.status = TRACE_ARGUMENT(c, 5);
		s.unmapped = (u32)TRACE_ARGUMENT(c, 6);
	}
	return collapse((void *)c[0], &s);
}

/* Since 6.1. */
SEC("raw_tp/mm_khugepaged_scan_file")
int thp_scan_file(u64 *c)
{
	struct scanned s = { .kind = TRACE_KHUGEPAGED, .status = c[5], .file = 1 };

	return collapse((void *)c[0], &s);
}

SEC("raw_tp/mm_collapse_huge_page")
int thp_collapse(u64 *c)
{
	struct scanned s = { .kind = TRACE_COLLAPSE, .status = c[2] };

	return collapse((void *)c[0], &s);
}

/* Since 6.12 (6.1 has it not). */
SEC("raw_tp/mm_khugepaged_collapse_file")
int thp_collapse_file(u64 *c)
{
	struct scanned s = { .kind = TRACE_COLLAPSE, .status = c[7], .file = 1 };

	return collapse((void *)c[0], &s);
}
