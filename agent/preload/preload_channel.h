/* SPDX-License-Identifier: MIT */
/*
 * The way from a process to its monitor (include/pmm/channel.h). Names prove nothing: who answers
 * there is asked for credentials first.
 */
#ifndef AGENT_PRELOAD_PRELOAD_CHANNEL_H
#define AGENT_PRELOAD_PRELOAD_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "include/pmm/channel.h"
#include "include/pmm/ledger.h"

/*
 * Find the monitor that the environment names, and its board, mapped for reading. NULL: there is
 * none, or none to be trusted.
 */
const struct pmm_tree *channel_open(void);

/*
 * Say something, with a descriptor where it is not -1. Waits a bounded time at most, and that only
 * where very many speak at once. 0 or negative: it was not said.
 */
int channel_say(enum pmm_say what, bool new_image, int32_t number, int fd);

/*
 * Say what is about to be executed: number, why, name and, where it was earlier, time_ns are the
 * caller's to fill.
 */
void channel_say_exec(struct pmm_message *m);

/* What the environment says of the monitor, without what hides it; NULL: nothing. */
const char *channel_address(void);

/*
 * Ask to be searched at the end. A socket for channel_refused(), the caller's to close; or
 * negative.
 */
int channel_leave(void);

/* Has the monitor said that it does not know this process? */
bool channel_refused(int sock);

/*
 * Ask, and wait for the answer a bounded time. The answer's number, with *fd a descriptor where one
 * came along, else -1; or negative: there was no answer. fd may be NULL.
 */
int32_t channel_ask(enum pmm_say what, int *fd);

#endif
