/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions found in a process's own code; the C library, which has them, is looked at first. */
#include "src/ptrace/gadget.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arch/remote_arch.h"
#include "src/proc/proc.h"
#include "src/ptrace/stop.h"
#include "src/proc/task.h"

#define OURS		"/memfd:pmm-"	/* of include/pmm/inject.h and ledger.h */
#define PIECE		(256u << 10)	/* read at once */
#define OVERLAP		16		/* longer than any of the patterns */
#define MAX_BYTES	(1ull << 30)	/* looked through of one process */

static bool likely(const struct proc_map *m)
{
	const char *name = strrchr(m->path, '/');

	name = name ? name + 1 : m->path;
	return !strncmp(name, "libc", 4) || !strncmp(name, "ld-", 3);
}

static bool eligible(const struct proc_map *m)
{
	const unsigned must = PROC_MAP_READ | PROC_MAP_EXEC;

	/* not what pmm has mapped, which it may have to unmap by this very system call */
	return (m->perms & (must | PROC_MAP_WRITE | PROC_MAP_SHARED)) == must &&
	       m->path[0] != '\0' && strcmp(m->path, "[vsyscall]") &&
	       strncmp(m->path, OURS, strlen(OURS));
}

static void look_for(const uint8_t *code, size_t nr, uint64_t at, const uint8_t *pattern,
		     size_t length, uint64_t *found)
{
	const uint8_t *p = *found ? NULL : memmem(code, nr, pattern, length);

	if (p)
		*found = at + (uint64_t)(p - code);
}

#define LOOK_FOR(pattern, found) look_for(code, nr, at, pattern, sizeof(pattern), found)

static void look_at(const uint8_t *code, size_t nr, uint64_t at, struct gadget *g)
{
	LOOK_FOR(arch_syscall_ret, &g->syscall_ret);
	LOOK_FOR(arch_sigreturn, &g->sigreturn);
	LOOK_FOR(arch_sigreturn_short, &g->sigreturn);
	LOOK_FOR(arch_pop_rax_ret, &g->pop_return);
}

static bool complete(const struct gadget *g)
{
	return g->syscall_ret && g->sigreturn;
}

static bool sufficient(const struct gadget *g)
{
	return g->syscall_ret && (g->sigreturn || g->pop_return);
}

unsigned gadget_way(const struct gadget *g, uint64_t way[3])
{
	if (g->sigreturn) {
		way[0] = g->sigreturn;
		return 1;
	}
	way[0] = g->pop_return;
	way[1] = SYS_rt_sigreturn;
	way[2] = g->syscall_ret;
	return 3;
}

static bool is_there(pid_t pid, uint64_t at, const uint8_t *pattern, size_t length)
{
	uint8_t code[16];

	return length <= sizeof(code) && !stop_read(pid, at, code, length) &&
	       !memcmp(code, pattern, length);
}

#define IS_THERE(at, pattern) is_there(pid, at, pattern, sizeof(pattern))

bool gadget_there(pid_t pid, const struct gadget *g)
{
	if (!g->syscall_ret || !IS_THERE(g->syscall_ret, arch_syscall_ret))
		return false;
	if (g->sigreturn)
		return IS_THERE(g->sigreturn, arch_sigreturn) ||
		       IS_THERE(g->sigreturn, arch_sigreturn_short);
	return g->pop_return && IS_THERE(g->pop_return, arch_pop_rax_ret);
}

static void look_through(pid_t pid, const struct proc_map *m, uint8_t *code, uint64_t *budget,
			 struct gadget *g)
{
	for (uint64_t at = m->start; at < m->end && *budget >= PIECE && !complete(g);
	     at += PIECE - OVERLAP) {
		size_t nr = m->end - at < PIECE ? m->end - at : PIECE;

		*budget -= PIECE;
		if (stop_read(pid, at, code, nr))
			return;
		look_at(code, nr, at, g);
	}
}

/* Is the process in the middle of exec? Its mappings then are few, and others a moment later. */
static bool changing(pid_t pid, const struct proc_maps *before)
{
	struct proc_maps now = { 0 };
	pid_t live = task_live(pid);
	size_t nr_files = 0;
	bool changed;

	if (live <= 0 || proc_maps_read(live, &now, NULL))
		return true;
	changed = now.nr != before->nr;
	for (size_t i = 0; i < before->nr; i++) {
		nr_files += before->v[i].ino && eligible(&before->v[i]);
		changed |= i < now.nr && now.v[i].start != before->v[i].start;
	}
	proc_maps_fini(&now);
	return changed || !nr_files;
}

int gadget_find(pid_t pid, struct gadget *g, struct err *e)
{
	uint8_t *code = malloc(PIECE);
	uint64_t budget = MAX_BYTES;
	struct proc_maps maps = { 0 };
	pid_t live = task_live(pid);
	int rc = code ? proc_maps_read(live > 0 ? live : pid, &maps, e)
		      : err_set(e, -ENOMEM, "out of memory");

	*g = (struct gadget){ 0 };
	for (int first = 1; !rc && first >= 0; first--)
		for (size_t i = 0; i < maps.nr && !complete(g); i++)
			if (eligible(&maps.v[i]) && likely(&maps.v[i]) == first)
				look_through(pid, &maps.v[i], code, &budget, g);
	free(code);
	if (!rc && !sufficient(g) && changing(pid, &maps)) {
		rc = err_set(e, -EAGAIN, "process %d is beginning another program", (int)pid);
		err_hint(e, "try again");
	}
	proc_maps_fini(&maps);
	if (!rc && !sufficient(g)) {
		rc = err_set(e, -ENOTSUP, "nowhere in the code of process %d is %s", (int)pid,
			     g->syscall_ret
				     ? "the instruction sequence that returns from a signal handler"
				     : "a system call followed by a return");
		err_hint(e, "without it the process could not continue if pmm were killed while "
			    "working in it");
	}
	return rc;
}
