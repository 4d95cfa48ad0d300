/*
 * Freezing block tables by pre-copy: doc/ledger.md, "A ledger frozen".
 *
 * Offsets here are in the arena, places are the 1 << shift bytes that one mark stands for. The copy covers as much of the arena as there are
 * marks for; an arena that outgrows it is copied on from there by freeze_now(). What is neither copied nor marked has not been used, and is
 * zero in the arena as well as in the copy.
 *
 * The process may have scribbled on its ledger: marks are only ever read as "copy this place", and all copying is bounded by what the map
 * found to have backing.
 */
#include "src/capture/freeze.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MIN_SHIFT	6		/* a cache line: blocks freed at random are copied at the least cost */
#define CHUNK_BYTES	(1ull << 20)
#define ROOM_BYTES	(8ull << 20)	/* for the arena to grow, and a quarter of it */
#define MAX_ROUNDS	16
#define FEW_BYTES	(64ull << 10)	/* copied in no time: no further round */
#define EVENT_WAIT_NS	500000000u	/* for events that are being recorded to end */
#define POLL_NS		100000
#define BARRIER_NS	10000000	/* where there is no membarrier(): by far longer than a store buffer keeps anything */

struct open_event {
	uint64_t seq_off;		/* of the context's seq in the slot */
	uint64_t seq;			/* odd */
};

struct freeze_state {
	uint8_t *marks;			/* [nr_marks] in the ledger */
	uint32_t nr_marks, shift;
	bool locked, raised, frozen;
	unsigned char *copy;
	uint64_t copy_bytes;
	VEC(struct open_event) open;	/* events from before the word was raised, which may store without a mark */
	struct pmm_ledger header;	/* latest copy */
	struct ledger_frozen result;
};

