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
#define OWN_SLOTS	64
#define OWN_LIMIT	(4ull << 30)
#define F_ADD_SEALS	1033
#define RLIMIT_FSIZE	1

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

/* No monitor: a file of our own, found later by 'pmm report PID'. */
static int tree_make(void)
{
	struct limit size = { 0, 0 };
	struct pmm_tree *t;
	int fd, ret;

	sys4(prlimit, 0, RLIMIT_FSIZE, 0, &size);
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
	ret = segment_map(fd, NULL);
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
	ret = segment_map(fd, &a.cookie);
	sys1(close, fd);
	return ret;
}
