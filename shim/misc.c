/* SPDX-License-Identifier: MIT */
/*
 * The rest of the interface: options, checks on demand, simulated shortage, tests of addresses,
 * trace, assertions.
 */
APART void set_off(unsigned char off)
{
	int locked = enter();

	monitor.off = off;
	option_changed();
	if (locked)
		leave();
}

void pmm_enable(void)
{
	set_off(0);
}

void pmm_disable(void)
{
	set_off(1);
}

size_t pmm_set(enum pmm_option which, size_t value)
{
	size_t old;
	int locked;

	if ((unsigned)which >= NR_OPTIONS)
		return 0;
	locked = enter();
	old = option(which);
	options[which] = value;
	if (locked)
		trim_retained();
	option_changed();
	if (locked)
		leave();
	return old;
}

#ifndef SHIM_KMOD
int pmm_kmod_status(void)
{
	return -ENOSYS;
}

int pmm_kmod_enable(void)
{
	return -ENOSYS;
}

void pmm_kmod_disable(void)
{
}
#endif

void pmm_set_output(pmm_output *output, void *ctx)
{
	int locked = enter();

	if (locked)
		hand_on();
	monitor.output = output;
	monitor.output_ctx = ctx;
	if (locked)
		leave();
}

void pmm_set_react(pmm_react *react, void *ctx)
{
	monitor.react = react;
	monitor.react_ctx = ctx;
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
		memcpy(block, &monitor.grabbed, sizeof(void *));
		monitor.grabbed = block;
	}
	leave();
	return nr;
}

size_t pmm_drop(size_t kib)
{
	size_t nr = 0, i;

	if (!enter())
		return 0;
	for (; nr < kib && monitor.grabbed; nr++) {
		unsigned char *block = (unsigned char *)monitor.grabbed;
		unsigned changed = 0;

		for (i = sizeof(void *); i < GRAB_BYTES; i++)
			changed += block[i] != POISON;
		if (changed) {
			monitor.stats.nr_errors++;
			say(NULL, "wild pointer: %u of the grabbed bytes at %p changed", changed,
			     (void *)block);
		}
		memcpy(&monitor.grabbed, block, sizeof(void *));
		free(block);
	}
	leave();
	return nr;
}

/* ---- tests of addresses */
#if defined(__linux__) && !defined(PMM_BARE)
#include <sys/syscall.h>
#if !defined(SYS_rt_sigprocmask)
#elif defined(SYS_futex)
#define ASK_FUTEX SYS_futex
#elif defined(SYS_futex_time64)
#define ASK_FUTEX SYS_futex_time64
#endif
#endif

#ifdef ASK_FUTEX

/*
 * One address. To read: the kernel reads the new mask of signals before it looks at `how`, which is
 * none. To write: FUTEX_WAKE_OP_PRIVATE adds 0 to the word, atomically; it wakes no thread that
 * waits for `own`.
 */
static int ask(uintptr_t at, int to_write)
{
	int own = 0;
	long result = to_write
			      ? syscall(ASK_FUTEX, &own, 5 | 128, 0, 0, at & ~(uintptr_t)3, 1 << 28)
			      : syscall(SYS_rt_sigprocmask, ~0, at & ~(uintptr_t)7, NULL, 8);

	return result >= 0 || errno != EFAULT;
}

/* Each 4 KiB, the smallest page there is, and the last byte. */
APART int ask_pages(const void *p, size_t bytes, int to_write)
{
	uintptr_t at = (uintptr_t)p, end = at + bytes;
	int saved = errno, yes = p && end >= at;

	for (; yes && at < end; at = (at & ~(uintptr_t)4095) + 4096)
		yes = ask(at, to_write);
	errno = saved;
	return yes;
}

int pmm_readable(const void *p, size_t bytes)
{
	return ask_pages(p, bytes, 0);
}

int pmm_writable(const void *p, size_t bytes)
{
	return ask_pages(p, bytes, 1);
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
	if (option(PMM_FLUSH))
		hand_on();
	leave();
}

int pmm_failed(PMM_AT, const char *text)
{
	AT_OF_CALL;
	size_t reaction;

	if (!enter())
		return 0;
	monitor.stats.nr_errors++;
	say(&at, "assertion failed: %s", text);
	leave();
	reaction = monitor.react ? (size_t)monitor.react(monitor.react_ctx, text)
				 : option(PMM_REACTION);
	if (reaction == PMM_ABORT)
		abort();
	if (reaction == PMM_QUIT)
		exit(1);
	return reaction == PMM_RETRY;
}
