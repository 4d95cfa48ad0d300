/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls that change mappings or shared memory, seen at their end: x86-64 keeps the arguments
 * in pt_regs until then, so nothing has to be remembered between the two halves. Those with a path
 * have it in their records, the others the user stack.
 */
#include "bpf/file_path.h"
#include "bpf/trace.h"

#define TS_COMPAT	2	/* thread_info.status: the call is a 32-bit one; arch/x86 */

/* The program break as it was, of the heap that began there: exec makes another. */
struct program_break {
	u64 start, end;
};

/* By process. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, u32);
	__type(value, struct program_break);
} breaks SEC(".maps");

/* What a call is recorded as, how many arguments it has, which of them is a name in user memory. */
struct call {
	u32 kind;
	u32 nr_args;
	s32 name;		/* index of the argument, -1 = none */
};

#define CALL(number, kind, nr_args, name)                                                          \
	case number:                                                                               \
		return (struct call){ TRACE_##kind, nr_args, name }

/* Numbers of x86-64: arch/x86/entry/syscalls/syscall_64.tbl. */
static __always_inline struct call call_of(long nr)
{
	switch (nr) {
	CALL(2, SHM_OPEN, 3, 0);		/* open */
	CALL(9, MMAP, 5, -1);
	CALL(10, MPROTECT, 3, -1);
	CALL(11, MUNMAP, 2, -1);
	CALL(12, BRK, 1, -1);
	CALL(25, MREMAP, 5, -1);
	CALL(28, MADVISE, 3, -1);
	CALL(29, SHMGET, 3, -1);
	CALL(30, SHMAT, 3, -1);
	CALL(31, SHMCTL, 3, -1);
	CALL(67, SHMDT, 1, -1);
	CALL(87, SHM_UNLINK, 1, 0);		/* unlink */
	CALL(257, SHM_OPEN, 4, 1);		/* openat */
	CALL(263, SHM_UNLINK, 3, 1);		/* unlinkat */
	CALL(319, MEMFD, 2, 0);
	default:
		return (struct call){ TRACE_NONE, 0, -1 };
	}
}

static __always_inline bool is_compat(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, thread_info.status) & TS_COMPAT;
}

#define SHM_DIRECTORY	"/dev/shm/"
#define SHM_LENGTH	(sizeof(SHM_DIRECTORY) - 1)

/* Names of POSIX shared memory are files there (shm_overview(7)). */
static __always_inline bool is_in_shm(const char *path)
{
	for (unsigned i = 0; i < SHM_LENGTH; i++)
		if (path[i] != SHM_DIRECTORY[i])
			return false;
	return true;
}

static __always_inline void fill_args(struct trace_record *r, struct pt_regs *regs, u32 nr,
				      long result)
{
	r->a[0] = BPF_CORE_READ(regs, di);
	if (nr > 1)
		r->a[1] = BPF_CORE_READ(regs, si);
	if (nr > 2)
		r->a[2] = BPF_CORE_READ(regs, dx);
	if (nr > 3)
		r->a[3] = BPF_CORE_READ(regs, r10);
	if (nr > 4)
		r->a[4] = BPF_CORE_READ(regs, r8);
	r->a[5] = result;
}

/*
 * brk() returns the new break, or the old one when it fails. Before the first call that is seen of
 * a process it is not known, and so is not by how much that one grew the heap.
 */
static __always_inline void fill_break(struct trace_record *r, u32 tgid)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct program_break now = { BPF_CORE_READ(task, mm, start_brk), r->a[5] };
	struct program_break *before = bpf_map_lookup_elem(&breaks, &tgid);

	r->a[1] = now.start;
	if (before && before->start == now.start) {
		r->a[2] = before->end;
		r->a[3] = now.end - before->end;
	}
	bpf_map_update_elem(&breaks, &tgid, &now, BPF_ANY);
}

#define MAP_ANONYMOUS_	0x20		/* mmap(2) */

/* Which file is mapped, from where on; the path by the table of files. */
static __always_inline void fill_file(struct trace_record *r, struct pt_regs *regs)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	u32 fd = r->a[4], device;
	struct file *file = NULL;
	struct inode *inode;

	r->a[4] = fd;
	r->a[6] = BPF_CORE_READ(regs, r9);
	if (fd >= BPF_CORE_READ(table, max_fds))
		return;
	bpf_probe_read_kernel(&file, sizeof(file), BPF_CORE_READ(table, fd) + fd);
	if (!file)
		return;
	inode = BPF_CORE_READ(file, f_inode);
	device = BPF_CORE_READ(inode, i_sb, s_dev);
	r->a[7] = BPF_CORE_READ(inode, i_ino);
	r->a[4] |= (u64)device << 32;
	file_name(file, r->a[7], device);
}

/* Calls with a path: most are about other files, so the path is looked at first. */
static __always_inline void take_named(struct trace_task *t, struct call call,
				       struct pt_regs *regs, long result)
{
	u64 name = call.name ? BPF_CORE_READ(regs, si) : BPF_CORE_READ(regs, di);
	char start[SHM_LENGTH];
	struct trace_room *room;

	if (call.kind != TRACE_MEMFD &&
	    (bpf_probe_read_user(start, sizeof(start), (void *)name) || !is_in_shm(start)))
		return;
	trace_seen(call.kind);
	room = trace_room(t, call.kind);
	if (!room)
		return;
	fill_args(&room->r, regs, call.nr_args, result);
	if (call.name) {		/* the directory's descriptor is of no interest */
		room->r.a[1] = room->r.a[2];
		room->r.a[2] = room->r.a[3];
	}
	if (call.kind != TRACE_MEMFD)
		name += SHM_LENGTH;
	trace_send_text(room, bpf_probe_read_user_str(room->text, sizeof(room->text),
						      (void *)name));
}

SEC("tp_btf/sys_exit")
int BPF_PROG(calls_exit, struct pt_regs *regs, long result)
{
	struct call call = call_of(BPF_CORE_READ(regs, orig_ax));
	struct trace_room *room;
	struct trace_task t;

	if (!call.kind || !trace_recorded(call.kind))
		return 0;
	if (!trace_wanted(&t) || is_compat())
		return 0;
	if (call.name >= 0) {
		take_named(&t, call, regs, result);
		return 0;
	}
	trace_seen(call.kind);
	room = trace_room(&t, call.kind);
	if (!room)
		return 0;
	fill_args(&room->r, regs, call.nr_args, result);
	if (call.kind == TRACE_MMAP && !(room->r.a[3] & MAP_ANONYMOUS_))
		fill_file(&room->r, regs);
	if (call.kind == TRACE_BRK)
		fill_break(&room->r, t.tgid);
	trace_send_stack(room, regs);
	return 0;
}
