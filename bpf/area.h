/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which area of memory an address of the current process lies in, what it is, and the path of its
 * file.
 *
 * bpf_find_vma() takes 12 us where interrupt work is dear, so each thread remembers its last areas.
 * One that is remembered is right as long as mm_lock_seq has not changed, which the kernel counts
 * up whenever mappings change; otherwise, and on kernels without that number, its vm_area_struct is
 * read again: it may have grown, moved to another process, or be gone.
 */
#ifndef BPF_AREA_H
#define BPF_AREA_H

#include "bpf/faults_abi.h"
#include "bpf/file_path.h"
#include "bpf/trace.h"

#define AREA_VM_SHARED		0x80		/* VM_MAYSHARE, as /proc/PID/maps; linux/mm.h */
#define AREA_VM_GROWSDOWN	0x100
#define AREA_VM_HUGETLB		0x400000
#define AREA_VM_HUGEPAGE	0x20000000
#define AREA_VM_FLAGS		(AREA_VM_SHARED | AREA_VM_GROWSDOWN | AREA_VM_HUGETLB |             \
				 AREA_VM_HUGEPAGE)
#define AREA_TMPFS		0x01021994	/* TMPFS_MAGIC, linux/magic.h */

#define AREA_PAGE_SHIFT		12
#define AREA_GUARD_BYTES	(256u << AREA_PAGE_SHIFT)	/* stack_guard_gap */
#define AREA_STACK_BYTES	16384		/* THREAD_SIZE, x86-64 */
#define AREA_MAX_RANGES		64
#define AREA_MIN_SHIFT		16
#define AREA_ERR_NOENT		-2		/* errno of bpf_find_vma() */

struct area {
	u64 start, end;
	u64 vma, file;		/* addresses of the kernel's structs */
	u64 inode;
	u64 pgoff;		/* of `start` in the file; pages */
	u32 device;
	u32 seq;		/* of the mappings, as it was looked at */
	u16 area, shift;	/* struct fault_key */
	u32 flags;		/* those of AREA_VM_* that it has */
};

/* Shared by the groups `faults` and `major`. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct fault_program_key);
	__type(value, struct fault_program);
} fault_programs SEC(".maps");

/* The counts of the target's program; NULL: no room, which is counted. */
static __always_inline struct fault_program *area_program(const struct trace_task *t, u32 kind)
{
	struct trace_target *target = bpf_map_lookup_elem(&targets, &t->tgid);
	struct fault_program_key key = { .tgid = t->tgid };
	struct fault_program *program, first = { 0 };

	if (!target)
		return NULL;
	key.begun_ns = target->begun_ns;
	program = bpf_map_lookup_elem(&fault_programs, &key);
	if (program)
		return program;
	bpf_map_update_elem(&fault_programs, &key, &first, BPF_NOEXIST);
	program = bpf_map_lookup_elem(&fault_programs, &key);
	if (!program)
		TRACE_COUNT(kind, dropped);
	return program;
}

/* ---- what an area is ---- */

/* Ranges of a file: at most AREA_MAX_RANGES, each of 64 KiB at least. */
static __always_inline u16 area_shift(u64 bytes)
{
	u16 shift = AREA_MIN_SHIFT;

	for (int i = 0; i < 40; i++) {
		if (bytes >> shift < AREA_MAX_RANGES)
			break;
		shift++;
	}
	return shift;
}

static __always_inline u32 area_flags(struct vm_area_struct *vma)
{
	return BPF_CORE_READ(vma, vm_flags) & AREA_VM_FLAGS;
}

static __always_inline u16 area_without_file(struct vm_area_struct *vma, u32 flags)
{
	struct mm_struct *mm = BPF_CORE_READ(vma, vm_mm);
	u64 start = BPF_CORE_READ(vma, vm_start), end = BPF_CORE_READ(vma, vm_end);

	if (flags & AREA_VM_GROWSDOWN)
		return FAULT_STACK;
	if (BPF_CORE_READ(vma, vm_ops))
		return FAULT_SPECIAL;
	if (start < BPF_CORE_READ(mm, brk) && end > BPF_CORE_READ(mm, start_brk))
		return FAULT_HEAP;
	return flags & AREA_VM_HUGEPAGE ? FAULT_ADVISED : FAULT_ANONYMOUS;
}

