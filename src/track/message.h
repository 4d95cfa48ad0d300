/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One message of a traced process to the monitor, and the answer (include/pmm/channel.h): received
 * and checked.
 *
 * Any process may send. No call here blocks, and of a message without the tree's cookie nothing is
 * taken, no descriptor either.
 */
#ifndef TRACK_MESSAGE_H
#define TRACK_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "include/pmm/channel.h"

/* Who has connected, as the kernel says. */
struct message_peer {
	pid_t pid;	/* in our pid namespace; 0 = in none that we see */
	int pidfd;	/* the caller's; -1 = it has ended, or descriptors are used up */
	bool want;	/* neither could be found out for want of memory or descriptors */
	/*
	 * the kernel has kept the process for us (Linux 6.5); else the number may be another's by
	 * now
	 */
	bool sure;
};

enum message_got {
	MESSAGE_NOTHING,	/* not yet */
	MESSAGE_WHOLE,
	MESSAGE_STRANGER,	/* no message of this tree, or the end */
	MESSAGE_LOST,		/* a message, but its descriptor could not be taken */
};

/*
 * The message of a connection; of PMM_SAY_HERE with its descriptor, close-on-exec, the caller's;
 * else *fd is -1.
 */
enum message_got message_receive(int socket, uint64_t cookie, struct pmm_message *m, int *fd);

void message_peer(int socket, struct message_peer *p);

/* Answer; `fd` is sent along unless it is -1. An answer that finds no room is none. */
void message_answer(int socket, int32_t number, int fd);

/*
 * End a connection: what its peer has still in it cannot delay us. True: that were descriptors, or
 * too many messages; a thread was needed.
 */
bool message_close(int socket);

/*
 * Close a descriptor of which nothing is known: with some files (FUSE, sockets that linger) that
 * may take any time.
 */
void message_discard(int fd);

#endif
