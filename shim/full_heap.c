/*
 * The full form's hot path: each call of pmm.h finds its thread's context, calls the C library, and records the block under the place that the macro
 * named. No lock, no system call, nothing shared between threads but the total.
 *
 * Where options ask for more than that, or anything is unusual, pmm_full.c goes on.
 *
 * Behind each block lies a canary of 8 bytes which also holds the block's number: both halves of the word are mixed with it, so they tell whether
 * they are whole by comparison, and the number of the request costs no memory.
 */
#define PMM
#define PMM_NO_NAMES
#include "shim/full.h"

#include "agent/sys.h"

#include <errno.h>

#include "agent/block_words.h"
#include "agent/core.h"
#include "agent/ctx.h"
#include "agent/hook.h"
#include "agent/record.h"
#include "agent/spot.h"
#include "agent/unwind.h"
#pragma GCC visibility push(default)
#include "include/pmm.h"
#pragma GCC visibility pop

#define CANARY_BYTES	8
#define NUMBERS		64	/* that a context takes at a time, where there are several threads */
#define PLAIN_FLAGS	(PMM_SITE_SPOT | PMM_SPOT_BEHIND | 0xffu << PMM_SPOT_ENTRY_SHIFT)

#define CALL(file, line, func, from) ((struct full_call){ file, func, (uint32_t)(line), (from).ra, (from).sp, (from).rbp })

/* ---- canaries */
static inline uint64_t canary_of(uint32_t number)
{
	return FULL_CANARY ^ ((uint64_t)number << 32 | number);
}

static inline uint64_t load64(const char *p)
{
	uint64_t word;

	__builtin_memcpy(&word, p, sizeof(word));
	return word;
}

static inline void store64(char *p, uint64_t word)
{
	__builtin_memcpy(p, &word, sizeof(word));
}

/* The number in a canary; *whole: nothing of it was changed. */
static inline uint32_t canary_number(uint64_t word, bool *whole)
{
	word ^= FULL_CANARY;
	*whole = (uint32_t)word == (uint32_t)(word >> 32);
	return (uint32_t)(word >> 32);
}

static __attribute__((noinline)) uint32_t numbers_take(struct tctx *c)
{
	c->number = __atomic_fetch_add(&full_number, NUMBERS, __ATOMIC_RELAXED);
	c->number_end = c->number + NUMBERS;
	return ++c->number;
}

static inline uint32_t number_next(struct tctx *c)
{
	if (*A.single_threaded)
		return ++full_number;
	return likely(c->number != c->number_end) ? ++c->number : numbers_take(c);
}

/* ---- new blocks */
static inline uint32_t kind_of_entry(char entry)
{
	return entry == 'c' ? PMM_KIND_CALLOC : entry == 'r' ? PMM_KIND_REALLOC : entry == 'a' ? PMM_KIND_ALIGNED_ALLOC : entry == 'n' ? PMM_KIND_NEW :
	       PMM_KIND_MALLOC;
}

static inline void *real_block(size_t align, size_t whole, int zero)
{
	if (unlikely(align))
		return aligned_alloc(align, (whole + align - 1) & ~(align - 1));
	return zero ? calloc(1, whole) : malloc(whole);
}

/* A block is listed where a new one is: code without pmm.h has released it. */
static __attribute__((noinline, cold)) void forget_listed(struct tctx *c, uint64_t granule, uint64_t word)
{
	struct block_info was;

	record_free(c, (granule & ~31ull) + (word >> PMM_WORD_SUB_SHIFT & 3) * 8, &was);
}

static inline void forget(struct tctx *c, const void *p)
{
	const uint64_t *at = word_find(PMM_TABLE_HEAP, (uint64_t)p);
	uint64_t word = at ? LOAD(*at) : 0;

	if (unlikely(is_block(word)) && (!A.dense || (word >> PMM_WORD_SUB_SHIFT & 3) == sub_of((uint64_t)p)))
		forget_listed(c, (uint64_t)p, word);
}

static __attribute__((noinline, cold)) void *failed(struct tctx *c, size_t size, uint32_t site)
{
	if (c) {
		record_failed_at(c, size, site);
		agent_leave(c);
	}
	return full_no_memory();
}

static inline __attribute__((always_inline)) void *get(const char *file, int line, const char *func, char entry, size_t align, size_t size, int zero,
						       struct caller from)
{
	const struct spot spot = { file, func, (uint32_t)line, PMM_SPOT_BEHIND | (uint32_t)entry << PMM_SPOT_ENTRY_SHIFT };
	struct tctx *c;
	uint32_t site;
	char *p;