static __always_inline void area_fill(struct area *a, struct vm_area_struct *vma)
{
	u32 flags = area_flags(vma);
	struct file *file = BPF_CORE_READ(vma, vm_file);
	struct inode *inode;

	a->start = BPF_CORE_READ(vma, vm_start);
	a->end = BPF_CORE_READ(vma, vm_end);
	a->vma = (u64)vma;
	a->file = (u64)file;
	a->flags = flags;
	a->pgoff = BPF_CORE_READ(vma, vm_pgoff);
	if (!file) {
		a->area = area_without_file(vma, flags);
		return;
	}
	inode = BPF_CORE_READ(file, f_inode);
	a->inode = BPF_CORE_READ(inode, i_ino);
	a->device = BPF_CORE_READ(inode, i_sb, s_dev);
	if (flags & AREA_VM_HUGETLB) {
		a->area = FAULT_HUGETLB;
	} else if (!(flags & AREA_VM_SHARED)) {
		a->area = FAULT_FILE_PRIVATE;
	} else {
		a->area = BPF_CORE_READ(inode, i_sb, s_magic) == AREA_TMPFS ? FAULT_SHMEM
									     : FAULT_FILE_SHARED;
	}
	a->shift = area_shift(BPF_CORE_READ(inode, i_size));
	file_name(file, a->inode, a->device);
}

static long area_take(struct task_struct *task, struct vm_area_struct *vma, void *data)
{
	area_fill(data, vma);
	return 0;
}

/* Ask the kernel. What cannot be known is FAULT_UNKNOWN or FAULT_NOWHERE, without start and end. */
static __always_inline void area_find(struct area *a, struct task_struct *task, u64 address)
{
	long rc;

	__builtin_memset(a, 0, sizeof(*a));
	rc = bpf_find_vma(task, address, area_take, a, 0);
	if (rc)
		a->area = rc == AREA_ERR_NOENT ? FAULT_NOWHERE : FAULT_UNKNOWN;
}

/* Heap and stack of the first thread by their addresses: all that is known without areas. */
static __always_inline u16 area_guess(u64 address)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct mm_struct *mm = BPF_CORE_READ(task, mm);

	if (address >= BPF_CORE_READ(mm, start_brk) && address < BPF_CORE_READ(mm, brk))
		return FAULT_HEAP;
	if (address < BPF_CORE_READ(mm, start_stack) &&
	    address >= BPF_CORE_READ(mm, start_stack) - AREA_GUARD_BYTES)
		return FAULT_STACK;
	return FAULT_UNKNOWN;
}

/* The current task's registers as it entered the kernel, where bpf_task_pt_regs() is missing. */
static __always_inline struct pt_regs *area_user_regs(struct task_struct *task)
{
	return (void *)((char *)BPF_CORE_READ(task, stack) + AREA_STACK_BYTES -
			bpf_core_type_size(struct pt_regs));
}

/* ---- rows and records ---- */

static __always_inline void area_key(struct fault_key *key, const struct area *a, u32 tgid,
				     u64 address)
{
	u64 page = (address >> AREA_PAGE_SHIFT) - (a->start >> AREA_PAGE_SHIFT) + a->pgoff;

	key->inode = a->inode;
	key->device = a->device;
	key->tgid = tgid;
	key->area = a->area;
	key->shift = a->shift;
	key->range = a->shift ? page >> (a->shift - AREA_PAGE_SHIFT) : 0;
}

static __always_inline void area_record(struct trace_record *r, u64 address, u64 ip, u64 error,
					const struct area *a)
{
	r->a[0] = address;
	r->a[1] = ip;
	r->a[2] = error | (u64)a->area << TRACE_FAULT_AREA_SHIFT;
	r->a[3] = a->device;
	r->a[4] = a->inode;
	if (a->inode)
		r->a[5] = address - a->start + (a->pgoff << AREA_PAGE_SHIFT);
}

#endif
