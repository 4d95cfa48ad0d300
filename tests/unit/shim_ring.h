/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A form of pmm.h, FULL or static, as part of a test, and the kernel module that it logs to: a ring
 * in this process, whose records the test reads one by one.
 */
#ifndef TESTS_UNIT_SHIM_RING_H
#define TESTS_UNIT_SHIM_RING_H

#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static int fake_open(void);
static int fake_ioctl(int fd, unsigned long call, void *arg);
static void *fake_map(int fd, size_t bytes);

static uint32_t ring_slots;

#undef fail				/* cmocka's */
#define KMOD_OPEN()			fake_open()
#define KMOD_IOCTL(fd, call, arg)	fake_ioctl(fd, call, arg)
#define KMOD_MAP(fd, bytes)		fake_map(fd, bytes)
#define PMM_KMOD_SLOTS		ring_slots
#define PMM_KMOD_SITES		8
#ifdef FULL
#define PMM
#define PMM_NO_NAMES
#include "shim/full/pmm_full.c"
#else
#define PMM_KMOD
#define PMM_STATIC_SLOTS	1000
#define PMM_STATIC_SITES	64
#include "shim/pmm_static.c"
#endif

#define MOST_BYTES		(PTRDIFF_MAX - 4096)	/* that no allocator has */

/* ---- the module that is none */

static struct {
	int refuse;			/* errno of open() */
	size_t most_bytes;		/* of a ring; 0: any */
	bool no_sites;
	bool descriptor_is_gone;
	void (*in_open)(void);		/* called while the device is opened */
	unsigned opens, drains, sites;
	struct pmm_kmod_site site[100];
	struct pmm_kmod_ring *ring;
	struct pmm_kmod_slot record[10000];
	unsigned nr;
} fake;

static int fake_open(void)
{
	fake.opens++;
	if (fake.in_open)
		fake.in_open();
	if (!fake.refuse) {
		fake.descriptor_is_gone = false;
		return open("/dev/null", O_RDWR | O_CLOEXEC);
	}
	errno = fake.refuse;
	return -1;
}

/* Take what is in the ring. */
static void take(void)
{
	while (fake.ring) {
		uint32_t tail = fake.ring->tail;
		struct pmm_kmod_slot *s = pmm_kmod_slot(fake.ring, tail, fake.ring->slots);

		if (__atomic_load_n(&s->sequence, __ATOMIC_ACQUIRE) != tail + 1)
			return;
		if (fake.nr < NR(fake.record))
			fake.record[fake.nr++] = *s;
		__atomic_store_n(&s->sequence, tail + fake.ring->slots, __ATOMIC_RELEASE);
		fake.ring->tail++;
	}
}

static int fake_ioctl(int fd, unsigned long call, void *arg)
{
	struct pmm_kmod_site *site = arg;

	errno = fake.descriptor_is_gone ? EBADF : EIO;
	if (fd < 0 || fake.descriptor_is_gone)
		return -1;
	switch (call) {
	case PMM_DRAIN:
		fake.drains++;
		take();
		return 0;
	case PMM_ADD_SITE:
		if (fake.no_sites || site->size != sizeof(*site) || site->version != 1)
			return -1;
		fake.site[fake.sites] = *site;
		site->id = ++fake.sites;
		return 0;
	default:
		return 0;
	}
}

static void *fake_map(int fd, size_t bytes)
{
	uint32_t slots = (uint32_t)((bytes - PMM_KMOD_HEAD_BYTES) / sizeof(struct pmm_kmod_slot));
	struct pmm_kmod_ring *ring;

	(void)fd;
	errno = ENOMEM;
	if (fake.most_bytes && bytes > fake.most_bytes)
		return MAP_FAILED;
	ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(ring, bytes, MADV_DONTFORK);
	ring->version = PMM_KMOD_VERSION;
	ring->slots = slots;
	for (uint32_t i = 0; i < slots; i++)
		pmm_kmod_slot(ring, i, slots)->sequence = i;
	fake.ring = ring;
	return ring;
}

/* As in a new process. */
static int setup(void **state)
{
	(void)state;
	if (kmod.ring)
		munmap(kmod.ring, PMM_KMOD_RING_BYTES(kmod.slots));
	memset(&kmod, 0, sizeof(kmod));
	memset(&fake, 0, sizeof(fake));
	KMOD_STATE = KMOD_UNTRIED;
#ifdef FULL
	kmod.wish = KMOD_WANTED;	/* as with a file that is compiled with PMM_KMOD */
#endif
	ring_slots = 256;
	pmm_set(PMM_AT_EXIT, 0);
	pmm_enable();
	return 0;
}

static const struct pmm_kmod_slot *record(unsigned i)
{
	take();
	assert_true(i < fake.nr);
	return &fake.record[i];
}

#endif
