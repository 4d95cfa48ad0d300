/* SPDX-License-Identifier: MIT */
/*
 * The ledger as pmm.h's full form sees it: sums. Nothing here takes memory of the allocator's, so
 * it may be called in a signal handler.
 */
#include "agent/agent_shim.h"

#include "agent/agent_arena.h"
#include "agent/agent_core.h"
#include "agent/srcloc.h"
#include "agent/sys.h"
#include "agent/total.h"

#define PEAK_TRIES	5		/* of all records when a peak was sealed meanwhile */
#define FEW_SRCLOCS	16		/* at a time, where there is no memory for more */

/*
 * The source locations from number `from` on, of each place the first one: what all records of that
 * place come to.
 */
struct srcloc_sums {
	uint32_t from, nr;
	struct full_totals *of;
};

static struct pmm_ctx *ctx_at(uint32_t i)
{
	pmm_ref ref = LOAD_ACQUIRE(agent.ledger->ctx[i]);

	return ref ? arena_at(ref) : NULL;
}

/*
 * When the peak was, as doc/ledger.md has it: at the end of the epoch before this one; or, with
 * PMM_TOTAL_RISING, it is now.
 */
static uint64_t peak_now(void)
{
	uint64_t known = LOAD_ACQUIRE(agent.ledger->epoch), word = LOAD(agent.ledger->total);

	return word & PMM_TOTAL_RISING ? UINT64_MAX : epoch_full(known, word);
}

static void add_record(struct full_totals *t, const struct pmm_record *r, uint64_t peak)
{
	bool now = r->epoch < peak;

	t->allocs += r->allocs;
	t->frees += r->frees;
	t->bytes_in += r->bytes_in;
	t->bytes_out += r->bytes_out;
	t->peak_bytes += now ? r->bytes_in - r->bytes_out : (uint64_t)r->at_peak_bytes;
	t->peak_blocks += now ? r->allocs - r->frees : (uint64_t)r->at_peak_blocks;
	t->failed += r->failed;
	t->zero += r->zero_size;
}

/*
 * No figure is below zero, as a block's release makes it that was seen in one thread before its
 * request was in another.
 */
static void settle(uint64_t *more, uint64_t *less)
{
	if ((int64_t)(*more - *less) < 0)
		*less = *more;
}

static void settle_totals(struct full_totals *t)
{
	settle(&t->allocs, &t->frees);
	settle(&t->bytes_in, &t->bytes_out);
	t->peak_bytes = (int64_t)t->peak_bytes < 0 ? 0 : t->peak_bytes;
	t->peak_blocks = (int64_t)t->peak_blocks < 0 ? 0 : t->peak_blocks;
}

/*
 * Each record of all threads; again when a peak was sealed on the way. `none` sets the sums to
 * zero.
 */
static void add_records(void (*none)(void *sums),
			void (*add)(void *sums, const struct pmm_record *r, uint64_t peak),
			void *sums)
{
	uint64_t peak;

	for (unsigned tries = 0; tries < PEAK_TRIES; tries++) {
		none(sums);
		peak = peak_now();
		for (uint32_t i = 0, nr = LOAD(agent.ledger->nr_ctx); i < nr; i++) {
			const struct pmm_ctx *c = ctx_at(i);
			const struct pmm_record *r;

			for (pmm_ref ref = c ? LOAD_ACQUIRE(c->records) : 0; ref; ref = r->next) {
				r = arena_at(ref);
				add(sums, r, peak);
			}
		}
		if (peak == peak_now())
			break;
	}
}

/* ---- of the process */
static void no_totals(void *sums)
{
	*(struct full_totals *)sums = (struct full_totals){ 0 };
}

static void add_to_totals(void *sums, const struct pmm_record *r, uint64_t peak)
{
	if (srcloc_flags(r->site) & PMM_SITE_SRCLOC)
		add_record(sums, r, peak);
}

void shim_totals(struct full_totals *t)
{
	no_totals(t);
	if (!shim_begun())
		return;
	add_records(no_totals, add_to_totals, t);
	settle_totals(t);
	t->nr_srclocs = LOAD(agent.ledger->nr_srclocs) - 1;
	t->dropped = LOAD(agent.ledger->dropped[PMM_DROP_BLOCK_FULL]);
}

