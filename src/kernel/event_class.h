/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events that users name (`pmm trace mmap,oom`): what each shows, which groups of programs see
 * it, and what its records are called.
 */
#ifndef KERNEL_EVENT_CLASS_H
#define KERNEL_EVENT_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/trace_abi.h"
#include "src/base/err.h"
#include "src/kernel/kernel_source.h"

struct str;

/* In the order of `pmm trace --list`. Only ever appended to: captures have these as bits. */
enum event_class {
	EVENT_MMAP,
	EVENT_BRK,
	EVENT_SHM,
	EVENT_FAULTS,
	EVENT_MAJOR,
	EVENT_SWAP,
	EVENT_RECLAIM,
	EVENT_COMPACTION,
	EVENT_MIGRATE,
	EVENT_THP,
	EVENT_OOM,
	EVENT_STACK,
	EVENT_LIFE,
	EVENT_FILES,
	EVENT_KERNEL,
	EVENT_RSS,
	EVENT_CACHE,
	EVENT_PMC,
	EVENT_HEAP,
	EVENT_LIBC,
	EVENT_NR_CLASSES
};

struct event_class_info {
	const char *name;
	const char *shows;		/* a phrase, lower case, no full stop */
	const char *replaces;		/* the tools that it stands for, "" = none */
	uint32_t groups;		/* bit per enum kernel_group */
	/* only where it is named: it costs more than the others, or few machines have it */
	bool dear;
};

extern const struct event_class_info event_classes[EVENT_NR_CLASSES];

/* What a kind of record is, and where its record has what is summed up. */
struct trace_kind_info {
	const char *name;		/* "mmap"; in JSON, too */
	enum event_class event;
	bool call;			/* a[5] is a result, -errno = it failed */
	signed char ns;			/* index in a[] of how long it took, -1 = nothing */
	signed char bytes;		/* of how many bytes it is about */
	unsigned char failed;		/* that is not zero when it has failed; 0 = none has */
	bool sampled;			/* records are of some only: all are in a table */
};

extern const struct trace_kind_info trace_kinds[TRACE_NR_KINDS];

/*
 * The classes of a list "mmap,oom" as bits; "all": every one of the kernel's; "default": all of
 * those that are not dear. 0 or -EINVAL with `e`.
 */
int event_classes_parse(const char *list, uint32_t *classes, struct err *e);

/*
 * The counters of a list "cycles,llc_misses" as bits of kernel_counters[]. 0 or -EINVAL with `e`.
 */
int event_counters_parse(const char *list, uint32_t *counters, struct err *e);

/* The groups that see these classes. */
uint32_t event_classes_groups(uint32_t classes);

/*
 * The worst of a class's groups in groups[KERNEL_NR_GROUPS], which has the reason, and how much of
 * the class is seen: a part of it where another of its groups does not fail. NULL: it needs none.
 */
const struct kernel_group_state *event_class_state(enum event_class event,
						   const struct kernel_group_state *groups,
						   enum kernel_group_status *status);

/* Classes of which something is not seen for the same reason. */
struct event_lack {
	uint32_t classes;
	enum kernel_group_status status; /* partly, failed */
	const struct kernel_group_state *state;	/* with the reason; in the caller's array */
};

/*
 * What is not seen of these classes, with groups[KERNEL_NR_GROUPS] as a source has them; a class
 * has the reason of its worst group. How many of lacks[EVENT_NR_CLASSES] were set.
 */
unsigned event_classes_lacks(uint32_t classes, const struct kernel_group_state *groups,
			     struct event_lack *lacks);

/* What helps with all of several; NULL: there is no such thing, or only one. */
const char *event_lacks_remedy(const struct event_lack *lacks, unsigned nr);

/* Their names: "mmap, brk". */
void event_classes_names(struct str *s, uint32_t classes);

/* Is a kind of record one of these classes'? */
bool event_classes_have(uint32_t classes, uint32_t kind);

/* The kinds of records of these classes. */
void event_classes_kinds(uint32_t classes, uint64_t kinds[2]);

/* Set the groups and kinds of these classes. */
void event_classes_ask(struct kernel_options *k, uint32_t classes);

/* Add where programs and processes begin and end: whose memory it is that others are about. */
void event_classes_ask_life(struct kernel_options *k);

/* Is it a page fault? fault_area_of() says in which memory. */
bool trace_is_fault(const struct trace_record *r);

/* Has it failed, as its record says? */
bool trace_failed(const struct trace_record *r);

/*
 * What sums of its kind are split by besides: how it ended, or why it came about.
 * TRACE_NO_DETAIL: they are not.
 *
 *	compaction		status << 8 | order
 *	migrate			reason << 8 | mode
 *	collapse, khugepaged	status << 2 | of a file << 1 | by the process itself
 *	throttled		reason
 */
#define TRACE_NO_DETAIL	UINT32_MAX

uint32_t trace_detail(const struct trace_record *r);

/* What the record says of time and bytes; 0 where it says nothing or the call has failed. */
uint64_t trace_ns(const struct trace_record *r);
uint64_t trace_bytes(const struct trace_record *r);

/*
 * Is it a system call about less than so many bytes? One that has failed is about what it asked
 * for, one that gives memory back about what it gives back.
 */
bool trace_is_small(const struct trace_record *r, uint64_t min_bytes);

#endif
