/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files opened, created, removed and renamed, programs that could not be executed: system calls
 * with paths, at their end.
 */
#include "bpf/trace.h"

#define TS_COMPAT	2	/* thread_info.status: the call is a 32-bit one; arch/x86 */

/* Which arguments are what; -1 = none. */
struct call {
	u32 kind;
	s8 path, flags, mode, second;
};

#define CALL(number, kind, path, flags, mode, second)                                              \
	case number:                                                                               \
		return (struct call){ TRACE_##kind, path, flags, mode, second }

/* Numbers of x86-64: arch/x86/entry/syscalls/syscall_64.tbl. */
static __always_inline struct call call_of(long nr)
{
	switch (nr) {
	CALL(2, OPEN, 0, 1, 2, -1);		/* open */
	CALL(59, EXEC_FAILED, 0, -1, -1, -1);	/* execve */
	CALL(82, RENAME_FILE, 0, -1, -1, 1);	/* rename */
	CALL(83, MKDIR, 0, -1, 1, -1);		/* mkdir */
	CALL(84, UNLINK, 0, -1, -1, -1);	/* rmdir */
	CALL(85, OPEN, 0, -1, 1, -1);		/* creat */
	CALL(87, UNLINK, 0, -1, -1, -1);	/* unlink */
	CALL(257, OPEN, 1, 2, 3, -1);		/* openat */
	CALL(258, MKDIR, 1, -1, 2, -1);		/* mkdirat */
	CALL(263, UNLINK, 1, 2, -1, -1);	/* unlinkat */
	CALL(264, RENAME_FILE, 1, -1, -1, 3);	/* renameat */
	CALL(316, RENAME_FILE, 1, -1, -1, 3);	/* renameat2 */
	CALL(322, EXEC_FAILED, 1, -1, -1, -1);	/* execveat */
	CALL(437, OPEN, 1, -1, -1, -1);		/* openat2: flags and mode are in memory */
	default:
		return (struct call){ TRACE_NONE, -1, -1, -1, -1 };
	}
}

static __always_inline u64 argument(struct pt_regs *regs, s8 number)
{
	switch (number) {
	case 0: return BPF_CORE_READ(regs, di);
	case 1: return BPF_CORE_READ(regs, si);
	case 2: return BPF_CORE_READ(regs, dx);
	case 3: return BPF_CORE_READ(regs, r10);
	default: return 0;
	}
}

#define NR_RMDIR	84
#define NR_CREAT	85
#define NR_OPENAT2	437
#define CREAT_FLAGS	01101		/* creat(2): O_CREAT | O_WRONLY | O_TRUNC */
#define AT_REMOVEDIR_	0x200		/* unlinkat(2) */

/* openat2(2): struct open_how */
static __always_inline void fill_how(struct trace_record *r, struct pt_regs *regs)
{
	struct {
		u64 flags, mode;
	} how = { 0 };

	bpf_probe_read_user(&how, sizeof(how), (void *)BPF_CORE_READ(regs, dx));
	r->a[1] = how.flags;
	r->a[2] = how.mode;
}

static __always_inline void fill(struct trace_record *r, struct call call, long nr,
				 struct pt_regs *regs, long result)
{
	u64 flags = argument(regs, call.flags);

	if (call.kind == TRACE_UNLINK)
		r->a[0] = nr == NR_RMDIR || flags & AT_REMOVEDIR_;
	else
		r->a[1] = nr == NR_CREAT ? CREAT_FLAGS : flags;
	r->a[2] = argument(regs, call.mode);
	if (nr == NR_OPENAT2)
		fill_how(r, regs);
	r->a[5] = result;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(files_exit, struct pt_regs *regs, long result)
{
	long nr = BPF_CORE_READ(regs, orig_ax), got;
	struct call call = call_of(nr);
	struct task_struct *task = (void *)bpf_get_current_task();
	struct trace_room *room;
	struct trace_task t;

	if (!call.kind || !trace_recorded(call.kind) || !trace_wanted(&t) ||
	    BPF_CORE_READ(task, thread_info.status) & TS_COMPAT)
		return 0;
	if (call.kind == TRACE_EXEC_FAILED && result >= 0)
		return 0;
	trace_seen(call.kind);
	room = trace_room(&t, call.kind);
	if (!room)
		return 0;
	fill(&room->r, call, nr, regs, result);
	got = bpf_probe_read_user_str(room->text, TRACE_TEXT_SECOND,
				      (void *)argument(regs, call.path));
	if (got == TRACE_TEXT_SECOND)
		room->r.flags |= TRACE_CUT;
	if (call.second < 0) {
		trace_send_text(room, got);
		return 0;
	}
	got = bpf_probe_read_user_str(room->text + TRACE_TEXT_SECOND,
				      TRACE_TEXT_MAX - TRACE_TEXT_SECOND,
				      (void *)argument(regs, call.second));
	if (got == TRACE_TEXT_MAX - TRACE_TEXT_SECOND)
		room->r.flags |= TRACE_CUT;
	trace_send_texts(room, got > 0 ? got - 1 : 0);
	return 0;
}
