/*
 * One slot under watch: its process, its series, and how it ends up as a heap.
 */
#ifndef CAPTURE_WATCHED_H
#define CAPTURE_WATCHED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/capture/ledger.h"
#include "src/capture/series.h"
#include "src/capture/ledger_tree.h"
#include "src/capture/whois.h"

struct watched {
	unsigned slot;
	uint32_t ns_pid; /* as the slot has it */
	pid_t pid;	 /* as we see it; 0 = was gone when we looked, -1 = not found so far */
	int pidfd;	 /* -1 when pid is 0 */
	int rss_fd;	 /* see proc_rss() */
	bool is_root;
	bool ended;
	uint64_t seen_ns, next_find_ns;
	uint64_t ended_ns; /* when we noticed */
	int status;	   /* wait status, when status_known */
	bool status_known;
	struct ledger_map *map; /* NULL until the header is complete */
	struct series series;
	uint64_t interval_ns; /* of the series; 0 = adaptive */
	uint64_t code_hash;   /* of executable file mappings; 0 = not looked yet */
	uint64_t next_code_ns;
	struct watched_noted {
		uint64_t nr, count;	/* heap errors of the last look */
		uint64_t next_ns;	/* look again not before */
		uint64_t next_again_ns;	/* ... and for those that came again */
	} noted;
};

/*
 * Begin to watch a slot that a process has claimed; watched_find() comes next. NULL: out of
 * memory.
 */
struct watched *watched_new(unsigned slot, uint32_t ns_pid, uint64_t interval_ns, uint64_t now_ns);
void watched_free(struct watched *w);

/*
 * Look for the process as long as it is not found; one that stays so for a second has ended. False
 * while it is not known.
 */
bool watched_find(struct watched *w, const struct ledger_tree *t, struct whois *who,
		  uint64_t now_ns);

/* Its process has ended. The first call counts. */
void watched_end(struct watched *w, uint64_t now_ns);

/* Take what is due of the series; false when nothing was. */
bool watched_tick(struct watched *w, const struct ledger_tree *t, uint64_t now_ns);

/*
 * Have executable file mappings come or gone since the last call? Looks once a second at most,
 * and not at all costs.
 */
bool watched_code_changed(struct watched *w, uint64_t now_ns);

/*
 * Has its agent noted heap errors that were not there at the call before, or did some come again (looked for once a second at most)? Then its
 * heap, blocks left out, is in *out, the caller's. `last`: there will be no other call, so look at all costs; else rarely where looking is dear.
 */
bool watched_found(struct watched *w, const struct ledger_tree *t, uint64_t now_ns, bool last, struct heap **out);

/*
 * Its heap at the end, or as it is now when it lives, with series and status; the caller's. 0 or
 * -errno with `e`.
 */
int watched_read(struct watched *w, const struct ledger_tree *t, struct heap **out, struct err *e);

/* Did anything happen in this heap that is worth a capture? */
bool watched_has_events(const struct heap *h);

#endif
