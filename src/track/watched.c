/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One process under watch. */
#include "src/track/watched.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/thread.h"
#include "src/roots/glibc/figures.h"
#include "src/track/message.h"
#include "src/track/slot_pid.h"
#include "src/proc/proc.h"

#define CODE_LOOK_NS  1000000000ull
#define CODE_REST     500 /* cost of a look : pause */
/* between looks for heap errors that came again, or are not complete */
#define AGAIN_NS      1000000000ull
#define FOUND_REST    10  /* cost of a look for heap errors : pause */
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x10 /* Linux 5.1 */
#endif
#define PIDFS_MAGIC   0x50494446 /* linux/magic.h */
#define WANTED_SEALS  (F_SEAL_SHRINK | F_SEAL_GROW)
#define HEAD_BYTES    ((sizeof(struct pmm_tree) + PMM_PAGE - 1) / PMM_PAGE * PMM_PAGE)
#define STUCK_NS      50000000ull
/* of the agent's clock: so far may the monitor's idea of a start be from the agent's */
#define START_TICKS   3

/*
 * An open file description of our own: the process may keep the one that it sent, with its offset
 * and locks. It may also hold a lease, which would have us wait without O_NONBLOCK.
 */
static int reopen(int fd)
{
	char path[32];
	int own;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	own = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (own < 0)
		return fd;
	close(fd);
	return own;
}

struct watched *watched_new(pid_t pid, int pidfd, int fd, uint64_t interval_ns, uint64_t now_ns)
{
	struct watched *w = calloc(1, sizeof(*w));

	if (!w) {
		close(fd);
		if (pidfd >= 0)
			close(pidfd);
		return NULL;
	}
	w->pid = pid;
	w->pidfd = pidfd;
	w->rss_fd = -1;
	w->peak_fd = -1;
	w->fd = fd;
	w->interval_ns = interval_ns;
	w->heard_ns = now_ns;
	w->next_code_ns = now_ns + CODE_LOOK_NS / 4;
	return w;
}

/* Of huge pages there may be none left when they are touched. */
static bool is_memory_file(int fd, uint64_t bytes, uint64_t *ino)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct statfs fs;
	struct stat st;

	if (seals < 0 || (seals & WANTED_SEALS) != WANTED_SEALS ||
	    seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
		return false;
	if (fstatfs(fd, &fs) || fs.f_type != TMPFS_MAGIC || fstat(fd, &st))
		return false;
	*ino = st.st_ino;
	return S_ISREG(st.st_mode) && (uint64_t)st.st_size == bytes;
}

/* Its head as it is now, of which nothing is believed later. */
static bool is_head_of(int fd, const struct ledger_tree *t)
{
	struct pmm_tree h;

	return pread(fd, &h, sizeof(h), 0) == (ssize_t)sizeof(h) && h.magic == PMM_TREE_MAGIC &&
	       h.version == PMM_LEDGER_VERSION && h.byte_order == PMM_BYTE_ORDER_MARK &&
	       h.nr_slots == 1 && h.slot_bytes == t->slot_bytes && h.slots_off == t->slots_off;
}

int watched_accept(struct watched *w, const struct ledger_tree *t, bool whole)
{
	void *head;

	/* answered without asking who has made it; all else is not */
	if (fcntl(w->fd, F_GET_SEALS) < 0) {
		message_discard(w->fd);
		w->fd = -1;
		return -EBADMSG;
	}
	if (!is_memory_file(w->fd, ledger_tree_file_bytes(t), &w->ino) ||
	    (whole && !is_head_of(w->fd, t)))
		return -EBADMSG;
	w->fd = reopen(w->fd);
	if (whole && ledger_map_open_shared(w->fd, &w->map, NULL))
		return -EBADMSG;
	head = mmap(NULL, HEAD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, 0);
	if (head == MAP_FAILED)
		return -ENOMEM;
	w->head = head;
	return 0;
}

void watched_free(struct watched *w)
{
	if (!w)
		return;
	series_fini(&w->series);
	usage_series_fini(&w->usage);
	mark_series_fini(&w->marks);
	thread_looks_fini(&w->threads);
	figures_last_fini(&w->figures);
	ledger_at_free(w->blocks);
	ledger_map_close(w->map);
	if (w->head)
		munmap(w->head, HEAD_BYTES);
	if (w->fd >= 0)
		close(w->fd);
	if (w->pidfd >= 0)
		close(w->pidfd);
	if (w->rss_fd >= 0)
		close(w->rss_fd);
	if (w->peak_fd >= 0)
		close(w->peak_fd);
	free(w);
}

