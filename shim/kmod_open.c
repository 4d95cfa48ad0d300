/* SPDX-License-Identifier: MIT */
/*
 * The kernel module's ring (doc/kmod.md) in a program that pmm.h is in, whichever form: the device,
 * the ring's life, and whether it is wanted. kmod.c writes into it.
 *
 * Life: the device is opened by the first request. Without it, or without a right to it, nothing is
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

/* Below KMOD_UNTRIED requests are not logged. */
enum kmod_state { KMOD_UNWANTED, KMOD_OFF, KMOD_UNTRIED, KMOD_OPENING, KMOD_ON };
enum kmod_wish { KMOD_DEFAULT, KMOD_WANTED, KMOD_NOT_WANTED };

/*
 * What the form may define: the word that has the state, KMOD_UNTRIED at first; whether the log is
 * wanted where the program has not said so.
 */
#ifndef KMOD_STATE
static uint32_t kmod_state = KMOD_UNTRIED;
#define KMOD_STATE		kmod_state
#define KMOD_BY_DEFAULT		1
#endif

struct kmod_site {
	const char *file;
	const char *func;
	uint32_t text;			/* KMOD_TEXT of them */
	uint32_t line;
	uint32_t id;			/* 0: row unused; read and written last */
};

static struct {
	uint32_t wish;			/* enum kmod_wish */
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

HOT uint32_t kmod_state_now(void)
{
	return __atomic_load_n(&KMOD_STATE, __ATOMIC_ACQUIRE);
}

static int kmod_change(uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&KMOD_STATE, &from, to, 0, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

static void kmod_set_state(uint32_t state)
{
	__atomic_store_n(&KMOD_STATE, state, __ATOMIC_RELEASE);
}

HOT int kmod_is_wanted(void)
{
	uint32_t wish = __atomic_load_n(&kmod.wish, __ATOMIC_RELAXED);

	return wish == KMOD_DEFAULT ? KMOD_BY_DEFAULT : wish == KMOD_WANTED;
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
	int saved = errno, fd = KMOD_OPEN(), error = fd < 0 ? errno : 0;

	if (kmod.generation && kmod_is_ours(kmod.fd))
		close(kmod.fd);
	if (!error)
		error = kmod_make_mark();
	if (!error)
		error = kmod_map_ring(fd);
	if (error && fd >= 0)
		close(fd);
	kmod.fd = error ? -1 : fd;
	kmod.error = error;
	memset(kmod.site, 0, sizeof(kmod.site));
	kmod.draining = 0;
	kmod.generation++;
	kmod_set_state(error ? KMOD_OFF : KMOD_ON);
	errno = saved;
}

/* Not simply on: can it be? 1: it is now. */
COLD int kmod_begin(uint32_t state)
{
	if (!kmod_is_wanted()) {
		kmod_change(KMOD_UNTRIED, KMOD_UNWANTED);
		return 0;
	}
	if (state == KMOD_OPENING || !kmod_change(state, KMOD_OPENING)) {
		__atomic_fetch_add(&kmod.missed, 1, __ATOMIC_RELAXED);
		return 0;
	}
	if (state == KMOD_ON && *kmod.mark)	/* another thread of the child was first */
		kmod_set_state(KMOD_ON);
	else
		kmod_open();
	return kmod_state_now() == KMOD_ON;
}

/* The state is KMOD_UNTRIED or above. 1: a record may be written. */
HOT int kmod_ready(uint32_t state)
{
	return ((state == KMOD_ON && *kmod.mark) || kmod_begin(state)) && !kmod.ring->off;
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

/* ---- wanted or not */

/* As pmm_kmod_status() returns it. */
static int kmod_status(void)
{
	uint32_t state = kmod_state_now();

	if (state == KMOD_OFF)
		return -kmod.error;
	if (state != KMOD_ON || !*kmod.mark || !kmod_is_wanted())
		return 0;
	return kmod.ring->off ? -ECANCELED : 1;
}

/* 1, 0: wanted or not from now on; -1: as it was. Returns the status. */
static int kmod_switch(int on)
{
	uint32_t state;

	if (on >= 0)
		__atomic_store_n(&kmod.wish, on ? KMOD_WANTED : KMOD_NOT_WANTED, __ATOMIC_SEQ_CST);
	do
		state = kmod_state_now();
	while (on > 0 && state < KMOD_OPENING && !kmod_change(state, KMOD_OPENING));
	if (on > 0 && state < KMOD_OPENING)
		kmod_open();
	else if (on > 0 && state == KMOD_ON)
		kmod_ready(state);	/* a forked child opens one of its own */
	return kmod_status();
}
