/*
 * The monitor's socket: hands the tree memfd to traced programs that cannot open it through /proc
 * (they changed root, user or mount namespace, or exec followed the end of pmm in the foreground).
 *
 * Abstract address "\0pmm-<MONITORPID>-<COOKIE in hex>", SOCK_SEQPACKET; the answer to a connection
 * is one byte with the memfd as SCM_RIGHTS. The address is no secret (/proc/net/unix), so the peer
 * must be the user, root, or of the tree.
 */
#ifndef CAPTURE_SERVE_H
#define CAPTURE_SERVE_H

#include <stdbool.h>
#include <sys/types.h>

#include "src/base/err.h"
#include "src/capture/ledger_tree.h"

/* Listen for this tree. The descriptor (close-on-exec, nonblocking) or -errno with `e`. */
int serve_open(const struct ledger_tree *t, struct err *e);

/*
 * Answer everybody who waits. `is_ours(arg, pid)`: does a process of another user belong to the
 * tree? Never blocks.
 */
void serve_all(int listen_fd, const struct ledger_tree *t, bool (*is_ours)(void *arg, pid_t pid),
	       void *arg);

#endif
