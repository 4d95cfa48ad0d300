/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A weighted call tree: stacks of named frames with one value each per metric, whatever was
 * measured (bytes live, allocations, page faults), and the difference of two of them.
 *
 * Frames are names, not addresses: profiles of different processes, builds and times can be
 * compared. Stacks are entered outermost frame first; those with the same frames share nodes.
 *
 *     struct profile *p = profile_new(metrics, nr_metrics);
 *     profile_frame(p, &f);               the number of a frame, entered if new
 *     profile_add(p, frames, nr, value);  a stack's values, added to what the stack has
 *     profile_sum(p);                     before total values are read
 *
 * Values are signed: a difference may be negative. Sums that leave the range of int64_t stay at its
 * end (saturate), in both directions.
 */
#ifndef MODEL_PROFILE_H
#define MODEL_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/hash.h"
#include "src/base/vec.h"

#define PROFILE_MAX_METRICS	16u
#define PROFILE_MAX_FRAMES	(1u << 24)
#define PROFILE_MAX_NODES	(1u << 28)

struct profile_metric {
	const char *name; /* "live"; owned by the profile once it is in it */
	const char *unit; /* "bytes", "count", "ns" */
};

/* What a frame is called. NULL and 0: not known; a frame of which nothing is known is one, too. */
struct profile_frame {
	const char *function;
	const char *file;
	const char *module;
	uint32_t line;
};

struct profile_node {
	uint32_t parent; /* 0: the root */
	uint32_t frame;	 /* number of the frame; 0 of the root */
	uint32_t child, next; /* first child, next sibling; 0 = none. The latest comes first. */
};

struct profile {
	struct profile_metric metric[PROFILE_MAX_METRICS];
	uint32_t nr_metrics;
	/*
	 * node 0 is the root: the stack without frames. A parent's number is below its
	 * children's
	 */
	VEC(struct profile_node) nodes;
	VEC(int64_t) self;  /* [node * nr_metrics + metric]: of stacks that end there */
	VEC(int64_t) total; /* the same of all stacks through there; made by profile_sum() */
	VEC(struct profile_frame) frames; /* by number; 0 is no frame */
	struct intern texts, keys;	  /* behind the two above */
	struct hash_map node_of;	  /* parent and frame -> node */
};

/*
 * An empty profile; names and units of the metrics are copied. NULL: no memory, no metric, or more
 * than PROFILE_MAX_METRICS.
 */
struct profile *profile_new(const struct profile_metric *metric, uint32_t nr_metrics);
void profile_free(struct profile *p);

/*
 * The number of a frame, 1 and above; frames of which all four parts are equal have the same.
 * Strings are copied. -ENOMEM; -ENOSPC: there are PROFILE_MAX_FRAMES.
 */
int64_t profile_frame(struct profile *p, const struct profile_frame *f);

/*
 * Add value[nr_metrics] to the stack of `nr` frames by number, outermost first; none: to the root.
 * The number of its node; -EINVAL: a number that is no frame's; -ENOMEM; -ENOSPC. Nothing is added
 * then.
 */
int64_t profile_add(struct profile *p, const uint32_t *frame, size_t nr, const int64_t *value);

/*
 * The same in steps: the child of a node (0: the root) by its frame, made if there is none; what a
 * node has. The number of the child, or -errno as above.
 */
int64_t profile_child(struct profile *p, uint32_t parent, uint32_t frame);
void profile_add_to(struct profile *p, uint32_t node, const int64_t *value);

/* Make `total` of all nodes, to be called again when anything was added. 0 or -ENOMEM. */
int profile_sum(struct profile *p);

/*
 * What is in `after` and not in `before`: stacks of both, values of `after` minus those of
 * `before`, by metrics of the same name and unit, which must be the same in both and in the same
 * order. *out: profile_free(); summed. 0, -EINVAL, -ENOMEM, -ENOSPC.
 */
int profile_diff(const struct profile *before, const struct profile *after, struct profile **out);

#endif
