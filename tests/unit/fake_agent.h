/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stand-in for libpmm.so: finds the monitor as it does, makes a ledger file, hands it in, and
 * writes a small ledger with known figures.
 */
#ifndef TESTS_UNIT_FAKE_AGENT_H
#define TESTS_UNIT_FAKE_AGENT_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "include/pmm/channel.h"
#include "include/pmm/ledger.h"

#define FAKE_BYTES 100 /* of each allocation */

/* What PMM_ENV says. */
struct fake_env {
	int pid, board, socket;
	uint64_t cookie, start, address;
	unsigned uid;
};

struct fake_agent {
	struct fake_env env;
	const struct pmm_tree *board;	/* for reading */
	struct pmm_tree *tree;		/* own file */
	struct pmm_ledger *ledger;
	struct pmm_ctx *ctx;
	struct pmm_record *record;
	int fd;
};

static inline int fake_env_parse(struct fake_env *e, const char *text)
{
	return text && sscanf(text, "%d:%d:%" SCNx64 ":%" SCNu64 ":%u:%d:%" SCNx64, &e->pid,
			      &e->board, &e->cookie, &e->start, &e->uid, &e->socket,
			      &e->address) == 7
		       ? 0
		       : -1;
}

/* A connection to the private socket, or to the public one. -1: refused. */
static inline int fake_connect(const struct fake_env *e, int is_public)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), n;

	if (is_public)
		n = 1 + snprintf(sun.sun_path + 1, sizeof(sun.sun_path) - 1,
				 PMM_ADDRESS_PREFIX "%016" PRIx64, e->address);
	else
		n = 1 + snprintf(sun.sun_path, sizeof(sun.sun_path), "/proc/%d/fd/%d", e->pid,
				 e->socket);
	if (!connect(fd, (struct sockaddr *)&sun,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)n)))
		return fd;
	close(fd);
	return -1;
}

/* Send a message, `fd` with it unless it is -1. 0 or -1. */
static inline int fake_send(int socket, const struct pmm_message *m, size_t bytes, int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct pmm_message copy = *m;
	struct iovec iov = { &copy, bytes };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd >= 0) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = sizeof(control.bytes);
		CMSG_FIRSTHDR(&msg)->cmsg_level = SOL_SOCKET;
		CMSG_FIRSTHDR(&msg)->cmsg_type = SCM_RIGHTS;
		CMSG_FIRSTHDR(&msg)->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&msg)), &fd, sizeof(fd));
	}
	return sendmsg(socket, &msg, MSG_NOSIGNAL) == (ssize_t)bytes ? 0 : -1;
}

/* The answer's number; a descriptor in *fd, -1 = none. INT32_MIN: no answer. */
static inline int32_t fake_answer(int socket, int *fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct pmm_answer a;
	struct iovec iov = { &a, sizeof(a) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes) };

	*fd = -1;
	if (recvmsg(socket, &msg, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(a) ||
	    a.version != PMM_MESSAGE_VERSION)
		return INT32_MIN;
	if (CMSG_FIRSTHDR(&msg))
		memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(*fd));
	return a.number;
}

/*
 * One message through one of the sockets; where `answer` is not NULL, its descriptor goes there.
 * The answer's number, 0 without, or -1.
 */
static inline int32_t fake_say(const struct fake_env *e, int is_public, struct pmm_message m,
			       int fd, int *answer)
{
	int socket = fake_connect(e, is_public);
	int32_t number = 0;

	m.cookie = e->cookie;
	m.version = PMM_MESSAGE_VERSION;
	if (socket < 0)
		return -1;
	if (fake_send(socket, &m, sizeof(m), fd))
		number = -1;
	else if (answer)
		number = fake_answer(socket, answer);
	close(socket);
	return number;
}

