/* SPDX-License-Identifier: GPL-2.0-or-later
 * The truth of kill_victim and what pmm has recorded, compared: kill_compare.h.
 */
#include "tests/prog/kill_compare.h"

#include <stdlib.h>

#include "include/pmm/ledger.h"
#include "src/model/heap_lifetimes.h"
#include "tests/prog/truth_driver.h"

#define MOST_FLIGHTS	(KILL_THREADS + KILL_LEFT)

static const unsigned char kind_of_leaf[KILL_LEAVES] = {
	PMM_KIND_MALLOC, PMM_KIND_CALLOC, PMM_KIND_REALLOC, PMM_KIND_MEMALIGN, PMM_KIND_ALIGNED_ALLOC, PMM_KIND_POSIX_MEMALIGN,
	PMM_KIND_REALLOCARRAY, PMM_KIND_MALLOC,
};

struct comparison {
	const struct kill_truth *truth;
	const struct heap *h;
	const struct kill_note *flight[MOST_FLIGHTS];
	bool old_found[MOST_FLIGHTS], new_found[MOST_FLIGHTS];
	uint32_t flight_tid[MOST_FLIGHTS];
	unsigned nr_flights;
	struct kill_sums sums[KILL_GROUPS];	/* what is certain */
	struct kill_sums found[KILL_GROUPS], others;
	uint64_t found_lifetimes[KILL_GROUPS], peak_bytes;
	uint32_t *group;		/* of each site */
	unsigned wrong;
};

static bool goes(const struct kill_note *n)
{
	return n->op == KILL_FREE || n->op == KILL_RESIZE;
}

static bool comes(const struct kill_note *n)
{
	return n->op == KILL_ALLOC || n->op == KILL_RESIZE;
}

static uint32_t group_of(const struct kill_truth *truth, const struct heap *h, const struct heap_site *s)
{
	struct truth_code code = { truth->starts, KILL_LEAVES, KILL_LINKS, truth->code_end };

	return truth_group(&code, h, s);
}

static void add_thread(struct comparison *c, const struct kill_thread *t)
{
	for (unsigned g = 0; g < KILL_GROUPS; g++) {
		const struct kill_sums *from = &t->sums[g];
		struct kill_sums *to = &c->sums[g];

		if (goes(&t->note) && t->note.old.group == g)
			from = &t->note.old_sums;
		else if (comes(&t->note) && t->note.new.group == g)
			from = &t->note.new_sums;
		to->allocs += from->allocs;
		to->frees += from->frees;
		to->bytes_in += from->bytes_in;
		to->bytes_out += from->bytes_out;
		to->temporary += from->temporary;
		to->reused += from->reused;
	}
}

static void add_site(struct comparison *c, const struct heap_site *s, uint32_t g)
{
	struct kill_sums *to = g == TRUTH_NO_GROUP ? &c->others : &c->found[g];

	to->allocs += s->allocs;
	to->frees += s->frees;
	to->bytes_in += s->bytes_in;
	to->bytes_out += s->bytes_out;
	to->temporary += s->temporary;
	c->peak_bytes += (uint64_t)s->peak_bytes;
	for (unsigned k = 0; g != TRUTH_NO_GROUP && k < HEAP_NR_LIFETIMES; k++)
		c->found_lifetimes[g] += heap_lifetime(c->h, s, k);
}

/* Is this the sum of some of the numbers? */
static bool is_sum(uint64_t value, const uint64_t *numbers, unsigned nr)
{
	for (unsigned mask = 0; mask < 1u << nr; mask++) {
		uint64_t sum = 0;

		for (unsigned k = 0; k < nr; k++)
			sum += mask >> k & 1 ? numbers[k] : 0;
		if (sum == value)
			return true;
	}
	return false;
}

