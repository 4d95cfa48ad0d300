/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One reading of a ledger: consistent copies of its words, and its strings. */
#include "src/ledger/ledger_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/str.h"
#include "src/base/utf8.h"

#define SPIN_TRIES	100		/* of a copy between two events, before waiting */
#define MAX_WAITS	200		/* of WAIT_NS in a whole reading ... */
#define MAX_WAITS_EACH	10		/* ... and for one thread, which may have been stopped */
#define WAIT_NS		100000
#define MAX_COPIES	16		/* of a part that changes */
#define MAX_STRING	(1u << 20)

/*
 * Parts of the head that the agent completes by storing a word of theirs last: read again once that
 * word has been read, since a copy has its words in no order.
 */
static int completed_read(struct ledger_reader *r)
{
	struct pmm_ledger *l = r->l;
	int rc = 0;

	if (l->death.state)
		rc = ledger_map_read(r->m, offsetof(struct pmm_ledger, death), &l->death,
				     sizeof(l->death));
	if (!rc && l->allocator_view.valid)
		rc = ledger_map_read(r->m, offsetof(struct pmm_ledger, allocator_view),
				     &l->allocator_view, sizeof(l->allocator_view));
	return rc;
}

static int part_read(struct ledger_reader *r, size_t from, size_t to)
{
	return ledger_map_read(r->m, from, (unsigned char *)r->l + from, to - from);
}

/* Bytes of a directory that has `nr` entries in use: whole words, which are read whole. */
static size_t dir_bytes(uint32_t nr, uint32_t most)
{
	nr = nr < most ? nr : most;
	return (nr + (nr & 1)) * sizeof(pmm_ref);
}

/*
 * The head, of its large directories only what is in use: the rest is zeros, whose pages need not
 * be touched. The numbers in use come first. stamp_dir: ledger_reader_stamps().
 */
static int head_read(struct ledger_reader *r)
{
	const size_t sites = offsetof(struct pmm_ledger, site_dir),
		     ctx = offsetof(struct pmm_ledger, ctx),
		     guards = offsetof(struct pmm_ledger, guard_dir),
		     srclocs = offsetof(struct pmm_ledger, nr_srclocs);
	const struct pmm_ledger *l = r->l;

	_Static_assert(offsetof(struct pmm_ledger, nr_ctx) < offsetof(struct pmm_ledger, site_dir),
		       "numbers come first");
	if (part_read(r, 0, sites) ||
	    part_read(r, sites, sites + dir_bytes((l->nr_sites >> PMM_SITE_SHIFT) + 1,
						  PMM_MAX_SITES >> PMM_SITE_SHIFT)) ||
	    part_read(r, offsetof(struct pmm_ledger, thread_dir),
		      ctx + dir_bytes(l->nr_ctx, PMM_MAX_CTX)) ||
	    part_read(r, offsetof(struct pmm_ledger, leave), guards) ||
	    part_read(r, srclocs, sizeof(*l)))
		return -EFAULT;
	return r->m->tree.check.level == PMM_CHECK_NONE ? 0 : part_read(r, guards, srclocs);
}

int ledger_reader_refresh(struct ledger_reader *r)
{
	struct pmm_ledger *l = r->l;

	if (ledger_map_refresh(r->m) || head_read(r) || completed_read(r))
		return -EBADMSG;
	l->nr_nodes = l->nr_nodes < PMM_MAX_NODES ? l->nr_nodes : PMM_MAX_NODES;
	l->nr_sites = l->nr_sites < PMM_MAX_SITES ? l->nr_sites : PMM_MAX_SITES;
	l->nr_modules = l->nr_modules < PMM_MAX_MODULES ? l->nr_modules : PMM_MAX_MODULES;
	l->nr_threads = l->nr_threads < PMM_MAX_THREADS ? l->nr_threads : PMM_MAX_THREADS;
	l->nr_srclocs = l->nr_srclocs < PMM_MAX_SRCLOCS ? l->nr_srclocs : PMM_MAX_SRCLOCS;
	l->nr_ctx = l->nr_ctx < PMM_MAX_CTX ? l->nr_ctx : PMM_MAX_CTX;
	return 0;
}

uint64_t ledger_reader_arena(const struct ledger_reader *r)
{
	return r->m->arena_ready - r->m->arena_off;
}

static uint64_t ref_off(pmm_ref ref)
{
	return (uint64_t)ref << PMM_REF_SHIFT;
}

