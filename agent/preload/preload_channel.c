/* SPDX-License-Identifier: MIT */
/*
 * The way from a process to its monitor.
 *
 * When the monitor has died, another user can take its process number, its abstract address and
 * numbers of its descriptors. So what is opened by name is not used before it has shown whose it
 * is: by its owner, or by the monitor's start time, which no later process of that number has.
 * Files are first opened without access (O_PATH): opening a device or a pipe has effects.
 *
 * Nothing is kept open: a connection is made for each thing that is sent.
 */
#include "agent/preload/preload_channel.h"

#include "agent/agent.h"
#include "agent/clock.h"
#include "agent/ctx.h"
#include "agent/env.h"
#include "agent/sys.h"

enum {
	AF_UNIX = 1,
	SOCK_SEQPACKET = 5,
	SOL_SOCKET = 1,
	SCM_RIGHTS = 1,
	SO_PEERCRED = 17,
	SO_SNDTIMEO = 21,
	SOCK_CLOEXEC = SYS_O_CLOEXEC,
	MSG_DONTWAIT = 0x40,
	MSG_NOSIGNAL = 0x4000,
	MSG_CMSG_CLOEXEC = 0x40000000,
	POLLIN = 1,
	O_PATH = 010000000,
	AT_EMPTY_PATH = 0x1000,
	F_GET_SEALS = 1034,
	S_IFMT = 0170000,
	S_IFREG = 0100000,
};

#define STATX_TYPE_UID		0x9u
#define SEALS			0x7		/* F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW */
#define ANSWER_WAIT_NS		200000000	/* for a connection, and for an answer */
#define TRIES			5		/* ... as long as the monitor lives */
#define STAT_BYTES		512		/* up to that field 430, whatever the name */
#define START_FIELD		22		/* of /proc/PID/stat */

static struct address {
	uint64_t pid, board, cookie, start, uid, socket, number;
	bool has_socket, known;
} monitor;

/* ---- text */

static char *number_put(char *to, uint64_t n, unsigned base)
{
	char digits[24];
	int nr = 0;

	do
		digits[nr++] = "0123456789abcdef"[n % base];
	while (n /= base);
	while (nr)
		*to++ = digits[--nr];
	*to = '\0';
	return to;
}

static char *text_put(char *to, const char *s)
{
	while (*s)
		*to++ = *s++;
	*to = '\0';
	return to;
}

static void proc_path(char *to, uint64_t pid, const char *what, uint64_t number)
{
	to = number_put(text_put(to, "/proc/"), pid, 10);
	to = text_put(to, what);
	if (number != UINT64_MAX)
		number_put(to, number, 10);
}

/* One field, up to ':' or the end. False: it is not there. */
static bool field(const char **s, unsigned base, uint64_t *out)
{
	const char *end = str_number(*s, base, out);

	if (end == *s || (*end && *end != ':'))
		return false;
	*s = *end ? end + 1 : end;
	return true;
}

static bool address_parse(const char *s, struct address *a)
{
	if (!s || !field(&s, 10, &a->pid) || !field(&s, 10, &a->board) ||
	    !field(&s, 16, &a->cookie) || !field(&s, 10, &a->start) || !field(&s, 10, &a->uid))
		return false;
	a->has_socket = !str_starts(s, "-1:");
	if (!a->has_socket)
		s += 3;
	else if (!field(&s, 10, &a->socket))
		return false;
	return field(&s, 16, &a->number) && !*s;
}

/* ---- who is it? */

