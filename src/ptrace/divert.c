/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a stopped thread can be made to do something else for a while.
 *
 * Its stack is known to be one only when it is the process's first stack, or holds the thread's
 * control block, as the C libraries lay out the stacks of their threads. Elsewhere (goroutines,
 * coroutines, signal stacks) what is below may be data.
 */
#include "src/ptrace/divert.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>

#include "arch/stop_arch.h"
#include "src/proc/limits.h"
#include "src/proc/proc.h"
#include "src/proc/task.h"
#include "src/ptrace/tracer.h"

/* below the stack pointer: a signal frame with the vector registers */
#define NEEDED_BYTES	4096
/* what a stack is made to grow by, so that a frame with more registers fits as well */
#define ROOM_BYTES	(4 * NEEDED_BYTES)

struct stack {
	uint64_t start, end;
	bool grows;		/* the kernel extends it: the first thread's */
};

/* From linux/ptrace.h and linux/rseq.h, which older headers lack. */
#define GET_RSEQ_CONFIGURATION	0x420f

struct rseq_configuration {
	uint64_t address;
	uint32_t size, signature, flags, pad;
};

struct rseq_section {
	uint32_t version, flags;
	uint64_t start, bytes, abort;
};

/* In a restartable sequence? Diverted, it would neither be aborted nor atomic. */
static bool in_sequence(pid_t pid, const struct stop_thread *thread)
{
	struct rseq_configuration rseq = { 0 };
	struct rseq_section section;
	uint64_t at = 0;

	if (tracer_ptrace(GET_RSEQ_CONFIGURATION, thread->tid, sizeof(rseq), (uintptr_t)&rseq) ||
	    !rseq.address)
		return false;
	if (stop_read(pid, rseq.address + 8, &at, sizeof(at)) || !at ||
	    stop_read(pid, at, &section, sizeof(section)))
		return false;
	return arch_pc(&thread->regs) - section.start < section.bytes;
}

static bool is_stack(const struct proc_map *map, const struct stop_thread *thread)
{
	const unsigned writable = PROC_MAP_READ | PROC_MAP_WRITE;
	uint64_t sp = arch_sp(&thread->regs), control = arch_tp(&thread->regs);

	if (sp < map->start || sp > map->end || (map->perms & writable) != writable ||
	    map->perms & PROC_MAP_SHARED)
		return false;
	return !strcmp(map->path, "[stack]") || (sp < control && control < map->end);
}

/* Its memory, writable and private, with the stack pointer in it. 0, or -errno with `e`. */
static int find_stack(pid_t pid, const struct stop_thread *thread, struct stack *out, struct err *e)
{
	struct proc_maps maps = { 0 };
	pid_t live = task_live(pid);
	int rc = proc_maps_read(live > 0 ? live : pid, &maps, e);
	bool found = false;

	for (size_t i = 0; !rc && i < maps.nr && !found; i++) {
		const struct proc_map *m = &maps.v[i];

		found = is_stack(m, thread);
		if (found)
			*out = (struct stack){ m->start, m->end, !strcmp(m->path, "[stack]") };
	}
	proc_maps_fini(&maps);
	if (!rc && !found)
		rc = err_set(e, -EAGAIN,
			     "thread %d of process %d runs on a stack that it made itself",
			     (int)thread->tid, (int)pid);
	return rc;
}

/*
 * The first thread's stack is mapped as far as it has been used, and a thread may wait for ever
 * where it has never gone deeper. The kernel makes room when it, or we through /proc/PID/mem,
 * access what is below (mm/memory.c, __access_remote_vm(); before Linux 6.5 mm/gup.c). What it
 * compares then is our limit, so the process's is compared here.
 */
static bool make_room(pid_t pid, uint64_t sp, const struct stack *stack)
{
	const uint64_t want = (sp - ROOM_BYTES) & ~(uint64_t)(NEEDED_BYTES - 1);
	uint64_t limit;
	char byte;

	return stack->grows && !limits_stack(pid, &limit) && stack->end - want <= limit &&
	       !stop_read(pid, want, &byte, sizeof(byte));
}

int divert_check(pid_t pid, const struct stop_thread *thread, uint64_t *low, struct err *e)
{
	const uint64_t sp = arch_sp(&thread->regs);
	struct stack stack = { 0 };
	int rc;

	if (in_sequence(pid, thread))
		return err_set(e, -EAGAIN, "thread %d of process %d is in a restartable sequence",
			       (int)thread->tid, (int)pid);
	rc = find_stack(pid, thread, &stack, e);
	if (!rc && sp - stack.start < NEEDED_BYTES && make_room(pid, sp, &stack))
		rc = find_stack(pid, thread, &stack, e);
	if (!rc && sp - stack.start < NEEDED_BYTES)
		rc = err_set(e, -EAGAIN, "thread %d of process %d has used up its stack",
			     (int)thread->tid, (int)pid);
	if (!rc && low)
		*low = stack.start;
	if (rc == -EAGAIN)
		err_hint(e, "a thread that waits on its ordinary stack is needed; try again");
	return rc;
}
