/* SPDX-License-Identifier: MIT */
/*
 * The kernel module's ring (PMM_KMOD, doc/kmod.md): each allocation, realloc and free is logged
 * there, outside of the lock and without a system call.
 *
 * Order: a free is logged before the memory is released, an allocation after it was had, so that
 * the records of one address are in the ring as they happened. For the same reason a free of the
 * old block is logged before a realloc (PMM_KMOD_PREV_GONE), unless the program has one thread.
 *
 * Life: the device is opened by the first call. Without it, or without a right to it, nothing is
 * logged, and pmm_kmod_status() says why. A forked child does not have the ring: a page that is
 * wiped by fork (MADV_WIPEONFORK) tells it so, and it opens one of its own. A program that closes
 * all descriptors keeps the ring; the descriptor is opened anew when it is needed.
 *
 * Signal handlers: no step waits for another one. What a handler logs while this very thread opens
 * the device is counted in `missed`.
 */
#if !defined(__linux__) || defined(PMM_BARE)
#error "PMM_KMOD needs Linux, and not PMM_BARE"
#endif
#include <fcntl.h>
#include <pmm/kmod_ring.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#ifndef PMM_KMOD_SLOTS
#define PMM_KMOD_SLOTS	16384	/* 1 MiB */
#endif
#ifndef PMM_KMOD_SITES
#define PMM_KMOD_SITES	4096	/* call sites whose number is kept; a power of two */
#endif
#ifndef KMOD_OPEN		/* tests have calls of their own */
#define KMOD_OPEN()		open("/dev/pmm", O_RDWR | O_CLOEXEC | O_NONBLOCK)
#define KMOD_IOCTL(fd, call, arg)	ioctl(fd, call, arg)
#define KMOD_MAP(fd, bytes)                                                                        \
	mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
#endif
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK	18	/* Linux 4.14 */
#endif

enum kmod_state { KMOD_UNTRIED, KMOD_OPENING, KMOD_ON, KMOD_OFF };

#define KMOD_NO_ID	UINT32_MAX	/* a row whose number is being asked for */
#define KMOD_NO_SITE	(UINT32_MAX - 1)	/* ... whose number the module did not give */

struct kmod_site {
	const char *file;
	const char *func;
	uint32_t line;
	uint32_t id;			/* 0: row unused; read and written last */
};

static struct {
	uint32_t state;			/* enum kmod_state */
	int error;			/* errno of what failed; KMOD_OFF */
	int fd;
	uint32_t slots;
	struct pmm_kmod_ring *ring;
	unsigned char *mark;		/* 1; 0 in a forked child */
	uint32_t generation;		/* of the ring: tells threads to ask for their number */
	uint32_t draining;
	size_t missed;
	struct kmod_site site[PMM_KMOD_SITES];
} kmod;

#ifdef PMM_NO_THREADS
static uint32_t kmod_tid, kmod_tid_generation;
#else
static __thread uint32_t kmod_tid, kmod_tid_generation;
#endif

