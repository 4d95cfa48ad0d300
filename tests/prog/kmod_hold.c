// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kmod_hold N [ring|GROUP]: adds N entries of 1, 2, ... bytes to its log, says "ready" and waits to
 * be killed. By calls, or by a ring that the kernel thread reads. GROUP: the folder of a control
 * group, into which it goes after the first entry.
 */
#include "kmod_test.h"

#include <pmm/kmod_ring.h>

static void by_ring(int fd, int nr)
{
	struct pmm_kmod_ring *ring = mmap(NULL, PMM_KMOD_RING_BYTES(1024), PROT_READ | PROT_WRITE,
					  MAP_SHARED, fd, 0);
	struct pmm_kmod_slot s = { .kind = PMM_KMOD_MALLOC };

	if (ring == MAP_FAILED)
		die("ring");
	for (int i = 1; i <= nr; i++) {
		s.pointer = 0x10000u + 16 * (unsigned int)i;
		s.bytes = (uint64_t)i;
		AWAIT(pmm_kmod_pending(ring) < ring->slots);
		IS(pmm_kmod_write(ring, ring->slots, &s), 1);
	}
	AWAIT(!pmm_kmod_pending(ring));
}

static void go_to(const char *group)
{
	char path[256];
	int to;

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	to = open(path, O_WRONLY);
	if (to < 0 || write(to, "0", 1) != 1)
		die(path);
	close(to);
}

static void by_calls(int fd, int nr, const char *group)
{
	for (int i = 1; i <= nr; i++) {
		if (i == 2 && group)
			go_to(group);
		IS(add(fd, 0x10000u + 16 * (unsigned int)i, (uint64_t)i), 0);
	}
}

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 0, fd = device(0);
	static char buffer[4096];

	/* Where there is no memory left for the log, there is none to say so either. */
	memset(buffer, 1, sizeof(buffer));
	setvbuf(stdout, buffer, _IOLBF, sizeof(buffer));
	if (argc > 2 && !strcmp(argv[2], "ring"))
		by_ring(fd, nr);
	else
		by_calls(fd, nr, argc > 2 ? argv[2] : NULL);
	printf("ready\n");
	fflush(stdout);
	if (failures)
		return 1;
	for (;;)
		pause();
}
