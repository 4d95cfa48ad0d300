/* Canaries around live blocks, looked at from outside. */
#include "src/capture/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

#include "include/pmm/ledger.h"

#define PAGE		4096ull
#define BATCH		256u			/* blocks read with one call; two pieces each, and IOV_MAX is 1024 */
#define CLOCK_WAITS	10u			/* of half a tick each: a clock that stands still then has nobody to advance it */
#define MOST_EDGE	(PAGE + 64)		/* bytes of canary on one side: alignments above a page are looked at no further */

/* Canary that should be in [start, end), part of the block's surroundings. */
struct edge {
	uint64_t start, end;
};

/* Where the canaries of a block are; the head of a canaried one is the end of its first edge. */
struct edges {
	struct edge before, behind;
	bool headed;
};

struct damage {
	uint64_t block;				/* index in the heap */
	uint64_t address;			/* first byte */
	uint8_t bytes[HEAP_FINDING_BYTES];
	uint8_t nr_bytes;
};

struct look {
	struct heap *h;
	pid_t pid;
	uint64_t secret;
	bool sampled;
	uint64_t pool_start, pool_end;
	uint8_t (*buffer)[2][MOST_EDGE];	/* [BATCH] */
	VEC(struct damage) damages;
};

static bool guarded(const struct look *l, const struct heap_block *b)
{
	return b->address >= l->pool_start && b->address < l->pool_end;
}

static struct edges edges_of(const struct look *l, const struct heap_block *b)
{
	uint64_t end = b->address + b->size_bytes;

	if (guarded(l, b)) {
		uint64_t last = b->size_bytes ? end - 1 : b->address;

		return (struct edges){ { b->address & ~(PAGE - 1), b->address }, { end, (last & ~(PAGE - 1)) + PAGE } };
	}
	return (struct edges){ { b->address - PMM_HEAD_BYTES, b->address }, { end, pmm_tail_end(b->address, b->size_bytes) }, true };
}

static size_t length(struct edge e)
{
	return e.end > e.start && e.end - e.start <= MOST_EDGE ? e.end - e.start : 0;
}

static void note(struct look *l, uint64_t block, const struct edge *e, const uint8_t *bytes, size_t at)
{
	struct damage d = { .block = block, .address = e->start + at };
	size_t left = length(*e) - at;

	d.nr_bytes = (uint8_t)(left < HEAP_FINDING_BYTES ? left : HEAP_FINDING_BYTES);
	memcpy(d.bytes, bytes + at, d.nr_bytes);
	(void)vec_push(&l->damages, d);		/* without memory for it the next sweep finds it */
}

enum head_state { HEAD_LIVE, HEAD_FREED, HEAD_BAD };

/* The alignment in it is all that is not known from elsewhere. A sealed one that says freed is of a block that is being released right now. */
static enum head_state head_state(const struct look *l, const struct heap_block *b, const uint8_t *bytes, unsigned *align_log2)
{
	struct pmm_head head;
	uint64_t known = b->size_bytes < PMM_SIZE_MAX ? b->size_bytes : PMM_SIZE_MAX;

	memcpy(&head, bytes, sizeof(head));
	*align_log2 = head.what >> PMM_HEAD_ALIGN_SHIFT & 63;
	if (head.seal != pmm_seal(l->secret, b->address, head.what) &&
	    head.seal != pmm_seal(l->secret, b->address, head.what & ~PMM_HEAD_FREED))
		return HEAD_BAD;
	if (head.what & PMM_HEAD_FREED)
		return HEAD_FREED;
	return (head.what & PMM_SIZE_MAX) == known ? HEAD_LIVE : HEAD_BAD;
}

/* First byte of an edge that is no canary; SIZE_MAX: all are. */
static size_t first_wrong(const struct look *l, const struct heap_block *b, const struct edge *e, const uint8_t *bytes)
{
	for (size_t i = 0; i < length(*e); i++)
		if (bytes[i] != pmm_canary_byte(l->secret, b->address, e->start + i))
			return i;
	return SIZE_MAX;
}

/* First byte of a bad head that differs from what it was, as far as can be told: the alignment that explains most of it is taken for true. */
static size_t first_wrong_of_head(const struct look *l, const struct heap_block *b, const uint8_t *bytes)
{
	unsigned fewest = PMM_HEAD_BYTES + 1;
	size_t first = 0;

	for (unsigned align = 0; align < 64; align++) {
		struct pmm_head head = { .what = (b->size_bytes < PMM_SIZE_MAX ? b->size_bytes : PMM_SIZE_MAX) |
						 (uint64_t)align << PMM_HEAD_ALIGN_SHIFT };
		uint8_t good[PMM_HEAD_BYTES];
		unsigned nr = 0;
		size_t at = 0;

		head.seal = pmm_seal(l->secret, b->address, head.what);
		memcpy(good, &head, sizeof(good));
		for (size_t i = sizeof(good); i-- > 0;) {
			nr += bytes[i] != good[i];
			at = bytes[i] != good[i] ? i : at;
		}
		if (nr < fewest) {
			fewest = nr;
			first = at;
		}
	}
	return first;
}

