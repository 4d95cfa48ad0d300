/* SPDX-License-Identifier: MIT */
/*
 * The lock: a word that says which thread has it, and what is to be done when that is the thread
 * itself, below a signal handler.
 *
 * A handler that interrupted the thread in here gets no lock: requests pass untracked, frees and
 * reports wait until leave(). After fork() in a program with threads the child may find the lock
 * taken by a thread that it has not: it takes the lock over once a second has passed without
 * anybody's turn, in a process that is not the one the lock was last known to work for.
 */
#ifdef PMM_NO_THREADS
static char this_thread;
#define PEEK(word)		(*(word))
#define POKE(word, value)	(*(word) = (value))
#define RELEASE(word)		(*(word) = NULL)
#define EXCHANGE(word, value)	swap_pointer(word, value)
#define CLAIM(word, value)	(*(word) ? 0 : (*(word) = (value), 1))
#define ALONE			1

static const char *swap_pointer(const char *volatile *word, const char *value)
{
	const char *old = *word;

	*word = value;
	return old;
}
#else
/* its address is the thread's name; how deep it is in settle() */
static __thread char this_thread;
#if !defined(ALONE) && defined(__GLIBC__) && defined(__has_include)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define ALONE __libc_single_threaded	/* no other thread was ever started, or none is left */
#endif
#endif
#ifndef ALONE
#define ALONE 0
#endif
#define PEEK(word)		__atomic_load_n(word, __ATOMIC_RELAXED)
#define POKE(word, value)	__atomic_store_n(word, value, __ATOMIC_RELAXED)
#define RELEASE(word)		__atomic_store_n(word, NULL, __ATOMIC_RELEASE)
#define EXCHANGE(word, value)	__atomic_exchange_n(word, value, __ATOMIC_ACQ_REL)
#define CLAIM(word, value)	claim(word, value)

static int claim(const char *volatile *word, const char *value)
{
	const char *none = NULL;

	return __atomic_compare_exchange_n(word, &none, value, 0, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}
#endif

#define SELF			(&this_thread)

static int process_id(void)
{
#ifdef PMM_BARE
	return 1;
#else
	return (int)getpid();
#endif
}

/* looks at a taken lock before the processor is given away: its holder is soon done */
enum { SPINS = 100 };

/* Until the lock is ours. */
COLD void wait_for_lock(void)
{
	uint32_t turn = 0, spins = 0;
	long since = 0, now;

	while (PEEK(&monitor.owner) || !CLAIM(&monitor.owner, SELF)) {
		if (++spins < SPINS)
			continue;
		PMM_YIELD();
		now = (long)PMM_TIME();
		if (spins == SPINS || PEEK(&monitor.turn) != turn) {
			turn = PEEK(&monitor.turn);
			since = now;
		} else if (now > since + 1 && monitor.pid != process_id()) {
			monitor.pid = process_id();
			POKE(&monitor.owner, SELF);
			return;
		}
	}
}

HOT int enter_fast(void)
{
	const char *owner = PEEK(&monitor.owner);

	if (owner == SELF)
		return 0;
	if (ALONE && !owner)
		POKE(&monitor.owner, SELF);
	else if (owner || !CLAIM(&monitor.owner, SELF))
		wait_for_lock();
	POKE(&monitor.turn, monitor.turn + 1);
	return 1;
}

/*
 * Work that came up while the lock was taken, and is left to this thread. And what came up
 * meanwhile; but then it is enough until the next call: output functions that ask for reports would
 * never be done.
 */
COLD void settle(void)
{
	unsigned i;
	unsigned tables = (unsigned)monitor.late_tables;

	if (this_thread == 2)
		return;
	this_thread++;
	monitor.late = 0;
	monitor.late_tables = 0;
	if (tables)
		pmm_report(tables);
	for (i = 0; i < NR_LATE; i++) {
		const char *p = EXCHANGE(&monitor.late_free[i], NULL);

		if (p)
			pmm_free("?", 0, "?", (void *)(uintptr_t)p);
	}
	this_thread--;
}

HOT void leave_fast(void)
{
	RELEASE(&monitor.owner);
	if (monitor.late)
		settle();
}

static int enter(void)
{
	return enter_fast();
}

static void leave(void)
{
	leave_fast();
}

#ifndef PMM_BARE
static void write_end(void)
{
	if (!enter())
		return;
	inspect_all(NULL);
	put_tables(tables_at_exit());
	hand_on();
	leave();
}
#endif

static void begin(void)
{
	if (!enter())
		return;
	if (!monitor.begun) {
		monitor.begun = 1;
		monitor.pid = process_id();
		option_changed();
#ifndef PMM_BARE
		leave();
		atexit(write_end);	/* may allocate */
		return;
#endif
	}
	leave();
}
