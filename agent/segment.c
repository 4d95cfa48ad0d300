/*
 * The memory file the ledger lies in: finding it, mapping it, claiming a slot.
 *
 * Found in this order: the monitor's descriptor through /proc, the monitor's socket (other user, other root), an own file.
 * The whole file is mapped once without access and no descriptor is kept: programs close all descriptors, change root
 * and drop privileges, and forked children find their slot in the mapping they inherit.
 */
#include "agent/segment.h"

#include "agent/agent.h"
#include "agent/arena.h"
#include "agent/block.h"
#include "agent/clock.h"
#include "agent/ctx.h"
#include "agent/env.h"
#include "agent/sys.h"

#define SOCKET_WAIT_NS	200000000	/* for the monitor's answer */
#define OWN_SLOTS	64
#define OWN_LIMIT	(4ull << 30)

struct address {
	uint64_t monitor, fd, cookie;
};

static bool address_parse(const char *s, struct address *a)
{
	if (!s)
		return false;
	s = str_number(s, 10, &a->monitor);
	if (*s++ != ':')
		return false;
	s = str_number(s, 10, &a->fd);
	if (*s++ != ':')
		return false;
	return !*str_number(s, 16, &a->cookie);
}

static char *number_put(char *to, uint64_t n, unsigned base)
{
	char digits[24];
	int nr = 0;

	do
		digits[nr++] = "0123456789abcdef"[n % base];
	while (n /= base);
	while (nr)
		*to++ = digits[--nr];
	return to;
}

static char *text_put(char *to, const char *s)
{
	while (*s)
		*to++ = *s++;
	return to;
}

static int open_through_proc(const struct address *a)
{
	static const char want[] = "/memfd:" PMM_MEMFD_NAME;
	char path[64], target[sizeof(want)], *p = path;
	long n;

	p = text_put(p, "/proc/");
	p = number_put(p, a->monitor, 10);
	p = text_put(p, "/fd/");
	*number_put(p, a->fd, 10) = '\0';
	n = sys3(readlink, path, target, sizeof(target) - 1);
	if (n != sizeof(target) - 1)
		return -1;
	target[n] = '\0';
	return str_equal(target, want) ? sys_open(path, SYS_O_RDWR) : -1;
}

/* Take the descriptor out of the monitor's answer. */
static int receive_fd(int sock)
{
	struct { void *base; size_t bytes; } iov;
	struct { size_t bytes; int level, type, fd, pad; } control;
	struct { void *name; uint32_t name_bytes; void *iov; size_t nr_iov; void *control; size_t control_bytes; int flags; }
		msg = { 0 };
	struct { int fd; short events, got; } poll = { sock, 1 /* POLLIN */, 0 };
	int64_t wait[2] = { 0, SOCKET_WAIT_NS };
	char byte;

	if (arch_syscall(ARCH_SYS_ppoll, (long)&poll, 1, (long)wait, 0, 8, 0) != 1)
		return -1;
	iov.base = &byte;
	iov.bytes = 1;
	msg.iov = &iov;
	msg.nr_iov = 1;
	msg.control = &control;
	msg.control_bytes = sizeof(control);
	if (sys3(recvmsg, sock, &msg, 0x40000040 /* MSG_CMSG_CLOEXEC | MSG_DONTWAIT */) < 0)
		return -1;
	return msg.control_bytes >= 20 && control.level == 1 && control.type == 1 ? control.fd : -1;
}

static int open_through_socket(const struct address *a)
{
	enum { AF_UNIX = 1, SOCK_SEQPACKET = 5, NONBLOCK_CLOEXEC = 02004000 };
	struct { uint16_t family; char path[108]; } name;
	char *p = name.path;
	int sock, fd = -1;

	name.family = AF_UNIX;
	*p++ = '\0';
	p = text_put(p, "pmm-");
	p = number_put(p, a->monitor, 10);
	p = text_put(p, "-");
	p = number_put(p, a->cookie, 16);
	sock = (int)sys3(socket, AF_UNIX, SOCK_SEQPACKET | NONBLOCK_CLOEXEC, 0);
	if (sock < 0)
		return -1;
	if (!sys_failed(sys3(connect, sock, &name, p - (char *)&name)))
		fd = receive_fd(sock);
	sys1(close, sock);
	return fd;
}

static bool tree_sane(const struct pmm_tree *t)
{
	return t->magic == PMM_TREE_MAGIC && t->version == PMM_LEDGER_VERSION && t->byte_order == PMM_BYTE_ORDER_MARK &&
	       t->word_bytes == 8 && t->nr_slots && t->nr_slots <= PMM_MAX_SLOTS && t->max_frames &&
	       t->max_frames <= PMM_MAX_FRAMES && t->slot_bytes >= PMM_ARENA_OFF + (1u << 20) &&
	       t->slot_bytes < 1ull << 38 && t->slots_off >= sizeof(*t) && t->slots_off < 1u << 20;
}

enum { LIMIT_FILE_SIZE = 1, LIMIT_ADDRESS_SPACE = 9 };