/* When was the process of that number started? 0: there is none to be seen. */
static uint64_t started_at(uint64_t pid)
{
	char path[64], text[STAT_BYTES], *p = text;
	uint64_t start = 0;
	int fd;
	long n;

	proc_path(path, pid, "/stat", UINT64_MAX);
	fd = sys_open(path, SYS_O_RDONLY);
	n = fd < 0 ? -1 : sys3(read, fd, text, sizeof(text) - 1);
	if (fd >= 0)
		sys1(close, fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	for (long i = 0; i < n; i++)
		if (text[i] == ')')
			p = text + i; /* the last one: the name before it may hold anything */
	for (unsigned i = 2; *p && i < START_FIELD; p++)
		i += *p == ' ';
	str_number(p, 10, &start);
	return start;
}

static bool is_monitor(uint64_t pid)
{
	return pid == monitor.pid && monitor.start && started_at(pid) == monitor.start;
}

static bool is_trusted(uint64_t uid, uint64_t pid)
{
	return uid == monitor.uid || is_monitor(pid);
}

/* ---- the board */

/* Is the descriptor a regular file, and whose? */
static bool owner_of(int fd, uint64_t *uid)
{
	/* struct statx: stx_uid at byte 20, stx_mode at 28 */
	union { uint32_t word[64]; uint16_t half[128]; } st;

	if (sys_failed(arch_syscall(ARCH_SYS_statx, fd, (long)"", AT_EMPTY_PATH, STATX_TYPE_UID,
				    (long)&st, 0)))
		return false;
	*uid = st.word[5];
	return (st.half[14] & S_IFMT) == S_IFREG;
}

/*
 * What the path leads to, opened for reading, if its owner or the process it was found in is the
 * monitor; else -1.
 */
static int open_trusted(const char *path, uint64_t pid)
{
	int any = (int)sys4(openat, SYS_AT_FDCWD, path, O_PATH | SYS_O_CLOEXEC, 0), fd = -1;
	char again[64];
	uint64_t uid;

	if (any < 0)
		return -1;
	if (owner_of(any, &uid) && is_trusted(uid, pid)) {
		number_put(text_put(again, "/proc/thread-self/fd/"), (uint64_t)any, 10);
		fd = sys_open(again, SYS_O_RDONLY);
	}
	sys1(close, any);
	return fd;
}

static const struct pmm_tree *board_map(int fd)
{
	const struct pmm_tree *t;
	long seals = sys2(fcntl, fd, F_GET_SEALS);

	if (seals < 0 || (seals & SEALS) != SEALS)
		return NULL;
	t = sys_mmap(sizeof(*t), SYS_PROT_READ, SYS_MAP_SHARED, fd);
	if (t && t->cookie == monitor.cookie)
		return t;
	if (t)
		sys2(munmap, t, sizeof(*t));
	return NULL;
}

const char *channel_address(void)
{
	const char *s = env_get(PMM_ENV);

	return s && s[0] == PMM_ENV_HIDDEN && s[1] ? s + 2 : s;
}

const struct pmm_tree *channel_open(void)
{
	const struct pmm_tree *t;
	char path[64];
	int fd = -1;

	if (!address_parse(channel_address(), &monitor))
		return NULL;
	monitor.known = true;
	proc_path(path, monitor.pid, "/fd/", monitor.board);
	fd = open_trusted(path, monitor.pid);
	if (fd < 0 && channel_ask(PMM_SAY_BOARD, &fd) < 0)
		fd = -1;
	t = fd < 0 ? NULL : board_map(fd);
	if (fd >= 0)
		sys1(close, fd);
	monitor.known = t;
	return t;
}

/* ---- connections */

struct socket_name {
	uint16_t family;
	char path[108];
};

static uint32_t name_private(struct socket_name *to)
{
	proc_path(to->path, monitor.pid, "/fd/", monitor.socket);
	return (uint32_t)(sizeof(to->family) + str_length(to->path) + 1);
}

static uint32_t name_public(struct socket_name *to)
{
	char *p = text_put(to->path + 1, PMM_ADDRESS_PREFIX);

	to->path[0] = '\0';
	for (int shift = 60; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[monitor.number >> shift & 15];
	return (uint32_t)(p - (char *)to);
}

static bool peer_trusted(int sock)
{
	struct { int32_t pid; uint32_t uid, gid; } peer = { 0 };
	uint32_t bytes = sizeof(peer);

	return !sys_failed(arch_syscall(ARCH_SYS_getsockopt, sock, SOL_SOCKET, SO_PEERCRED,
					(long)&peer, (long)&bytes, 0)) &&
	       is_trusted(peer.uid, (uint32_t)peer.pid);
}

/*
 * A connection to the monitor; or negative. The queue of those who want one may be full for a
 * moment.
 */
static int connect_to(uint32_t (*name_of)(struct socket_name *))
{
	int64_t wait[2] = { 0, ANSWER_WAIT_NS / 1000 };
	struct socket_name name = { .family = AF_UNIX };
	uint32_t bytes = name_of(&name);
	long ret;
	int sock;

	sock = (int)sys3(socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return sock;
	arch_syscall(ARCH_SYS_setsockopt, sock, SOL_SOCKET, SO_SNDTIMEO, (long)wait, sizeof(wait),
		     0);
	for (unsigned tries = 0; tries < TRIES; tries++) {
		ret = sys3(connect, sock, &name, bytes);
		if ((ret != -SYS_EAGAIN && ret != -SYS_EINTR) || agent_monitor_dead())
			break;
	}
	if (!sys_failed(ret) && peer_trusted(sock))
		return sock;
	sys1(close, sock);
	return -1;
}

static int connect_any(void)
{
	int sock = monitor.has_socket ? connect_to(name_private) : -1;

	return sock < 0 ? connect_to(name_public) : sock;
}

struct control {
	size_t bytes;
	int32_t level, type, fd, pad;
};

struct header {
	void *name;
	uint32_t name_bytes;
	void *iov;
	size_t nr_iov;
	void *control;
	size_t control_bytes;
	int flags;
};

static int send_to(int sock, const struct pmm_message *m, int fd)
{
	struct { const void *base; size_t bytes; } iov = { m, sizeof(*m) };
	struct control control = { 20, SOL_SOCKET, SCM_RIGHTS, fd, 0 };
	struct header h = { .iov = &iov, .nr_iov = 1 };

	if (fd >= 0) {
		h.control = &control;
		h.control_bytes = sizeof(control);
	}
	return sys3(sendmsg, sock, &h, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(*m) ? 0 : -1;
}

/*
 * A connection on which nothing is sent for a while is closed by the monitor: we may not have run
 * for longer than that.
 */
static int speak_message(struct pmm_message *m, int fd)
{
	int sock;

	m->cookie = monitor.cookie;
	m->version = PMM_MESSAGE_VERSION;
	m->time_ns = m->time_ns ? m->time_ns : clock_monitor_ns();
	for (unsigned tries = 0; monitor.known && tries < TRIES; tries++) {
		sock = connect_any();
		if (sock < 0 || !send_to(sock, m, fd))
			return sock;
		sys1(close, sock);
	}
	return -1;
}

static int speak(enum pmm_say what, bool new_image, int32_t number, int fd)
{
	struct pmm_message m = { .what = what, .new_image = new_image, .number = number };

	return speak_message(&m, fd);
}

void channel_say_exec(struct pmm_message *m)
{
	int sock;

	m->what = PMM_SAY_EXEC;
	m->self = (int32_t)sys0(getpid);
	sock = speak_message(m, -1);
	if (sock >= 0)
		sys1(close, sock);
}

int channel_say(enum pmm_say what, bool new_image, int32_t number, int fd)
{
	int sock = speak(what, new_image, number, fd);

	if (sock < 0)
		return -1;
	sys1(close, sock);
	return 0;
}

static int32_t receive_now(int sock, int *fd)
{
	struct pmm_answer a = { 0 };
	struct { void *base; size_t bytes; } iov = { &a, sizeof(a) };
	struct control control = { 0 };
	struct header h = {
		.iov = &iov, .nr_iov = 1, .control = &control, .control_bytes = sizeof(control)
	};
	bool with_fd;

	if (sys3(recvmsg, sock, &h, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) != sizeof(a))
		return -SYS_EAGAIN;
	with_fd = h.control_bytes >= 20 && control.level == SOL_SOCKET &&
		  control.type == SCM_RIGHTS;
	if (with_fd && fd)
		*fd = control.fd;
	else if (with_fd)
		sys1(close, control.fd);
	return a.version == PMM_MESSAGE_VERSION ? a.number : -SYS_EINVAL;
}

static int32_t receive_from(int sock, int *fd)
{
	struct { int fd; short events, got; } poll = { sock, POLLIN, 0 };
	int64_t wait[2] = { 0, ANSWER_WAIT_NS };

	return arch_syscall(ARCH_SYS_ppoll, (long)&poll, 1, (long)wait, 0, 8, 0) == 1
		       ? receive_now(sock, fd)
		       : -SYS_EAGAIN;
}

int channel_leave(void)
{
	return speak(PMM_SAY_LEAVE, false, 0, -1);
}

bool channel_refused(int sock)
{
	return receive_now(sock, NULL) == -SYS_ESRCH;
}

int32_t channel_ask(enum pmm_say what, int *fd)
{
	int sock = speak(what, !agent.generation, 0, -1);
	int32_t answer;

	if (fd)
		*fd = -1;
	if (sock < 0)
		return -SYS_EAGAIN;
	answer = receive_from(sock, fd);
	sys1(close, sock);
	return answer;
}