static void wait_ns(long ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t page_up(uint64_t n)
{
	return (n + PMM_PAGE - 1) & ~(PMM_PAGE - 1);
}

/* ---- raising and lowering the word ------------------------------------------------------------------------- */

static int word_write(struct ledger_map *m, size_t field, uint32_t value)
{
	return pwrite(m->fd, &value, sizeof(value), (off_t)(m->slot_off + field)) == (ssize_t)sizeof(value) ? 0 : -EROFS;
}

static int word_lock(struct ledger_map *m, short type)
{
	struct flock lock = {
		.l_type = type,
		.l_whence = SEEK_SET,
		.l_start = (off_t)(m->slot_off + offsetof(struct pmm_ledger, changing)),
		.l_len = sizeof(uint32_t),
	};

	return fcntl(m->fd, F_OFD_SETLK, &lock) ? -errno : 0;
}

static int lock(struct freeze *f, struct err *e)
{
	struct ledger_map *m = f->map;
	int rc;

	if (m->is_memory || !m->writable || !m->base) {
		err_set(e, -EROFS, "the ledger of the process can be read only, so its blocks cannot be frozen");
		err_hint(e, "run pmm as root, or as the user and in the container that the process runs in");
		return -EROFS;
	}
	rc = word_lock(m, F_WRLCK);
	if (rc == -EAGAIN || rc == -EACCES) {
		err_set(e, -EBUSY, "another pmm is searching this process");
		err_hint(e, "wait until it is done");
		return -EBUSY;
	}
	if (rc)
		return err_set(e, rc, "the ledger cannot be locked: %s", strerror(-rc));
	f->state->locked = true;
	return 0;
}

static int no_memory(struct err *e, const char *what)
{
	return err_set(e, -ENOMEM, "not enough memory to freeze the ledger: %s", what);
}

/* Marks for as much of the arena as may be used soon, and a copy of the same size. */
static int make_room(struct freeze *f, struct err *e)
{
	struct freeze_state *s = f->state;
	struct ledger_map *m = f->map;
	uint64_t used = m->arena_ready - m->arena_off, most = m->arena_end - m->arena_off;
	uint64_t want = used + used / 4 + ROOM_BYTES;
	off_t at = (off_t)(m->slot_off + PMM_MARKS_OFF);

	if (m->arena_off < PMM_MARKS_OFF + PMM_MAX_MARKS)
		return err_set(e, -EBADMSG, "the ledger is damaged: place of the arena");
	want = page_up(want < most ? want : most);
	for (s->shift = MIN_SHIFT; want >> s->shift > PMM_MAX_MARKS - 1; )
		s->shift++;
	s->nr_marks = (uint32_t)((want + (1ull << s->shift) - 1) >> s->shift);
	if (fallocate(m->fd, 0, at, (off_t)page_up(s->nr_marks)))
		return no_memory(e, strerror(errno));
	s->marks = mmap(NULL, page_up(s->nr_marks), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, m->fd, at);
	if (s->marks == MAP_FAILED) {
		s->marks = NULL;
		return no_memory(e, strerror(errno));
	}
	memset(s->marks, 0, s->nr_marks);
	s->copy_bytes = page_up((uint64_t)s->nr_marks << s->shift);
	s->copy = mmap(NULL, s->copy_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s->copy == MAP_FAILED) {
		s->copy = NULL;
		return no_memory(e, strerror(errno));
	}
	madvise(s->copy, s->copy_bytes, MADV_HUGEPAGE);
	return 0;
}

/*
 * From here on every thread sees the word raised at its next look at it, and what a thread stored before its last look that did not, is seen
 * here: a barrier on all processors, without which a thread's seq could still be in its store buffer.
 */
static void barrier(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		wait_ns(BARRIER_NS);
}

/* Contexts in the middle of an event, nested ones as well. */
static int events_note(struct freeze *f)
{
	struct freeze_state *s = f->state;
	struct pmm_ledger *l = &s->header;

	if (ledger_map_read(f->map, 0, l, sizeof(*l)))
		return -EBADMSG;
	for (uint32_t i = 0; i < l->nr_ctx && i < PMM_MAX_CTX; i++) {
		struct open_event o = { .seq_off = ((uint64_t)l->ctx[i] << PMM_REF_SHIFT) + offsetof(struct pmm_ctx, seq) };

		if (!l->ctx[i] || ledger_map_read(f->map, o.seq_off, &o.seq, sizeof(o.seq)) || !(o.seq & 1))
			continue;
		if (vec_push(&s->open, o))
			return -ENOMEM;
	}
	return 0;
}

/* Forget those that have ended. */
static void events_look(struct freeze *f)
{
	struct freeze_state *s = f->state;
	size_t kept = 0;

	for (size_t i = 0; i < s->open.nr; i++) {
		uint64_t seq;

		if (!ledger_map_read(f->map, s->open.v[i].seq_off, &seq, sizeof(seq)) && seq == s->open.v[i].seq)
			s->open.v[kept++] = s->open.v[i];
	}
	s->open.nr = kept;
}

static int raise_word(struct freeze *f, struct err *e)
{
	struct freeze_state *s = f->state;
	struct ledger_map *m = f->map;
	uint64_t end;
	int rc;

	s->raised = true;
	rc = word_write(m, offsetof(struct pmm_ledger, nr_marks), s->nr_marks);
	if (!rc)
		rc = word_write(m, offsetof(struct pmm_ledger, mark_shift), s->shift);
	if (!rc)
		rc = word_write(m, offsetof(struct pmm_ledger, changing), (uint32_t)getpid());
	if (rc)
		return err_set(e, rc, "the ledger of the process cannot be written");
	barrier();
	rc = events_note(f);
	if (rc == -ENOMEM)
		return no_memory(e, strerror(ENOMEM));
	if (rc)
		return err_set(e, rc, "the ledger cannot be read");
	for (end = now_ns() + EVENT_WAIT_NS; s->open.nr && now_ns() < end; events_look(f))
		wait_ns(POLL_NS);
	return 0;
}

/* The agent need not mark any more, and another scanner may come. */
static void lower_word(struct freeze *f)
{
	struct freeze_state *s = f->state;

	if (s->raised)
		word_write(f->map, offsetof(struct pmm_ledger, changing), 0);
	if (s->locked)
		word_lock(f->map, F_UNLCK);
	s->raised = s->locked = false;
}

/* ---- copying --------------------------------------------------------------------------------------------------- */

/* Copy [from, to) as far as it has backing. */
static void copy_range(struct freeze *f, uint64_t from, uint64_t to)
{
	struct freeze_state *s = f->state;
	uint64_t ready = f->map->arena_ready - f->map->arena_off;

	to = to < ready ? to : ready;
	to = to < s->copy_bytes ? to : s->copy_bytes;
	for (uint64_t bytes; from < to; from += bytes) {
		bytes = to - from < CHUNK_BYTES ? to - from : CHUNK_BYTES;
		if (ledger_map_read(f->map, f->map->arena_off + from, s->copy + from, bytes))
			return;
	}
}

/* Copy all of it, also what came into use until the word was raised; how much that is. */
static uint64_t copy_all(struct freeze *f)
{
	ledger_map_refresh(f->map);
	copy_range(f, 0, UINT64_MAX);
	return f->map->arena_ready - f->map->arena_off;
}

/* Take back the mark of place `i`; was there one? A store after this shows in a mark or in a copy made afterwards. */
static inline bool mark_take(struct freeze_state *s, uint32_t i)
{
	return __atomic_load_n(&s->marks[i], __ATOMIC_RELAXED) && __atomic_exchange_n(&s->marks[i], 0, __ATOMIC_SEQ_CST);
}

/*
 * Copy what is marked; how much that is. Marks of what has come into use since the map was looked at stay for the next time; with the
 * threads stopped there are none of these.
 */
static uint64_t copy_marked(struct freeze *f, bool stopped)
{
	struct freeze_state *s = f->state;
	uint64_t bytes = 0, ready;
	uint32_t nr;

	ledger_map_refresh(f->map);
	ready = f->map->arena_ready - f->map->arena_off;
	nr = ready >> s->shift < s->nr_marks && !stopped ? (uint32_t)(ready >> s->shift) : s->nr_marks;
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t first = i;

		if (i % 8 == 0 && nr - i >= 8 && !__atomic_load_n((uint64_t *)&s->marks[i], __ATOMIC_RELAXED)) {
			i += 7;
			continue;
		}
		while (i < nr && mark_take(s, i))
			i++;
		if (i == first)
			continue;
		copy_range(f, (uint64_t)first << s->shift, (uint64_t)i << s->shift);
		bytes += (uint64_t)(i - first) << s->shift;
	}
	return bytes;
}

