/* SPDX-License-Identifier: GPL-2.0-or-later
 * What another user may try against pmm. Started as that user; never tracked itself.
 *
 *   intruder ask ADDRESS COOKIE		each question of include/pmm/channel.h at the abstract socket: "answered N"
 *   intruder give ADDRESS COOKIE		hands over a file of its own as a ledger, then waits for a line on stdin
 *   intruder flood SECONDS			connects to every abstract socket of pmm's, from four processes: "connected N"
 *   intruder pose ADDRESS SECONDS		takes the abstract address; "asked N given N": messages and descriptors that came
 *   intruder hold FD COOKIE UID SECONDS	has a forged board at descriptor FD: "holding PID inode INODE", then "over"
 *   intruder squat NAME SECONDS		takes an abstract name
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "include/pmm/channel.h"
#include "include/pmm/ledger.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static socklen_t name_it(struct sockaddr_un *to, const char *name)
{
	*to = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(to->sun_path + 1, sizeof(to->sun_path) - 1, "%s", name);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
}

static int reach(const char *name)
{
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un sun;
	socklen_t bytes = name_it(&sun, name);

	if (!connect(sock, (struct sockaddr *)&sun, bytes))
		return sock;
	close(sock);
	return -1;
}

static int take(const char *name, int type)
{
	int sock = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	struct sockaddr_un sun;
	socklen_t bytes = name_it(&sun, name);

	if (bind(sock, (struct sockaddr *)&sun, bytes) || (type == SOCK_SEQPACKET && listen(sock, 128))) {
		printf("not taken: %s\n", strerror(errno));
		exit(1);
	}
	puts("taken");
	fflush(stdout);
	return sock;
}

/* Send with a descriptor, or not (-1); what was received of one with `fd` NULL. */
static int tell(int sock, const struct pmm_message *m, int fd)
{
	union { char bytes[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } control = { { 0 } };
	struct iovec iov = { (void *)m, sizeof(*m) };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd >= 0) {
		struct cmsghdr *c;

		h.msg_control = control.bytes;
		h.msg_controllen = sizeof(control.bytes);
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	return sendmsg(sock, &h, MSG_NOSIGNAL) == (ssize_t)sizeof(*m) ? 0 : -1;
}

/* Bytes that came within `ms`, and whether a descriptor did. */
static ssize_t hear(int sock, int ms, int *fds)
{
	union { char bytes[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } control;
	char text[256];
	struct iovec iov = { text, sizeof(text) };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes) };
	struct pollfd p = { .fd = sock, .events = POLLIN };
	ssize_t n;

	if (poll(&p, 1, ms) <= 0)
		return 0;
	n = recvmsg(sock, &h, MSG_CMSG_CLOEXEC);
	*fds += n >= 0 && h.msg_controllen >= CMSG_LEN(sizeof(int));
	return n < 0 ? 0 : n;
}

static int ask(const char *name, uint64_t cookie)
{
	int answered = 0, fds = 0;

	for (uint32_t what = 0; what <= PMM_NR_SAYS; what++) {
		struct pmm_message m = { .cookie = cookie, .version = PMM_MESSAGE_VERSION, .what = what };
		int sock = reach(name);

		if (sock < 0)
			continue;
		tell(sock, &m, -1);
		answered += hear(sock, 300, &fds) > 0;
		close(sock);
	}
	printf("answered %d descriptors %d\n", answered, fds);
	return 0;
}

static int give(const char *name, uint64_t cookie)
{
	struct pmm_message m = { .cookie = cookie, .version = PMM_MESSAGE_VERSION, .what = PMM_SAY_HERE };
	int fd = memfd_create(PMM_MEMFD_NAME, MFD_ALLOW_SEALING | MFD_CLOEXEC), sock = reach(name);
	char line[8];

	if (fd < 0 || sock < 0 || ftruncate(fd, 1 << 20) || tell(sock, &m, fd))
		return 1;
	puts("given");
	fflush(stdout);
	return !fgets(line, sizeof(line), stdin);
}