static void compare_group(struct comparison *c, uint32_t g, struct kill_figures *f)
{
	const struct kill_sums *is = &c->found[g], *was = &c->sums[g];
	uint64_t in[MOST_FLIGHTS], out[MOST_FLIGHTS], temporary = 0;
	unsigned nr_in = 0, nr_out = 0;

	for (unsigned k = 0; k < c->nr_flights; k++) {
		if (comes(c->flight[k]) && c->flight[k]->new.group == g)
			in[nr_in++] = c->flight[k]->new.size;
		if (!goes(c->flight[k]) || c->flight[k]->old.group != g)
			continue;
		out[nr_out++] = c->flight[k]->old.size;
		temporary += c->flight[k]->temporary;
	}
	if (is->allocs - was->allocs > nr_in)
		truth_wrong(&c->wrong, "group %u: %lu allocations, not %lu to %lu", g, is->allocs,
			    was->allocs, was->allocs + nr_in);
	if (is->frees - was->frees > nr_out)
		truth_wrong(&c->wrong, "group %u: %lu releases, not %lu to %lu", g, is->frees,
			    was->frees, was->frees + nr_out);
	if (!is_sum(is->bytes_in - was->bytes_in, in, nr_in))
		truth_wrong(&c->wrong,
			    "group %u: %lu bytes allocated, not %lu and operations under way", g,
			    is->bytes_in, was->bytes_in);
	if (!is_sum(is->bytes_out - was->bytes_out, out, nr_out))
		truth_wrong(&c->wrong,
			    "group %u: %lu bytes released, not %lu and operations under way", g,
			    is->bytes_out, was->bytes_out);
	if (is->temporary - was->temporary > was->reused + temporary)
		truth_wrong(&c->wrong, "group %u: %lu temporary, not %lu to %lu", g, is->temporary,
			    was->temporary, was->temporary + was->reused + temporary);
	if (c->found_lifetimes[g] - was->frees > nr_out)
		truth_wrong(&c->wrong, "group %u: %lu lives, not %lu to %lu", g,
			    c->found_lifetimes[g], was->frees, was->frees + nr_out);
	f->half += nr_in == 1 && (is->allocs == was->allocs) != (is->bytes_in == was->bytes_in);
	f->half += nr_out == 1 && (is->frees == was->frees) != (is->bytes_out == was->bytes_out);
}

