/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The monitor's parts among themselves.
 */
#ifndef TRACK_MONITOR_PRIV_H
#define TRACK_MONITOR_PRIV_H

#include "src/track/monitor.h"

/* Be woken by a process's end. 0 or -errno. */
int monitor_await_end(struct monitor *m, struct watched *w);

/* One on the roll, which may have ended: then it is counted, once. */
void monitor_count_end(struct monitor *m, struct watched *w);

/* Strike it out of the roll, and free it. */
void monitor_drop(struct monitor *m, struct watched *w);

/* For struct serve: a process has a ledger, or asks. */
void monitor_hear(void *arg, const struct pmm_message *said, const struct message_peer *from,
		  int socket, int fd);
void monitor_lose(void *arg);

/*
 * Search one of those that wait at their end, and let it continue. False when none waits. `all`:
 * look at everybody's word.
 */
bool monitor_see_off(struct monitor *m, bool all);

/* Is it on the roll? For callbacks. */
bool monitor_has(void *arg, pid_t pid);

/* The program's end, or signals for us. */
void monitor_on_signals(struct monitor *m);

/* Tell of heap errors that are new. */
void monitor_tell_found(struct monitor *m, struct watched *w, uint64_t now_ns, bool last);

#endif