	if (unlikely(LOAD(full_careful)))
		goto care;
	if (unlikely(size > PTRDIFF_MAX - CANARY_BYTES - align))
		goto care;
	c = agent_enter(from.sp);
	if (unlikely(!c))
		goto care;
	site = spot_site(c, &spot, 0);
	if (unlikely(!site)) {
		agent_leave(c);
		goto care;
	}
	p = REAL(c, real_block(align, size + CANARY_BYTES, zero));
	if (unlikely(!p))
		return failed(c, size, site);
	store64(p + size, canary_of(number_next(c)));
	forget(c, p);
	record_alloc_at(c, (uint64_t)p, size, kind_of_entry(entry), site);
	agent_leave(c);
	return p;
care:;
	const struct full_call call = CALL(file, line, func, from);

	return full_get(&call, entry, kind_of_entry(entry), align, size, zero);
}

/* ---- released ones */
static inline void note_freed(const void *p, const struct block_info *was, const char *file, uint32_t line)
{
	struct full_freed *f = full_freed_at(p);

	f->file = file;
	f->size = was->size;
	f->line = line;
	f->site = was->site;
	f->address = p;
}

static bool taken(const void *p, struct full_block *b, bool known);

static __attribute__((noinline, cold)) void put_damaged(struct tctx *c, const struct full_call *call, char *p, const struct block_info *was)
{
	struct full_block b = { .address = p, .size = was->size, .was = *was };

	(void)c;
	taken(p, &b, true);
	full_damaged(call, &b);
}

static inline __attribute__((always_inline)) void put(const char *file, int line, const char *func, char *p, struct caller from)
{
	struct block_info was;
	struct tctx *c;
	uint32_t flags;
	bool whole;

	if (unlikely(LOAD(full_careful_free)) || unlikely(!(c = agent_enter(from.sp))))
		goto care;
	__builtin_prefetch(p - 16);
	if (unlikely(!record_free(c, (uint64_t)p, &was))) {
		const struct full_call call = CALL(file, line, func, from);

		agent_leave(c);
		full_stranger(&call, p);
		return;
	}
	flags = spot_flags(was.site);
	if (unlikely(flags & ~PLAIN_FLAGS)) {
		record_restore(c, (uint64_t)p, &was);
		agent_leave(c);
		goto care;
	}
	if (likely(flags & PMM_SPOT_BEHIND)) {
		canary_number(load64(p + was.size), &whole);
		if (unlikely(!whole)) {
			const struct full_call call = CALL(file, line, func, from);

			put_damaged(c, &call, p, &was);
		}
	}
	note_freed(p, &was, file, (uint32_t)line);
	STORE(c->busy, TCTX_IN_ALLOCATOR);
	free(p);
	agent_leave(c);
	return;
care:;
	const struct full_call call = CALL(file, line, func, from);

	full_put(&call, p);
}

/* ---- the interface */
void *pmm_malloc(PMM_AT, size_t size)
{
	return get(file, line, func, 'm', 0, size, 0, CALLER_HERE());
}

void *pmm_calloc(PMM_AT, size_t nr, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(nr, size, &bytes))
		bytes = SIZE_MAX;
	return get(file, line, func, 'c', 0, bytes, 1, CALLER_HERE());
}

void pmm_free(PMM_AT, void *p)
{
	if (p)
		put(file, line, func, p, CALLER_HERE());
}

void *pmm_realloc(PMM_AT, void *p, size_t size)
{
	struct full_call call;

	if (!p)
		return get(file, line, func, 'r', 0, size, 0, CALLER_HERE());
	call = CALL(file, line, func, CALLER_HERE());
	if (size)
		return full_resize(&call, p, size);
	put(file, line, func, p, CALLER_HERE());
	return NULL;
}

void *pmm_reallocarray(PMM_AT, void *p, size_t nr, size_t size)
{
	struct full_call call;
	size_t bytes;

	if (__builtin_mul_overflow(nr, size, &bytes))
		bytes = SIZE_MAX;
	if (!p)
		return get(file, line, func, 'r', 0, bytes, 0, CALLER_HERE());
	call = CALL(file, line, func, CALLER_HERE());
	if (bytes)
		return full_resize(&call, p, bytes);
	put(file, line, func, p, CALLER_HERE());
	return NULL;
}

static inline __attribute__((always_inline)) char *copy_text(const char *file, int line, const char *func, const char *text, size_t length, struct caller from)
{
	char *copy = get(file, line, func, 'd', 0, length + 1, 0, from);

	if (copy) {
		__builtin_memcpy(copy, text, length);
		copy[length] = '\0';
	}
	return copy;
}