static int by_address(const void *a, const void *b)
{
	const struct kill_slot *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* The slots that hold a block for certain, by address. */
static struct kill_slot *certain_blocks(const struct comparison *c, size_t *nr)
{
	struct kill_slot *v = calloc(KILL_SLOTS, sizeof(*v));

	if (!v)
		abort();
	*nr = 0;
	for (uint32_t n = 0; n < KILL_SLOTS; n++) {
		bool certain = c->truth->slot[n].address;

		for (unsigned k = 0; k < c->nr_flights; k++)
			certain &= c->flight[k]->slot != n;
		if (certain)
			v[(*nr)++] = c->truth->slot[n];
	}
	qsort(v, *nr, sizeof(*v), by_address);
	return v;
}

static bool same(const struct comparison *c, const struct heap_block *b, const struct kill_slot *s)
{
	return b->size_bytes == s->size && c->group[b->site] == s->group && b->kind == kind_of_leaf[s->group / KILL_LINKS] &&
	       b->thread < c->h->nr_threads && c->h->threads[b->thread].tid == c->truth->thread[s->thread].tid;
}

/* Does an operation under way explain a block that is in the table? What goes is known by its address as well, so it is looked for first. */
static bool explained(struct comparison *c, const struct heap_block *b)
{
	for (unsigned k = 0; k < c->nr_flights; k++) {
		const struct kill_note *n = c->flight[k];

		if (!c->old_found[k] && goes(n) && n->old.address == b->address && same(c, b, &n->old))
			return c->old_found[k] = true;
	}
	for (unsigned k = 0; k < c->nr_flights; k++)
		if (!c->new_found[k] && comes(c->flight[k]) && same(c, b, &c->flight[k]->new))
			return c->new_found[k] = true;
	return false;
}

static void compare_blocks(struct comparison *c)
{
	const struct heap_block *b = c->h->blocks, *end = b + c->h->nr_blocks;
	struct kill_slot *v, *s, *last;
	size_t nr;

	v = s = certain_blocks(c, &nr);
	last = v + nr;
	for (; b < end; b++) {
		for (; s < last && s->address < b->address; s++)
			truth_wrong(&c->wrong, "missing: %#lx, %lu bytes, group %u", s->address,
				    s->size, s->group);
		if (s < last && s->address == b->address && same(c, b, s))
			s++;
		else if (c->group[b->site] != TRUTH_NO_GROUP && !explained(c, b))
			truth_wrong(&c->wrong, "not there: %#lx, %lu bytes, group %u", b->address,
				    b->size_bytes, c->group[b->site]);
	}
	for (; s < last; s++)
		truth_wrong(&c->wrong, "missing: %#lx, %lu bytes, group %u", s->address, s->size,
			    s->group);
	free(v);
}

/* Calls by kind; what others called is of any kind. */
static void compare_kinds(struct comparison *c)
{
	uint64_t calls[HEAP_NR_KINDS] = { 0 }, all = 0, others = 0;
	unsigned starting = !kill_all_started(c->truth);

	for (unsigned g = 0; g < KILL_GROUPS; g++)
		calls[kind_of_leaf[g / KILL_LINKS]] += c->sums[g].allocs;
	for (unsigned k = 0; k < HEAP_NR_KINDS; k++) {
		uint64_t is = 0, nr = c->others.allocs + starting;

		for (unsigned i = 0; i < HEAP_NR_CLASSES; i++)
			is += c->h->class[i].calls[k];
		for (unsigned i = 0; i < c->nr_flights; i++)
			nr += comes(c->flight[i]) && kind_of_leaf[c->flight[i]->new.group / KILL_LINKS] == k;
		if (is - calls[k] > nr)
			truth_wrong(&c->wrong, "kind %u: %lu calls, not %lu to %lu", k, is,
				    calls[k], calls[k] + nr);
		all += is;
		others += calls[k];
	}
	others += c->others.allocs;
	if (all - others > c->nr_flights + starting && others - all > starting)
		truth_wrong(&c->wrong, "%lu calls, not %lu to %lu", all, others,
			    others + c->nr_flights);
}

/* What the threads of the truth with this tid have done for certain, and the bytes of what they may have done. */
static void sum_thread(const struct comparison *c, uint32_t tid, struct kill_sums *sums, uint64_t *in, unsigned *nr_in, uint64_t *out,
		       unsigned *nr_out)
{
	const struct kill_truth *truth = c->truth;
	struct comparison one = { 0 };

	for (unsigned i = 0; i < truth->nr_threads; i++)
		if (truth->thread[i].tid == tid)
			add_thread(&one, &truth->thread[i]);
	for (unsigned g = 0; g < KILL_GROUPS; g++) {
		sums->allocs += one.sums[g].allocs;
		sums->frees += one.sums[g].frees;
		sums->bytes_in += one.sums[g].bytes_in;
		sums->bytes_out += one.sums[g].bytes_out;
	}
	for (unsigned k = 0; k < c->nr_flights; k++) {
		if (c->flight_tid[k] != tid)
			continue;
		if (comes(c->flight[k]))
			in[(*nr_in)++] = c->flight[k]->new.size;
		if (goes(c->flight[k]))
			out[(*nr_out)++] = c->flight[k]->old.size;
	}
}

static void compare_thread(struct comparison *c, uint32_t tid)
{
	uint64_t in[MOST_FLIGHTS], out[MOST_FLIGHTS];
	struct heap_thread found = { 0 };
	unsigned nr_in = 0, nr_out = 0, nr_found = 0;
	struct kill_sums sums = { 0 };

	sum_thread(c, tid, &sums, in, &nr_in, out, &nr_out);
	for (uint32_t k = 0; k < c->h->nr_threads && tid; k++) {
		if (c->h->threads[k].tid != tid)
			continue;
		nr_found++;
		found.allocs += c->h->threads[k].allocs;
		found.frees += c->h->threads[k].frees;
		found.bytes_in += c->h->threads[k].bytes_in;
		found.bytes_out += c->h->threads[k].bytes_out;
	}
	if (!nr_found && sums.allocs)
		truth_wrong(&c->wrong, "thread %u is there %u times", tid, nr_found);
	if (!nr_found)
		return;
	if (found.allocs - sums.allocs > nr_in || found.frees - sums.frees > nr_out || !is_sum(found.bytes_in - sums.bytes_in, in, nr_in) ||
	    !is_sum(found.bytes_out - sums.bytes_out, out, nr_out))
		truth_wrong(&c->wrong, "thread %u: %lu %lu %lu %lu, not %lu %lu %lu %lu", tid,
			    found.allocs, found.frees, found.bytes_in, found.bytes_out, sums.allocs,
			    sums.frees, sums.bytes_in, sums.bytes_out);
}

/* The first thread is not compared: what others allocate is its. */
static void compare_threads(struct comparison *c)
{
	uint32_t first = c->truth->thread[0].tid;

	for (unsigned i = 1; i < c->truth->nr_threads; i++) {
		uint32_t tid = c->truth->thread[i].tid;
		bool before = tid == first;

		for (unsigned k = 1; k < i; k++)
			before |= c->truth->thread[k].tid == tid;
		if (!before)
			compare_thread(c, tid);
	}
}

/* Of one thread only: with several nobody knows their order. Blocks of others were all there before. */
static void compare_peak(struct comparison *c)
{
	const struct kill_note *t = c->nr_flights ? c->flight[0] : NULL;
	uint64_t others = c->others.bytes_in - c->others.bytes_out;
	uint64_t peak = (t ? t->peak_bytes : c->truth->peak_bytes) + others, more = peak;

	if (c->truth->nr_threads > 1 || !peak)
		return;
	if (t && comes(t) && t->live_bytes - (goes(t) ? t->old.size : 0) + t->new.size + others > peak)
		more = t->live_bytes - (goes(t) ? t->old.size : 0) + t->new.size + others;
	if (c->h->peak_bytes != peak && c->h->peak_bytes != more)
		truth_wrong(&c->wrong, "the peak: %lu bytes, not %lu or %lu", c->h->peak_bytes,
			    peak, more);
	if (c->peak_bytes != peak && c->peak_bytes != more)
		truth_wrong(&c->wrong, "the peak of all sites: %lu bytes, not %lu or %lu",
			    c->peak_bytes, peak, more);
}

static void compare_sums(struct comparison *c, struct kill_figures *f)
{
	const struct heap *h = c->h;
	uint64_t allocs = c->others.allocs, frees = c->others.frees, inherited = 0, releasing = 0;

	for (uint32_t g = 0; g < KILL_GROUPS; g++) {
		compare_group(c, g, f);
		allocs += c->found[g].allocs;
		frees += c->found[g].frees;
		f->events += c->sums[g].allocs + c->sums[g].frees;
	}
	if (h->allocs != allocs || h->frees != frees)
		truth_wrong(&c->wrong, "in all %lu and %lu, but of all sites %lu and %lu",
			    h->allocs, h->frees, allocs, frees);
	for (unsigned k = 0; k < HEAP_NR_DROPS; k++)
		if (h->dropped[k])
			truth_wrong(&c->wrong, "%lu events were dropped, cause %u", h->dropped[k],
				    k);
	for (unsigned i = 0; i < c->truth->nr_threads; i++)
		inherited += c->truth->thread[i].nr_inherited;
	for (unsigned k = 0; k < c->nr_flights; k++)
		releasing += c->flight[k]->op == KILL_INHERITED;
	if (h->untracked_frees - inherited > releasing || h->missed_frees)
		truth_wrong(&c->wrong,
			    "%lu and %lu releases of unknown blocks, not %lu to %lu and none",
			    h->untracked_frees, h->missed_frees, inherited, inherited + releasing);
}

static void add_flight(struct comparison *c, const struct kill_note *n, uint32_t tid)
{
	if (n->op == KILL_NONE)
		return;
	c->flight_tid[c->nr_flights] = tid;
	c->flight[c->nr_flights++] = n;
}

/* An operation that was left by a jump belongs to the thread whose block it makes, which is the one that was at it. */
static void add_flights(struct comparison *c)
{
	const struct kill_truth *truth = c->truth;

	for (unsigned i = 0; i < truth->nr_threads; i++)
		add_flight(c, &truth->thread[i].note, truth->thread[i].tid);
	for (unsigned i = 0; i < KILL_LEFT; i++)
		add_flight(c, &truth->left[i], truth->thread[truth->left[i].new.thread].tid);
}

unsigned kill_compare(const struct kill_truth *truth, const struct heap *h, struct kill_figures *f)
{
	struct comparison c = { .truth = truth, .h = h };

	c.group = calloc(h->nr_sites, sizeof(*c.group));
	if (!c.group)
		abort();
	for (unsigned i = 0; i < truth->nr_threads; i++)
		add_thread(&c, &truth->thread[i]);
	add_flights(&c);
	for (uint32_t i = 0; i < h->nr_sites; i++) {
		c.group[i] = group_of(truth, h, &h->sites[i]);
		add_site(&c, &h->sites[i], c.group[i]);
	}
	compare_sums(&c, f);
	compare_blocks(&c);
	compare_kinds(&c);
	compare_threads(&c);
	compare_peak(&c);
	f->flights += c.nr_flights;
	f->blocks += h->nr_blocks;
	free(c.group);
	return c.wrong;
}
