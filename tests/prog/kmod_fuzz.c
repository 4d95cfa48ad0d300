// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kmod_fuzz SEED CALLS [user]: random calls of all that the module has, near what is valid, while a
 * thread overwrites the ring; as another user from the begin on if asked for. No call may do more
 * than to return an error; then the module must work exactly as before (the test sees to that).
 */
#include "kmod_test.h"

#include <pthread.h>
#include <sys/eventfd.h>

#define FILES	6
#define MAPS	8

static uint64_t state;
static int files[FILES], procs[3];
static struct map {
	char *at;
	size_t bytes;
} maps[MAPS];
static volatile int stop;
static unsigned char *memory;	/* 64 KiB, with nothing behind */
static unsigned long done, succeeded;

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t number(uint64_t *from)
{
	uint64_t z = *from += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static uint64_t below(uint64_t limit)
{
	return number(&state) % limit;
}

/* A number that code is likely to mistake. */
static uint64_t odd(void)
{
	const uint64_t some[] = { 0, 1, 2, 63, 64, 4095, 4096, 0x7fffffff, 0x80000000, ~0ull >> 1,
				  ~0ull, 1ull << 63, 0xffffffff, 65536, 262144, 16777216 };

	return below(2) ? some[below(16)] : number(&state) >> below(64);
}

/*
 * Where no structure can be, or only its begin. Not just anywhere: what the module writes there
 * could be this program's own data, and its end.
 */
static void *bad_pointer(void)
{
	const uint64_t end = (uintptr_t)memory + 65536;
	const uint64_t some[] = { 0,	       1,	       4095,	  ~0ull,	   ~0ull - 7,
				  ~0ull << 12, 1ull << 63,     1ull << 47, (1ull << 47) - 8,
				  end,	       end - 1 - below(300) };

	return (void *)(uintptr_t)some[below(11)];
}

static int some_pid(void)
{
	const int some[] = { 0, 1, 2, -1, getpid(), getppid() };

	return below(2) ? some[below(6)] : (int)below(400);
}

/* What such a structure needs to be looked at, and then one thing more or less. */
static void fill(unsigned int nr, size_t bytes)
{
	__u32 *word = (void *)memory;
	uint64_t address = (uintptr_t)memory + below(60000);

	for (size_t i = 0; i < 64; i++)
		word[i] = below(3) ? 0 : (__u32)odd();
	word[0] = (__u32)bytes;
	word[1] = PMM_KMOD_VERSION;
	if (nr == 1) {
		word[2] = (__u32)(1 + below(7));
		memcpy(memory + 24, &(uint64_t){ below(4) ? below(512) * 16 : odd() }, 8);
		word[15] = 0;
		if (word[2] != PMM_KMOD_REALLOC)
			word[8] = word[9] = 0;
	} else if (nr == 2) {
		word[2] = 1u << below(11);
		word[5] = word[6] = word[7] = (__u32)some_pid();
		memset(memory + 72, 0, 40);
	} else if (nr == 4) {
		word[3] = word[5] = 0;
		word[4] = sizeof(struct pmm_kmod_process) + 8 * (__u32)below(3);
	} else if (nr == 5) {
		word[3] = 0;
	} else if (nr == 6) {
		word[2] = (__u32)some_pid();
		word[3] = (__u32)below(2);
		word[5] = 0;
	}
	memory[79] = memory[127] = memory[207] = memory[255] = 0;
	if (!below(4))
		memory[below(bytes ? bytes : 1)] = (unsigned char)below(256);
	/* where the module is to write: see bad_pointer() */
	if (nr == 4 || nr == 6) {
		if (!below(16))
			address = (uintptr_t)bad_pointer();
		memcpy(memory + 24, &address, 8);
	}
}

static long one_call(void)
{
	const size_t sizes[] = { 0, 256, 112, 112, 32, 208, 32, 0, 0, 4 };
	unsigned int nr = (unsigned int)below(10), way = (unsigned int)below(4);
	size_t bytes = sizes[nr];
	void *at = memory;

	if (below(8))
		way = nr == 1 || nr == 2 ? _IOC_WRITE : nr > 6 ? 0 : _IOC_READ | _IOC_WRITE;
	if (!below(8))
		bytes = below(400);
	memset(memory + 256, 0, 256);
	fill(nr, bytes);
	if (!below(16))
		at = bad_pointer();
	if (nr == 8)
		at = (void *)(uintptr_t)below(20);
	return ioctl(files[below(FILES)],
		     _IOC(way, below(32) ? PMM_KMOD_IOC : below(256), nr, bytes), at);
}

static long one_map(void)
{
	struct map *m = &maps[below(MAPS)];
	int protection = below(3) ? PROT_READ | PROT_WRITE : (int)below(8);
	size_t pages = (m->bytes + 4095) / 4096, first;
	void *moved;

	if (!m->at) {
		m->bytes = below(4) ? PMM_KMOD_RING_BYTES(64u << below(5)) : 1 + below(200000);
		m->at = mmap(NULL, m->bytes, protection, below(8) ? MAP_SHARED : MAP_PRIVATE,
			     files[below(FILES)], below(8) ? 0 : (off_t)(below(8) * 4096));
		if (m->at == MAP_FAILED)
			m->at = NULL;
		return m->at ? 0 : -1;
	}
	switch (below(5)) {
	case 0:
		first = below(pages);
		return munmap(m->at + first * 4096, 4096 * (1 + below(pages - first)));
	case 1:
		return mprotect(m->at, m->bytes, (int)below(8));
	case 2:
		moved = mremap(m->at, m->bytes, m->bytes + below(3) * 4096 - 4096, MREMAP_MAYMOVE);
		if (moved != MAP_FAILED)
			m->at = moved;
		return moved != MAP_FAILED ? 0 : -1;
	case 3:
		return madvise(m->at, m->bytes, (int)below(22));
	default:
		munmap(m->at, m->bytes);
		m->at = NULL;
		return 0;
	}
}

static long one_file(void)
{
	const char *const lines[] = { "SCAN 1", "SCAN 0", "INTERVAL 10", "INTERVAL 50\n",
				      "START_PID 1", "STOP_PID 1", "STOP_PID 77", "SCAN" };
	int which = (int)below(3);
	char line[128];

	switch (below(5)) {
	case 0:
		return lseek(procs[which], (off_t)odd(), (int)below(4));
	case 1:
		snprintf(line, sizeof(line), "%s", lines[below(8)]);
		if (!below(4))
			line[below(12)] = (char)below(256);
		return write(procs[0], line, below(4) ? strlen(line) : below(128));
	case 2:
		return read(files[below(FILES)], memory, below(1000));
	default:
		return read(procs[which], memory, below(4) ? below(70000) : below(3));
	}
}

static void reopen(void)
{
	size_t at = below(FILES);

	close(files[at]);
	files[at] = device(O_NONBLOCK);
	at = below(3);
	close(procs[at]);
	procs[at] = open(at == 0 ? "/proc/pmm/cfg" : at == 1 ? "/proc/pmm/pid" : "/proc/pmm/summary",
			 at == 0 ? O_RDWR : O_RDONLY);
}

/* Writes into rings, at their begin more often than elsewhere. */
static void *overwrite(void *unused)
{
	uint64_t from = (uintptr_t)unused;
	int noise = open("/dev/urandom", O_RDONLY);

	while (!stop) {
		struct map m = maps[number(&from) % MAPS];
		size_t at = number(&from) % (m.bytes ? m.bytes : 1) & ~3ul;

		if (number(&from) % 3 == 0)
			at = number(&from) % 64 * 4;
		/* by a call that fails where an access would be a fault */
		if (m.at)
			(void)!read(noise, m.at + at, number(&from) % 256);
		if (number(&from) % 64 == 0)
			sched_yield();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long calls = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	pthread_t thread;

	state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	if (argc > 3 && (setgid(1000) || setuid(1000)))
		die("setuid");
	memory = mmap(NULL, 65536 + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || mprotect(memory + 65536, 4096, PROT_NONE))
		die("mmap");
	eventfd(0, EFD_NONBLOCK);
	for (int i = 0; i < FILES; i++)
		files[i] = device(O_NONBLOCK);
	for (int i = 0; i < 20; i++)
		reopen();
	if (pthread_create(&thread, NULL, overwrite, (void *)(uintptr_t)state))
		die("thread");
	for (; done < calls; done++) {
		uint64_t what = below(100);
		long result = what < 70 ? one_call() : what < 84 ? one_map() : one_file();

		if (what == 99)
			reopen();
		succeeded += result >= 0;
	}
	stop = 1;
	pthread_join(thread, NULL);
	printf("seed %s: %lu calls, %lu of them taken\n", argv[1], done, succeeded);
	/* most calls are near enough to what is valid to be looked at */
	return succeeded < calls / 10;
}