/* Where all blocks came through pmm.h, contexts have the sum. */
uint64_t shim_live_bytes(void)
{
	struct full_totals t = { 0 };

	if (!agent.compiled_in) {
		shim_totals(&t);
		return t.bytes_in - t.bytes_out;
	}
	if (!agent_is_on())
		return 0;
	for (uint32_t i = 0, nr = LOAD(agent.ledger->nr_ctx); i < nr; i++) {
		const struct pmm_ctx *c = ctx_at(i);
		struct pmm_sums sums = c ? pmm_ctx_sums(c) : (struct pmm_sums){ 0 };

		t.bytes_in += sums.bytes_in;
		t.bytes_out += sums.bytes_out;
	}
	settle(&t.bytes_in, &t.bytes_out);
	return t.bytes_in - t.bytes_out;
}

/* ---- of each place */
static void no_srclocs(void *sums)
{
	struct srcloc_sums *s = sums;

	memset(s->of, 0, s->nr * sizeof(*s->of));
}

static void add_to_srcloc(void *sums, const struct pmm_record *r, uint64_t peak)
{
	struct srcloc_sums *s = sums;
	uint32_t nr = srcloc_flags(r->site) & PMM_SITE_SRCLOC ? srcloc_first(srcloc_nr(r->site))
							      : 0;

	if (nr - s->from < s->nr)
		add_record(&s->of[nr - s->from], r, peak);
}

static struct full_srcloc described(uint32_t nr, const struct full_totals *t)
{
	const struct pmm_srcloc *at = srcloc_number(nr);

	return (struct full_srcloc){
		.file = at->file ? arena_at(at->file) : "?",
		.func = at->function ? arena_at(at->function) : "?",
		.line = at->line,
		.allocs = t->allocs,
		.frees = t->frees,
		.bytes_in = t->bytes_in,
		.bytes_out = t->bytes_out,
		.peak_bytes = t->peak_bytes,
	};
}

static int srclocs_each(struct srcloc_sums *s, int (*each)(void *ctx, const struct full_srcloc *s),
			void *ctx)
{
	int ret = 0;

	add_records(no_srclocs, add_to_srcloc, s);
	for (uint32_t i = 0; i < s->nr && !ret; i++)
		if (s->of[i].allocs) {
			struct full_srcloc srcloc;

			settle_totals(&s->of[i]);
			srcloc = described(s->from + i, &s->of[i]);
			ret = each(ctx, &srcloc);
		}
	return ret;
}

int shim_each_srcloc(int (*each)(void *ctx, const struct full_srcloc *s), void *ctx)
{
	struct full_totals few[FEW_SRCLOCS], *many = NULL;
	struct srcloc_sums s = { .from = 1 };
	uint32_t end, most;
	int ret = 0;

	if (!shim_begun())
		return 0;
	end = LOAD(agent.ledger->nr_srclocs);
	if (end > 1 + FEW_SRCLOCS)
		many = sys_mmap(end * sizeof(*many), SYS_PROT_READ | SYS_PROT_WRITE,
				SYS_MAP_PRIVATE | SYS_MAP_ANONYMOUS, -1);
	s.of = many ? many : few;
	most = many ? end : FEW_SRCLOCS;
	for (; s.from < end && !ret; s.from += s.nr) {
		s.nr = end - s.from < most ? end - s.from : most;
		ret = srclocs_each(&s, each, ctx);
	}
	if (many)
		sys2(munmap, many, end * sizeof(*many));
	return ret;
}

/* ---- of each size */
bool shim_class_row(unsigned i, struct full_class *k)
{
	static const uint32_t up_to[PMM_NR_CLASSES] = { 16, 256, 1024, 4096, 16384, 65536, 0 };

	if (i >= PMM_NR_CLASSES)
		return false;
	*k = (struct full_class){ .up_to = up_to[i] };
	if (!shim_begun())
		return true;
	for (uint32_t n = 0, nr = LOAD(agent.ledger->nr_ctx); n < nr; n++) {
		const struct pmm_class *from = ctx_at(n) ? &ctx_at(n)->class[i] : NULL;

		if (!from)
			continue;
		k->malloc += from->calls[PMM_KIND_MALLOC];
		k->calloc += from->calls[PMM_KIND_CALLOC];
		k->realloc += from->calls[PMM_KIND_REALLOC];
		k->other += from->calls[PMM_KIND_ALIGNED_ALLOC] + from->calls[PMM_KIND_NEW];
		k->frees += from->frees;
		k->failed += from->failed;
		k->bytes_in += from->bytes_in;
		k->bytes_out += from->bytes_out;
	}
	settle(&k->bytes_in, &k->bytes_out);
	return true;
}
