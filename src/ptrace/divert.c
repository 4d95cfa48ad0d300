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
#include "src/proc/proc.h"
#include "src/proc/task.h"
#include "src/ptrace/tracer.h"

/* below the stack pointer: a signal frame with the vector registers */
#define NEEDED_BYTES	4096

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

int divert_check(pid_t pid, const struct stop_thread *thread, uint64_t *low, struct err *e)
{
	struct proc_maps maps = { 0 };
	const struct proc_map *stack = NULL;
	pid_t live = task_live(pid);
	int rc;

	if (in_sequence(pid, thread))
		return err_set(e, -EAGAIN, "thread %d of process %d is in a restartable sequence",
			       (int)thread->tid, (int)pid);
	rc = proc_maps_read(live > 0 ? live : pid, &maps, e);
	for (size_t i = 0; !rc && i < maps.nr && !stack; i++)
		if (is_stack(&maps.v[i], thread))
			stack = &maps.v[i];
	if (!rc && !stack)
		rc = err_set(e, -EAGAIN,
			     "thread %d of process %d runs on a stack that it made itself",
			     (int)thread->tid, (int)pid);
	else if (!rc && arch_sp(&thread->regs) - stack->start < NEEDED_BYTES)
		rc = err_set(e, -EAGAIN, "thread %d of process %d has used up its stack",
			     (int)thread->tid, (int)pid);
	if (!rc && low)
		*low = stack->start;
	if (rc == -EAGAIN)
		err_hint(e, "a thread that waits on its ordinary stack is needed; try again");
	proc_maps_fini(&maps);
	return rc;
}