static unsigned connect_all(double end)
{
	FILE *f = fopen("/proc/net/unix", "re");
	char line[512], *at;
	unsigned nr = 0;

	while (f && fgets(line, sizeof(line), f)) {
		int sock;

		at = strstr(line, "@" PMM_ADDRESS_PREFIX);
		if (!at)
			continue;
		at[strcspn(at, "\n")] = 0;
		for (unsigned i = 0; i < 500 && now() < end; i++) {
			sock = reach(at + 1);
			if (sock < 0)
				continue;
			nr++;
			close(sock);
		}
	}
	if (f)
		fclose(f);
	return nr;
}

static int flood(double seconds)
{
	double end = now() + seconds;
	unsigned nr = 0;

	fork();
	fork();
	while (now() < end)
		nr += connect_all(end);
	while (wait(NULL) > 0)
		;
	printf("connected %u\n", nr);
	return 0;
}

static int pose(const char *name, double seconds)
{
	int sock = take(name, SOCK_SEQPACKET), asked = 0, given = 0;
	double end = now() + seconds;

	while (now() < end) {
		struct pollfd p = { .fd = sock, .events = POLLIN };
		int peer = poll(&p, 1, 50) > 0 ? accept4(sock, NULL, NULL, SOCK_CLOEXEC) : -1;

		if (peer < 0)
			continue;
		asked += hear(peer, 200, &given) > 0;
		close(peer);
	}
	printf("asked %d given %d\n", asked, given);
	return 0;
}

/* A board as good as can be made: name, seals, cookie, sizes. Only whose it is cannot be forged. */
static int hold(int at, uint64_t cookie, uint32_t uid, double seconds)
{
	int fd = memfd_create(PMM_BOARD_NAME, MFD_ALLOW_SEALING | MFD_CLOEXEC);
	struct pmm_tree *t;
	struct stat st;

	if (fd < 0 || ftruncate(fd, 4096))
		return 1;
	t = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	*t = (struct pmm_tree){
		.magic = PMM_TREE_MAGIC, .version = PMM_LEDGER_VERSION, .byte_order = PMM_BYTE_ORDER_MARK, .word_bytes = 8, .nr_slots = 1,
		.slots_off = 65536, .slot_bytes = PMM_ARENA_OFF + (64u << 20), .limit_bytes = 64u << 20, .max_frames = 128,
		.flags = PMM_TREE_FOLLOW, .monitor_pid = (uint32_t)getpid(), .monitor_uid = uid, .cookie = cookie, .life = { (uint32_t)getpid() },
	};
	fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW);
	if (dup2(fd, at) < 0)
		return 1;
	fstat(fd, &st);
	printf("holding %d inode %lu\n", (int)getpid(), (unsigned long)st.st_ino);
	fflush(stdout);
	usleep((unsigned)(seconds * 1e6));
	puts("over");
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	uint64_t cookie = argc > 3 ? strtoull(argv[3], NULL, 16) : 0;

	if (!strcmp(what, "ask") && argc > 3)
		return ask(argv[2], cookie);
	if (!strcmp(what, "give") && argc > 3)
		return give(argv[2], cookie);
	if (!strcmp(what, "flood"))
		return flood(atof(argv[2]));
	if (!strcmp(what, "pose") && argc > 3)
		return pose(argv[2], atof(argv[3]));
	if (!strcmp(what, "hold") && argc > 5)
		return hold(atoi(argv[2]), cookie, (uint32_t)atoi(argv[4]), atof(argv[5]));
	if (!strcmp(what, "squat") && argc > 3) {
		take(argv[2], SOCK_DGRAM);
		sleep((unsigned)atoi(argv[3]));
		return 0;
	}
	fprintf(stderr, "see the source\n");
	return 2;
}
