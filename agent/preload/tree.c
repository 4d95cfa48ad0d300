/*
 * Finding the tree's file from within a program that was started with the agent preloaded.
 *
 * In this order: the monitor's descriptor through /proc, the monitor's socket (other user, other root), an own file.
 */
#include "agent/agent.h"
#include "agent/env.h"
#include "agent/segment.h"
#include "agent/sys.h"

#define SOCKET_WAIT_NS	200000000	/* for the monitor's answer */
#define OWN_HEAD	(64ull << 10)
#define F_ADD_SEALS	1033
#define RLIMIT_FSIZE	1
#define PR_GET_SECCOMP	21

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

/* ---- no monitor: a file of our own, found later by 'pmm report PID' */

/* Sizes it may have: processes at the same time, what the arena of each may take. The first that there is room for. */
static const struct {
	uint32_t slots, arena_mib;
} sizes[] = { { 64, 4096 }, { 16, 4096 }, { 16, 1024 }, { 4, 1024 }, { 4, 256 }, { 2, 128 }, { 1, 128 }, { 1, 64 }, { 1, 32 }, { 1, 8 } };

static uint64_t limit_of(int which)
{
	struct limit l = { UINT64_MAX, UINT64_MAX };

	sys4(prlimit, 0, which, 0, &l);
	return l.now;
}

static uint64_t slot_bytes(unsigned i)
{
	return PMM_ARENA_OFF + ((uint64_t)sizes[i].arena_mib << 20);
}

static uint64_t tree_bytes(unsigned i)
{
	return OWN_HEAD + sizes[i].slots * slot_bytes(i);
}

static void tree_init(struct pmm_tree *t, unsigned i)
{
	t->version = PMM_LEDGER_VERSION;
	t->byte_order = PMM_BYTE_ORDER_MARK;
	t->word_bytes = 8;
	t->nr_slots = sizes[i].slots;
	t->slot_bytes = slot_bytes(i);
	t->slots_off = OWN_HEAD;
	t->flags = PMM_TREE_FOLLOW | PMM_TREE_STANDALONE;
	t->limit_bytes = slot_bytes(i) - PMM_ARENA_OFF;
	t->max_frames = 128;
	t->start_realtime_ns = sys_clock_ns(SYS_CLOCK_REALTIME);
	t->start_monotonic_ns = sys_clock_ns(SYS_CLOCK_MONOTONIC);
	t->magic = PMM_TREE_MAGIC;
}

static int file_make(int fd, unsigned i)
{
	struct pmm_tree *t;

	if (sys_failed(sys2(ftruncate, fd, tree_bytes(i))))
		return -1;
	t = sys_mmap(sizeof(*t), SYS_PROT_READ | SYS_PROT_WRITE, SYS_MAP_SHARED, fd);
	if (!t)
		return -1;
	tree_init(t, i);
	sys2(munmap, t, sizeof(*t));
	if (segment_map(fd, NULL))
		return -1;
	sys3(fcntl, fd, F_ADD_SEALS, 7 /* the size stays, and so do the seals: readers may map it */);
	return 0;
}

/* Without a file the program itself sees it, and nobody else. */
static int memory_make(unsigned i)
{
	if (segment_map_pages(-1, tree_bytes(i), sizeof(struct pmm_tree)))
		return -1;
	tree_init(A.tree, i);
	return 0;
}

/* A limited address space is the program's: hooks can raise the limit and hide that; compiled in, we take an eighth. */
static int tree_make(void)
{
	uint64_t space = A.compiled_in ? limit_of(RLIMIT_AS) / 8 : UINT64_MAX, size = limit_of(RLIMIT_FSIZE);
	int fd = (int)sys2(memfd_create, PMM_MEMFD_NAME, 3 /* MFD_CLOEXEC | MFD_ALLOW_SEALING */), ret = -1;
	unsigned i, nr = sizeof(sizes) / sizeof(sizes[0]);

	for (i = 0; i < nr && ret && fd >= 0; i++)
		if (tree_bytes(i) <= space && tree_bytes(i) <= size)	/* growing a file past it is a signal, not an error */
			ret = file_make(fd, i);
	for (i = 0; i < nr && ret && A.compiled_in; i++)
		if (tree_bytes(i) <= space)
			ret = memory_make(i);
	if (fd >= 0)
		sys1(close, fd);
	return ret;
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
	ret = segment_map(fd, &a.cookie);
	sys1(close, fd);
	return ret && A.compiled_in ? tree_make() : ret;	/* the monitor's may be too large for a limit that is not ours to raise */
}

/*
 * Compiled in only, and of files that no monitor looks after. Not where it could do harm: it takes system calls that a filter may kill for, and as
 * much address space again. What fork() interrupted may be at work in the parent's file; one from further back is given up.
 */
int segment_renew(void)
{
	static struct { struct pmm_tree *tree; uint64_t bytes; } before;
	struct pmm_tree *tree = A.tree;
	struct pmm_slot *slot = A.slot;
	uint64_t bytes = A.reserved_bytes;

	if (!A.compiled_in || !(tree->flags & PMM_TREE_STANDALONE) || limit_of(RLIMIT_AS) != UINT64_MAX || sys1(prctl, PR_GET_SECCOMP))
		return -1;
	A.slot = NULL;
	A.slot_use = 0;
	if (tree_make()) {
		A.tree = tree;
		A.slot = slot;
		A.reserved_bytes = bytes;
		return -1;
	}
	if (before.tree)
		sys2(munmap, before.tree, before.bytes);
	before.tree = tree;
	before.bytes = bytes;
	return 0;
}
