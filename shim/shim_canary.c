/* SPDX-License-Identifier: MIT */
/*
 * What is noticed of misuse, in one block: canaries beside it, retained and poisoned memory; and
 * pointers that cannot be a block's.
 */
/* no byte is of text or of a small number */
static const unsigned char canary[FRONT_BYTES] = { 0xE5, 0x9A, 0xD3, 0xB6, 0xF1, 0x8D, 0xC7, 0xAB,
						   0xE5, 0x9A, 0xD3, 0xB6, 0xF1, 0x8D, 0xC7, 0xAB };

WARM size_t front_of(const struct slot *slot)
{
	return slot->front ? (size_t)1 << slot->front : 0;
}

/* Bytes of a canary that are not as they were. */
COLD unsigned nr_changed(const char *at, size_t bytes)
{
	unsigned i, n = 0;

	for (i = 0; i < bytes; i++)
		n += (unsigned char)at[i] != canary[i];
	return n;
}

/* The block's description behind a finding, and where it was freed. */
static void tell_block(const struct at *at, const char *what, unsigned bytes, const char *where,
		       const struct slot *slot)
{
	monitor.stats.nr_errors++;
	if (bytes)
		say(at, "%s: %u byte%s %s block %p of %zu bytes from %s(%u) changed", what, bytes,
		     bytes == 1 ? "" : "s", where, (void *)(uintptr_t)slot->address, slot->size,
		     slot->file, (unsigned)slot->line);
	else
		say(at, "%s %p of %zu bytes from %s(%u)%s", what, (void *)(uintptr_t)slot->address,
		     slot->size, slot->file, (unsigned)slot->line, where);
	if (slot->state >= DEAD && slot->freed_line) {
		put_text("pmm:     freed at %s(%u)\n", slot->freed_file,
			 (unsigned)slot->freed_line);
		hand_on();
	}
}

/* 1: a quarantined block was written to, and it is reported. */
static int inspect_retained(struct slot *slot, const struct at *at)
{
	char *block = (char *)(uintptr_t)slot->address;
	unsigned changed = 0;
	size_t i;

	for (i = 0; i < slot->size; i++)
		changed += (unsigned char)block[i] != POISON;
	if (!changed)
		return 0;
	tell_block(at, "write after free", changed, "of", slot);
	memset(block, POISON, slot->size);
	return 1;
}

/* ---- pointers that are no block's */
#if defined(__ELF__) && defined(__GNUC__) && !defined(PMM_BARE)
extern char __executable_start[] __attribute__((weak));
extern char _end[] __attribute__((weak));
extern void *__libc_stack_end __attribute__((weak));
#define MAIN_STACK_BYTES ((uintptr_t)64 << 20)

static const char *memory_of(const void *p)
{
	const void *here = __builtin_frame_address(0);
	uintptr_t at = (uintptr_t)p, frame = (uintptr_t)here;
	uintptr_t start = (uintptr_t)__executable_start, end = (uintptr_t)_end;

	if (start && at >= start && at < end)
		return "static memory";
	if (&__libc_stack_end) {
		end = (uintptr_t)__libc_stack_end;
		if (frame < end && end - frame < MAIN_STACK_BYTES && at >= frame && at < end)
			return "on the stack";
	}
	return NULL;
}
#else
static const char *memory_of(const void *p)
{
	(void)p;
	return NULL;
}
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/* these watch what is freed themselves, and would take the look at it for an error */
#define SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
	__has_feature(memory_sanitizer)
#define SANITIZED
#endif
#endif

#if defined(__GLIBC__) && !defined(PMM_BARE) && !defined(SANITIZED)
/* of a chunk's size, the word before its block */
enum { CHUNK_FLAGS = 7, CHUNK_BEFORE_USED = 1, CHUNK_MAPPED = 2 };
/* a chunk is so much larger than its block at most */
enum { LOOSE_BYTES = 64, LOOSE_PAGES = 3 * 4096 };

/*
 * The key that glibc puts in a block's second word while that is on one of its thread's lists of
 * free ones, and takes out when the block is given out again (malloc/malloc.c, tcache_put(),
 * tcache_get()): a block that we free ourselves shows it. 0: another allocator, or no list.
 */
static uintptr_t free_key(void)
{
	volatile uintptr_t *probe = (volatile uintptr_t *)malloc(3 * sizeof(*probe)), *freed;
	uintptr_t size;

	if (!probe)
		return 0;
	/* the same; the compiler would not let us look into what is freed */
	__asm__("" : "=r"(freed) : "0"(probe));
	probe[1] = 0;
	size = freed[-1];
	free((void *)(uintptr_t)probe);
	return size - 3 * sizeof(*probe) < LOOSE_BYTES ? freed[1] : 0;
}

/*
 * Whether the allocator has this block on such a list. A thread that ends leaves keys in its
 * blocks: the first word must lead to another block as well, mixed with where it is itself
 * (PROTECT_PTR(), glibc 2.32).
 */
static int has_key(const void *p, uintptr_t key)
{
	const volatile uintptr_t *block = (const volatile uintptr_t *)p;

	return key && pmm_readable(p, 2 * sizeof(*block)) && block[1] == key &&
	       !((block[0] ^ (uintptr_t)p >> 12) & (sizeof(*block) - 1));
}

static int on_free_list(const void *p)
{
	return has_key(p, free_key());
}

/*
 * Is what is there no chunk in use that such a block would have? One that is free shows in the
 * next one, which says how large it is (malloc/malloc.c, prev_inuse(), prev_size()); one that was
 * joined with others, or whose memory is others' now, by its size.
 */
static int is_no_chunk(const void *p, size_t bytes)
{
	const volatile uintptr_t *chunk = (const volatile uintptr_t *)p - 2, *next;
	uintptr_t size, mapped;

	if (!pmm_readable((const void *)(uintptr_t)chunk, 2 * sizeof(*chunk)))
		return 1;
	size = chunk[1] & ~(uintptr_t)CHUNK_FLAGS;
	mapped = chunk[1] & CHUNK_MAPPED;
	if (size - bytes > (mapped ? LOOSE_PAGES : LOOSE_BYTES))
		return 1;
	next = chunk + size / sizeof(*chunk);
	return !mapped && pmm_readable((const void *)(uintptr_t)next, 2 * sizeof(*next)) &&
	       !(next[1] & CHUNK_BEFORE_USED) && next[0] == size;
}

static int is_given_back(const struct slot *slot)
{
	const char *start = slot->address - front_of(slot);
	uintptr_t key = free_key();

	return key && (has_key(start, key) || is_no_chunk(start, front_of(slot) + slot->size));
}
#else
static int on_free_list(const void *p)
{
	(void)p;
	return 0;
}

static int is_given_back(const struct slot *slot)
{
	(void)slot;
	return 0;
}
#endif

static int judge_dead(const struct at *at, const struct slot *slot)
{
	if (!option(PMM_FOREIGN) || on_free_list(slot->address)) {
		tell_block(at, "double free of block", 0, "", slot);
		return 1;
	}
	/* a program that frees libraries' blocks does so again and again */
	if (!monitor.stats.nr_foreign) {
		tell_block(at, "warning: freed before, or a block of code without pmm.h:", 0,
			   "; reported once", slot);
		monitor.stats.nr_errors--;
	}
	return 0;
}
