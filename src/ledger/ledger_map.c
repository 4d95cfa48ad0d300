/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ledger got at from outside: checking what is there, and bounded reading.
 *
 * Two ways to read: mapped, when the file cannot shrink under us (a mapping beyond the end of a
 * file is a SIGBUS), or by pread(). The mapped way maps the header and the arena below
 * `arena_ready` only, and of that only what SEEK_HOLE says is there, because touching a hole of a
 * shared mapping would allocate it. Address space for the whole arena is reserved at first, so that
 * a growing arena is mapped in place.
 */
#include "src/ledger/ledger_map.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/base/nanotime.h"
#include "src/ledger/ledger_find.h"
#include "src/proc/proc.h"

#define REF_REACH	(1ull << (32 + PMM_REF_SHIFT))	/* bytes a pmm_ref can name */
#define MAX_SLOT_BYTES	(1ull << 46)
#define HEAD_BYTES	offsetof(struct pmm_ledger, node_dir)

static uint64_t page_up(uint64_t n)
{
	return (n + PMM_PAGE - 1) & ~(PMM_PAGE - 1);
}

static uint64_t page_down(uint64_t n)
{
	return n & ~(PMM_PAGE - 1);
}

/* Read from the file itself, wherever it is. 0 or -EIO. */
static int file_read(const struct ledger_map *m, uint64_t off, void *to, size_t size)
{
	unsigned char *p = to;

	off += m->is_memory ? m->delta : 0;
	if (off > INT64_MAX - size)
		return -EIO;
	while (size) {
		ssize_t n = pread(m->fd, p, size, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO;
		p += n;
		off += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static int damaged(struct err *e, const char *what)
{
	err_set(e, -EBADMSG, "the ledger is damaged: %s", what);
	err_hint(e, "the program may have written over it; look for wild pointers");
	return -EBADMSG;
}

static int other_version(struct err *e, uint32_t version)
{
	err_set(e, -EPROTO, "the ledger has version %u, this pmm reads version %u", version,
		PMM_LEDGER_VERSION);
	err_hint(e, "use the pmm that started the program");
	return -EPROTO;
}

static int check_tree(const struct ledger_map *m, struct err *e)
{
	const struct pmm_tree *t = &m->tree;
	struct stat st;

	if (t->magic != PMM_TREE_MAGIC)
		return err_set(e, -EBADMSG, "this is not a ledger of pmm");
	if (t->byte_order != PMM_BYTE_ORDER_MARK || t->word_bytes != 8)
		return err_set(e, -EPROTO, "the ledger was made on another kind of machine");
	if (t->version != PMM_LEDGER_VERSION)
		return other_version(e, t->version);
	if (t->nr_slots != PMM_MAX_SLOTS)
		return damaged(e, "number of ledgers");
	if (t->slot_bytes % PMM_PAGE || t->slot_bytes < page_up(sizeof(struct pmm_ledger)) ||
	    t->slot_bytes > MAX_SLOT_BYTES || t->slots_off % PMM_PAGE ||
	    t->slots_off < sizeof(*t) || t->slots_off > MAX_SLOT_BYTES)
		return damaged(e, "size of slots");
	if (!m->is_memory && (fstat(m->fd, &st) || (uint64_t)st.st_size < t->slots_off ||
			      ((uint64_t)st.st_size - t->slots_off) / t->slot_bytes < t->nr_slots))
		return damaged(e, "slots are beyond the file's end");
	return 0;
}

/* Of the header HEAD_BYTES are there. */
static int check_header(struct ledger_map *m, const struct pmm_ledger *l, struct err *e)
{
	if (!l->magic)
		return err_set(e, -EAGAIN, "the ledger is not ready yet");
	if (l->magic != PMM_LEDGER_MAGIC)
		return damaged(e, "its mark is gone");
	if (l->version != PMM_LEDGER_VERSION)
		return other_version(e, l->version);
	if (l->header_bytes != sizeof(*l))
		return damaged(e, "size of the header");
	if (l->arena_off % PMM_PAGE || l->arena_off < page_up(sizeof(*l)) ||
	    l->arena_off > l->arena_end || l->arena_end > m->tree.slot_bytes)
		return damaged(e, "place of the arena");
	m->arena_off = m->arena_ready = l->arena_off;
	m->arena_end = l->arena_end < REF_REACH ? l->arena_end : REF_REACH;
	return 0;
}

static int check_ledger(struct ledger_map *m, struct err *e)
{
	struct pmm_ledger *l = malloc(sizeof(*l));	/* too large for a stack */
	int rc;

	if (!l)
		return err_set(e, -ENOMEM, "out of memory");
	if (file_read(m, m->slot_off, l, HEAD_BYTES))
		rc = err_set(e, -EBADMSG, "the ledger cannot be read");
	else
		rc = check_header(m, l, e);
	free(l);
	return rc;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool map_part(struct ledger_map *m, uint64_t from, uint64_t to)
{
	return mmap(m->base + from, to - from, PROT_READ, MAP_SHARED | MAP_FIXED, m->fd,
		    (off_t)(m->slot_off + from)) != MAP_FAILED;
}

/* Prefer a mapping; without one (no address space, file may shrink) reads are pread()s. */
static void map_head(struct ledger_map *m)
{
	int seals = m->is_memory ? -1 : fcntl(m->fd, F_GET_SEALS);
	void *p;

	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		return;
	m->base_bytes = page_up(m->arena_end);
	p = mmap(NULL, m->base_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		 0);
	if (p == MAP_FAILED)
		return;
	m->base = p;
	if (!map_part(m, 0, page_up(sizeof(struct pmm_ledger)))) {
		munmap(m->base, m->base_bytes);
		m->base = NULL;
	}
}

/* How much of [from, to) of the slot has backing without a gap: where that ends. */
static uint64_t backed_end(const struct ledger_map *m, uint64_t from, uint64_t to)
{
	off_t hole;

	if (m->is_memory)
		return to;
	hole = lseek(m->fd, (off_t)(m->slot_off + from), SEEK_HOLE);
	if (hole < 0)
		return from;
	return (uint64_t)hole - m->slot_off < to ? (uint64_t)hole - m->slot_off : to;
}

int ledger_map_refresh(struct ledger_map *m)
{
	uint64_t ready;

	if (file_read(m, m->slot_off + offsetof(struct pmm_ledger, arena_ready), &ready,
		      sizeof(ready)))
		return 0;
	ready = page_down(ready < m->arena_end ? ready : m->arena_end);
	if (ready <= m->arena_ready)
		return 0;
	ready = page_down(backed_end(m, m->arena_ready, ready));
	if (ready <= m->arena_ready)
		return 0;
	if (m->base && !map_part(m, m->arena_ready, ready))
		return -ENOMEM;
	m->arena_ready = ready;
	return 0;
}

static bool is_readable(const struct ledger_map *m, uint64_t off, size_t size)
{
	if (off > MAX_SLOT_BYTES || size > MAX_SLOT_BYTES)
		return false;
	if (off + size <= sizeof(struct pmm_ledger))
		return true;
	return off >= m->arena_off && off + size <= m->arena_ready;
}

/*
 * Word by word where aligned: each is loaded once and whole, in no order among themselves. What is
 * read afterwards is not older: the fence pairs with the agent's STORE_RELEASE of any word of it.
 */
static void copy_words(void *to, const unsigned char *from, size_t size)
{
	size_t i = 0;

	if (((uintptr_t)from | (uintptr_t)to) % sizeof(uint64_t) == 0)
		for (; i + sizeof(uint64_t) <= size; i += sizeof(uint64_t))
			*(uint64_t *)((unsigned char *)to + i) =
				*(const volatile uint64_t *)(from + i);
	for (; i < size; i++)
		((unsigned char *)to)[i] = ((const volatile unsigned char *)from)[i];
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

int ledger_map_read(struct ledger_map *m, uint64_t off, void *to, size_t size)
{
	if (!is_readable(m, off, size)) {
		if (off > m->arena_end || ledger_map_refresh(m) || !is_readable(m, off, size))
			return -EFAULT;
	}
	if (!m->base)
		return file_read(m, m->slot_off + off, to, size);
	copy_words(to, m->base + off, size);
	return 0;
}

bool ledger_map_may_have(struct ledger_map *m, uint64_t off, size_t words, uint64_t bits)
{
	const size_t bytes = words * sizeof(uint64_t);
	const volatile uint64_t *at;
	uint64_t any = 0;

	if (!m->base || off % sizeof(*at) || !is_readable(m, off, bytes))
		return true;
	at = (const volatile uint64_t *)(m->base + off);
	for (size_t i = 0; i < words && !(any & bits); i++)
		any |= at[i];
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return any & bits;
}

int ledger_map_read_at(struct ledger_map *m, pmm_ref ref, uint64_t index, void *to, size_t size)
{
	if (!ref || index > UINT32_MAX || size > UINT32_MAX)
		return -EFAULT;
	return ledger_map_read(m, ((uint64_t)ref << PMM_REF_SHIFT) + index * size, to, size);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* From m->fd to a map that can be read. */
static int open_slot(struct ledger_map *m, struct err *e)
{
	int rc;

	if (m->slot >= m->tree.nr_slots)
		return damaged(e, "no such slot");
	m->slot_off = m->tree.slots_off + m->slot * m->tree.slot_bytes;
	rc = check_ledger(m, e);
	if (rc)
		return rc;
	map_head(m);
	rc = ledger_map_refresh(m);
	return rc ? err_set(e, rc, "no address space left to map the ledger") : 0;
}

static int open_tree(struct ledger_map *m, struct err *e)
{
	if (file_read(m, 0, &m->tree, sizeof(m->tree)))
		return err_set(e, -EBADMSG, "this is not a ledger of pmm");
	return check_tree(m, e);
}

/* An own open file, whose offset is ours to move; a duplicate where that cannot be had. */
static int own_fd(int fd, bool *writable)
{
	char path[32];
	int own;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	own = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);	/* a process may hold a lease */
	*writable = own >= 0;
	if (own < 0)
		own = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return own < 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : own;
}

static int open_fd(int fd, bool shared, unsigned slot, struct ledger_map **out, struct err *e)
{
	struct ledger_map *m = calloc(1, sizeof(*m));
	int rc;

	if (!m)
		return err_set(e, -ENOMEM, "out of memory");
	m->slot = slot;
	m->clock_fd = -1;
	m->shared = shared;
	m->writable = true;
	m->fd = shared ? fd : own_fd(fd, &m->writable);
	rc = m->fd < 0 ? err_set(e, -errno, "cannot open the ledger: %s", strerror(errno)) : 0;
	if (!rc)
		rc = open_tree(m, e);
	if (!rc)
		rc = open_slot(m, e);
	if (rc)
		ledger_map_close(m);
	else
		*out = m;
	return rc;
}

int ledger_map_open_fd(int fd, unsigned slot, struct ledger_map **out, struct err *e)
{
	return open_fd(fd, false, slot, out, e);
}

int ledger_map_open_shared(int fd, struct ledger_map **out, struct err *e)
{
	return open_fd(fd, true, 0, out, e);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0 ? b - a : a - b;
}

/*
 * Without a monitor it is the process that has noted when its tree began, by its own clock, which
 * in another time namespace than ours is another one. Children of theirs may be in a third one, so
 * the time of day decides.
 */
static void start_by_our_clock(struct pmm_tree *t, pid_t pid)
{
	uint64_t ours = t->start_monotonic_ns + proc_clock_offset(getpid()) -
			proc_clock_offset(pid),
		 now_ns = nanotime(), day_ns = nanotime_of(CLOCK_REALTIME) - t->start_realtime_ns;

	if (distance(now_ns - ours, day_ns) < distance(now_ns - t->start_monotonic_ns, day_ns))
		t->start_monotonic_ns = ours;
}

int ledger_map_open_pid(pid_t pid, struct ledger_map **out, struct err *e)
{
	struct ledger_map *m = calloc(1, sizeof(*m));
	struct ledger_place place;
	int rc;

	if (!m)
		return err_set(e, -ENOMEM, "out of memory");
	m->pid = pid;
	m->fd = m->clock_fd = -1;
	rc = ledger_find(pid, &place, e);
	if (!rc) {
		m->fd = place.fd;
		m->clock_fd = place.clock_fd;
		m->clock_off = place.clock_off;
		m->is_memory = place.is_memory;
		m->writable = place.writable;
		m->delta = place.delta;
		rc = open_tree(m, e);
		if (!rc && m->tree.flags & PMM_TREE_STANDALONE)
			start_by_our_clock(&m->tree, pid);
		if (!rc)
			rc = ledger_find_slot(&place, &m->tree, pid, &m->slot, e);
		if (!rc)
			rc = open_slot(m, e);
		ledger_find_fini(&place);
	}
	if (rc)
		ledger_map_close(m);
	else
		*out = m;
	return rc;
}

void ledger_map_close(struct ledger_map *m)
{
	if (!m)
		return;
	if (m->base)
		munmap(m->base, m->base_bytes);
	if (m->fd >= 0 && !m->shared)
		close(m->fd);
	if (m->clock_fd >= 0)
		close(m->clock_fd);
	free(m);
}

/* ---- looks ----------------------------------------------------------------------------------- */

uint64_t ledger_map_backing(struct ledger_map *m)
{
	uint64_t end = m->slot_off + m->arena_off, bytes = 0;
	off_t at = (off_t)m->slot_off;

	if (m->is_memory)
		return page_up(sizeof(struct pmm_ledger)) + m->arena_ready - m->arena_off;
	for (unsigned i = 0; i < 65536; i++) {
		off_t data = lseek(m->fd, at, SEEK_DATA), hole;

		if (data < 0 || (uint64_t)data >= end)
			break;
		hole = lseek(m->fd, data, SEEK_HOLE);
		if (hole <= data)
			break;
		bytes += ((uint64_t)hole < end ? (uint64_t)hole : end) - (uint64_t)data;
		at = hole;
	}
	return bytes + m->arena_ready - m->arena_off;
}

void ledger_map_set_clock(struct ledger_map *m, int fd)
{
	if (m->clock_fd >= 0)
		close(m->clock_fd);
	m->clock_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	m->clock_off = 0;
}

uint32_t ledger_map_clock(struct ledger_map *m)
{
	const off_t off = (off_t)(m->clock_off + offsetof(struct pmm_tree, tick));
	uint32_t tick;

	if (m->clock_fd >= 0 &&
	    pread(m->clock_fd, &tick, sizeof(tick), off) == (ssize_t)sizeof(tick))
		return tick;
	return file_read(m, offsetof(struct pmm_tree, tick), &tick, sizeof(tick)) ? m->tree.tick
										  : tick;
}

bool ledger_map_ticked(struct ledger_map *m)
{
	enum { LIVES = sizeof(((struct pmm_tree *)0)->life) / sizeof(uint32_t) };
	uint32_t words[LIVES + 1], life;

	_Static_assert(offsetof(struct pmm_tree, life_at) ==
			       offsetof(struct pmm_tree, life) + LIVES * sizeof(uint32_t),
		       "one read is both");
	if (m->clock_fd < 0 || pread(m->clock_fd, words, sizeof(words),
				     (off_t)(m->clock_off + offsetof(struct pmm_tree, life))) !=
				       (ssize_t)sizeof(words))
		return false;
	life = words[words[LIVES] % LIVES];
	return life & FUTEX_TID_MASK && !(life & FUTEX_OWNER_DIED);
}

uint32_t ledger_map_tick(struct ledger_map *m)
{
	uint64_t start = m->tree.start_monotonic_ns, now_ns = nanotime();
	uint32_t tick = ledger_map_clock(m);
	uint64_t ticks = now_ns > start ? (now_ns - start) / PMM_TICK_NS : 0;

	return ticks > tick && ticks <= UINT32_MAX ? (uint32_t)ticks : tick;
}

struct pmm_slot ledger_map_slot(struct ledger_map *m)
{
	struct pmm_slot slot;

	if (file_read(m, offsetof(struct pmm_tree, slot) + m->slot * sizeof(slot), &slot,
		      sizeof(slot)))
		slot = m->tree.slot[m->slot];
	return slot;
}

/*
 * Taken after `tick`? The agent lowers want_view before it takes the figures, and sets their tick
 * at the end.
 */
static bool view_is_fresh(const struct ledger_map *m, uint32_t tick)
{
	struct pmm_allocator_view view;
	uint32_t want;

	if (file_read(m, m->slot_off + offsetof(struct pmm_ledger, want_view), &want,
		      sizeof(want)) ||
	    want)
		return false;
	if (file_read(m, m->slot_off + offsetof(struct pmm_ledger, allocator_view), &view,
		      sizeof(view)))
		return false;
	return view.valid == PMM_VIEW_TAKEN && view.tick >= tick;
}

int ledger_map_ask_view(struct ledger_map *m, unsigned wait_ms)
{
	uint64_t off = m->slot_off + offsetof(struct pmm_ledger, want_view);
	uint32_t want = 1, tick = ledger_map_clock(m);

	if (!m->writable || m->is_memory ||
	    pwrite(m->fd, &want, sizeof(want), (off_t)off) != (ssize_t)sizeof(want))
		return -EROFS;
	for (unsigned ms = 0; ms < wait_ms; ms++) {
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		if (view_is_fresh(m, tick))
			return 1;
	}
	return 0;
}
