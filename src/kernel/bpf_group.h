/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One group's object in the kernel: opened, fitted to this kernel, loaded, attached. */
#ifndef KERNEL_BPF_GROUP_H
#define KERNEL_BPF_GROUP_H

#include "src/kernel/kernel_source.h"

struct bpf_link;
struct bpf_object;
struct btf;

#define BPF_GROUP_MAX_PROGRAMS	32
#define BPF_GROUP_MAX_LINKS	1024	/* perf events have one for each processor */

/* What all groups share; the descriptors are borrowed. */
struct bpf_shared {
	const struct btf *kernel;	/* the running kernel's types */
	/*
	 * Where libbpf is to read them; NULL: where it likes. It looks for types that the kernel
	 * itself does not have in its modules otherwise, which takes CAP_SYS_ADMIN.
	 */
	const char *types;
	struct trace_config config;
	int events, targets, counts, fault_programs;	/* maps */
	int nr_cpus;			/* possible ones */
	uint32_t kmem_objects;		/* entries of that map */
	uint32_t counters;		/* bit per kernel_counters[]: these are chosen */
	const struct libc_files *libc;	/* NULL: none */
};

struct bpf_group {
	const struct kernel_group_info *info;
	struct bpf_object *object;	/* NULL: not loaded */
	struct bpf_link **link;
	unsigned nr_links;
	bool no_perf;			/* its perf events cannot be opened */
	uint32_t not_counted;		/* bit per kernel_counters[]: this machine has none */
	struct kernel_group_state state;
};

/* Load and attach; what becomes of it is in group->state. */
void bpf_group_open(struct bpf_group *group, enum kernel_group number,
		    const struct bpf_shared *shared);

/* A map of the group, -1: there is none. Stays the group's. */
int bpf_group_map(const struct bpf_group *group, const char *name);

/* Runs that the kernel left out because a program met itself, of all its programs. */
uint64_t bpf_group_missed(const struct bpf_group *group);

void bpf_group_close(struct bpf_group *group);

#endif
