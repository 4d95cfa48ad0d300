/*
 * The ledger as pmm.h's full form sees it, as a whole: one block, all of them, sums. Nothing here takes memory, so it may be
 * called in a signal handler.
 */
#include "agent/shim.h"

#include "agent/arena.h"
#include "agent/core.h"
#include "agent/spot.h"
#include "agent/sys.h"

#define AROUND		(1u << 20)	/* how far below a pointer its block may begin */
#define EPOCH_MASK	((1ull << 20) - 1)
#define RISING		(1ull << 20)
#define BYTES_SHIFT	21

void shim_place(uint32_t site, struct full_block *b)
{
	const struct pmm_spot *s = spot_of(site);

	b->file = s && s->file ? arena_at(s->file) : "?";
	b->func = s && s->function ? arena_at(s->function) : "?";
	b->line = s ? s->line : 0;
	b->flags = s ? s->flags : 0;
	b->site = site;
}

static void describe(const void *p, const struct block_info *was, struct full_block *b)
{
	shim_place(was->site, b);
	b->address = p;
	b->size = was->size;
	b->kind = was->kind;
	b->time = (uint32_t)((A.tree->start_realtime_ns + was->birth_tick * PMM_TICK_NS) / 1000000000u);
	b->number = 0;
	__builtin_memcpy(&b->was, was, sizeof(*was));
}

/* The number in a block's canary; the word is there to be read. */
static void read_number(struct full_block *b)
{
	uint64_t word;

	if (!(b->flags & PMM_SPOT_BEHIND))
		return;
	__builtin_memcpy(&word, b->address + b->size, sizeof(word));
	b->number = (uint32_t)((word ^ SHIM_CANARY) >> 32);
	if (b->number > LOAD(shim_number))
		b->number = 0;
}

/*
 * Blocks that code without pmm.h has released are listed until their address comes up again, and their memory may be gone. *page:
 * the last one that was found to be there.
 */
static void read_number_warily(struct full_block *b, uintptr_t *page)
{
	uintptr_t end = (uintptr_t)b->address + b->size + sizeof(uint64_t) - 1, first = (uintptr_t)b->address - 1;

	if (end / ARCH_PAGE != *page && !sys_readable(end & ~7ul)) {
		b->flags &= ~(uint32_t)(PMM_SPOT_BEHIND | 255 << PMM_SPOT_FRONT_SHIFT);
		return;
	}
	*page = end / ARCH_PAGE;
	if (first / ARCH_PAGE != *page && b->flags >> PMM_SPOT_FRONT_SHIFT & 255 && !sys_readable(first & ~7ul))
		b->flags &= ~(uint32_t)(255 << PMM_SPOT_FRONT_SHIFT);
	read_number(b);
}

void shim_describe(const void *p, const struct block_info *was, struct full_block *b)
{
	describe(p, was, b);
	read_number(b);
}

bool shim_look(const void *p, struct full_block *b)
{
	struct block_info was;

	if (LOAD(A.state) != AGENT_ON || !shim_is_ours(p) || !block_get((uint64_t)p, &was))
		return false;
	shim_describe(p, &was, b);
	return true;
}

bool shim_around(const void *p, struct full_block *b)
{
	struct block_info was;
	uint64_t at;

	if (LOAD(A.state) != AGENT_ON || !block_below((uint64_t)p, AROUND, &at, &was) || (uint64_t)p - at >= was.size || (uint64_t)p == at ||
	    !(spot_flags(was.site) & PMM_SITE_SPOT))
		return false;
	describe((const void *)at, &was, b);
	return true;
}

/* ---- all blocks: mids are chained as they came, each covers a part of the address space; the next one above is looked for each time */
static const struct pmm_mid *mid_from(unsigned table, uint64_t address)
{
	const struct pmm_mid *best = NULL;

	for (pmm_ref ref = LOAD_ACQUIRE(A.ledger->table[table].mids); ref;) {
		const struct pmm_mid *m = arena_at(ref);

		if (m->base >= address && (!best || m->base < best->base))
			best = m;
		ref = m->next;
	}
	return best;
}

static int leaf_each(unsigned table, uint64_t base, uint64_t *leaf, uintptr_t *page, int (*each)(void *ctx, const struct full_block *b),
		     void *ctx)
{
	for (unsigned i = 0; i < GRANULES; i++) {
		uint64_t word = LOAD(leaf[i]), sub;
		struct full_block b;
		struct block_info was;
		int ret;

		if (!is_block(word))
			continue;
		look(&leaf[i], &no_stamp, &was);
		if (!(spot_flags(was.site) & PMM_SITE_SPOT))
			continue;
		sub = table == PMM_TABLE_HEAP ? (word >> PMM_WORD_SUB_SHIFT & 3) * 8 : 0;
		describe((const void *)(base + ((uint64_t)i << shape[table].shift) + sub), &was, &b);
		read_number_warily(&b, page);
		ret = each(ctx, &b);
		if (ret)
			return ret;
	}
	return 0;
}