/* Wait for a context to finish its event; false when waiting is over. */
static bool wait_for(struct ledger_reader *r, unsigned tries)
{
	if (tries < SPIN_TRIES)
		return true;
	if (tries == SPIN_TRIES + MAX_WAITS_EACH || r->waits == MAX_WAITS)
		return false;
	r->waits++;
	nanosleep(&(struct timespec){ .tv_nsec = WAIT_NS }, NULL);
	return true;
}

/*
 * Copy what the owner of context `ctx` changes while it records an event, between two events. Gives
 * up after a while (the thread was stopped in the middle), which counts as drift.
 */
static int copy_between(struct ledger_reader *r, pmm_ref ctx,
			int (*copy)(struct ledger_reader *r, void *arg), void *arg)
{
	uint64_t seq_off = ref_off(ctx) + offsetof(struct pmm_ctx, seq), before = 0, after = 0;

	if (!ctx)
		return -EFAULT;
	if (!r->o->running)
		return copy(r, arg) ? -EFAULT : 0;
	for (unsigned tries = 0;; tries++) {
		if (ledger_map_read(r->m, seq_off, &before, sizeof(before)) || copy(r, arg) ||
		    ledger_map_read(r->m, seq_off, &after, sizeof(after)))
			return -EFAULT;
		if (before == after && !(before & 1))
			return 0;
		if (before == after && r->stuck_off == seq_off && r->stuck_seq == before)
			break;
		if (!wait_for(r, tries))
			break;
	}
	if (before == after) {
		r->stuck_off = seq_off;
		r->stuck_seq = before;
	}
	r->drift++;
	return 0;
}

struct record_copy {
	pmm_ref ref;
	struct pmm_record *record;
	struct pmm_lifetimes *lifetimes;
};

static int copy_record(struct ledger_reader *r, void *arg)
{
	struct record_copy *c = arg;

	if (ledger_map_read_at(r->m, c->ref, 0, c->record, sizeof(*c->record)))
		return -EFAULT;
	return c->record->lifetimes ? ledger_map_read_at(r->m, c->record->lifetimes, 0,
							 c->lifetimes, sizeof(*c->lifetimes))
				    : 0;
}

int ledger_reader_record(struct ledger_reader *r, pmm_ref ctx, pmm_ref ref, struct pmm_record *to,
			 struct pmm_lifetimes *lifetimes)
{
	return copy_between(r, ctx, copy_record, &(struct record_copy){ ref, to, lifetimes });
}

struct ctx_copy {
	pmm_ref ref;
	struct pmm_ctx *ctx;
};

static int copy_ctx(struct ledger_reader *r, void *arg)
{
	struct ctx_copy *c = arg;

	return ledger_map_read_at(r->m, c->ref, 0, c->ctx, sizeof(*c->ctx));
}

int ledger_reader_part(struct ledger_reader *r, uint64_t off, void *to, size_t size)
{
	const struct ledger_frozen *f = r->o->frozen;

	if (!f)
		return ledger_map_read(r->m, off, to, size);
	if (off < f->arena_off || off - f->arena_off > f->bytes ||
	    size > f->bytes - (off - f->arena_off))
		return -EFAULT;
	memcpy(to, f->arena + (off - f->arena_off), size);
	return 0;
}

int ledger_reader_part_settled(struct ledger_reader *r, uint64_t off, void *to, void *again,
			       size_t size)
{
	int rc = ledger_reader_part(r, off, to, size);

	if (rc || !r->o->running || r->o->frozen)
		return rc;
	for (unsigned i = 0; i < MAX_COPIES; i++) {
		rc = ledger_reader_part(r, off, again, size);
		if (rc || !memcmp(to, again, size))
			return rc;
		memcpy(to, again, size);
	}
	r->drift++;
	return 0;
}

int ledger_reader_ctx(struct ledger_reader *r, uint32_t i, struct pmm_ctx *ctx)
{
	pmm_ref ref = r->l->ctx[i];

	if (!ref)
		return -ENOENT;
	if (!copy_between(r, ref, copy_ctx, &(struct ctx_copy){ ref, ctx }))
		return 0;
	r->damaged++;
	return -ENOENT;
}