static void copy_rounds(struct freeze *f)
{
	uint64_t last = UINT64_MAX, bytes;

	for (unsigned i = 0; i < MAX_ROUNDS; i++) {
		bytes = copy_marked(f, false);
		f->copied_bytes += bytes;
		f->rounds++;
		if (bytes <= FEW_BYTES || bytes > last / 4 * 3)
			return;
		last = bytes;
	}
}

int freeze_begin(struct freeze *f, struct ledger_map *map, struct err *e)
{
	struct freeze_state *s = calloc(1, sizeof(*s));
	int rc;

	*f = (struct freeze){ .map = map, .state = s };
	if (!s)
		return no_memory(e, strerror(ENOMEM));
	rc = lock(f, e);
	if (!rc && ledger_map_refresh(map))
		rc = no_memory(e, "no address space left to map it");
	if (!rc)
		rc = make_room(f, e);
	if (!rc)
		rc = raise_word(f, e);
	if (rc) {
		freeze_end(f);
		return rc;
	}
	f->copied_bytes = copy_all(f);
	copy_rounds(f);
	if (s->open.nr) {
		events_look(f);
		if (!s->open.nr) {		/* too late for the copy just made */
			f->copied_bytes += copy_all(f);
			copy_rounds(f);
		}
	}
	return 0;
}

/* ---- the moment ------------------------------------------------------------------------------------------------ */

/* Copy the arena beyond the last mark, which it has grown over. 0 or -ENOMEM. */
static int copy_beyond(struct freeze *f)
{
	struct freeze_state *s = f->state;
	uint64_t marked = (uint64_t)s->nr_marks << s->shift, ready = f->map->arena_ready - f->map->arena_off;
	void *copy;

	if (ready <= marked)
		return 0;
	if (ready > s->copy_bytes) {
		copy = mremap(s->copy, s->copy_bytes, ready, MREMAP_MAYMOVE);
		if (copy == MAP_FAILED)
			return -ENOMEM;
		s->copy = copy;
		s->copy_bytes = ready;
	}
	copy_range(f, marked, ready);
	f->late_bytes += ready - marked;
	return 0;
}

/*
 * Copy all mids. Others may have used a leaf whose maker was stopped before it marked where it hung the leaf; what they stored in the leaf
 * itself they have marked.
 */
static void copy_mids(struct freeze *f)
{
	struct freeze_state *s = f->state;

	for (unsigned t = 0; t < PMM_NR_TABLES; t++) {
		uint64_t bytes = sizeof(struct pmm_mid) + (sizeof(pmm_ref) << (s->header.table[t].mid_bits & 31));
		uint64_t most = (f->map->arena_ready - f->map->arena_off) / bytes;
		struct pmm_mid mid;

		for (pmm_ref ref = s->header.table[t].mids; ref && most--; ref = mid.next) {
			uint64_t off = (uint64_t)ref << PMM_REF_SHIFT;

			if (off < f->map->arena_off || ledger_map_read(f->map, off, &mid, sizeof(mid)))
				break;
			copy_range(f, off - f->map->arena_off, off - f->map->arena_off + bytes);
			f->late_bytes += bytes;
		}
	}
}

