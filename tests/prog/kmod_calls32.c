// SPDX-License-Identifier: GPL-2.0-or-later
/* A program of 32 bits, without a libc, on a kernel of 64: the calls and the ring of /dev/pmm are the same. Its status is the number of checks that failed. */
#include <pmm/kmod_ring.h>

enum { READ = 3, WRITE = 4, OPEN = 5, GETPID = 20, IOCTL = 54, MUNMAP = 91, MMAP2 = 192 };

/* A system call with up to six arguments. */
long sys(long number, long a, long b, long c, long d, long e, long f);
__asm__(".globl sys\n"
	"sys:	push %ebp\n	push %edi\n	push %esi\n	push %ebx\n"
	"	mov 20(%esp), %eax\n	mov 24(%esp), %ebx\n	mov 28(%esp), %ecx\n"
	"	mov 32(%esp), %edx\n	mov 36(%esp), %esi\n	mov 40(%esp), %edi\n"
	"	mov 44(%esp), %ebp\n	int $0x80\n"
	"	pop %ebx\n	pop %esi\n	pop %edi\n	pop %ebp\n	ret\n");
/* What the kernel starts. */
__asm__(".globl _start\n"
	"_start:	xor %ebp, %ebp\n	and $-16, %esp\n	call run\n	mov %eax, %ebx\n	mov $1, %eax\n	int $0x80\n");

/* The layout that programs of 64 bits see. */
_Static_assert(sizeof(struct pmm_kmod_record) == 256, "record");
_Static_assert(sizeof(struct pmm_kmod_site) == 208, "site");
_Static_assert(sizeof(struct pmm_kmod_config) == 112, "config");
_Static_assert(sizeof(struct pmm_kmod_process) == 320, "process");
_Static_assert(sizeof(struct pmm_kmod_pids) == 32, "pids");
_Static_assert(sizeof(struct pmm_kmod_log) == 32, "log");
_Static_assert(sizeof(struct pmm_kmod_event) == 72, "event");
_Static_assert(sizeof(struct pmm_kmod_slot) == 64, "slot");
_Static_assert(sizeof(void *) == 4, "pointers");

void *memset(void *to, int byte, __SIZE_TYPE__ bytes);
void *memcpy(void *to, const void *from, __SIZE_TYPE__ bytes);
int run(void);

/* Not the loops: a compiler takes those for these functions. */
void *memset(void *to, int byte, __SIZE_TYPE__ bytes)
{
	void *at = to;

	__asm__ volatile("rep stosb" : "+D"(at), "+c"(bytes) : "a"(byte) : "memory");
	return to;
}

void *memcpy(void *to, const void *from, __SIZE_TYPE__ bytes)
{
	void *at = to;

	__asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(bytes) : : "memory");
	return to;
}

static int failures;

#define IS(actual, expected) check(__LINE__, (long long)(actual), (long long)(expected))

static void check(int line, long long actual, long long expected)
{
	char text[] = "line 0000 differs\n";

	if (actual == expected)
		return;
	for (int i = 8; i > 4; i--, line /= 10)
		text[i] = (char)('0' + line % 10);
	sys(WRITE, 1, (long)text, sizeof(text) - 1, 0, 0, 0);
	failures++;
}

static long call(int fd, unsigned long number, const void *argument)
{
	return sys(IOCTL, fd, (long)number, (long)argument, 0, 0, 0);
}

static struct pmm_kmod_record out[4];
static struct pmm_kmod_process processes[4];

static void records(int fd, int pid)
{
	struct pmm_kmod_record r = { .size = sizeof(r), .version = 1, .kind = PMM_KMOD_MALLOC };
	struct pmm_kmod_log log = { .size = sizeof(log), .version = 1, .pid = pid, .capacity = 4 };

	IS(call(fd, PMM_RECORD_LOG, &r), -22);
	r.pointer = 0xfedcba9876543210ull;
	r.bytes = 0x123456789abull;
	r.caller = 0x80000000u;
	r.line = 207;
	r.function[0] = 'f';
	r.file[0] = 'g';
	IS(call(fd, PMM_RECORD_LOG, &r), 0);
	r.kind = PMM_KMOD_FREE;
	IS(call(fd, PMM_RECORD_LOG, (void *)0xfffff000), -14);
	log.records = (unsigned long)out;
	IS(call(fd, PMM_READ_LOG, &log), 0);
	IS(log.count, 1);
	IS(out[0].pointer, 0xfedcba9876543210ull);
	IS(out[0].bytes, 0x123456789abull);
	IS(out[0].caller, 0x80000000u);
	IS(out[0].line, 207);
	IS(out[0].function[0], 'f');
	IS(out[0].file[0], 'g');
	IS(out[0].tid, pid);
	IS(out[0].size, 256);
	IS(call(fd, PMM_RECORD_LOG, &r), 0);
}

