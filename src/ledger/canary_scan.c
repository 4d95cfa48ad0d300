/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Canary scans: what is found damaged is looked at again before it is a finding. */
#include "src/ledger/canary_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "include/pmm/ledger.h"
#include "src/ledger/canary_judge.h"

/* of half a tick each, for a clock that may not advance */
#define CLOCK_WAITS	30u
/* and while its monitor lives, which may be stopped, or on a busy machine not get to it */
#define ALIVE_WAITS	400u

/* ---- the clock of births ---- */

/* Until the processes' clock is at `tick`. What it is then. */
static uint32_t wait_for_clock(struct ledger_map *m, uint64_t tick)
{
	const struct timespec half = { .tv_nsec = PMM_TICK_NS / 2 };
	uint32_t now = ledger_map_clock(m);

	for (unsigned i = 0;
	     now < tick && (i < CLOCK_WAITS || (i < ALIVE_WAITS && ledger_map_ticked(m))); i++) {
		nanosleep(&half, NULL);
		now = ledger_map_clock(m);
	}
	return now;
}

/*
 * When the last canary scan saw the block well; 0: it may have been allocated since, or there was
 * none.
 */
static uint64_t well_ns(const struct canary_scan *s, const struct heap_block *b)
{
	return b->birth_ns < s->older_ns ? s->last_ns : 0;
}

/* ---- a second look ---- */

static const struct heap_block *block_at(const struct heap *h, uint64_t address)
{
	size_t i = array_while(h->blocks, h->nr_blocks, b, b->address < address);

	return i < h->nr_blocks && h->blocks[i].address == address ? &h->blocks[i] : NULL;
}

/* The same block in a later reading of the ledger; NULL: it is not live any more. */
static const struct heap_block *same_block(const struct heap *first, const struct heap_block *b,
					   const struct heap *later)
{
	const struct heap_block *now = block_at(later, b->address);

	return now && now->size_bytes == b->size_bytes && now->birth_ns == b->birth_ns &&
	       later->sites[now->site].number == first->sites[b->site].number ? now : NULL;
}

/* Damaged in a second reading of ledger and memory. */
static bool damaged_again(struct canary_judge *again, const struct heap *first,
			  const struct heap_block *b)
{
	const struct heap_block *now = same_block(first, b, again->h);

	return now && canary_judge_damaged(again, (uint64_t)(now - again->h->blocks));
}

/* Until births of now cannot be those of the damaged blocks. */
static void outlive(const struct canary_judge *l, struct ledger_map *m)
{
	uint64_t youngest_ns = 0;

	vec_each(&l->damages, d) {
		uint64_t birth_ns = l->h->blocks[d->block].birth_ns;

		youngest_ns = birth_ns > youngest_ns ? birth_ns : youngest_ns;
	}
	wait_for_clock(m, youngest_ns / PMM_TICK_NS + 2);
}

/* What a process executes. 0 = it is not known. */
static uint64_t image_of(struct ledger_map *m)
{
	uint64_t image;

	return ledger_map_read(m, offsetof(struct pmm_ledger, image), &image, sizeof(image))
		       ? 0
		       : image;
}

/*
 * Is the memory that was read still that of the ledger that was? After exec it is another
 * program's.
 */
static bool same_image(pid_t pid, uint64_t image)
{
	struct err e = { .text = "" };
	struct ledger_map *m = NULL;
	bool same = !ledger_map_open_pid(pid, &m, &e) && image_of(m) == image;

	ledger_map_close(m);
	return same;
}

#define keep_if(l, condition)							\
	do {									\
		size_t kept = 0;						\
										\
		vec_each(&(l)->damages, d)					\
			if (condition)						\
				(l)->damages.v[kept++] = *d;			\
		(l)->damages.nr = kept;						\
	} while (0)

/* Keep only what is still so. 0 or -errno with `e`. */
static int confirm(struct canary_judge *l, struct ledger_map *m, uint64_t image, struct err *e)
{
	const struct ledger_options o = { .running = true, .pid = l->pid };
	struct canary_judge again = *l;
	struct heap *last = NULL;
	int rc;

	again.damages.v = NULL;
	again.damages.nr = again.damages.room = 0;
	outlive(l, m);
	rc = ledger_read(m, &o, &again.h, e);
	if (rc)
		return rc;
	keep_if(l, damaged_again(&again, l->h, &l->h->blocks[d->block]));
	rc = l->damages.nr ? ledger_read(m, &o, &last, e) : 0;
	if (!rc && last)
		keep_if(l, same_block(l->h, &l->h->blocks[d->block], last));
	if (l->damages.nr && !same_image(l->pid, image))
		l->damages.nr = 0;
	heap_free(last);
	heap_free(again.h);
	vec_fini(&again.damages);
	return rc;
}