int shim_each(int (*each)(void *ctx, const struct full_block *b), void *ctx)
{
	static const unsigned tables[] = { PMM_TABLE_HEAP, PMM_TABLE_DENSE };
	const struct pmm_mid *m;
	uintptr_t page = 0;
	int ret = 0;

	if (LOAD(A.state) != AGENT_ON)
		return 0;
	for (unsigned t = 0; t < 2; t++) {
		unsigned leaf_shift = shape[tables[t]].shift + PMM_LEAF_BITS;

		for (uint64_t from = 0; (m = mid_from(tables[t], from)); from = m->base + 1)
			for (uint32_t i = 0; i < m->nr_leaves && !ret; i++)
				if (LOAD(m->leaf[i]))
					ret = leaf_each(tables[t], m->base + ((uint64_t)i << leaf_shift), arena_at(m->leaf[i]), &page, each, ctx);
	}
	return ret;
}

/* ---- sums */
static struct pmm_ctx *ctx_at(uint32_t i)
{
	pmm_ref ref = LOAD_ACQUIRE(A.ledger->ctx[i]);

	return ref ? arena_at(ref) : NULL;
}

static bool peak_is_now(const struct pmm_record *r)
{
	uint64_t word = LOAD(A.ledger->total), epoch = A.ledger->epoch + ((word - A.ledger->epoch) & EPOCH_MASK);

	return word & RISING || r->epoch < epoch;
}

static void add_record(struct full_totals *t, const struct pmm_record *r)
{
	bool now = peak_is_now(r);

	t->allocs += r->allocs;
	t->frees += r->frees;
	t->bytes_in += r->bytes_in;
	t->bytes_out += r->bytes_out;
	t->peak_bytes += now ? r->bytes_in - r->bytes_out : (uint64_t)r->at_peak_bytes;
	t->peak_blocks += now ? r->allocs - r->frees : (uint64_t)r->at_peak_blocks;
	t->failed += r->failed;
	t->zero += r->zero_size;
}

/* The figures of all sites of spots; of those that say the same place as `at`, if that is not NULL. */
static void add_records(struct full_totals *t, const struct pmm_spot *at)
{
	uint32_t nr_ctx = LOAD(A.ledger->nr_ctx);

	for (uint32_t i = 0; i < nr_ctx; i++) {
		const struct pmm_ctx *c = ctx_at(i);

		for (pmm_ref ref = c ? LOAD_ACQUIRE(c->records) : 0; ref; ref = ((struct pmm_record *)arena_at(ref))->next) {
			const struct pmm_record *r = arena_at(ref);

			if (at ? spot_same(spot_of(r->site), at) : (spot_flags(r->site) & PMM_SITE_SPOT) != 0)
				add_record(t, r);
		}
	}
}

void shim_totals(struct full_totals *t)
{
	*t = (struct full_totals){ 0 };
	if (LOAD(A.state) != AGENT_ON)
		return;
	t->nr_spots = LOAD(A.ledger->nr_spots) - 1;
	add_records(t, NULL);
}

/* What is known of the place that number `nr` says. False: an earlier one says the same. */
static bool spot_sum(uint32_t nr, struct full_spot *s)
{
	const struct pmm_spot *at = spot_number(nr);
	struct full_totals t = { 0 };

	if (!at)
		return false;
	for (uint32_t i = 1; i < nr; i++)
		if (spot_same(spot_number(i), at))
			return false;
	add_records(&t, at);
	*s = (struct full_spot){
		.file = at->file ? arena_at(at->file) : "?",
		.func = at->function ? arena_at(at->function) : "?",
		.line = at->line,
		.allocs = t.allocs,
		.frees = t.frees,
		.bytes_in = t.bytes_in,
		.bytes_out = t.bytes_out,
		.peak_bytes = t.peak_bytes,
	};
	return true;
}

int shim_each_spot(int (*each)(void *ctx, const struct full_spot *s), void *ctx)
{
	struct full_spot s;
	int ret = 0;

	if (LOAD(A.state) != AGENT_ON)
		return 0;
	for (uint32_t i = 1, nr = LOAD(A.ledger->nr_spots); i < nr && !ret; i++)
		if (spot_sum(i, &s))
			ret = each(ctx, &s);
	return ret;
}

bool shim_class_row(unsigned i, struct full_class *k)
{
	static const uint32_t up_to[PMM_NR_CLASSES] = { 16, 256, 1024, 4096, 16384, 65536, 0 };

	if (i >= PMM_NR_CLASSES)
		return false;
	*k = (struct full_class){ .up_to = up_to[i] };
	if (LOAD(A.state) != AGENT_ON)
		return true;
	for (uint32_t n = 0, nr = LOAD(A.ledger->nr_ctx); n < nr; n++) {
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
	return true;
}
