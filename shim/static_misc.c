/*
 * The rest of the static form's interface: options, checks on demand, marks, simulated shortage, tests of addresses, trace, assertions.
 */
void pmm_enable(void)
{
	S.off = 0;
}

void pmm_disable(void)
{
	S.off = 1;
}

size_t pmm_set(enum pmm_option which, size_t value)
{
	static const enum pmm_option odd[] = { PMM_HUGE_SIZE, PMM_LIMIT, PMM_CANARY, PMM_FILL_NEW, PMM_CHECK_ALWAYS };
	size_t old;
	unsigned i;
	int locked;

	if ((unsigned)which >= PMM_NR_OPTIONS)
		return 0;
	locked = enter();
	old = option(which);
	S.option[which] = value ^ at_start(which);
	S.nr_odd = 0;
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		S.nr_odd += S.option[odd[i]] != 0;
	if (locked) {
		trim_kept();
		leave();
	}
	return old;
}

void pmm_set_output(pmm_output *output, void *ctx)
{
	int locked = enter();

	if (locked)
		hand_on();
	S.output = output;
	S.output_ctx = ctx;
	if (locked)
		leave();
}

void pmm_set_react(pmm_react *react, void *ctx)
{
	S.react = react;
	S.react_ctx = ctx;
}

void pmm_flush(void)
{
	if (enter()) {
		hand_on();
		leave();
	}
}

size_t pmm_check_at(PMM_AT)
{
	AT_OF_CALL;
	size_t nr;

	if (!enter())
		return 0;
	nr = inspect_all(&at);
	leave();
	return nr;
}

size_t pmm_check_block_at(PMM_AT, const void *p)
{
	AT_OF_CALL;
	struct slot *slot;
	size_t nr;

	if (!enter())
		return 0;
	slot = find_slot(p, 1 << LIVE | 1 << IDLE);
	nr = slot ? (size_t)inspect_slot(slot, &at) : 0;
	leave();
	return nr;
}

/* ---- marks */
void *pmm_mark_at(PMM_AT, const void *p)
{
	AT_OF_CALL;
	struct slot *slot;

	if (p && enter()) {
		slot = find_slot(p, 1 << MARKED) ? NULL : take_slot();
		if (slot) {
			link_slot(slot, p);
			slot->size = 0;
			slot->file = at.file;
			slot->line = at.line;
			slot->freed_file = NULL;
			slot->time = (uint32_t)PMM_TIME();
			slot->number = ++S.number;
			slot->entry = 'k';
			slot->state = MARKED;
		}
		leave();
	}
	return (void *)(uintptr_t)p;
}

void *pmm_unmark_at(PMM_AT, const void *p)
{
	AT_OF_CALL;
	struct slot *slot;

	if (p && enter()) {
		slot = find_slot(p, 1 << MARKED);
		if (slot) {
			drop_slot(slot, STALE, NULL);
		} else {
			S.stats.nr_errors++;
			tell(&at, "%p is not marked", (void *)(uintptr_t)p);
		}
		leave();
	}
	return (void *)(uintptr_t)p;
}

/* ---- simulated shortage */
enum { GRAB_BYTES = 1024 };

size_t pmm_grab(size_t kib)
{
	size_t nr = 0;

	if (!enter())
		return 0;
	for (; nr < kib; nr++) {
		char *block = (char *)malloc(GRAB_BYTES);

		if (!block)
			break;
		memset(block, POISON, GRAB_BYTES);
		memcpy(block, &S.grabbed, sizeof(void *));
		S.grabbed = block;
	}
	leave();
	return nr;
}

size_t pmm_drop(size_t kib)
{
	size_t nr = 0, i;

	if (!enter())
		return 0;
	for (; nr < kib && S.grabbed; nr++) {
		unsigned char *block = (unsigned char *)S.grabbed;
		unsigned changed = 0;

		for (i = sizeof(void *); i < GRAB_BYTES; i++)
			changed += block[i] != POISON;
		if (changed) {
			S.stats.nr_errors++;
			tell(NULL, "wild pointer: %u bytes of grabbed memory at %p changed", changed, (void *)block);
		}
		memcpy(&S.grabbed, block, sizeof(void *));
		free(block);
	}
	leave();
	return nr;
}

/* ---- tests of addresses */
#if defined(__linux__) && !defined(PMM_BARE)
#include <sys/syscall.h>

/* Each 4 KiB, the smallest page there is, and the last byte. */
static int each_page(const void *p, size_t bytes, int (*ask)(uintptr_t at))
{
	uintptr_t at = (uintptr_t)p, end = at + bytes;
	int saved = errno, yes = p && end >= at;

	for (; yes && at < end; at = (at & ~(uintptr_t)4095) + 4096)
		yes = ask(at);
	errno = saved;
	return yes;
}

/* The kernel reads the new mask before it looks at `how`, which is none. */
static int ask_read(uintptr_t at)
{
	return syscall(SYS_rt_sigprocmask, ~0, at & ~(uintptr_t)7, NULL, 8) >= 0 || errno != EFAULT;
}

/* FUTEX_WAKE_OP_PRIVATE adds 0 to the word, atomically; it wakes nobody who waits for `own`. */
static int ask_write(uintptr_t at)
{
	int own = 0;
#if defined(SYS_futex)
	long call = SYS_futex;
#else
	long call = SYS_futex_time64;
#endif

	return syscall(call, &own, 5 | 128, 0, 0, at & ~(uintptr_t)3, 1 << 28) >= 0 || errno != EFAULT;
}

int pmm_readable(const void *p, size_t bytes)
{
	return each_page(p, bytes, ask_read);
}

int pmm_writable(const void *p, size_t bytes)
{
	return each_page(p, bytes, ask_write);
}
#else
int pmm_readable(const void *p, size_t bytes)
{
	(void)bytes;
	return p != NULL;
}

int pmm_writable(const void *p, size_t bytes)
{
	return pmm_readable(p, bytes);
}
#endif

/* ---- trace and assertions */
void pmm_trace(const char *format, ...)
{
	va_list args;

	if (!enter())
		return;
	va_start(args, format);
	put_args(format, args);
	va_end(args);
	leave();
}

int pmm_failed(PMM_AT, const char *text)
{
	AT_OF_CALL;
	size_t reaction;

	if (!enter())
		return 0;
	S.stats.nr_errors++;
	tell(&at, "assertion failed: %s", text);
	leave();
	reaction = S.react ? (size_t)S.react(S.react_ctx, text) : option(PMM_REACTION);
	if (reaction == PMM_ABORT)
		abort();
	if (reaction == PMM_QUIT)
		exit(1);
	return reaction == PMM_RETRY;
}
