/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The word by which the agent is asked to mark what it changes (pmm_ledger.changing): raised,
 * waited for, lowered.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "src/base/nanotime.h"
#include "src/ledger/precopy_priv.h"

/* a cache line: blocks freed at random are copied at the least cost */
#define MIN_SHIFT	6
#define ROOM_BYTES	(8ull << 20)	/* for the arena to grow, and a quarter of it */
#define EVENT_WAIT_NS	500000000u	/* for events that are being recorded to end */
#define POLL_NS		100000
/* for another pmm to be done with the same process; between tries */
#define OTHER_WAIT_NS	3000000000ull
#define OTHER_POLL_NS	5000000
/* where there is no membarrier(): by far longer than a store buffer keeps anything */
#define BARRIER_NS	10000000

static void wait_ns(long ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

static uint64_t page_up(uint64_t n)
{
	return (n + PMM_PAGE - 1) & ~(PMM_PAGE - 1);
}

int precopy_no_memory(struct err *e, const char *what)
{
	return err_set(e, -ENOMEM, "not enough memory to copy the ledger: %s", what);
}

static int word_write(struct ledger_map *m, size_t field, uint32_t value)
{
	return pwrite(m->fd, &value, sizeof(value), (off_t)(m->slot_off + field)) ==
			       (ssize_t)sizeof(value)
		       ? 0
		       : -EROFS;
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

/* Those who search the same process take turns. */
static int word_lock_in_turn(struct ledger_map *m)
{
	const uint64_t end_ns = nanotime() + OTHER_WAIT_NS;
	int rc;

	while ((rc = word_lock(m, F_WRLCK)) == -EAGAIN || rc == -EACCES) {
		if (nanotime() >= end_ns)
			return -EBUSY;
		wait_ns(OTHER_POLL_NS);
	}
	return rc;
}

static int lock(struct precopy *f, struct err *e)
{
	struct ledger_map *m = f->map;
	int rc;

	if (m->is_memory || !m->writable || !m->base) {
		err_set(e, -EROFS,
			"the ledger of the process can be read only, so its blocks cannot be "
			"copied");
		err_hint(e, "run pmm as root, or as the user and in the container of a 'pmm run' "
			    "or 'pmm attach' that watches the process");
		return -EROFS;
	}
	rc = word_lock_in_turn(m);
	if (rc == -EBUSY) {
		err_set(e, -EBUSY, "another pmm is searching this process");
		err_hint(e, "wait until it is done");
		return -EBUSY;
	}
	if (rc)
		return err_set(e, rc, "the ledger cannot be locked: %s", strerror(-rc));
	f->state->locked = true;
	return 0;
}

/* Marks for as much of the arena as may be used soon, and a copy of the same size. */
static int make_room(struct precopy *f, struct err *e)
{
	struct precopy_state *s = f->state;
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
		return precopy_no_memory(e, strerror(errno));
	s->marks = mmap(NULL, page_up(s->nr_marks), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_POPULATE, m->fd, at);
	if (s->marks == MAP_FAILED) {
		s->marks = NULL;
		return precopy_no_memory(e, strerror(errno));
	}
	memset(s->marks, 0, s->nr_marks);
	s->copy_bytes = page_up((uint64_t)s->nr_marks << s->shift);
	s->copy = mmap(NULL, s->copy_bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s->copy == MAP_FAILED) {
		s->copy = NULL;
		return precopy_no_memory(e, strerror(errno));
	}
	madvise(s->copy, s->copy_bytes, MADV_HUGEPAGE);
	return 0;
}

/*
 * From here on every thread sees the word raised at its next look at it, and what a thread stored
 * before its last look that did not, is seen here: a barrier on all processors, without which a
 * thread's seq could still be in its store buffer.
 */
static void barrier(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		wait_ns(BARRIER_NS);
}

int precopy_events_note(struct precopy *f)
{
	struct precopy_state *s = f->state;
	struct pmm_ledger *l = &s->header;

	if (ledger_map_read(f->map, 0, l, sizeof(*l)))
		return -EBADMSG;
	for (uint32_t i = 0; i < l->nr_ctx && i < PMM_MAX_CTX; i++) {
		struct precopy_open_event o = { .seq_off = ((uint64_t)l->ctx[i] << PMM_REF_SHIFT) +
							   offsetof(struct pmm_ctx, seq) };

		if (!l->ctx[i] || ledger_map_read(f->map, o.seq_off, &o.seq, sizeof(o.seq)) ||
		    !(o.seq & 1))
			continue;
		if (vec_push(&s->open, o))
			return -ENOMEM;
	}
	return 0;
}

void precopy_events_look(struct precopy *f)
{
	struct precopy_state *s = f->state;
	size_t kept = 0;

	for (size_t i = 0; i < s->open.nr; i++) {
		uint64_t seq;

		if (!ledger_map_read(f->map, s->open.v[i].seq_off, &seq, sizeof(seq)) &&
		    seq == s->open.v[i].seq)
			s->open.v[kept++] = s->open.v[i];
	}
	s->open.nr = kept;
}

static int raise_word(struct precopy *f, struct err *e)
{
	struct precopy_state *s = f->state;
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
	rc = precopy_events_note(f);
	if (rc == -ENOMEM)
		return precopy_no_memory(e, strerror(ENOMEM));
	if (rc)
		return err_set(e, rc, "the ledger cannot be read");
	for (end = nanotime() + EVENT_WAIT_NS; s->open.nr && nanotime() < end;
	     precopy_events_look(f))
		wait_ns(POLL_NS);
	return 0;
}

void precopy_lower(struct precopy *f)
{
	struct precopy_state *s = f->state;

	if (s->raised)
		word_write(f->map, offsetof(struct pmm_ledger, changing), 0);
	if (s->locked)
		word_lock(f->map, F_UNLCK);
	s->raised = s->locked = false;
}

int precopy_raise(struct precopy *f, struct err *e)
{
	int rc = lock(f, e);

	if (!rc && ledger_map_refresh(f->map))
		rc = precopy_no_memory(e, "no address space left to map it");
	if (!rc)
		rc = make_room(f, e);
	return rc ? rc : raise_word(f, e);
}

void precopy_state_free(struct precopy *f)
{
	struct precopy_state *s = f->state;

	if (!s)
		return;
	precopy_lower(f);
	if (s->marks)
		munmap(s->marks, page_up(s->nr_marks));
	if (s->copy)
		munmap(s->copy, s->copy_bytes);
	vec_fini(&s->open);
	free(s);
	f->state = NULL;
}
