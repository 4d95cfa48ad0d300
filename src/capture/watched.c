/* One slot under watch. */
#include "src/capture/watched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/target/proc.h"

#define CODE_LOOK_NS  1000000000ull
#define FIND_NS	      1000000000ull /* give up */
#define FIND_AGAIN_NS 100000000ull
#define CODE_REST     500 /* cost of a look : pause */
#define AGAIN_NS      1000000000ull /* between looks for heap errors that came again, or are not complete */
#define FOUND_REST    10  /* cost of a look for heap errors : pause */
#define STUCK_NS      50000000ull

struct watched *watched_new(unsigned slot, uint32_t ns_pid, uint64_t interval_ns, uint64_t now_ns)
{
	struct watched *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->slot = slot;
	w->ns_pid = ns_pid;
	w->pid = -1;
	w->pidfd = w->rss_fd = -1;
	w->interval_ns = interval_ns;
	w->seen_ns = w->next_find_ns = now_ns;
	w->next_code_ns = now_ns + CODE_LOOK_NS / 4;
	return w;
}

bool watched_find(struct watched *w, const struct ledger_tree *t, struct whois *who,
		  uint64_t now_ns)
{
	if (w->pid >= 0)
		return true;
	if (now_ns < w->next_find_ns)
		return false;
	w->next_find_ns = now_ns + FIND_AGAIN_NS;
	w->pid = whois_find(who, w->ns_pid, ledger_tree_slot_off(t, w->slot), &w->pidfd);
	if (w->pid < 0 && now_ns - w->seen_ns < FIND_NS)
		return false;
	if (w->pid <= 0) {
		w->pid = 0;
		watched_end(w, now_ns);
	}
	w->is_root = w->pid ? w->pid == who->root : (pid_t)w->ns_pid == who->root;
	return true;
}

void watched_free(struct watched *w)
{
	if (!w)
		return;
	series_fini(&w->series);
	ledger_map_close(w->map);
	if (w->pidfd >= 0)
		close(w->pidfd);
	if (w->rss_fd >= 0)
		close(w->rss_fd);
	free(w);
}

void watched_end(struct watched *w, uint64_t now_ns)
{
	if (!w->ended)
		w->ended_ns = now_ns;
	w->ended = true;
}

/* Open the ledger as soon as its header is complete. */
static int open_map(struct watched *w, const struct ledger_tree *t, struct err *e)
{
	return w->map ? 0 : ledger_map_open_fd(t->fd, w->slot, &w->map, e);
}

bool watched_tick(struct watched *w, const struct ledger_tree *t, uint64_t now_ns)
{
	uint64_t rss = 0;

	if (!w->map) {
		if (open_map(w, t, NULL) || series_init(&w->series, now_ns, w->interval_ns))
			return false;
	}
	if (!series_due(&w->series, now_ns))
		return false;
	if (w->pid > 0)
		proc_rss(w->pid, &w->rss_fd, &rss);
	series_take(&w->series, w->map, now_ns, rss);
	return true;
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/*
 * Never 0. Anonymous code is left out: a JIT changes it all the time, and it has no unwind tables
 * to go stale.
 */
static uint64_t hash_code(pid_t pid)
{
	struct proc_maps maps;
	uint64_t hash = 1;

	if (proc_maps_read(pid, &maps, NULL))
		return 0;
	for (size_t i = 0; i < maps.nr; i++) {
		const struct proc_map *m = &maps.v[i];

		if (!(m->perms & PROC_MAP_EXEC) || !m->ino)
			continue;
		hash = (hash ^ m->start) * 0x9e3779b97f4a7c15ull;
		hash = (hash ^ m->end ^ m->ino << 20) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	proc_maps_fini(&maps);
	return hash | 1;
}

bool watched_code_changed(struct watched *w, uint64_t now_ns)
{
	uint64_t start, cost, hash, old = w->code_hash;

	if (w->pid <= 0 || w->ended || now_ns < w->next_code_ns)
		return false;
	start = thread_cpu_ns();
	hash = hash_code(w->pid);
	cost = (thread_cpu_ns() - start) * CODE_REST;
	w->next_code_ns = now_ns + (cost > CODE_LOOK_NS ? cost : CODE_LOOK_NS);
	if (!hash)
		return false;
	w->code_hash = hash;
	return old && hash != old;
}

/* How it ended: the status where it is known, else what the ledger says. */
static void set_end(const struct watched *w, struct heap *h)
{
	if (!w->ended) {
		h->end = HEAP_RUNNING;
		return;
	}
	if (h->end == HEAP_REPLACED)
		return;
	if (w->status_known && WIFSIGNALED(w->status)) {
		h->end = HEAP_KILLED;
		h->end_status = WTERMSIG(w->status);
		return;
	}
	h->end = h->end == HEAP_EXITED ? HEAP_EXITED : HEAP_GONE;
	h->end_status = w->status_known ? WEXITSTATUS(w->status) : -1;
}

static int read_heap(struct watched *w, const struct ledger_tree *t, bool no_blocks, struct heap **out, struct err *e)
{
	struct ledger_options o = { .running = !w->ended, .no_blocks = no_blocks, .pid = w->pid > 0 ? w->pid : (pid_t)w->ns_pid };
	int rc = open_map(w, t, e);

	if (rc)
		return rc;
	o.points = w->series.points;
	o.nr_points = w->series.nr_points;
	o.site_points = w->series.sites;
	o.nr_site_points = w->series.nr_sites;
	rc = ledger_read(w->map, &o, out, e);
	if (rc)
		return rc;
	set_end(w, *out);
	if (w->ended && (*out)->taken_ns > w->ended_ns)
		(*out)->taken_ns = w->ended_ns;
	return 0;
}

int watched_read(struct watched *w, const struct ledger_tree *t, struct heap **out, struct err *e)
{
	return read_heap(w, t, false, out, e);
}

/* Is there a reason to read the heap? One load where there is none. */
static bool noted_more(struct watched *w, uint64_t now_ns, bool last, uint64_t *count)
{
	struct watched_noted *n = &w->noted;
	uint32_t nr = w->map ? ledger_findings(w->map, NULL) : 0;

	if (!nr || (!last && now_ns < n->next_ns) || (!last && nr <= n->nr && now_ns < n->next_again_ns))
		return false;
	n->next_again_ns = now_ns + AGAIN_NS;
	return ledger_findings(w->map, count) > n->nr || *count != n->count;
}

bool watched_found(struct watched *w, const struct ledger_tree *t, uint64_t now_ns, bool last, struct heap **out)
{
	struct watched_noted *n = &w->noted, was = *n;
	uint64_t count, start;

	if (!noted_more(w, now_ns, last, &count))
		return false;
	start = thread_cpu_ns();
	if (read_heap(w, t, true, out, NULL))
		return false;
	n->nr = (*out)->nr_findings;
	n->count = count;
	n->next_ns = now_ns + (thread_cpu_ns() - start) * FOUND_REST;
	if (n->nr != was.nr || count != was.count)
		return true;
	n->next_ns = now_ns + STUCK_NS + (n->next_ns - now_ns) * FOUND_REST;	/* some are not complete, or damaged */
	heap_free(*out);
	return false;
}

bool watched_has_events(const struct heap *h)
{
	return h->allocs || h->frees || h->failed || h->untracked_frees || h->skipped_allocs || h->nr_findings ||
	       h->off_reason || h->mapping.mmap_calls || h->mapping.mmap_failed;
}