static void ring(int fd)
{
	struct pmm_kmod_site s = { .size = sizeof(s), .version = 1, .line = 9, .function = "main" };
	struct pmm_kmod_slot slot = { .kind = PMM_KMOD_CALLOC, .bytes = 50, .pointer = 0x1000 };
	struct pmm_kmod_ring *ring;
	long at;

	IS(call(fd, PMM_ADD_SITE, &s), 0);
	IS(s.id, 2);
	slot.site = s.id;
	at = sys(MMAP2, 0, PMM_KMOD_RING_BYTES(64), 3, 1, fd, 0);
	IS(at & 4095, 0);
	/* an offset is none that there is */
	IS(sys(MMAP2, 0, PMM_KMOD_RING_BYTES(64), 3, 1, fd, 1), -22);
	ring = (struct pmm_kmod_ring *)at;
	IS(ring->slots, 64);
	IS(pmm_kmod_write(ring, 64, &slot), 1);
	slot.pointer = 0x2000;
	IS(pmm_kmod_write(ring, 64, &slot), 1);
	IS(call(fd, PMM_DRAIN, (void *)0), 2);
	slot.kind = PMM_KMOD_FREE;
	IS(pmm_kmod_write(ring, 64, &slot), 1);
	IS(sys(MUNMAP, at, PMM_KMOD_RING_BYTES(64), 0, 0, 0, 0), 0);
}

static void lists(int fd, int pid)
{
	struct pmm_kmod_pids pids = { .size = sizeof(pids), .version = 1, .capacity = 4 };
	struct pmm_kmod_config c = { .size = sizeof(c), .version = 1 };
	struct pmm_kmod_event e;

	pids.element_bytes = sizeof(processes[0]);
	pids.processes = (unsigned long)processes;
	IS(call(fd, PMM_MONITORED_PIDS, &pids), 0);
	IS(pids.count, 1);
	IS(processes[0].pid, pid);
	IS(processes[0].allocations, 3);
	IS(processes[0].frees, 2);
	IS(processes[0].entries, 1);
	IS(processes[0].entry_bytes, 50);
	IS(processes[0].bad | processes[0].overflows | processes[0].sites_lost, 0);
	pids.count = 0;
	pids.processes = 0xfffff000;
	IS(call(fd, PMM_MONITORED_PIDS, &pids), -14);
	c.set = PMM_KMOD_SET_INTERVAL | PMM_KMOD_SET_LOGGED;
	c.interval_ms = 500;
	c.logged_bytes = 1ull << 40;
	IS(call(fd, PMM_SET_CONFIG, &c), 0);
	c.set = 0;
	IS(call(fd, PMM_GET_CONFIG, &c), 0);
	IS(c.interval_ms, 500);
	IS(c.logged_bytes, 1ull << 40);
	c.set = PMM_KMOD_SET_STOP;
	c.window = 0;
	c.stop_pid = pid;
	IS(call(fd, PMM_SET_CONFIG, &c), 0);
	IS(sys(READ, fd, (long)&e, sizeof(e), 0, 0, 0), 72);
	IS(e.type, PMM_KMOD_EVENT_STARTED);
	IS(sys(READ, fd, (long)&e, sizeof(e), 0, 0, 0), 72);
	IS(e.type, PMM_KMOD_EVENT_STOPPED);
	IS(e.value, 1);
	/* shorter, longer, another version, another letter */
	IS(call(fd, PMM_GET_CONFIG - (8 << 16), &c), -22);
	IS(call(fd, PMM_GET_CONFIG + (8 << 16), &c), -22);
	IS(call(fd, PMM_GET_CONFIG + 0x100, &c), -25);
	c.version = 2;
	IS(call(fd, PMM_GET_CONFIG, &c), -93);
}

int run(void)
{
	int fd = (int)sys(OPEN, (long)"/dev/pmm", 2, 0, 0, 0, 0);
	int pid = (int)sys(GETPID, 0, 0, 0, 0, 0, 0);

	IS(fd >= 0, 1);
	records(fd, pid);
	ring(fd);
	lists(fd, pid);
	return failures;
}