/* ---- findings ---- */

static int compare_seen(const void *a, const void *b)
{
	const struct canary_scan_seen *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->birth_ns < y->birth_ns ? -1 : x->birth_ns > y->birth_ns;
}

/* Remember a damaged block; false: it was known. */
static bool see(struct canary_scan *s, const struct heap_block *b, uint64_t damage)
{
	struct canary_scan_seen new = { b->address, b->birth_ns, damage };
	size_t i = vec_while(&s->seen, p, compare_seen(p, &new) < 0);

	if (i < s->seen.nr && !compare_seen(&s->seen.v[i], &new))
		return false;
	if (vec_push(&s->seen, new))
		return true;
	memmove(&s->seen.v[i + 1], &s->seen.v[i], (s->seen.nr - 1 - i) * sizeof(new));
	s->seen.v[i] = new;
	return true;
}

bool canary_scan_has_found(const struct canary_scan *s, const struct heap_finding *f)
{
	struct canary_scan_seen block = { .address = f->block, .birth_ns = f->alloc_ns };
	size_t i = vec_while(&s->seen, p, compare_seen(p, &block) < 0);

	return f->by == PMM_BY_RELEASE && !f->parent_pid && i < s->seen.nr &&
	       !compare_seen(&s->seen.v[i], &block) && s->seen.v[i].damage == f->address;
}

static uint8_t type_of(const struct heap_block *b, const struct canary_scan_damage *d)
{
	return d->address < b->address ? PMM_FINDING_UNDERRUN : PMM_FINDING_OVERRUN;
}

/* Append a finding. 0 or -ENOMEM. */
static int add(const struct canary_scan *s, struct canary_judge *l,
	       const struct canary_scan_damage *d, uint32_t number)
{
	struct heap *h = l->h;
	const struct heap_block *b = &h->blocks[d->block];
	struct heap_finding *all = realloc(h->findings, (h->nr_findings + 1) * sizeof(*all)), *f;

	if (!all)
		return -ENOMEM;
	h->findings = all;
	f = &all[h->nr_findings];
	*f = (struct heap_finding){
		.type = type_of(b, d),
		.by = PMM_BY_SCAN,
		.access = PMM_ACCESS_WRITE,
		.kind = b->kind,
		.guarded = canary_judge_guarded(l, b),
		.nr_bytes = d->nr_bytes,
		.text = strdup(""),
		.number = number,
		.count = 1,
		.first_ns = h->taken_ns,
		.last_ns = h->taken_ns,
		.since_ns = well_ns(s, b),
		.address = d->address,
		.block = b->address,
		.block_bytes = b->size_bytes,
		.site = HEAP_NO_SITE,
		.alloc_site = b->site,
		.free_site = HEAP_NO_SITE,
		.thread = HEAP_NO_THREAD,
		.alloc_thread = b->thread,
		.free_thread = HEAP_NO_THREAD,
		.alloc_ns = b->birth_ns,
	};
	memcpy(f->bytes, d->bytes, d->nr_bytes);
	if (!f->text)
		return -ENOMEM;
	h->nr_findings++;
	return 0;
}

/*
 * Does a finding say that a function was about to overwrite that? Of identical errors it names the
 * first one's block; the agent knows the others.
 */
static bool is_reported(const struct canary_judge *l, const struct heap_block *b)
{
	for (uint32_t i = 0; i < l->h->nr_findings; i++) {
		const struct heap_finding *f = &l->h->findings[i];

		if (f->by == PMM_BY_FUNCTION && f->access == PMM_ACCESS_WRITE &&
		    f->block == b->address && f->alloc_ns == b->birth_ns)
			return true;
	}
	for (uint32_t i = 0; l->reported && i < PMM_REPORTED_WAYS; i++) {
		const struct pmm_reported *r = &l->reported[pmm_reported_at(b->address) + i];

		if (r->block == b->address && (uint64_t)r->tick * PMM_TICK_NS >= b->birth_ns)
			return true;
	}
	return false;
}

/*
 * The finding of this canary scan, from index `from` on, that says the same of another block of the
 * call site; NULL: there is none.
 */
