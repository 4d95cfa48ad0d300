/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that wait at their end to be searched for leaks. */
#include "src/track/leaving.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/track/watched.h"
#include "src/proc/proc.h"

#define OLDEST_TURN	8

size_t leaving_pick(const struct leaving_asked *asked, size_t nr, unsigned turn)
{
	size_t least = 0;

	if (turn % OLDEST_TURN == OLDEST_TURN - 1)
		return 0;
	for (size_t i = 1; i < nr; i++)
		if (asked[i].rss_bytes < asked[least].rss_bytes)
			least = i;
	return least;
}

/* Not private: the word is in memory shared with the program. */
static void futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

bool leaving_take(struct watched *w)
{
	/* a look first: each step looks at all processes, and that takes their cache lines away */
	uint32_t state = w->head ? __atomic_load_n(&w->head->slot[0].leave, __ATOMIC_RELAXED)
				 : PMM_LEAVE_NOT;

	if (state == PMM_LEAVE_SEARCHED)
		leaving_answer(w); /* it is not: the program has written over the word, and may wait
				      for what never comes */
	return state == PMM_LEAVE_ASKED &&
	       __atomic_compare_exchange_n(&w->head->slot[0].leave, &state, PMM_LEAVE_SEARCHED,
					   false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

bool leaving_waits(const struct watched *w)
{
	uint32_t state = w->head ? __atomic_load_n(&w->head->slot[0].leave, __ATOMIC_ACQUIRE)
				 : PMM_LEAVE_NOT;

	return state != PMM_LEAVE_NOT && state != PMM_LEAVE_DONE;
}

void leaving_answer(struct watched *w)
{
	__atomic_store_n(&w->head->slot[0].leave, PMM_LEAVE_DONE, __ATOMIC_RELEASE);
	futex_wake(&w->head->slot[0].leave);
}

/* The thread's number as we see it. 0 = there is none such. */
static pid_t tid_here(pid_t pid, uint32_t ns_tid)
{
	struct proc_thread *threads = NULL;
	ssize_t nr = proc_threads(pid, &threads);
	pid_t tid = 0;

	for (ssize_t i = 0; i < nr && !tid; i++)
		if (threads[i].ns_tid == (pid_t)ns_tid)
			tid = threads[i].tid;
	free(threads);
	return tid;
}

int leaving_read(const struct watched *w, struct leaving *out)
{
	struct pmm_leave l;
	uint64_t image = 0;
	int rc = w->map ? ledger_map_read(w->map, offsetof(struct pmm_ledger, leave), &l, sizeof(l))
			: -EAGAIN;

	if (!rc)
		rc = ledger_map_read(w->map, offsetof(struct pmm_ledger, image), &image,
				     sizeof(image));
	if (rc)
		return rc;
	*out = (struct leaving){
		.cause = l.cause < PMM_NR_LEAVE_CAUSES ? (enum pmm_leave_cause)l.cause
						       : PMM_LEAVE_NO_CAUSE,
		.tid = tid_here(w->pid, l.tid),
		.number = l.number,
		.fd = w->fd,
		.image = image,
	};
	out->sp = out->tid ? l.sp : 0;
	return 0;
}

const char *leaving_cause_name(enum pmm_leave_cause cause)
{
	static const char *const names[PMM_NR_LEAVE_CAUSES] = {
		[PMM_LEAVE_NO_CAUSE] = "end",
		[PMM_LEAVE_EXIT] = "exit()",
		[PMM_LEAVE_RETURN] = "return from main",
		[PMM_LEAVE_QUICK_EXIT] = "quick_exit()",
		[PMM_LEAVE_AT_ONCE] = "_exit()",
		[PMM_LEAVE_CALL] = "syscall(SYS_exit_group)",
		[PMM_LEAVE_SIGNAL] = "death by a signal",
	};

	return names[cause < PMM_NR_LEAVE_CAUSES ? cause : PMM_LEAVE_NO_CAUSE];
}