/* What alignment leaves before the head is known from the head only; few blocks have it. True: there is damage. */
static bool judge_gap(struct look *l, uint64_t index, unsigned align_log2)
{
	const struct heap_block *b = &l->h->blocks[index];
	uint64_t end = b->address - PMM_HEAD_BYTES, bytes = pmm_front_bytes(1ull << align_log2) - PMM_HEAD_BYTES;
	uint64_t looked = bytes < MOST_EDGE ? bytes : MOST_EDGE;
	const struct edge gap = { end - looked, end };
	uint8_t copy[MOST_EDGE];
	struct iovec here = { copy, looked }, there = { (void *)(uintptr_t)gap.start, looked };
	size_t wrong;

	if (process_vm_readv(l->pid, &here, 1, &there, 1, 0) != (ssize_t)looked)
		return false;
	wrong = first_wrong(l, b, &gap, copy);
	if (wrong != SIZE_MAX)
		note(l, index, &gap, copy, wrong);
	return wrong != SIZE_MAX;
}

static void judge(struct look *l, uint64_t index, const struct edges *e, uint8_t (*bytes)[MOST_EDGE])
{
	const struct heap_block *b = &l->h->blocks[index];
	unsigned align_log2 = 0;
	enum head_state head = e->headed ? head_state(l, b, bytes[0], &align_log2) : HEAD_LIVE;
	size_t wrong;

	if (head != HEAD_LIVE) {
		if (head == HEAD_BAD)
			note(l, index, &e->before, bytes[0], first_wrong_of_head(l, b, bytes[0]));
		return;
	}
	if (pmm_front_bytes(1ull << align_log2) > PMM_HEAD_BYTES && judge_gap(l, index, align_log2))
		return;
	wrong = e->headed ? SIZE_MAX : first_wrong(l, b, &e->before, bytes[0]);
	if (wrong != SIZE_MAX) {
		note(l, index, &e->before, bytes[0], wrong);
		return;
	}
	wrong = first_wrong(l, b, &e->behind, bytes[1]);
	if (wrong != SIZE_MAX)
		note(l, index, &e->behind, bytes[1], wrong);
}

/* Read the edges of blocks and judge those that could be read whole; how many blocks, or -errno. */
static int look_at(struct look *l, const uint64_t *index, unsigned nr)
{
	struct iovec here[2 * BATCH] = { 0 }, there[2 * BATCH] = { 0 };
	struct edges edges[BATCH];
	unsigned pieces = 0, done = 0;
	ssize_t got;

	if (!nr)
		return 0;
	for (unsigned i = 0; i < nr; i++) {
		struct edge *side[2] = { &edges[i].before, &edges[i].behind };

		edges[i] = edges_of(l, &l->h->blocks[index[i]]);
		for (int k = 0; k < 2; k++, pieces++) {
			here[pieces] = (struct iovec){ l->buffer[i][k], length(*side[k]) };
			there[pieces] = (struct iovec){ (void *)(uintptr_t)side[k]->start, length(*side[k]) };
		}
	}
	got = process_vm_readv(l->pid, here, pieces, there, pieces, 0);
	if (got < 0)
		return errno == EFAULT ? 1 : -errno;	/* the first is not there any more */
	for (; done < nr; done++) {
		size_t want = length(edges[done].before) + length(edges[done].behind);

		if ((size_t)got < want)
			break;
		got -= (ssize_t)want;
		judge(l, index[done], &edges[done], l->buffer[done]);
	}
	return (int)(done < nr ? done + 1 : done);	/* one that is not there is passed over */
}

static bool to_be_looked_at(const struct look *l, const struct heap_block *b)
{
	return b->kind != PMM_KIND_OTHER && (!l->sampled || guarded(l, b));
}

/* 0 or -errno. */
static int look_at_all(struct look *l)
{
	uint64_t index[BATCH];
	unsigned nr = 0;

	for (uint64_t i = 0; i < l->h->nr_blocks || nr;) {
		int done;

		while (nr < BATCH && i < l->h->nr_blocks) {
			if (to_be_looked_at(l, &l->h->blocks[i]))
				index[nr++] = i;
			i++;
		}
		done = look_at(l, index, nr);
		if (done < 0)
			return done;
		nr -= (unsigned)done;
		memmove(index, index + done, nr * sizeof(*index));
	}
	return 0;
}