static struct heap_finding *same_finding(const struct canary_scan *s, const struct canary_judge *l,
					 const struct canary_scan_damage *d, uint64_t from)
{
	const struct heap_block *b = &l->h->blocks[d->block];
	uint8_t type = type_of(b, d);

	for (uint64_t i = from; i < l->h->nr_findings; i++) {
		struct heap_finding *f = &l->h->findings[i];

		if (f->type == type && f->alloc_site == b->site && f->kind == b->kind &&
		    f->guarded == canary_judge_guarded(l, b) && f->since_ns == well_ns(s, b))
			return f;
	}
	return NULL;
}

/* The number of findings, or -ENOMEM. */
static int add_new(struct canary_scan *s, struct canary_judge *l, uint32_t first)
{
	uint64_t from = l->h->nr_findings;
	int nr = 0;

	vec_each(&l->damages, d) {
		struct heap_finding *same;

		if (!see(s, &l->h->blocks[d->block], d->address) ||
		    is_reported(l, &l->h->blocks[d->block]))
			continue;
		same = same_finding(s, l, d, from);
		if (same)
			same->count++;
		else if (nr == PMM_MAX_FINDINGS)
			l->h->check.findings_lost++;
		else if (add(s, l, d, first + (uint32_t)nr))
			return -ENOMEM;
		else
			nr++;
	}
	return nr;
}

static int scan(struct canary_scan *s, struct canary_judge *l, struct ledger_map *m, uint32_t clock,
		uint32_t first, struct err *e)
{
	uint64_t image = image_of(m);
	int rc;

	if (image != s->image) {
		canary_scan_fini(s);
		*s = (struct canary_scan){ .image = image };
	}
	rc = canary_judge_all(l);
	if (rc)
		return err_set(e, rc,
			       rc == -ESRCH ? "process %d has ended"
					    : "cannot read the memory of process %d: %s",
			       (int)l->pid, strerror(-rc));
	if (l->damages.nr) {
		rc = confirm(l, m, image, e);
		l->reported = canary_judge_reported(l);
	}
	if (!rc)
		rc = add_new(s, l, first);
	if (rc == -ENOMEM)
		err_set(e, rc, "out of memory");
	if (rc < 0)
		return rc;
	s->last_ns = l->h->taken_ns;
	s->older_ns = clock * (uint64_t)PMM_TICK_NS;
	l->h->check.scans = ++s->scans;
	l->h->check.swept_ns = s->last_ns;
	return rc;
}

int canary_scan_process(struct canary_scan *s, pid_t pid, struct ledger_map *m, uint32_t first,
			struct heap **out, struct err *e)
{
	const struct ledger_options o = { .running = true, .pid = pid };
	struct canary_judge l = { .pid = pid,
				  .secret = m->tree.check.secret,
				  .sampled = m->tree.check.level == PMM_CHECK_SAMPLED };
	struct pmm_check_state state;
	uint32_t clock;
	int rc;

	if (m->tree.check.level == PMM_CHECK_NONE)
		return err_set(e, -ENODATA,
			       "process %d is not checked: its blocks have no canaries", (int)pid);
	if (ledger_map_read(m, offsetof(struct pmm_ledger, check), &state, sizeof(state)))
		return err_set(e, -EBADMSG, "the ledger of process %d cannot be read", (int)pid);
	l.pool_start = state.pool_start;
	l.pool_end = state.pool_end;
	l.generation = state.generation;
	l.reported_at = state.reported;
	l.buffer = canary_judge_buffer();
	clock = wait_for_clock(m, ledger_map_tick(m));
	rc = l.buffer ? ledger_read(m, &o, &l.h, e) : err_set(e, -ENOMEM, "out of memory");
	if (!rc)
		rc = scan(s, &l, m, clock, first, e);
	free(l.buffer);
	free(l.reported);
	vec_fini(&l.damages);
	if (rc < 0)
		heap_free(l.h);
	else
		*out = l.h;
	return rc;
}

int canary_scan_file(struct canary_scan *s, pid_t pid, int fd, int board_fd, struct heap **out,
		     struct err *e)
{
	struct ledger_map *m = NULL;
	int rc = fd >= 0 ? ledger_map_open_fd(fd, 0, &m, e) : ledger_map_open_pid(pid, &m, e);

	if (!rc && fd >= 0)
		ledger_map_set_clock(m, board_fd);
	if (!rc)
		rc = canary_scan_process(s, pid, m, PMM_MAX_FINDINGS + (uint32_t)s->seen.nr, out,
					 e);
	ledger_map_close(m);
	return rc;
}

void canary_scan_fini(struct canary_scan *s)
{
	vec_fini(&s->seen);
}
