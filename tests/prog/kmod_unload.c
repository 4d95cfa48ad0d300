// SPDX-License-Identifier: GPL-2.0-or-later
/* What holds the module, and what is left of it when it goes. Cases say "ready" and continue at a byte or the end of their input. */
#include "kmod_test.h"

#include <pmm/kmod_ring.h>

static void pause_here(void)
{
	char byte;

	printf("ready\n");
	fflush(stdout);
	if (read(0, &byte, 1) < 0)
		die("read");
}

static struct pmm_kmod_ring *ring_of(int fd, unsigned int slots)
{
	struct pmm_kmod_ring *ring = mmap(NULL, PMM_KMOD_RING_BYTES(slots), PROT_READ | PROT_WRITE,
					  MAP_SHARED, fd, 0);

	if (ring == MAP_FAILED)
		die("ring");
	return ring;
}

/* A ring without its descriptor. */
static void ring(void)
{
	struct pmm_kmod_slot slot = { .kind = PMM_KMOD_MALLOC, .pointer = 32, .bytes = 32 };
	int fd = device(0);
	struct pmm_kmod_ring *r = ring_of(fd, 64);

	close(fd);
	IS(pmm_kmod_write(r, r->slots, &slot), 1);
	pause_here();
	IS(pmm_kmod_write(r, r->slots, &slot), 1);
	munmap(r, PMM_KMOD_RING_BYTES(64));
	pause_here();
}

/* A text that has been read half. */
static void half(void)
{
	char text[1000];
	int dev = device(0), fd, other;

	for (unsigned int i = 1; i <= 1000; i++)
		add(dev, 16 * i, i);
	close(dev);
	fd = open("/proc/pmm/pid", O_RDONLY);
	other = open("/proc/pmm/summary", O_RDONLY);
	IS(read(fd, text, sizeof(text)), sizeof(text));
	IS(read(other, text, 10), 10);
	pause_here();
	IS(read(fd, text, sizeof(text)), -1);
	IS(errno, EIO);
	IS(read(other, text, 10), -1);
	IS(lseek(fd, 0, SEEK_SET), -1);
	close(fd);
	close(other);
}

/* A little of everything, in memory that would be missed. */
static void use(void)
{
	struct pmm_kmod_site s = { .size = sizeof(s), .version = PMM_KMOD_VERSION };
	struct pmm_kmod_slot slot = { .kind = PMM_KMOD_MALLOC, .bytes = 32 };
	int fd = device(0), all = device(O_NONBLOCK), child = sleeper();
	struct pmm_kmod_ring *r = ring_of(fd, 32768);
	static struct pmm_kmod_record out[100];

	for (unsigned int i = 1; i <= 100; i++) {
		s.id = 0;
		s.line = i;
		IS(call(fd, PMM_ADD_SITE, &s), 0);
		slot.site = s.id;
		slot.pointer = 16 * i;
		IS(pmm_kmod_write(r, r->slots, &slot), 1);
	}
	for (unsigned int i = 1; i <= 3000; i++)
		IS(add(fd, 0x100000 + 16 * i, i), 0);
	IS(monitor(fd, PMM_KMOD_SET_START, child), 0);
	IS(read_log(fd, getpid(), 0, out, 100), 100);
	IS(process_of(all, getpid()).entries, 3100);
	IS(system("cat /proc/pmm/* >/dev/null"), 0);
	end(child);
}

CASES({ "ring", ring }, { "half", half }, { "use", use })