/* ---- a second look ---- */

static const struct heap_block *block_at(const struct heap *h, uint64_t address)
{
	size_t i = array_while(h->blocks, h->nr_blocks, b, b->address < address);

	return i < h->nr_blocks && h->blocks[i].address == address ? &h->blocks[i] : NULL;
}

/* The same block in a later reading of the ledger; NULL: it is not live any more. */
static const struct heap_block *same_block(const struct heap *first, const struct heap_block *b, const struct heap *later)
{
	const struct heap_block *now = block_at(later, b->address);

	return now && now->size_bytes == b->size_bytes && now->birth_ns == b->birth_ns &&
	       later->sites[now->site].number == first->sites[b->site].number ? now : NULL;
}

/* Damaged in a second reading of ledger and memory. */
static bool damaged_again(struct look *again, const struct heap *first, const struct heap_block *b)
{
	const struct heap_block *now = same_block(first, b, again->h);
	uint64_t index;

	if (!now)
		return false;
	index = (uint64_t)(now - again->h->blocks);
	again->damages.nr = 0;
	return look_at(again, &index, 1) == 1 && again->damages.nr;
}

/* Until births of now cannot be those of the damaged blocks. */
static void wait_for_clock(const struct look *l, struct ledger_map *m)
{
	const struct timespec half = { .tv_nsec = PMM_TICK_NS / 2 };
	uint64_t youngest_ns = 0;

	vec_each(&l->damages, d) {
		uint64_t birth_ns = l->h->blocks[d->block].birth_ns;

		youngest_ns = birth_ns > youngest_ns ? birth_ns : youngest_ns;
	}
	for (unsigned i = 0; i < CLOCK_WAITS && ledger_map_tick(m) * (uint64_t)PMM_TICK_NS <= youngest_ns + PMM_TICK_NS; i++)
		nanosleep(&half, NULL);
}

/* What a process executes: its slot and when its ledger began. 0 = it cannot be told. */
static uint64_t image_of(struct ledger_map *m)
{
	uint32_t start_tick;

	if (ledger_map_read(m, offsetof(struct pmm_ledger, start_tick), &start_tick, sizeof(start_tick)))
		return 0;
	return (uint64_t)(m->slot + 1) << 32 | start_tick;
}

/* Is the memory that was read still that of the ledger that was? After exec it is another program's. */
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
static int confirm(struct look *l, struct ledger_map *m, uint64_t image, struct err *e)
{
	const struct ledger_options o = { .running = true, .pid = l->pid };
	struct look again = *l;
	struct heap *last = NULL;
	int rc;

	again.damages.v = NULL;
	again.damages.nr = again.damages.room = 0;
	wait_for_clock(l, m);
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
	const struct sweep_seen *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->birth_ns < y->birth_ns ? -1 : x->birth_ns > y->birth_ns;
}

/* Remember a block; false: it was known. */
static bool see(struct sweep *s, const struct heap_block *b)
{
	struct sweep_seen new = { b->address, b->birth_ns };
	size_t i = vec_while(&s->seen, p, compare_seen(p, &new) < 0);

	if (i < s->seen.nr && !compare_seen(&s->seen.v[i], &new))
		return false;
	if (vec_push(&s->seen, new))
		return true;
	memmove(&s->seen.v[i + 1], &s->seen.v[i], (s->seen.nr - 1 - i) * sizeof(new));
	s->seen.v[i] = new;
	return true;
}

static uint8_t type_of(const struct heap_block *b, const struct damage *d)
{
	return d->address < b->address ? PMM_FINDING_UNDERRUN : PMM_FINDING_OVERRUN;
}

/* Append a finding. 0 or -ENOMEM. */
static int add(struct look *l, const struct damage *d, uint64_t before_ns, uint32_t number)
{
	struct heap *h = l->h;
	const struct heap_block *b = &h->blocks[d->block];
	struct heap_finding *all = realloc(h->findings, (h->nr_findings + 1) * sizeof(*all)), *f;

	if (!all)
		return -ENOMEM;
	h->findings = all;
	f = &all[h->nr_findings];
	*f = (struct heap_finding){
		.type = type_of(b, d), .by = PMM_BY_SWEEP,
		.access = PMM_ACCESS_WRITE, .kind = b->kind, .guarded = guarded(l, b), .nr_bytes = d->nr_bytes, .text = strdup(""),
		.number = number, .count = 1, .first_ns = h->taken_ns, .last_ns = h->taken_ns,
		.since_ns = before_ns > b->birth_ns ? before_ns : 0, .address = d->address, .block = b->address,
		.block_bytes = b->size_bytes, .site = HEAP_NO_SITE, .alloc_site = b->site, .free_site = HEAP_NO_SITE,
		.thread = HEAP_NO_THREAD, .alloc_thread = b->thread, .free_thread = HEAP_NO_THREAD, .alloc_ns = b->birth_ns,
	};
	memcpy(f->bytes, d->bytes, d->nr_bytes);
	if (!f->text)
		return -ENOMEM;
	h->nr_findings++;
	return 0;
}