static uint32_t thread_tid(struct freeze *f, uint32_t thread)
{
	const struct pmm_ledger *l = &f->state->header;
	struct pmm_thread t;

	if (thread >= PMM_MAX_THREADS || !l->thread_dir[thread >> PMM_THREAD_SHIFT] ||
	    ledger_map_read_at(f->map, l->thread_dir[thread >> PMM_THREAD_SHIFT], thread & ((1u << PMM_THREAD_SHIFT) - 1), &t, sizeof(t)))
		return 0;
	return t.tid;
}

/* Blocks that are on their way in one context. */
static int moves_add(struct freeze *f, uint64_t ctx_off)
{
	struct pmm_move move[PMM_NR_MOVES];
	struct pmm_ctx c;

	if (ledger_map_read(f->map, ctx_off + offsetof(struct pmm_ctx, move), move, sizeof(move)) ||
	    (!move[PMM_MOVE_HEAP].address && !move[PMM_MOVE_POOL].address) ||
	    ledger_map_read(f->map, ctx_off, &c, sizeof(c)))
		return 0;
	for (unsigned i = 0; i < PMM_NR_MOVES; i++) {
		struct freeze_move to = {
			.from = move[i].address,
			.bytes = move[i].old_bytes && move[i].old_bytes < move[i].new_bytes ? move[i].old_bytes : move[i].new_bytes,
			.to_bytes = move[i].new_bytes,
			.sp = i == PMM_MOVE_HEAP ? c.busy_sp : c.pool_sp,
		};

		if (!to.from || !to.sp || !to.to_bytes)
			continue;
		to.tid = thread_tid(f, c.thread);
		if (vec_push(&f->moves, to))
			return -ENOMEM;
	}
	return 0;
}

static int moves_find(struct freeze *f)
{
	const struct pmm_ledger *l = &f->state->header;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < l->nr_ctx && i < PMM_MAX_CTX; i++)
		if (l->ctx[i])
			rc = moves_add(f, (uint64_t)l->ctx[i] << PMM_REF_SHIFT);
	return rc;
}

/* 0 or -errno. */
static int copy_late(struct freeze *f)
{
	struct freeze_state *s = f->state;
	bool unseen = s->open.nr;		/* such an event may have stored since, without a mark */
	int rc = ledger_map_refresh(f->map);

	s->open.nr = 0;
	if (!rc)
		rc = events_note(f);
	if (rc)
		return rc;
	f->late_bytes = unseen ? copy_all(f) : copy_marked(f, true);
	rc = copy_beyond(f);
	if (!rc && s->open.nr)
		copy_mids(f);
	return rc ? rc : moves_find(f);
}

int freeze_now(struct freeze *f, struct err *e)
{
	struct freeze_state *s = f->state;
	int rc = copy_late(f);

	if (rc == -ENOMEM)
		return no_memory(e, strerror(ENOMEM));
	if (rc)
		return err_set(e, rc, "the ledger cannot be read");
	s->result = (struct ledger_frozen){
		.arena = s->copy,
		.arena_off = f->map->arena_off,
		.bytes = s->copy_bytes,
		.tick = ledger_map_tick(f->map),
	};
	memcpy(s->result.table, s->header.table, sizeof(s->result.table));
	s->frozen = true;
	lower_word(f);
	return 0;
}

int freeze_heap(struct freeze *f, const struct ledger_options *o, struct heap **out, struct err *e)
{
	struct ledger_options with = *o;

	if (!f->state->frozen)
		return err_set(e, -EINVAL, "the ledger was not frozen");
	with.frozen = &f->state->result;
	return ledger_read(f->map, &with, out, e);
}

void freeze_end(struct freeze *f)
{
	struct freeze_state *s = f->state;

	if (s) {
		lower_word(f);
		if (s->marks)
			munmap(s->marks, page_up(s->nr_marks));
		if (s->copy)
			munmap(s->copy, s->copy_bytes);
		vec_fini(&s->open);
		free(s);
	}
	vec_fini(&f->moves);
	f->state = NULL;
}
