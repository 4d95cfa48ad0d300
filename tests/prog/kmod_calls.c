// SPDX-License-Identifier: GPL-2.0-or-later
/* Every call of /dev/pmm: what is refused, with which error, and what is taken, to the last figure. */
#include "kmod_test.h"

#include <sys/sysinfo.h>

/* A structure of a call, as it is good, with room behind it. */
struct good {
	unsigned long number;
	size_t bytes;
	unsigned char is[16384];
};

static struct pmm_kmod_process room[4];
static struct pmm_kmod_record records[4];

static void good_of(struct good *g, unsigned long number)
{
	struct pmm_kmod_record *record = (void *)g->is;
	struct pmm_kmod_pids *pids = (void *)g->is;
	struct pmm_kmod_log *log = (void *)g->is;

	memset(g, 0, sizeof(*g));
	g->number = number;
	g->bytes = _IOC_SIZE(number);
	record->size = (__u32)g->bytes;
	record->version = PMM_KMOD_VERSION;
	if (number == PMM_RECORD_LOG) {
		record->kind = PMM_KMOD_MALLOC;
		record->pointer = 16;
	} else if (number == PMM_MONITORED_PIDS) {
		pids->capacity = 4;
		pids->element_bytes = sizeof(room[0]);
		pids->processes = (uintptr_t)room;
	} else if (number == PMM_READ_LOG) {
		log->pid = getpid();
		log->capacity = 4;
		log->records = (uintptr_t)records;
	}
}

static const unsigned long numbers[] = { PMM_RECORD_LOG,     PMM_SET_CONFIG, PMM_GET_CONFIG,
					 PMM_MONITORED_PIDS, PMM_ADD_SITE,   PMM_READ_LOG };

/* The call with a structure of `bytes` bytes; its size field says `says`. */
static long sized(int fd, struct good *g, size_t bytes, size_t says)
{
	unsigned long number = (g->number & ~((unsigned long)_IOC_SIZEMASK << _IOC_SIZESHIFT)) |
			       bytes << _IOC_SIZESHIFT;
	__u32 says_32 = (__u32)says;

	memcpy(g->is, &says_32, sizeof(says_32));
	return call(fd, number, g->is);
}

static void sizes_of(int fd, unsigned long number)
{
	static struct good g;

	good_of(&g, number);
	IS(sized(fd, &g, g.bytes, g.bytes), 0);
	for (size_t less = 1; less <= g.bytes; less *= 2) {
		good_of(&g, number);
		IS(sized(fd, &g, g.bytes - less, g.bytes - less), -EINVAL);
	}
	IS(sized(fd, &g, 0, 0), -EINVAL);
	for (size_t more = 1; g.bytes + more < sizeof(g.is); more *= 4) {
		good_of(&g, number);
		IS(sized(fd, &g, g.bytes + more, g.bytes + more), 0);
		good_of(&g, number);
		g.is[g.bytes + more - 1] = 1;
		IS(sized(fd, &g, g.bytes + more, g.bytes + more), -E2BIG);
	}
	good_of(&g, number);
	IS(sized(fd, &g, g.bytes, g.bytes + 8), -EINVAL);
	IS(sized(fd, &g, g.bytes + 8, g.bytes), -EINVAL);
	IS(sized(fd, &g, g.bytes, 0), -EINVAL);
}

static void sizes(void)
{
	int fd = device(0);

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sizes_of(fd, numbers[i]);
	close(fd);
}

static void versions(void)
{
	const __u32 wrong[] = { 0, 2, 0x10000, ~0u };
	static struct good g;
	int fd = device(0);

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		for (size_t v = 0; v < 4; v++) {
			good_of(&g, numbers[i]);
			memcpy(g.is + 4, &wrong[v], 4);
			IS(call(fd, numbers[i], g.is), -EPROTONOSUPPORT);
		}
	close(fd);
}

/* Numbers of calls that there are not. */
static void unknown(void)
{
	static struct good g;
	int fd = device(0);

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		unsigned long n = numbers[i];

		good_of(&g, n);
		IS(call(fd, n ^ 0x100, g.is), -ENOTTY);
		IS(call(fd, n ^ 0x8000, g.is), -ENOTTY);
		IS(call(fd, n ^ 0x40, g.is), -ENOTTY);
		/* in only, out only, and neither are other calls */
		for (unsigned long way = 0; way < 4; way++)
			if (way != _IOC_DIR(n))
				IS(call(fd, (n & ~(3ul << _IOC_DIRSHIFT)) | way << _IOC_DIRSHIFT,
					g.is),
				   -ENOTTY);
	}
	IS(call(fd, _IO(PMM_KMOD_IOC, 0), NULL), -ENOTTY);
	for (unsigned int n = 9; n < 256; n++)
		IS(call(fd, _IO(PMM_KMOD_IOC, n), NULL), -ENOTTY);
	IS(call(fd, _IOW(PMM_KMOD_IOC, 7, int), NULL), -ENOTTY);
	IS(call(fd, _IOW(PMM_KMOD_IOC, 8, int), NULL), -ENOTTY);
	close(fd);
}

