/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The monitor's two sockets (include/pmm/channel.h): who may connect, how many are looked at, and
 * what becomes of those that say nothing.
 *
 * The private one was bound in the file system and has no name there any more: processes that may
 * not look into this process's descriptors cannot connect. The public one has an abstract address,
 * which all processes can see and connect to; what is done for strangers is bounded, per turn and
 * in all, and they cannot take anything from the private one.
 */
#ifndef TRACK_SERVE_H
#define TRACK_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/track/message.h"
#include "src/ledger/ledger_tree.h"

#define SERVE_MOST_SILENT 64	/* connections of a socket that wait for their message */
#define SERVE_NR_FDS	  5

struct serve_silent {
	int socket;
	struct loop_source *source;	/* NULL: heard at the next tick */
	uint64_t until_ns;
};

struct serve_socket {
	int fd;			/* -1 = there is none */
	struct loop_source *source;	/* NULL: paused */
	bool is_public;
	/* too many strangers: until the next turn that begins later than ... */
	bool paused;
	uint64_t pause_ns;
	struct serve_silent silent[SERVE_MOST_SILENT];	/* oldest first */
	unsigned nr_silent;
	bool more;		/* the last turn did not see all who wait */
	/* connections that could not be closed at once, see message_close() */
	unsigned nr_odd;
};

struct serve {
	const struct ledger_tree *board;	/* borrowed */
	struct serve_socket of[2];		/* private, public */
	int path_fd;				/* O_PATH, the private one's name; -1 = none */
	int board_fd;				/* the board, for reading */
	/* given up when there are no more descriptors, so that who connects can be let go */
	int spare_fd;
	struct loop *loop;			/* borrowed; NULL: none yet */
	/* a process has connected or sent a message */
	void (*wake)(void *arg, uint32_t events);
	void *wake_arg;
	uint64_t address;
	/* a message of the tree, and its descriptor, the callee's; an answer goes to `socket` */
	void (*received)(void *arg, const struct pmm_message *m, const struct message_peer *from,
		     int socket, int fd);
	void (*lost)(void *arg);		/* one came that there was no descriptor for */
	void *arg;
};

#define SERVE_CLOSED                                                                               \
	((struct serve){ .of = { { .fd = -1 }, { .fd = -1 } },                                     \
			 .path_fd = -1,                                                            \
			 .board_fd = -1,                                                           \
			 .spare_fd = -1 })

/* Open both sockets; received(), lost() and arg are the caller's to set. 0 or -errno with `e`. */
int serve_open(struct serve *s, const struct ledger_tree *board, struct err *e);
void serve_close(struct serve *s);

/*
 * Register at a loop, which calls wake(wake_arg); again in a forked process with a loop of its own,
 * which is the sockets' owner from then on. 0 or -errno.
 */
int serve_join(struct serve *s, struct loop *loop, void (*wake)(void *arg, uint32_t events),
	       void *wake_arg);

/* Is there anything to be done that the loop does not wake for? Then serve_turn() a tick later. */
bool serve_is_due(const struct serve *s);

/* May there be messages of our own processes that were not looked at? */
bool serve_has_more(const struct serve *s);

/* Look at some of those who have connected, now_ns on any clock. Never blocks. */
void serve_turn(struct serve *s, uint64_t now_ns);

/* Look at all that have come by now, as far as there is room for them to wait. */
void serve_drain(struct serve *s, uint64_t now_ns);

/* The descriptors that are to stay open. */
void serve_fds(const struct serve *s, int fds[SERVE_NR_FDS]);

#endif
