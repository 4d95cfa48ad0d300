/*
 * What is noticed of misuse, in one block: canaries beside it, kept and poisoned memory; and pointers that cannot be a block's.
 */
static const unsigned char canary[FRONT_BYTES] = {	/* no byte is of text or of a small number */
	0xE5, 0x9A, 0xD3, 0xB6, 0xF1, 0x8D, 0xC7, 0xAB, 0xE5, 0x9A, 0xD3, 0xB6, 0xF1, 0x8D, 0xC7, 0xAB
};

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
static void tell_block(const struct at *at, const char *what, unsigned bytes, const char *where, const struct slot *slot)
{
	S.stats.nr_errors++;
	if (bytes)
		tell(at, "%s: %u byte%s %s block %p of %zu bytes from %s(%u) changed", what, bytes, bytes == 1 ? "" : "s", where,
			(void *)(uintptr_t)slot->address, slot->size, slot->file, (unsigned)slot->line);
	else
		tell(at, "%s %p of %zu bytes from %s(%u)%s", what, (void *)(uintptr_t)slot->address, slot->size, slot->file,
			(unsigned)slot->line, where);
	if (slot->state >= DEAD && slot->freed_line) {
		put_text("pmm:     freed at %s(%u)\n", slot->freed_file, (unsigned)slot->freed_line);
		hand_on();
	}
}

/* 1: a kept block was written to, and it is told. */
static int inspect_kept(struct slot *slot, const struct at *at)
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
#define SANITIZED	/* these watch what is freed themselves, and would take the look at it for an error */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED
#endif
#endif

/*
 * Whether the allocator has this block, which was freed, on a list of free ones: known of glibc's lists of each thread. A block there
 * has a key in its second word, which is taken out when the block is given out again (malloc/malloc.c, tcache_put(), tcache_get());
 * which key that is, a block that we free ourselves tells. A thread that ends leaves keys in its blocks: the first word must lead to
 * another block as well, mixed with where it is itself (PROTECT_PTR(), glibc 2.32).
 */
#if defined(__GLIBC__) && !defined(PMM_BARE) && !defined(SANITIZED)
static int on_free_list(const void *p)
{
	volatile uintptr_t *probe = (volatile uintptr_t *)malloc(3 * sizeof(*probe)), *freed;
	const volatile uintptr_t *block = (const volatile uintptr_t *)p;
	uintptr_t key;

	if (!probe)
		return 0;
	probe[1] = 0;
	__asm__("" : "=r"(freed) : "0"(probe));		/* the same; the compiler would not let us look into what is freed */
	free((void *)(uintptr_t)probe);
	key = freed[1];
	return key && pmm_readable(p, 2 * sizeof(*block)) && block[1] == key && !((block[0] ^ (uintptr_t)p >> 12) & (sizeof(*block) - 1));
}
#else
static int on_free_list(const void *p)
{
	(void)p;
	return 0;
}
#endif

static int judge_dead(const struct at *at, const struct slot *slot)
{
	if (!option(PMM_FOREIGN) || on_free_list(slot->address)) {
		tell_block(at, "double free of block", 0, "", slot);
		return 1;
	}
	if (!S.stats.nr_foreign) {	/* a program that frees libraries' blocks does so again and again */
		tell_block(at, "warning: freed before, or a block of code without pmm.h:", 0, "; told once", slot);
		S.stats.nr_errors--;
	}
	return 0;
}
