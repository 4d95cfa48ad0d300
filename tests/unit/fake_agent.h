/*
 * A stand-in for libpmm.so: finds the tree as it does, claims a slot and writes a small ledger with
 * known figures.
 */
#ifndef TESTS_UNIT_FAKE_AGENT_H
#define TESTS_UNIT_FAKE_AGENT_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "include/pmm/ledger.h"

#define FAKE_BYTES 100 /* of each allocation */

struct fake_agent {
	struct pmm_tree *tree;
	struct pmm_ledger *ledger;
	struct pmm_ctx *ctx;
	struct pmm_record *record;
	unsigned slot;
};

static inline int fake_agent_open_proc(const char *env)
{
	char path[64];
	int pid, fd;

	if (!env || sscanf(env, "%d:%d:", &pid, &fd) != 2)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
	return open(path, O_RDWR | O_CLOEXEC);
}

static inline int fake_agent_open_socket(const char *env)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	char byte = 0;
	struct iovec iov = {&byte, 1};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	int pid, fd, sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), n;
	unsigned long long cookie;

	if (!env || sscanf(env, "%d:%d:%llx", &pid, &fd, &cookie) != 3)
		return -1;
	n = snprintf(sun.sun_path + 1, sizeof(sun.sun_path) - 1, "pmm-%d-%llx", pid, cookie);
	if (connect(sock, (struct sockaddr *)&sun,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)) ||
	    recvmsg(sock, &msg, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&msg))
		return -1;
	close(sock);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

/* Claim a slot of the mapped tree for the calling process and write an empty ledger into it. */
static inline int fake_agent_claim(struct fake_agent *a)
{
	struct pmm_tree *t = a->tree;
	struct pmm_ledger *l;
	char *base;
	uint32_t i;

	for (i = 0; i < t->nr_slots; i++) {
		uint32_t expected = PMM_SLOT_FREE;

		if (__atomic_compare_exchange_n(&t->slot[i].state, &expected, PMM_SLOT_LIVE, 0,
						__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			break;
	}
	if (i == t->nr_slots)
		return -1;
	__atomic_store_n(&t->slot[i].pid, (uint32_t)getpid(), __ATOMIC_RELEASE);
	a->slot = i;
	base = (char *)t + t->slots_off + i * t->slot_bytes;
	a->ledger = l = (struct pmm_ledger *)base;
	l->version = PMM_LEDGER_VERSION;
	l->header_bytes = sizeof(*l);
	l->state = PMM_STATE_RUNNING;
	l->pid = (uint32_t)getpid();
	l->ppid = (uint32_t)getppid();
	l->start_tick = t->tick;
	strcpy(l->comm, "fake");
	l->arena_off = PMM_ARENA_OFF;
	l->arena_used = l->arena_ready = PMM_ARENA_OFF + 65536 + 3 * 65536;
	l->arena_end = t->slot_bytes;
	l->nr_nodes = l->nr_sites = 2;
	l->nr_modules = 1;
	l->nr_ctx = 1;
	l->ctx[0] = PMM_ARENA_OFF >> PMM_REF_SHIFT;
	l->node_dir[0] = (PMM_ARENA_OFF + 65536) >> PMM_REF_SHIFT;
	l->site_dir[0] = (PMM_ARENA_OFF + 2 * 65536) >> PMM_REF_SHIFT;
	memset(base + PMM_ARENA_OFF, 0, 4 * 65536);
	a->ctx = (struct pmm_ctx *)(base + PMM_ARENA_OFF);
	a->record = (struct pmm_record *)(base + PMM_ARENA_OFF + 32768);
	a->ctx->records = (PMM_ARENA_OFF + 32768) >> PMM_REF_SHIFT;
	((struct pmm_node *)(base + PMM_ARENA_OFF + 65536))[1] =
		(struct pmm_node){.frame = 0x401000, .site = 1};
	((struct pmm_site *)(base + PMM_ARENA_OFF + 2 * 65536))[1].node = 1;
	a->record->site = 1;
	__atomic_store_n(&l->magic, PMM_LEDGER_MAGIC, __ATOMIC_RELEASE);
	return 0;
}

/* Map the tree behind `fd` and claim a slot. 0 or -1. */
static inline int fake_agent_start(struct fake_agent *a, int fd)
{
	struct pmm_tree *t = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
	size_t bytes;

	*a = (struct fake_agent){0};
	if (t == MAP_FAILED)
		return -1;
	bytes = t->slots_off + t->slot_bytes * t->nr_slots;
	munmap(t, 8192);
	a->tree = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	close(fd);
	return a->tree == MAP_FAILED ? -1 : fake_agent_claim(a);
}

/* What nr allocations of FAKE_BYTES leave, of which nr_freed were freed. */
static inline void fake_agent_record(struct fake_agent *a, uint64_t nr, uint64_t nr_freed)
{
	a->ctx->allocs = a->record->allocs = nr;
	a->ctx->frees = a->record->frees = nr_freed;
	a->ctx->bytes_in = a->record->bytes_in = nr * FAKE_BYTES;
	a->ctx->bytes_out = a->record->bytes_out = nr_freed * FAKE_BYTES;
}

#endif