int watched_origin(const struct watched *w, pid_t *parent, char comm[PROC_COMM_BYTES])
{
	enum { BYTES = sizeof(((struct pmm_ledger *)0)->comm) };
	struct { uint32_t pid, ppid; } who;

	_Static_assert(BYTES < PROC_COMM_BYTES, "and a NUL");
	if (!w->map ||
	    ledger_map_read(w->map, offsetof(struct pmm_ledger, pid), &who, sizeof(who)) ||
	    ledger_map_read(w->map, offsetof(struct pmm_ledger, comm), comm, BYTES) ||
	    who.pid != (uint32_t)w->pid)
		return -ENOENT;
	comm[BYTES] = '\0';
	*parent = (pid_t)who.ppid;
	return 0;
}

enum pmm_limit watched_limit(const struct watched *w)
{
	uint32_t limit = w->head ? __atomic_load_n(&w->head->slot[0].limit_raised, __ATOMIC_RELAXED)
				 : PMM_LIMIT_AS_IT_WAS;

	return limit <= PMM_LIMIT_RAISED_POOL ? (enum pmm_limit)limit : PMM_LIMIT_AS_IT_WAS;
}

void watched_replace(struct watched *w)
{
	if (w->head)
		__atomic_store_n(&w->head->slot[0].state, PMM_SLOT_REPLACED, __ATOMIC_RELEASE);
}

bool watched_has_ended(const struct watched *w)
{
	struct pollfd p = { .fd = w->pidfd, .events = POLLIN };

	return w->ended || (w->pidfd >= 0 ? poll(&p, 1, 0) == 1 : !proc_alive(w->pid));
}

/*
 * Since Linux 6.9 a pidfd is a file in pidfs, one for each process; before that all are one
 * anonymous file.
 */
static bool pidfd_ino(int fd, uint64_t *ino)
{
	struct statfs fs;
	struct stat st;

	if (fd < 0 || fstatfs(fd, &fs) || fs.f_type != PIDFS_MAGIC || fstat(fd, &st))
		return false;
	*ino = st.st_ino;
	return true;
}

bool watched_same(const struct watched *a, const struct watched *b, bool otherwise)
{
	uint64_t x, y;

	if (a->pid != b->pid)
		return false;
	return pidfd_ino(a->pidfd, &x) && pidfd_ino(b->pidfd, &y) ? x == y : otherwise;
}

void watched_end(struct watched *w, uint64_t now_ns)
{
	if (!w->ended) {
		w->ended_ns = now_ns;
		usage_series_end(&w->usage, w->pid, now_ns);
		w->status_known = !slot_pid_status(w->pid, w->pidfd, &w->status);
	}
	w->ended = true;
}

/* Open the ledger as soon as its header is complete. */
static int open_map(struct watched *w, struct err *e)
{
	return w->map ? 0 : ledger_map_open_shared(w->fd, &w->map, e);
}

bool watched_tick(struct watched *w, uint64_t now_ns)
{
	uint64_t rss = 0;

	if (!w->series_begun) {
		if (open_map(w, NULL) || series_init(&w->series, now_ns, w->interval_ns))
			return false;
		usage_series_begin(&w->usage, now_ns, w->interval_ns);
		w->series_begun = true;
	}
	if (!w->ended) {
		figures_last_tick(&w->figures, w->map, w->pid, now_ns);
		usage_series_tick(&w->usage, w->pid, now_ns);
		thread_looks_tick(&w->threads, w->pid, now_ns);
	}
	if (!series_due(&w->series, now_ns))
		return false;
	if (w->pid > 0)
		proc_rss(w->pid, &w->rss_fd, &rss);
	series_take(&w->series, w->map, now_ns, rss);
	if (w->pid > 0 && peak_look_due(&w->peak_look, rss, now_ns)) {
		uint64_t peak = proc_peak_rss(w->pid, &w->peak_fd);

		w->peak_rss_bytes = peak ? peak : w->peak_rss_bytes;
	}
	return true;
}

/*
 * Never 0. Anonymous code is left out: a JIT changes it all the time, and it has no unwind tables
 * to go stale.
 */
static uint64_t hash_code(pid_t pid, size_t *nr_mappings)
{
	struct proc_maps maps;
	uint64_t hash = 1;

	*nr_mappings = 0;
	if (proc_maps_read(pid, &maps, NULL))
		return 0;
	*nr_mappings = maps.nr;
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
	hash = hash_code(w->pid, &w->usage.nr_mappings);
	w->usage.mappings_asked = true;
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
	/* an agent that was put into it does not see exit() */
	if (w->status_known && h->began == HEAP_BEGAN_ATTACH)
		h->end = HEAP_EXITED;
	h->end = h->end == HEAP_EXITED ? HEAP_EXITED : HEAP_GONE;
	h->end_status = w->status_known ? WEXITSTATUS(w->status) : -1;
}

static bool is_near(uint64_t ns, uint64_t ticked_ns)
{
	return ns && ns + START_TICKS * PMM_TICK_NS > ticked_ns &&
	       ns < ticked_ns + START_TICKS * PMM_TICK_NS;
}