/* Was the limit raised already, by the image before exec or, where the child did not stop to say so, by its parent? */
static bool limit_inherited(const struct pmm_tree *t)
{
	uint32_t parent = (uint32_t)sys0(getppid);

	for (uint32_t i = 0; i < t->nr_slots; i++) {
		const struct pmm_slot *s = &t->slot[i];
		uint32_t state = LOAD(s->state), pid = LOAD(s->pid);

		if ((state == PMM_SLOT_LIVE || state == PMM_SLOT_REPLACED) && LOAD(s->limit_raised) &&
		    (pid == (uint32_t)A.pid || pid == parent))
			return true;
	}
	return false;
}

/* A limit on the address space is the program's, not ours: let it keep what it had. */
static void limit_make_room(const struct pmm_tree *t, uint64_t bytes)
{
	struct limit l = { UINT64_MAX, UINT64_MAX };

	A.reserved_bytes = bytes;
	sys4(prlimit, 0, LIMIT_ADDRESS_SPACE, 0, &l);
	if (l.now == UINT64_MAX)
		return;
	A.limit_shifted = limit_inherited(t);
	if (A.limit_shifted || l.now + bytes > l.most)
		return;			/* no room: where the mapping fails, the agent stays off */
	l.now += bytes;
	A.limit_shifted = !sys_failed(sys4(prlimit, 0, LIMIT_ADDRESS_SPACE, &l, 0));
}

/* Map the file behind fd as a whole. */
static int tree_map(int fd, const struct address *a)
{
	struct pmm_tree *t = sys_mmap(sizeof(*t), SYS_PROT_READ | SYS_PROT_WRITE, SYS_MAP_SHARED, fd);
	size_t bytes;
	char *base;
	bool sane;

	if (!t)
		return -1;
	sane = tree_sane(t) && (!a || t->cookie == a->cookie);
	bytes = sane ? t->slots_off + t->slot_bytes * t->nr_slots : 0;
	if (sane)
		limit_make_room(t, bytes);
	sys2(munmap, t, sizeof(*t));
	if (!sane)
		return -1;
	base = sys_mmap(bytes, SYS_PROT_NONE, SYS_MAP_SHARED | SYS_MAP_NORESERVE, fd);
	if (!base) {
		A.reserved_bytes = 0;
		return -1;
	}
	sys3(madvise, base, bytes, SYS_MADV_DONTDUMP);
	if (sys_failed(sys3(mprotect, base, (sizeof(*t) + ARCH_PAGE - 1) & ~(ARCH_PAGE - 1),
			    SYS_PROT_READ | SYS_PROT_WRITE))) {
		sys2(munmap, base, bytes);
		return -1;
	}
	A.tree = (struct pmm_tree *)base;
	return 0;
}

#define F_ADD_SEALS 1033

/* No monitor: a file of our own, found later by 'pmm report PID'. */
static int tree_make(void)
{
	struct limit size = { 0, 0 };
	struct pmm_tree *t;
	int fd, ret;

	sys4(prlimit, 0, LIMIT_FILE_SIZE, 0, &size);
	if (size.now != UINT64_MAX)		/* growing a file past it is a signal, not an error */
		return -1;
	fd = (int)sys2(memfd_create, PMM_MEMFD_NAME, 3 /* MFD_CLOEXEC | MFD_ALLOW_SEALING */);
	if (fd < 0)
		return fd;
	if (sys_failed(sys2(ftruncate, fd, (64ull << 10) + OWN_SLOTS * (PMM_ARENA_OFF + OWN_LIMIT))))
		goto fail;
	sys3(fcntl, fd, F_ADD_SEALS, 7 /* the size stays, and so do the seals: readers may map it */);
	t = sys_mmap(sizeof(*t), SYS_PROT_READ | SYS_PROT_WRITE, SYS_MAP_SHARED, fd);
	if (!t)
		goto fail;
	t->version = PMM_LEDGER_VERSION;
	t->byte_order = PMM_BYTE_ORDER_MARK;
	t->word_bytes = 8;
	t->nr_slots = OWN_SLOTS;
	t->slot_bytes = PMM_ARENA_OFF + OWN_LIMIT;
	t->slots_off = 64ull << 10;
	t->flags = PMM_TREE_FOLLOW | PMM_TREE_STANDALONE;
	t->limit_bytes = OWN_LIMIT;
	t->max_frames = 128;
	t->start_realtime_ns = sys_clock_ns(SYS_CLOCK_REALTIME);
	t->start_monotonic_ns = sys_clock_ns(SYS_CLOCK_MONOTONIC);
	t->magic = PMM_TREE_MAGIC;
	sys2(munmap, t, sizeof(*t));
	ret = tree_map(fd, NULL);
	sys1(close, fd);
	return ret;
fail:
	sys1(close, fd);
	return -1;
}

int segment_open(void)
{
	struct address a;
	int fd, ret;

	if (!address_parse(env_get(PMM_ENV), &a))
		return tree_make();
	fd = open_through_proc(&a);
	if (fd < 0)
		fd = open_through_socket(&a);
	if (fd < 0)
		return tree_make();
	ret = tree_map(fd, &a);
	sys1(close, fd);
	return ret;
}

