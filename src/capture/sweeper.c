/* Sweeping in a thread of its own. */
#include "src/capture/sweeper.h"

#include "include/pmm/check.h"
#include "src/base/thread.h"
#include "src/capture/ledger_map.h"

#define STACK_BYTES (1u << 20)

static void *run(void *arg)
{
	struct sweeper *w = arg;
	struct ledger_map *m = NULL;

	w->found = ledger_map_open_pid(w->pid, &m, &w->err);
	if (!w->found) {
		w->found = sweep_process(&w->sweep, w->pid, m, PMM_MAX_FINDINGS + (uint32_t)w->sweep.seen.nr, &w->heap, &w->err);
		ledger_map_close(m);
	}
	__atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
	return NULL;
}

int sweeper_start(struct sweeper *w, pid_t pid, struct sweep *s)
{
	int rc;

	*w = (struct sweeper){ .pid = pid, .sweep = *s };
	*s = (struct sweep){ 0 };
	rc = thread_start(&w->thread, STACK_BYTES, run, w);
	if (rc) {
		*s = w->sweep;
		*w = (struct sweeper){ 0 };
	}
	return rc;
}

bool sweeper_done(const struct sweeper *w)
{
	return w->pid && __atomic_load_n(&w->done, __ATOMIC_ACQUIRE);
}

int sweeper_take(struct sweeper *w, struct sweep *s, struct heap **out, struct err *e)
{
	int found;

	pthread_join(w->thread, NULL);
	found = w->found;
	*s = w->sweep;
	*out = w->heap;
	*e = w->err;
	*w = (struct sweeper){ 0 };
	return found;
}
