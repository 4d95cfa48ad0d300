/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that reads the ring as the kernel module does. At exit it says on stderr how many
 * records it has read and how many did not find room.
 */
#include "bench/ring_host.h"

#include <fcntl.h>
#include <pmm/kmod_ring.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static struct pmm_kmod_ring *ring;
static uint64_t nr_read, bytes;
static uint32_t nr_sites;

static void drain(uint32_t *tail)
{
	for (;;) {
		struct pmm_kmod_slot *slot = pmm_kmod_slot(ring, *tail, ring->slots);

		if (__atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE) != *tail + 1)
			break;
		bytes += slot->bytes + slot->pointer + slot->time_ns;
		nr_read++;
		__atomic_store_n(&slot->sequence, *tail + ring->slots, __ATOMIC_RELEASE);
		++*tail;
	}
	__atomic_store_n(&ring->tail, *tail, __ATOMIC_RELAXED);
}

/* Every 50 us, in which a ring of the usual size is not half full. */
static void *play(void *arg)
{
	const struct timespec pause = { 0, 50000 };
	uint32_t tail = 0;

	for (;;) {
		drain(&tail);
		nanosleep(&pause, NULL);
	}
	return arg;
}

static void tell(void)
{
	fprintf(stderr, "ring: %llu records read, %u lost\n", (unsigned long long)nr_read,
		ring->overflows);
}

int ring_host_open(void)
{
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

int ring_host_ioctl(int fd, unsigned long call, void *arg)
{
	(void)fd;
	if (call == PMM_ADD_SITE)
		((struct pmm_kmod_site *)arg)->id = ++nr_sites;
	return 0;
}

void *ring_host_map(int fd, size_t size)
{
	pthread_t thread;

	(void)fd;
	ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		    -1, 0);
	ring->version = PMM_KMOD_VERSION;
	ring->slots = (uint32_t)((size - PMM_KMOD_HEAD_BYTES) / sizeof(struct pmm_kmod_slot));
	for (uint32_t i = 0; i < ring->slots; i++)
		pmm_kmod_slot(ring, i, ring->slots)->sequence = i;
	if (pthread_create(&thread, NULL, play, NULL))
		abort();
	atexit(tell);
	return ring;
}