/* No point is later than the end; the last one, if it is of the end, is of this one. */
static void end_points(struct heap *h, uint64_t end_ns)
{
	uint32_t n = h->nr_points;

	if (n && h->points[n - 1].time_ns >= h->taken_ns)
		h->points[n - 1].time_ns = UINT64_MAX;
	for (; n && h->points[n - 1].time_ns > end_ns; n--)
		h->points[n - 1].time_ns = end_ns;
}

/*
 * How long it ran, finer than the agent's clock: by when it was started or heard of, and when its
 * end was noticed. Where the monitor was too busy to see either in time the agent's clock serves.
 * While it was held at its end to be searched it did not run.
 */
static void set_span(const struct watched *w, struct heap *h)
{
	uint64_t began_ns = is_near(w->launched_ns, h->attach_ns) ? w->launched_ns : w->heard_ns;
	uint64_t end_ns = h->taken_ns < w->ended_ns ? h->taken_ns : w->ended_ns;

	if ((w->end_heard || w->is_root) && is_near(began_ns, h->attach_ns) &&
	    began_ns + w->held_ns < w->ended_ns) {
		h->attach_ns = began_ns;
		end_ns = w->ended_ns - w->held_ns;
	}
	end_points(h, end_ns);
	if (h->peak_ns > end_ns)
		h->peak_ns = end_ns;
	h->taken_ns = end_ns;
}

static int read_heap(struct watched *w, bool no_blocks, struct heap **out, struct err *e)
{
	struct ledger_options o = { .running = !w->ended, .no_blocks = no_blocks, .pid = w->pid };
	int rc = open_map(w, e);

	if (rc)
		return rc;
	o.points = w->series.points;
	o.nr_points = w->series.nr_points;
	o.site_points = w->series.sites;
	o.nr_site_points = w->series.nr_sites;
	o.seen = w->threads.seen;
	o.nr_seen = w->threads.nr;
	o.seen_ns = w->threads.look_ns;
	rc = ledger_read(w->map, &o, out, e);
	if (rc)
		return rc;
	set_end(w, *out);
	(*out)->peak_resident_bytes = w->peak_rss_bytes;
	if (w->ended)
		set_span(w, *out);
	rc = usage_series_give(&w->usage, (*out)->taken_ns, *out);
	if (!rc)
		rc = mark_series_give(&w->marks, (*out)->taken_ns, *out);
	if (rc) {
		heap_free(*out);
		*out = NULL;
		err_set(e, rc, "not enough memory for what process %d did over time", (int)w->pid);
	}
	return rc;
}

int watched_read(struct watched *w, struct heap **out, struct err *e)
{
	int rc = read_heap(w, false, out, e);

	if (rc)
		return rc;
	if (!w->ended)
		figures_read(w->pid, (*out)->taken_ns, FIGURES_MAX_CHUNKS,
			     *out); /* without memory there are those of before */
	figures_last_give(&w->figures, *out);
	return 0;
}

/* Is there a reason to read the heap? One load where there is none. */
static bool noted_more(struct watched *w, uint64_t now_ns, bool last, uint64_t *count)
{
	struct watched_noted *n = &w->noted;
	uint32_t nr = w->map ? ledger_findings(w->map, NULL) : 0;

	if (!nr || (!last && now_ns < n->next_ns) ||
	    (!last && nr <= n->nr && now_ns < n->next_again_ns))
		return false;
	n->next_again_ns = now_ns + AGAIN_NS;
	return ledger_findings(w->map, count) > n->nr || *count != n->count;
}

bool watched_found(struct watched *w, uint64_t now_ns, bool last, struct heap **out)
{
	struct watched_noted *n = &w->noted, was = *n;
	uint64_t count, start;

	if (!noted_more(w, now_ns, last, &count))
		return false;
	start = thread_cpu_ns();
	if (read_heap(w, true, out, NULL))
		return false;
	n->nr = (*out)->nr_findings;
	n->count = count;
	n->next_ns = now_ns + (thread_cpu_ns() - start) * FOUND_REST;
	if (n->nr != was.nr || count != was.count)
		return true;
	/* some are not complete, or damaged */
	n->next_ns = now_ns + STUCK_NS + (n->next_ns - now_ns) * FOUND_REST;
	heap_free(*out);
	return false;
}

int watched_block_at(struct watched *w, uint64_t address, struct ledger_at_block *out)
{
	if (!w->map)
		return -EAGAIN;
	if (!w->blocks)
		w->blocks = ledger_at_new(w->map);
	return w->blocks ? ledger_at_find(w->blocks, address, out) : -ENOMEM;
}

bool watched_has_events(const struct heap *h)
{
	return h->allocs || h->frees || h->failed || h->untracked_frees || h->skipped_allocs ||
	       h->nr_findings || h->off_reason || h->mapping.mmap_calls || h->mapping.mmap_failed;
}
