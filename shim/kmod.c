/* SPDX-License-Identifier: MIT */
/*
 * What is logged to the kernel module (PMM_KMOD, doc/kmod.md): each allocation, realloc and free is
 * a record in its ring (kmod_open.c), outside of the lock and without a system call.
 *
 * Order: a free is logged before the memory is released, an allocation after it was had, so that
 * the records of one address are in the ring as they happened. For the same reason a free of the
 * old block is logged before a realloc (PMM_KMOD_PREV_GONE), unless the program has one thread.
 */

/*
 * What the form may define: is this record written by others; which ring pmm_kmod_*() are about.
 */
#ifndef KMOD_ELSEWHERE
#define KMOD_ELSEWHERE(at, kind, p, size, prev, flags)	0
#define KMOD_SWITCH(on)		kmod_switch(on)
#endif

#ifdef PMM_NO_THREADS
static uint32_t kmod_tid, kmod_tid_generation;
#else
static __thread uint32_t kmod_tid, kmod_tid_generation;
#endif

COLD void kmod_drain(void)
{
	if (__atomic_exchange_n(&kmod.draining, 1, __ATOMIC_ACQ_REL))
		return;		/* another thread is at it */
	kmod_call(PMM_DRAIN, NULL);
	__atomic_store_n(&kmod.draining, 0, __ATOMIC_RELEASE);
}

COLD uint32_t kmod_ask_tid(void)
{
	kmod_tid_generation = kmod.generation;
	kmod_tid = (uint32_t)syscall(SYS_gettid);
	return kmod_tid;
}

HOT uint64_t kmod_now(void)
{
	struct timespec now;

	return clock_gettime(CLOCK_REALTIME_COARSE, &now)
		       ? 0
		       : (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

HOT void kmod_write(const struct at *at, unsigned kind, const void *p, size_t size,
		    const void *prev, unsigned flags)
{
	uint32_t state = kmod_state_now();
	struct pmm_kmod_slot record;

	if (state < KMOD_UNTRIED || KMOD_ELSEWHERE(at, kind, p, size, prev, flags) ||
	    !kmod_ready(state))
		return;
	if (kind != PMM_KMOD_FREE && !kmod_is_wanted()) {
		if (!prev || flags & PMM_KMOD_PREV_GONE)
			return;
		kind = PMM_KMOD_FREE;
		p = prev;
		prev = NULL;
		size = 0;
	}
	record.site = kind == PMM_KMOD_FREE ? 0 : kmod_site_id(at);
	record.bytes = size;
	record.pointer = (uintptr_t)p;
	record.prev = (uintptr_t)prev;
	record.caller = (uintptr_t)at->caller;
	record.time_ns = kmod_now();
	record.tid = kmod_tid_generation == kmod.generation ? kmod_tid : kmod_ask_tid();
	record.kind = (uint16_t)kind;
	record.flags = (uint16_t)flags;
	pmm_kmod_write(kmod.ring, kmod.slots, &record);
	if (pmm_kmod_pending(kmod.ring) > kmod.slots / 2)
		kmod_drain();
}

HOT void *kmod_new(const struct at *at, char entry, void *p, size_t size)
{
	if (p && !monitor.off)
		kmod_write(at,
			   entry == 'c'	  ? PMM_KMOD_CALLOC
			   : entry == 'r' ? PMM_KMOD_REALLOC
			   : entry == 'a' ? PMM_KMOD_ALIGNED
					  : PMM_KMOD_MALLOC,
			   p, size, NULL, 0);
	return p;
}

/* Frees that waited for the lock's holder ("?", lock.c) were logged when they were asked for. */
HOT void kmod_free(const struct at *at, const void *p)
{
	if (at->file[0] != '?' || at->line)
		kmod_write(at, PMM_KMOD_FREE, p, 0, NULL, 0);
}

/* Before the allocator's realloc() of p: 1: its entry is out of the log. */
static int kmod_moving(const struct at *at, const void *p)
{
	if (ALONE)
		return 0;
	kmod_write(at, PMM_KMOD_FREE, p, 0, NULL, 0);
	return 1;
}

/* After it. `fresh` NULL: p of old_size bytes stays. */
static void kmod_moved(const struct at *at, const void *p, size_t old_size, void *fresh,
		       size_t size, int out)
{
	if (fresh && !monitor.off)
		kmod_write(at, PMM_KMOD_REALLOC, fresh, size, p, out ? PMM_KMOD_PREV_GONE : 0);
	else if (fresh && !out)
		kmod_write(at, PMM_KMOD_FREE, p, 0, NULL, 0);
	else if (!fresh && out)
		kmod_new(at, 'r', (void *)(uintptr_t)p, old_size);
}

/* ---- the interface */

int pmm_kmod_status(void)
{
	return KMOD_SWITCH(-1);
}

int pmm_kmod_enable(void)
{
	return KMOD_SWITCH(1);
}

void pmm_kmod_disable(void)
{
	KMOD_SWITCH(0);
}

static const char *kmod_why(int status)
{
	switch (-status) {
	case 0:
		return kmod_is_wanted() ? "nothing was called yet" : "it is switched off";
	case ENOENT:
	case ENXIO:
		return "it is not loaded";
	case EACCES:
	case EPERM:
		return "/dev/pmm may not be opened";
	case EPROTONOSUPPORT:
		return "it is of another version";
	case ECANCELED:
		return "its monitoring was stopped";
	default:
		return "/dev/pmm cannot be used";
	}
}

/* Nothing where it was never wanted. */
static void put_kmod(void)
{
	int status = kmod_status();

	if (status > 0)
		put_text("  kernel module: logs here, %u records lost, %zu while it was opened\n",
			 (unsigned)__atomic_load_n(&kmod.ring->overflows, __ATOMIC_RELAXED),
			 kmod.missed);
	else if (status)
		put_text("  kernel module: logs nothing, %s (error %d)\n", kmod_why(status),
			 -status);
	else if (kmod_is_wanted() || kmod.generation)
		put_text("  kernel module: logs nothing, %s\n", kmod_why(status));
}