int ledger_reader_stamps(struct ledger_reader *r)
{
	const uint32_t chunk = 1u << PMM_STAMP_SHIFT;
	uint64_t possible = ledger_reader_arena(r) / sizeof(struct pmm_stamp) + 1;
	struct pmm_stamp *stamps;
	uint32_t nr;

	if (ledger_map_read(r->m, offsetof(struct pmm_ledger, nr_stamps), &nr, sizeof(nr)))
		return -EBADMSG;
	nr = nr < PMM_MAX_STAMPS ? nr : PMM_MAX_STAMPS;
	nr = nr < possible ? nr : (uint32_t)possible;
	if (nr <= r->nr_stamps)
		return 0;
	if (ledger_map_refresh(r->m) ||
	    ledger_map_read(r->m, offsetof(struct pmm_ledger, stamp_dir), r->l->stamp_dir,
			    dir_bytes((nr >> PMM_STAMP_SHIFT) + 1,
				      PMM_MAX_STAMPS >> PMM_STAMP_SHIFT)))
		return -EBADMSG;
	stamps = calloc(((size_t)nr + chunk - 1) / chunk * chunk, sizeof(*stamps));
	if (!stamps)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i += chunk)
		if (!r->l->stamp_dir[i / chunk] ||
		    ledger_map_read_at(r->m, r->l->stamp_dir[i / chunk], 0, &stamps[i],
				       chunk * sizeof(*stamps)))
			r->damaged++;
	free(r->stamps);
	r->stamps = stamps;
	r->nr_stamps = nr;
	return 0;
}

uint64_t ledger_reader_events(struct ledger_reader *r)
{
	uint64_t events = 0, seq;

	for (uint32_t i = 0; i < r->l->nr_ctx; i++)
		if (r->l->ctx[i] &&
		    !ledger_map_read(r->m, ref_off(r->l->ctx[i]) + offsetof(struct pmm_ctx, seq),
				     &seq, sizeof(seq)))
			events += (seq + 1) / 2;
	return events;
}

bool ledger_reader_entry(const pmm_ref *dir, uint32_t nr, uint32_t shift, pmm_ref *chunk,
			 uint32_t *index)
{
	*chunk = dir[nr >> shift];
	*index = nr & ((1u << shift) - 1);
	return *chunk != 0;
}

/* ---- strings --------------------------------------------------------------------------------- */

/* In place: line ends and tabs become blanks, what is not harmless becomes '?'. NULs stay. */
static void clean(char *s, size_t n)
{
	for (size_t i = 0, len; i < n; i += len + 1) {
		len = strnlen(s + i, n - i);
		for (size_t k = i; k < i + len; k++)
			if (s[k] == '\n' || s[k] == '\t')
				s[k] = ' ';
		utf8_mask(s + i, len, '?');
	}
}

void ledger_reader_name(char *to, const char *from, size_t size)
{
	size_t n = strnlen(from, size);

	memcpy(to, from, n);
	memset(to + n, 0, size + 1 - n);
	clean(to, n);
}

/* Copy of `length` bytes and a NUL; "" and *length 0 where there is none. */
static char *copy_bytes(struct ledger_reader *r, pmm_ref ref, uint32_t *length)
{
	char *s;

	if (!ref || *length > MAX_STRING)
		*length = 0;
	s = calloc(1, (size_t)*length + 1);
	if (s && *length && ledger_map_read_at(r->m, ref, 0, s, *length)) {
		r->damaged++;
		*s = '\0';
		*length = 0;
	}
	if (s)
		clean(s, *length);
	return s;
}

char *ledger_reader_string(struct ledger_reader *r, pmm_ref ref, uint32_t length)
{
	return copy_bytes(r, ref, &length);
}

/*
 * A program that writes a title over its arguments fills up with NULs (setproctitle): without
 * these, and is the title all there is?
 */
static bool title_only(const char *args, uint32_t *length)
{
	uint32_t n = *length;

	while (n && !args[n - 1])
		n--;
	/* one that ends an argument, two for an empty one behind it */
	if (!n || *length - n < 3)
		return false;
	*length = n;
	return !memchr(args, '\0', n);
}

char *ledger_reader_cmdline(struct ledger_reader *r, pmm_ref ref, uint32_t length)
{
	char *args = copy_bytes(r, ref, &length);
	struct str line = STR_INIT;

	if (!args)
		return NULL;
	if (title_only(args, &length)) {
		str_add(&line, args);
		free(args);
		return str_steal(&line);
	}
	for (size_t i = 0; i < length; i += strlen(args + i) + 1) {
		if (i)
			str_addc(&line, ' ');
		utf8_add_quoted(&line, args + i);
	}
	str_add(&line, "");
	free(args);
	return str_steal(&line);
}
