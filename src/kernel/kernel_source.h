/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where events of the kernel come from: BPF programs, perf events, or a test's list.
 *
 * A source consists of groups (src/kernel/groups.h), each of which works or says why not without
 * touching the others. What they see comes as records (bpf/trace_abi.h) and as tables that are
 * counted in the kernel.
 *
 *	kernel_source_open(&bpf_source, &options, &s, &e);
 *	each 20 ms: kernel_source_step(s, take, arg);
 *	now and then: kernel_source_table(s, KERNEL_TABLE_..., entry, arg);
 *	kernel_source_close(s);
 *
 * Nothing of a source is left in the kernel after kernel_source_close(), or after any end of the
 * process: programs, links and tables live as long as its descriptors.
 *
 * Threads: one source belongs to one thread. Errors: -errno with `e`.
 */
#ifndef KERNEL_KERNEL_SOURCE_H
#define KERNEL_KERNEL_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/trace_abi.h"
#include "src/base/err.h"
#include "src/kernel/groups.h"

struct libc_files;

#define KERNEL_STEP_NS		5000000ull	/* the ring is looked into that often */
#define KERNEL_RING_BYTES	(16u << 20)	/* default; a power of two */
#define KERNEL_KMEM_SAMPLE	16u
#define KERNEL_KMEM_OBJECTS	(256u << 10)	/* 20 MiB of the kernel's */
#define KERNEL_STACK_BYTES	(16u << 10)	/* default: 98 % of stacks are complete */

struct map_event;

/* A program begins, or code was mapped, before records that follow from it. 0, or -errno. */
typedef int kernel_mapped(void *arg, const struct map_event *e);

struct kernel_options {
	uint32_t groups;		/* bit per enum kernel_group */
	uint64_t kinds[2];		/* bit per enum trace_kind: records are wanted of these */
	const pid_t *pids;		/* only these processes; none: all */
	size_t nr_pids;
	bool follow;			/* and their children from now on */
	bool at_exec;			/* they begin to be traced when they execute a program */
	bool by_targets;		/* only these and what kernel_source_target() adds */
	/* page faults are counted by program, of by_targets; the tables by file may be empty */
	bool faults_by_program;
	uint64_t memcg;			/* inode of a memory control group's directory; 0: any */
	bool memcg_below;		/* and groups below it */
	bool by_uid;
	uid_t uid;
	const char *comm;		/* NULL: any */
	uint32_t stack_bytes;		/* of user stacks copied at most; 0: none */
	uint64_t min_ns, min_bytes;
	uint32_t sample;		/* 1 of so many faults, kernel objects; 0: default */
	uint32_t kmem_objects;		/* followed at a time; 0: KERNEL_KMEM_OBJECTS */
	uint32_t ring_bytes;		/* 0: the default */
	uint32_t counters;		/* bit per kernel_counters[]; 0: the hardware's */
	kernel_mapped *mapped;		/* of sources that say what is mapped; NULL: nobody asks */
	void *mapped_arg;
	const struct libc_files *libc;	/* for the group `libc`; NULL: none */
};

/* 1 of so many kernel objects is followed: a power of two. */
uint32_t kernel_kmem_sample(const struct kernel_options *o);

enum kernel_group_status {
	KERNEL_GROUP_UNUSED,		/* nobody has asked for it */
	KERNEL_GROUP_WORKS,
	KERNEL_GROUP_PARTLY,		/* `why` says what is missing */
	KERNEL_GROUP_FAILED,
};

struct kernel_group_state {
	enum kernel_group_status status;
	char why[160];			/* a sentence without its full stop; "" */
	char remedy[160];		/* "": none */
	uint64_t missed;		/* runs that the kernel left out: a program met itself */
	uint64_t unseen[2];		/* bit per enum trace_kind: they are never seen */
};

/* One record. Valid during the call. 0, or -errno to end the step. */
typedef int kernel_take(void *arg, const struct trace_record *r, const void *tail);

/* One entry of a table; sizes as bpf/trace_abi.h has them. 0, or -errno to end. */
typedef int kernel_entry(void *arg, const void *key, const void *value);

struct kernel_source;

/* What a source consists of; all of them must be there. */
struct kernel_source_ops {
	const char *name;		/* "bpf", "perf" */
	/* children are followed in any case, and options.mapped says what is mapped */
	bool by_process;
	int (*open)(const struct kernel_options *o, void **state, struct err *e);
	int (*step)(void *state, kernel_take *take, void *arg);
	int (*table)(void *state, enum kernel_table table, kernel_entry *entry, void *arg);
	int (*find)(void *state, enum kernel_table table, const void *key, void *value);
	/* see kernel_source_forget(); may be missing */
	void (*forget)(void *state, enum kernel_table table, const void *key);
	int (*target)(void *state, pid_t pid, bool add);
	int (*counts)(void *state, struct trace_counts counts[TRACE_NR_KINDS]);
	void (*group)(void *state, enum kernel_group group, struct kernel_group_state *out);
	int (*fd)(void *state);		/* see kernel_source_fd(); may be missing */
	void (*close)(void *state);
};

/*
 * Open the groups that are asked for. Those that fail are no error, unless all of them do: the
 * first one's cause is in `e` then. -EPERM: pmm may not; -ENOTSUP: the kernel or this build cannot.
 */
int kernel_source_open(const struct kernel_source_ops *ops, const struct kernel_options *o,
		       struct kernel_source **out, struct err *e);

/* Take the records that are there, in the order of the ring. How many, or -errno. */
int kernel_source_step(struct kernel_source *s, kernel_take *take, void *arg);

/* Read a table; entries may change meanwhile. -ENOENT: its group does not run. */
int kernel_source_table(struct kernel_source *s, enum kernel_table table, kernel_entry *entry,
			void *arg);

/*
 * The value of one key, of a table that is not counted for each processor. -ENOENT: none, or its
 * group does not run.
 */
int kernel_source_find(struct kernel_source *s, enum kernel_table table, const void *key,
		       void *value);

/* An entry is not needed any more. One that counting goes on in begins anew. */
void kernel_source_forget(struct kernel_source *s, enum kernel_table table, const void *key);

/* Add or remove a process that is traced (options.by_targets or pids). */
int kernel_source_target(struct kernel_source *s, pid_t pid, bool add);

/* What was seen and lost since it was opened, summed over processors. 0 or -errno. */
int kernel_source_counts(struct kernel_source *s, struct trace_counts counts[TRACE_NR_KINDS]);

struct kernel_group_state kernel_source_group(struct kernel_source *s, enum kernel_group group);

const char *kernel_source_name(const struct kernel_source *s);

/* Becomes readable when a step should not wait for its time; -1: there is none. */
int kernel_source_fd(const struct kernel_source *s);

/* Does it see given processes only, with their children, and call options.mapped? */
bool kernel_source_by_process(const struct kernel_source *s);

/* NULL is fine. */
void kernel_source_close(struct kernel_source *s);

/* BPF programs in the kernel; -ENOTSUP in a build without libbpf. */
extern const struct kernel_source_ops bpf_source;

/*
 * Perf events of given processes of one's own: no right is needed where kernel.perf_event_paranoid
 * is 2 or less. Page faults, mappings made, processes; nothing that the kernel does elsewhere.
 */
extern const struct kernel_source_ops perf_source;

/*
 * What it says of groups that it never sees. What would help is what helps to have programs, which
 * who asks for it knows.
 */
#define KERNEL_NEEDS_PROGRAMS                                                                      \
	"only programs in the kernel (BPF) see it"

/* No events. Opens always. */
extern const struct kernel_source_ops no_source;

#endif