static int kmod_change(uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&kmod.state, &from, to, 0, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

static void kmod_set_state(uint32_t state)
{
	__atomic_store_n(&kmod.state, state, __ATOMIC_RELEASE);
}

/* A byte that fork takes away. 0 or errno. */
static int kmod_make_mark(void)
{
	void *page = kmod.mark;

	if (!page) {
		page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (page == MAP_FAILED)
			return errno;
		if (madvise(page, 4096, MADV_WIPEONFORK)) {
			munmap(page, 4096);
			return errno ? errno : ENOSYS;
		}
	}
	kmod.mark = (unsigned char *)page;
	*kmod.mark = 1;
	return 0;
}

/* The largest ring that can be had. 0 or errno. */
static int kmod_map_ring(int fd)
{
	uint32_t slots = PMM_KMOD_SLOTS;

	for (; slots >= PMM_KMOD_MIN_SLOTS; slots /= 2) {
		void *ring = KMOD_MAP(fd, PMM_KMOD_RING_BYTES(slots));

		if (ring == MAP_FAILED)
			continue;
		kmod.ring = (struct pmm_kmod_ring *)ring;
		kmod.slots = kmod.ring->slots;
		return kmod.ring->version == PMM_KMOD_VERSION ? 0 : EPROTONOSUPPORT;
	}
	return errno;
}

/* A child closes its parent's descriptor only if it is that still. */
static int kmod_is_ours(int fd)
{
	struct pmm_kmod_config config;

	memset(&config, 0, sizeof(config));
	config.size = sizeof(config);
	config.version = PMM_KMOD_VERSION;
	return !KMOD_IOCTL(fd, PMM_GET_CONFIG, &config);
}

/* The state is OPENING: by this thread. */
COLD void kmod_open(void)
{
	int saved = errno, error, fd = KMOD_OPEN();

	if (kmod.generation && kmod_is_ours(kmod.fd))
		close(kmod.fd);
	error = fd < 0 ? errno : kmod_make_mark();
	if (!error)
		error = kmod_map_ring(fd);
	if (error && fd >= 0)
		close(fd);
	kmod.fd = fd;
	kmod.error = error;
	memset(kmod.site, 0, sizeof(kmod.site));
	kmod.draining = 0;
	kmod.generation++;
	kmod_set_state(error ? KMOD_OFF : KMOD_ON);
	errno = saved;
}

/* Not simply on: can it be? 1: it is now. */
COLD int kmod_begin(void)
{
	uint32_t state = __atomic_load_n(&kmod.state, __ATOMIC_ACQUIRE);

	if (state == KMOD_OFF)
		return 0;
	if (state != KMOD_OPENING && kmod_change(state, KMOD_OPENING)) {
		kmod_open();
		return kmod.state == KMOD_ON;
	}
	__atomic_fetch_add(&kmod.missed, 1, __ATOMIC_RELAXED);
	return 0;
}

HOT int kmod_ready(void)
{
	if (__atomic_load_n(&kmod.state, __ATOMIC_ACQUIRE) == KMOD_ON && *kmod.mark)
		return !kmod.ring->off;
	return kmod_begin() && !kmod.ring->off;
}

/* A call that needs the descriptor, which the program may have closed. */
COLD int kmod_call(unsigned long call, void *arg)
{
	int saved = errno, rc = KMOD_IOCTL(kmod.fd, call, arg);

	if (rc < 0 && (errno == EBADF || errno == ENOTTY)) {
		kmod.fd = KMOD_OPEN();
		rc = KMOD_IOCTL(kmod.fd, call, arg);
	}
	errno = saved;
	return rc;
}

/* ---- places */

static void kmod_copy(char *to, size_t size, const char *text)
{
	size_t len = text ? strlen(text) : 0, skip = 0;

	if (len >= size)	/* the end of a path says more than its begin */
		skip = len - size + 1;
	if (text)
		memcpy(to, text + skip, len - skip);
}

/* Of a row that is this thread's to fill in. */
static void kmod_ask_id(struct kmod_site *row, const struct at *at)
{
	struct pmm_kmod_site site;

	memset(&site, 0, sizeof(site));
	site.size = sizeof(site);
	site.version = PMM_KMOD_VERSION;
	site.line = at->line;
	kmod_copy(site.file, sizeof(site.file), at->file);
	kmod_copy(site.function, sizeof(site.function), at->func);
	row->file = at->file;
	row->func = at->func;
	row->line = at->line;
	if (kmod_call(PMM_ADD_SITE, &site) < 0 || !site.id)
		site.id = KMOD_NO_SITE;
	__atomic_store_n(&row->id, site.id, __ATOMIC_RELEASE);
}

static uint32_t kmod_hash(const struct at *at)
{
	uintptr_t key = (uintptr_t)at->file * 31 + (uintptr_t)at->func + at->line * 2654435761u;

	return (uint32_t)(key ^ key >> 12);
}

/* The number of a place, not at its first row. 0: it has none. */
COLD uint32_t kmod_search_site(const struct at *at, uint32_t first)
{
	uint32_t i;

	for (i = 0; i < PMM_KMOD_SITES; i++) {
		struct kmod_site *row = &kmod.site[(first + i) & (PMM_KMOD_SITES - 1)];
		uint32_t id = __atomic_load_n(&row->id, __ATOMIC_ACQUIRE);

		if (!id && __atomic_compare_exchange_n(&row->id, &id, KMOD_NO_ID, 0,
						       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			kmod_ask_id(row, at);
			id = row->id;
		} else if (id == KMOD_NO_ID || row->file != at->file || row->func != at->func ||
			   row->line != at->line) {
			continue;	/* a place twice has the same number twice */
		}
		return id == KMOD_NO_SITE ? 0 : id;
	}
	return 0;
}

HOT uint32_t kmod_site_id(const struct at *at)
{
	uint32_t first = kmod_hash(at) & (PMM_KMOD_SITES - 1);
	const struct kmod_site *row = &kmod.site[first];
	uint32_t id = __atomic_load_n(&row->id, __ATOMIC_ACQUIRE);

	if (id && id < KMOD_NO_SITE && row->file == at->file && row->func == at->func &&
	    row->line == at->line)
		return id;
	return kmod_search_site(at, first);
}

/* ---- records */

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
	struct pmm_kmod_slot record;

	if (!kmod_ready())
		return;
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
	uint32_t state = __atomic_load_n(&kmod.state, __ATOMIC_ACQUIRE);

	return state == KMOD_ON ? 1 : state == KMOD_OFF ? -kmod.error : 0;
}

static void put_kmod(void)
{
	int status = pmm_kmod_status();

	if (status > 0)
		put_text("  kernel module: logs here, %u records lost, %zu while it was opened\n",
			 (unsigned)__atomic_load_n(&kmod.ring->overflows, __ATOMIC_RELAXED),
			 kmod.missed);
	else
		put_text("  kernel module: logs nothing, %s (error %d)\n",
			 status == -ENOENT || status == -ENXIO ? "it is not loaded"
			 : status == -EACCES || status == -EPERM
				 ? "/dev/pmm may not be opened"
			 : status ? "/dev/pmm cannot be used"
				  : "nothing was called yet",
			 -status);
}