/* Has the write been told already, when a function was about to do it? Of identical errors only the first one's block is known. */
static bool told(const struct heap *h, const struct heap_block *b)
{
	for (uint32_t i = 0; i < h->nr_findings; i++) {
		const struct heap_finding *f = &h->findings[i];

		if (f->by == PMM_BY_FUNCTION && f->access == PMM_ACCESS_WRITE && f->block == b->address && f->alloc_ns == b->birth_ns)
			return true;
	}
	return false;
}

/* The finding of this sweep, from index `from` on, that says the same of another block of the call site; NULL: there is none. */
static struct heap_finding *same_finding(const struct look *l, const struct damage *d, uint64_t before_ns, uint64_t from)
{
	const struct heap_block *b = &l->h->blocks[d->block];
	uint8_t type = type_of(b, d);

	for (uint64_t i = from; i < l->h->nr_findings; i++) {
		struct heap_finding *f = &l->h->findings[i];

		if (f->type == type && f->alloc_site == b->site && f->kind == b->kind && f->guarded == guarded(l, b) &&
		    !f->since_ns == (before_ns <= b->birth_ns))
			return f;
	}
	return NULL;
}

/* The number of findings, or -ENOMEM. */
static int add_new(struct sweep *s, struct look *l, uint32_t first)
{
	uint64_t before_ns = s->last_ns, from = l->h->nr_findings;
	int nr = 0;

	vec_each(&l->damages, d) {
		struct heap_finding *same;

		if (!see(s, &l->h->blocks[d->block]) || told(l->h, &l->h->blocks[d->block]))
			continue;
		same = same_finding(l, d, before_ns, from);
		if (same)
			same->count++;
		else if (nr == PMM_MAX_FINDINGS)
			l->h->check.findings_lost++;
		else if (add(l, d, before_ns, first + (uint32_t)nr))
			return -ENOMEM;
		else
			nr++;
	}
	return nr;
}

static int sweep(struct sweep *s, struct look *l, struct ledger_map *m, uint32_t first, struct err *e)
{
	uint64_t image = image_of(m);
	int rc;

	if (image != s->image) {
		sweep_fini(s);
		*s = (struct sweep){ .image = image };
	}
	rc = look_at_all(l);
	if (rc)
		return err_set(e, rc, rc == -ESRCH ? "process %d has ended" : "cannot read the memory of process %d: %s", (int)l->pid,
			       strerror(-rc));
	if (l->damages.nr)
		rc = confirm(l, m, image, e);
	if (!rc)
		rc = add_new(s, l, first);
	if (rc == -ENOMEM)
		err_set(e, rc, "out of memory");
	if (rc < 0)
		return rc;
	s->last_ns = l->h->taken_ns;
	l->h->check.sweeps = ++s->sweeps;
	l->h->check.swept_ns = s->last_ns;
	return rc;
}

int sweep_process(struct sweep *s, pid_t pid, struct ledger_map *m, uint32_t first, struct heap **out, struct err *e)
{
	const struct ledger_options o = { .running = true, .pid = pid };
	struct look l = { .pid = pid, .secret = m->tree.check.secret, .sampled = m->tree.check.level == PMM_CHECK_SAMPLED };
	struct pmm_check_state state;
	int rc;

	if (m->tree.check.level == PMM_CHECK_NONE)
		return err_set(e, -ENODATA, "process %d is not checked: its blocks have no canaries", (int)pid);
	if (ledger_map_read(m, offsetof(struct pmm_ledger, check), &state, sizeof(state)))
		return err_set(e, -EBADMSG, "the ledger of process %d cannot be read", (int)pid);
	l.pool_start = state.pool_start;
	l.pool_end = state.pool_end;
	l.buffer = malloc(BATCH * sizeof(*l.buffer));
	rc = l.buffer ? ledger_read(m, &o, &l.h, e) : err_set(e, -ENOMEM, "out of memory");
	if (!rc)
		rc = sweep(s, &l, m, first, e);
	free(l.buffer);
	vec_fini(&l.damages);
	if (rc < 0)
		heap_free(l.h);
	else
		*out = l.h;
	return rc;
}

void sweep_fini(struct sweep *s)
{
	vec_fini(&s->seen);
}