/* An empty ledger in the mapped file at `base`, for the calling process. */
static inline void fake_agent_write(struct fake_agent *a, char *base)
{
	struct pmm_ledger *l = (struct pmm_ledger *)(base + a->board->slots_off);

	a->tree = (struct pmm_tree *)base;
	*a->tree = *a->board;
	a->tree->cookie = 0;
	a->tree->slot[0] = (struct pmm_slot){ .state = PMM_SLOT_LIVE, .pid = (uint32_t)getpid() };
	a->ledger = l;
	base = (char *)l;
	l->version = PMM_LEDGER_VERSION;
	l->header_bytes = sizeof(*l);
	l->state = PMM_STATE_RUNNING;
	l->pid = (uint32_t)getpid();
	l->ppid = (uint32_t)getppid();
	l->start_tick = a->board->tick;
	strcpy(l->comm, "fake");
	l->arena_off = PMM_ARENA_OFF;
	l->arena_used = l->arena_ready = PMM_ARENA_OFF + 65536 + 3 * 65536;
	l->arena_end = a->board->slot_bytes;
	l->nr_nodes = l->nr_sites = 2;
	l->nr_modules = 1;
	l->nr_ctx = 1;
	l->ctx[0] = PMM_ARENA_OFF >> PMM_REF_SHIFT;
	l->node_dir[0] = (PMM_ARENA_OFF + 65536 + 32768) >> PMM_REF_SHIFT;
	l->site_dir[0] = (PMM_ARENA_OFF + 2 * 65536) >> PMM_REF_SHIFT;
	memset(base + PMM_ARENA_OFF, 0, 4 * 65536);
	*(pmm_ref *)(base + PMM_ARENA_OFF + 65536 + 32768) = (PMM_ARENA_OFF + 65536) >>
							     PMM_REF_SHIFT;
	a->ctx = (struct pmm_ctx *)(base + PMM_ARENA_OFF);
	a->record = (struct pmm_record *)(base + PMM_ARENA_OFF + 32768);
	a->ctx->records = (PMM_ARENA_OFF + 32768) >> PMM_REF_SHIFT;
	((struct pmm_node *)(base + PMM_ARENA_OFF +
			     65536))[1] = (struct pmm_node){ .frame = 0x401000, .site = 1 };
	((struct pmm_site *)(base + PMM_ARENA_OFF + 2 * 65536))[1].node = 1;
	a->record->site = 1;
	__atomic_store_n(&l->magic, PMM_LEDGER_MAGIC, __ATOMIC_RELEASE);
}

static inline uint64_t fake_agent_bytes(const struct fake_agent *a)
{
	return a->board->slots_off + a->board->slot_bytes;
}

/* A file such as the agent makes, or -1. */
static inline int fake_agent_file(const struct fake_agent *a)
{
	int fd = memfd_create(PMM_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	return ftruncate(fd, (off_t)fake_agent_bytes(a)) ||
			       fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
		       ? -1
		       : fd;
}

/* Begin a ledger in the file; children do not inherit it. 0 or -1. */
static inline int fake_agent_begin(struct fake_agent *a, int fd)
{
	char *base = mmap(NULL, fake_agent_bytes(a), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_NORESERVE, fd, 0);

	if (base == MAP_FAILED || madvise(base, fake_agent_bytes(a), MADV_DONTFORK))
		return -1;
	fake_agent_write(a, base);
	return 0;
}

/* Make a ledger for the calling process and hand it in through one of the sockets. 0 or -1. */
static inline int fake_agent_claim_by(struct fake_agent *a, int is_public, int new_image)
{
	int fd = fake_agent_file(a), rc;

	if (fd < 0 || fake_agent_begin(a, fd))
		return -1;
	rc = fake_say(
		&a->env, is_public,
		(struct pmm_message){ .what = PMM_SAY_HERE, .new_image = (uint32_t)new_image }, fd,
		NULL);
	close(fd);
	return rc;
}

static inline int fake_agent_claim(struct fake_agent *a)
{
	return fake_agent_claim_by(a, 0, 0);
}

/* Map the board behind `fd`. 0 or -1. */
static inline int fake_agent_board(struct fake_agent *a, int fd)
{
	void *board = mmap(NULL, sizeof(struct pmm_tree), PROT_READ, MAP_SHARED, fd, 0);

	close(fd);
	a->board = board;
	return board == MAP_FAILED ? -1 : 0;
}

/* Find the monitor that `env` names, by its descriptors. 0 or -1. */
static inline int fake_agent_find(struct fake_agent *a, const char *env)
{
	char path[64];

	*a = (struct fake_agent){ .fd = -1 };
	if (fake_env_parse(&a->env, env))
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", a->env.pid, a->env.board);
	return fake_agent_board(a, open(path, O_RDONLY | O_CLOEXEC));
}

/* The same by the public socket. */
static inline int fake_agent_find_public(struct fake_agent *a, const char *env)
{
	int fd;

	*a = (struct fake_agent){ .fd = -1 };
	if (fake_env_parse(&a->env, env) ||
	    fake_say(&a->env, 1, (struct pmm_message){ .what = PMM_SAY_BOARD }, -1, &fd))
		return -1;
	return fake_agent_board(a, fd);
}

/* What nr allocations of FAKE_BYTES leave, of which nr_freed were freed. */
static inline void fake_agent_record(struct fake_agent *a, uint64_t nr, uint64_t nr_freed)
{
	struct pmm_class *class = &a->ctx->class[1];

	class->calls[PMM_KIND_MALLOC] = a->record->allocs = nr;
	class->frees = a->record->frees = nr_freed;
	class->bytes_in = a->record->bytes_in = nr * FAKE_BYTES;
	class->bytes_out = a->record->bytes_out = nr_freed * FAKE_BYTES;
}

#endif
