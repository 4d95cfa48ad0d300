/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's types, as far as pmm reads them. Their members are found by BTF at load time
 * (preserve_access_index), so an object compiled once runs on every kernel that has members of
 * these names; order and size here mean nothing. Names and types of members as of Linux 6.1.
 */
#ifndef BPF_KERNEL_H
#define BPF_KERNEL_H

/* bpf_tracing.h takes the kernel's own register names then. */
#define __VMLINUX_H__ 1

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>

#define KERNEL_TYPE __attribute__((preserve_access_index))

typedef __u8 u8;
typedef __s8 s8;
typedef __u16 u16;
typedef __u32 u32;
typedef __s32 s32;
typedef __u64 u64;
typedef __s64 s64;

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
} KERNEL_TYPE;

struct kernfs_node {
	u64 id;
} KERNEL_TYPE;

struct cgroup {
	struct kernfs_node *kn;
} KERNEL_TYPE;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
} KERNEL_TYPE;

struct css_set {
	struct cgroup_subsys_state *subsys[1];
} KERNEL_TYPE;

enum cgroup_subsys_id {
	memory_cgrp_id = 4,
};

struct ns_common {
	unsigned int inum;
} KERNEL_TYPE;

struct pid_namespace {
	struct ns_common ns;
} KERNEL_TYPE;

struct upid {
	int nr;
	struct pid_namespace *ns;
} KERNEL_TYPE;

struct pid {
	unsigned int level;
	struct upid numbers[1];
} KERNEL_TYPE;

typedef struct {
	int counter;
} KERNEL_TYPE atomic_t;

struct signal_struct {
	atomic_t live;
	short oom_score_adj;
	unsigned long maxrss;
} KERNEL_TYPE;

struct thread_info {
	unsigned long flags;
	u32 status;
} KERNEL_TYPE;

struct mm_struct;

typedef struct {
	unsigned int val;
} KERNEL_TYPE kuid_t;

struct cred {
	kuid_t uid;
} KERNEL_TYPE;

struct task_struct {
	struct thread_info thread_info;
	unsigned int flags;
	void *stack;
	u64 start_time;
	int pagefault_disabled;
	int pid, tgid;
	char comm[16];
	int exit_code;
	struct mm_struct *mm;
	struct signal_struct *signal;
	const struct cred *cred;
	struct css_set *cgroups;
	struct files_struct *files;
	struct pid *thread_pid;
	struct task_struct *group_leader;
	struct task_struct *real_parent;
} KERNEL_TYPE;

struct mm_struct {
	struct task_struct *owner;
	unsigned long total_vm, hiwater_rss;
	unsigned long task_size, start_brk, brk, start_stack, arg_start, arg_end;
	unsigned long data_vm, exec_vm;
	int map_count;
} KERNEL_TYPE;

/* Changes whenever mappings change: a number from Linux 6.4 on, a seqcount_t from 6.13 on. */
struct mm_struct___number {
	int mm_lock_seq;
} KERNEL_TYPE;

typedef struct seqcount {
	unsigned int sequence;
} KERNEL_TYPE seqcount_t;

struct mm_struct___seqcount {
	seqcount_t mm_lock_seq;
} KERNEL_TYPE;

struct vfsmount {
	struct dentry *mnt_root;
} KERNEL_TYPE;

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
} KERNEL_TYPE;

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
} KERNEL_TYPE;

struct file {
	struct path f_path;
	struct inode *f_inode;
} KERNEL_TYPE;

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} KERNEL_TYPE;

struct files_struct {
	struct fdtable *fdt;
} KERNEL_TYPE;

struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_flags, vm_pgoff;
	struct mm_struct *vm_mm;
	struct file *vm_file;
	const void *vm_ops;
} KERNEL_TYPE;

/* Is it still in use? Linux 6.4 .. 6.14, and later. */
struct vm_area_struct___flag {
	bool detached;
} KERNEL_TYPE;

typedef struct refcount_struct {
	atomic_t refs;
} KERNEL_TYPE refcount_t;

struct vm_area_struct___count {
	refcount_t vm_refcnt;
} KERNEL_TYPE;

/* The context of a program of type perf_event, to be read by itself; asm/bpf_perf_event.h. */
struct bpf_perf_event_data {
	unsigned long regs[21];
	u64 sample_period, addr;
};

/* What that is in truth. */
struct bpf_perf_event_data_kern {
	struct pt_regs *regs;
} KERNEL_TYPE;

struct super_block {
	u32 s_dev;
	unsigned long s_magic;
} KERNEL_TYPE;

struct hlist_node {
	struct hlist_node *next;
} KERNEL_TYPE;

struct hlist_head {
	struct hlist_node *first;
} KERNEL_TYPE;

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
	unsigned int i_nlink;
	u32 i_rdev;
	long long i_size;
	struct hlist_head i_dentry;
} KERNEL_TYPE;

struct qstr {
	const unsigned char *name;
} KERNEL_TYPE;

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	union {
		struct hlist_node d_alias;
	} KERNEL_TYPE d_u;
} KERNEL_TYPE;

struct address_space {
	struct inode *host;
} KERNEL_TYPE;

/* The order of a large one: the low byte of _flags_1 since 6.6, _folio_order before. */
struct folio {
	struct address_space *mapping;
	unsigned long _flags_1;
	unsigned char _folio_order;
} KERNEL_TYPE;

struct page {
	struct address_space *mapping;
	unsigned char compound_order;	/* of the second page of a large one, until 5.15 */
} KERNEL_TYPE;

struct shrinker {
	void *scan_objects;
} KERNEL_TYPE;

struct reclaim_stat {
	unsigned int nr_dirty, nr_writeback, nr_ref_keep;
} KERNEL_TYPE;

enum pageflags {
	PG_head = 6,
};

enum migrate_mode {
	MIGRATE_ASYNC,
};

struct compact_control {
	unsigned int gfp_mask;
	int order;
	enum migrate_mode mode;
} KERNEL_TYPE;

struct linux_binprm {
	const char *filename;
} KERNEL_TYPE;

#endif