static int slot_take(bool new_image)
{
	uint32_t pid = (uint32_t)A.pid;

	for (uint32_t i = 0; new_image && i < A.tree->nr_slots; i++) {
		struct pmm_slot *s = &A.tree->slot[i];

		if (LOAD(s->pid) == pid) {		/* the image before exec */
			uint32_t live = PMM_SLOT_LIVE;

			CAS(s->state, live, PMM_SLOT_REPLACED);
		}
	}
	for (uint32_t i = 0; i < A.tree->nr_slots; i++) {
		struct pmm_slot *s = &A.tree->slot[i];
		uint32_t free = PMM_SLOT_FREE;

		if (LOAD(s->state) == PMM_SLOT_FREE && CAS(s->state, free, PMM_SLOT_LIVE)) {
			A.slot = s;
			STORE(s->limit_raised, A.limit_shifted);
			STORE_RELEASE(s->pid, pid);
			return (int)i;
		}
	}
	return -1;
}

static long file_read(const char *path, char *to, size_t bytes)
{
	int fd = sys_open(path, SYS_O_RDONLY);
	long n;

	if (fd < 0)
		return 0;
	n = sys3(read, fd, to, bytes);
	sys1(close, fd);
	return n < 0 ? 0 : n;
}

/* Who we are, for the reader. Uses the scratch memory: no stack to spare here. */
static void describe(struct pmm_ledger *l)
{
	char *s = A.scratch;
	long n = file_read("/proc/self/comm", s, 16);

	if (n > 1)
		memcpy(l->comm, s, (size_t)n - 1);
	else
		sys2(prctl, 16 /* PR_GET_NAME */, l->comm);
	n = file_read("/proc/self/cmdline", s, 4096);
	l->cmdline = n ? arena_string(s, (size_t)n) : 0;
	l->cmdline_len = l->cmdline ? (uint32_t)n : 0;
	n = sys3(readlink, "/proc/self/exe", s, 4096);
	l->exe = n > 0 ? arena_string(s, (size_t)n) : 0;
	l->exe_len = l->exe ? (uint32_t)n : 0;
	if (A.allocator_path) {
		n = (long)str_length(A.allocator_path);
		l->allocator = arena_string(A.allocator_path, (size_t)n);
		l->allocator_len = l->allocator ? (uint32_t)n : 0;
	}
}

void segment_forking(void)
{
	if (LOAD(A.state) == AGENT_ON)
		ADD(A.tree->forks_begun, 1);
}

void segment_forked(void)
{
	if (LOAD(A.state) != AGENT_ON)
		return;
	A.pid = A.confined ? (int)ctx_tid(arch_thread_pointer()) : (int)sys0(getpid);
	A.reserved_slot = A.tree->flags & PMM_TREE_FOLLOW ? slot_take(false) : -1;
	ADD(A.tree->forks_seen, 1);
}

int segment_claim(bool new_image)
{
	int slot = A.reserved_slot;
	struct pmm_ledger *l;

	A.reserved_slot = -1;
	if (slot < 0)
		slot = slot_take(new_image);

	if (slot < 0)
		return -1;
	A.base = (char *)A.tree + A.tree->slots_off + A.tree->slot_bytes * (uint64_t)slot;
	A.ledger = l = (struct pmm_ledger *)A.base;
	if (sys_failed(sys3(mprotect, A.base, PMM_ARENA_OFF, SYS_PROT_READ | SYS_PROT_WRITE)) ||
	    !arena_back(0, PMM_HEADER_BYTES) ||
	    !arena_back(PMM_NODE_HASH_OFF, PMM_NODE_HASH_OFF + (4ull << PMM_NODE_HASH_BITS))) {
		STORE(A.tree->slot[slot].state, PMM_SLOT_FREE);
		return -1;
	}
	l->version = PMM_LEDGER_VERSION;
	l->header_bytes = sizeof(*l);
	l->pid = (uint32_t)A.pid;
	l->ppid = A.confined ? 0 : (uint32_t)sys0(getppid);
	l->arena_off = l->arena_used = l->arena_ready = PMM_ARENA_OFF;
	l->arena_end = A.tree->slot_bytes;
	if (A.tree->limit_bytes < l->arena_end - PMM_ARENA_OFF)
		l->arena_end = PMM_ARENA_OFF + (A.tree->limit_bytes & ~(PMM_PAGE - 1));
	l->nr_nodes = l->nr_sites = l->nr_modules = 1;
	l->dense = A.dense;
	l->mapping.brk_start = l->mapping.brk_now = l->mapping.brk_max = (uint64_t)sys1(brk, 0);
	block_init();
	clock_check();
	l->start_tick = clock_now();
	if (!A.confined)
		describe(l);
	STORE(l->state, PMM_STATE_RUNNING);
	STORE_RELEASE(l->magic, PMM_LEDGER_MAGIC);
	return 0;
}
