/* Processes that wait at their end to be searched for leaks. */
#include "src/capture/leaving.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "src/base/thread.h"
#include "src/target/proc.h"

#define STACK_BYTES (64u << 10)
#define CALM_NS	    100000000ull /* between looks whether the loop is at work */

/* Not private: the word lies in memory shared with the program. */
static void futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void futex_wait(uint32_t *word, uint32_t value, uint64_t ns)
{
	struct timespec t = { .tv_nsec = (long)ns };

	syscall(SYS_futex, word, FUTEX_WAIT, value, &t, NULL, 0);
}

static void *watch(void *arg)
{
	struct leaving_watch *w = arg;
	uint32_t *leaves = &w->tree->head->leaves;
	uint32_t seen = 0;
	const uint64_t one = 1;

	while (!__atomic_load_n(&w->end, __ATOMIC_ACQUIRE)) {
		uint32_t now = __atomic_load_n(leaves, __ATOMIC_ACQUIRE);
		bool busy = __atomic_load_n(&w->busy, __ATOMIC_RELAXED);

		if (busy)
			ledger_tree_tick(w->tree);
		if (now != seen && write(w->fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
			break;
		seen = now;
		futex_wait(leaves, seen, busy ? PMM_TICK_NS : CALM_NS);
	}
	return NULL;
}

int leaving_watch_init(struct leaving_watch *w, struct ledger_tree *t, struct err *e)
{
	*w = (struct leaving_watch){ .tree = t, .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	return w->fd < 0 ? err_set(e, -errno, "cannot wait for processes that end: %s", strerror(errno)) : 0;
}

int leaving_watch_start(struct leaving_watch *w)
{
	int rc;

	w->end = false;
	rc = thread_start(&w->thread, STACK_BYTES, watch, w);
	w->on = !rc;
	return rc;
}

void leaving_watch_stop(struct leaving_watch *w)
{
	if (!w->tree || w->fd < 0)
		return;
	if (w->on) {
		__atomic_store_n(&w->end, true, __ATOMIC_RELEASE);
		__atomic_fetch_add(&w->tree->head->leaves, 1, __ATOMIC_ACQ_REL);
		futex_wake(&w->tree->head->leaves);
		pthread_join(w->thread, NULL);
	}
	close(w->fd);
	*w = (struct leaving_watch){ .fd = -1 };
}

/* First the flag, then those who asked before they saw it. */
void leaving_watch_fini(struct leaving_watch *w)
{
	if (!w->tree || w->fd < 0)
		return;
	__atomic_fetch_and(&w->tree->head->flags, ~(uint32_t)PMM_TREE_LEAKS, __ATOMIC_SEQ_CST);
	for (unsigned k = 0; k < w->tree->nr_slots; k++)
		if (leaving_take(w->tree, k))
			leaving_answer(w->tree, k);
	leaving_watch_stop(w);
}

void leaving_watch_drain(struct leaving_watch *w)
{
	uint64_t count;

	if (read(w->fd, &count, sizeof(count)) < 0)
		return;
}

bool leaving_take(struct ledger_tree *t, unsigned k)
{
	uint32_t asked = PMM_LEAVE_ASKED;

	return __atomic_compare_exchange_n(&t->head->slot[k].leave, &asked, PMM_LEAVE_SEARCHED, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}

void leaving_answer(struct ledger_tree *t, unsigned k)
{
	__atomic_store_n(&t->head->slot[k].leave, PMM_LEAVE_DONE, __ATOMIC_RELEASE);
	futex_wake(&t->head->slot[k].leave);
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

static int read_header(const struct ledger_tree *t, unsigned k, size_t offset, void *to, size_t bytes)
{
	ssize_t got = pread(t->fd, to, bytes, (off_t)(ledger_tree_slot_off(t, k) + offset));

	return got == (ssize_t)bytes ? 0 : got < 0 ? -errno : -EIO;
}

int leaving_read(const struct ledger_tree *t, unsigned k, pid_t pid, struct leaving *out)
{
	struct pmm_leave l;
	uint64_t image = 0;
	int rc = read_header(t, k, offsetof(struct pmm_ledger, leave), &l, sizeof(l));

	if (!rc)
		rc = read_header(t, k, offsetof(struct pmm_ledger, image), &image, sizeof(image));
	if (rc)
		return rc;
	*out = (struct leaving){
		.cause = l.cause < PMM_NR_LEAVE_CAUSES ? (enum pmm_leave_cause)l.cause : PMM_LEAVE_NO_CAUSE,
		.tid = tid_here(pid, l.tid),
		.number = l.number,
		.slot = k,
		.image = image,
	};
	out->sp = out->tid ? l.sp : 0;
	return 0;
}

const char *leaving_cause_name(enum pmm_leave_cause cause)
{
	static const char *const names[PMM_NR_LEAVE_CAUSES] = {
		"end", "exit()", "return from main", "quick_exit()", "_exit()", "syscall(SYS_exit_group)", "death by a signal",
	};

	return names[cause < PMM_NR_LEAVE_CAUSES ? cause : PMM_LEAVE_NO_CAUSE];
}