/* Addresses that cannot be read or written, or in part only. */
static void addresses(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *two = mmap(NULL, (size_t)page * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	static struct good g;
	int fd = device(0);

	if (two == MAP_FAILED || mprotect(two + page, (size_t)page, PROT_NONE))
		die("mmap");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		char *at;

		good_of(&g, numbers[i]);
		at = two + page - g.bytes;
		memcpy(at, g.is, g.bytes);
		IS(call(fd, numbers[i], at), 0);
		good_of(&g, numbers[i]);
		memcpy(at + 8, g.is, g.bytes - 8);
		IS(call(fd, numbers[i], at + 8), -EFAULT);
		IS(call(fd, numbers[i], NULL), -EFAULT);
		IS(call(fd, numbers[i], (void *)-4096l), -EFAULT);
		IS(call(fd, numbers[i], (void *)(~0ul << 63)), -EFAULT);
		if (!(_IOC_DIR(numbers[i]) & _IOC_READ))
			continue;
		good_of(&g, numbers[i]);
		memcpy(at, g.is, g.bytes);
		mprotect(two, (size_t)page, PROT_READ);
		IS(call(fd, numbers[i], at), -EFAULT);
		mprotect(two, (size_t)page, PROT_READ | PROT_WRITE);
	}
	/* the arrays that structures point to */
	IS(add(fd, 16, 1), 0);
	IS(read_log(fd, getpid(), PMM_KMOD_RESTART, NULL, 4), -EFAULT);
	IS(read_log(fd, getpid(), PMM_KMOD_RESTART, (void *)(two + page - 8), 4), -EFAULT);
	IS(list(fd, NULL, 4), -EFAULT);
	IS(list(fd, (void *)(two + page - 8), 4), -EFAULT);
	/* of which nothing is needed */
	IS(read_log(fd, getpid(), PMM_KMOD_RESTART, NULL, 0), 0);
	IS(list(fd, NULL, 0), 1);
	close(fd);
}

/* ---- mappings of rings */

static void *map(int fd, size_t bytes, int flags, off_t at)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, at);
}

/* Not mapped, with that error. */
#define REFUSED(mapping, error)                                                                    \
	do {                                                                                       \
		IS((mapping) == MAP_FAILED, 1);                                                    \
		IS(errno, error);                                                                  \
	} while (0)

static size_t pages_of(size_t bytes)
{
	return (bytes + 4095) & ~(size_t)4095;
}

/* A ring is of a ring's size, shared, whole, and stays as it is. */
static void mappings(void)
{
	size_t least = pages_of(PMM_KMOD_RING_BYTES(PMM_KMOD_MIN_SLOTS));
	size_t most = pages_of(PMM_KMOD_RING_BYTES(PMM_KMOD_MAX_SLOTS));
	int fd = device(0);
	void *at;

	REFUSED(map(fd, least, MAP_PRIVATE, 0), EINVAL);
	REFUSED(map(fd, least, MAP_SHARED, 4096), EINVAL);
	REFUSED(map(fd, least - 4096, MAP_SHARED, 0), EINVAL);
	REFUSED(map(fd, most + 4096, MAP_SHARED, 0), EINVAL);
	at = map(fd, most, MAP_SHARED, 0);
	IS(at != MAP_FAILED, 1);
	IS(munmap(at, most), 0);
	at = map(fd, least, MAP_SHARED, 0);
	IS(at != MAP_FAILED, 1);
	REFUSED(mremap(at, least, least + 4096, MREMAP_MAYMOVE), EFAULT);
	REFUSED(mremap(at, least, least - 4096, MREMAP_MAYMOVE), EINVAL);
	IS(munmap(at, least), 0);
	close(fd);
}

/* Sixteen rings a process; one that goes makes room for another. */
static void many_rings(void)
{
	size_t least = pages_of(PMM_KMOD_RING_BYTES(PMM_KMOD_MIN_SLOTS));
	int fd = device(0);
	void *at[16];

	for (int i = 0; i < 16; i++) {
		at[i] = map(fd, least, MAP_SHARED, 0);
		IS(at[i] != MAP_FAILED, 1);
	}
	REFUSED(map(fd, least, MAP_SHARED, 0), ENOSPC);
	IS(munmap(at[3], least), 0);
	at[3] = map(fd, least, MAP_SHARED, 0);
	IS(at[3] != MAP_FAILED, 1);
	for (int i = 0; i < 16; i++)
		IS(munmap(at[i], least), 0);
	close(fd);
}

/* All rings take a sixteenth of the machine's memory at most. */
static void large_rings(void)
{
	size_t most = pages_of(PMM_KMOD_RING_BYTES(PMM_KMOD_MAX_SLOTS)), sum = 0, room;
	int fd = device(0);
	struct sysinfo machine;

	if (sysinfo(&machine))
		die("sysinfo");
	room = (size_t)machine.totalram * machine.mem_unit / 16;
	while (map(fd, most, MAP_SHARED, 0) != MAP_FAILED)
		sum += most;
	IS(errno, ENOMEM);
	IS(sum <= room, 1);
	IS(sum + most > room, 1);
	close(fd);
}

CASES({ "sizes", sizes }, { "versions", versions }, { "unknown", unknown },
      { "addresses", addresses }, { "mappings", mappings }, { "many", many_rings },
      { "large", large_rings })