char *pmm_strndup(PMM_AT, const char *text, size_t max)
{
	return copy_text(file, line, func, text, strnlen(text, max), CALLER_HERE());
}

char *pmm_strdup(PMM_AT, const char *text)
{
	return copy_text(file, line, func, text, strlen(text), CALLER_HERE());
}

static inline bool is_power_of_2(size_t value)
{
	return value && !(value & (value - 1));
}

void *pmm_aligned_alloc(PMM_AT, size_t align, size_t size)
{
	if (!is_power_of_2(align) || align > PTRDIFF_MAX / 2) {
		errno = EINVAL;
		return NULL;
	}
	return get(file, line, func, 'a', align < sizeof(void *) ? sizeof(void *) : align, size, 0, CALLER_HERE());
}

int pmm_posix_memalign(PMM_AT, void **p, size_t align, size_t size)
{
	int saved = errno;
	void *block;

	if (!is_power_of_2(align) || align < sizeof(void *) || align > PTRDIFF_MAX / 2)
		return EINVAL;
	block = get(file, line, func, 'a', align, size, 0, CALLER_HERE());
	errno = saved;
	if (!block)
		return ENOMEM;
	*p = block;
	return 0;
}

void *pmm_new(PMM_AT, size_t size, size_t align)
{
	return get(file, line, func, 'n', align, size, 0, CALLER_HERE());
}

/* ---- the ledger, for pmm_full.c */
struct tctx *full_enter(const struct full_call *call)
{
	return agent_on() ? agent_enter(call->sp) : NULL;
}

void full_leave(struct tctx *c)
{
	if (c)
		agent_leave(c);
}

void full_calling(struct tctx *c, bool now)
{
	if (c)
		STORE(c->busy, now ? TCTX_IN_ALLOCATOR : TCTX_RECORDING);
}

uint32_t full_site(struct tctx *c, const struct full_call *call, uint32_t flags)
{
	const struct spot spot = { call->file, call->func, call->line, flags };

	return spot_site(c, &spot, 0);
}

void full_note(struct tctx *c, char *p, size_t size, uint32_t kind, uint32_t site, uint32_t flags)
{
	if (flags & PMM_SPOT_BEHIND)
		store64(p + size, canary_of(number_next(c)));
	forget(c, p);
	record_alloc_at(c, (uint64_t)p, size, kind, site);
}

void full_forget(struct tctx *c, const void *p)
{
	forget(c, p);
	full_freed_at(p)->address = NULL;
}

void full_failed(struct tctx *c, size_t size, uint32_t site)
{
	record_failed_at(c, size, site);
}

void full_skipped(struct tctx *c, size_t size)
{
	c->pub.skipped_allocs++;
	c->pub.skipped_bytes += size;
}

static bool taken(const void *p, struct full_block *b, bool known)
{
	if (!known)
		return false;
	b->address = p;
	b->size = b->was.size;
	full_place_of(b->was.site, b);
	if (b->flags & PMM_SPOT_BEHIND)
		b->number = canary_number(load64(b->address + b->size), &known);
	return true;
}

bool full_take(struct tctx *c, const void *p, struct full_block *b)
{
	return taken(p, b, record_free(c, (uint64_t)p, &b->was));
}

bool full_take_moving(struct tctx *c, const void *p, size_t new_size, struct full_block *b)
{
	return taken(p, b, hook_resizing(c, (void *)p, new_size, &b->was));
}

void full_moved(struct tctx *c)
{
	move_end(&c->pub.move[PMM_MOVE_HEAP]);
}

void full_restore(struct tctx *c, const struct full_block *b)
{
	record_restore(c, (uint64_t)b->address, &b->was);
}

bool full_change_site(struct tctx *c, const struct full_block *b, uint32_t site)
{
	return record_move(c, (uint64_t)b->address, site);
}

void full_repaint(const struct full_block *b)
{
	store64((char *)b->address + b->size, canary_of(b->number));
}

/*
 * What runs over the end of a block changes the word from its first byte on. While its last four bytes are whole they tell the number, and so what the
 * others were.
 */
unsigned full_changed_behind(const struct full_block *b)
{
	uint64_t word;
	unsigned nr = 0;
	bool whole;

	if (!(b->flags & PMM_SPOT_BEHIND))
		return 0;
	word = load64(b->address + b->size);
	if (canary_number(word, &whole) - 1 >= LOAD(full_number) && !whole)
		return CANARY_BYTES;
	for (word ^= canary_of(canary_number(word, &whole)); word; word >>= 8)
		nr += (word & 255) != 0;
	return nr;
}
