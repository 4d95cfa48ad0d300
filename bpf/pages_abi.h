/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of the groups rss and cache: resident sizes by process; who fills the page cache with what. */
#ifndef BPF_PAGES_ABI_H
#define BPF_PAGES_ABI_H

#include <linux/types.h>

#include "bpf/trace_abi.h"

/* The kernel's counters of a memory, in its order (MM_FILEPAGES ...). */
enum rss_kind {
	RSS_FILE,
	RSS_ANON,
	RSS_SWAP,		/* not resident: in swap */
	RSS_SHMEM,
	RSS_NR_KINDS
};

/* A record of each so many bytes that one of the kinds has changed by, unless min_bytes says. */
#define RSS_STEP_BYTES		(1ull << 20)
#define CACHE_STEP_BYTES	(1ull << 20)

/* rss_processes: process -> this; bytes */
struct rss_process {
	__u64 start_ns;			/* when the process began; another one: the number is reused */
	__u64 first_ns;			/* when `first` was taken */
	__u64 first[RSS_NR_KINDS];	/* at its first change that was seen */
	__u64 now[RSS_NR_KINDS];	/* at its last one */
	__u64 reported[RSS_NR_KINDS];	/* in its last record */
	__u64 peak;			/* resident, all kinds */
	__u64 changes;
	char comm[TRACE_COMM_BYTES];
};

struct cache_file_key {
	__u64 inode;			/* 0: the block device itself */
	__u32 device;			/* as the kernel has it: major << 20 | minor */
	__u32 pad;
};

#define CACHE_NAME_BYTES	256

/* cache_files: cache_file_key -> this; bytes */
struct cache_file {
	__u64 added, removed;
	/* path below the file system's root, last component first: "passwd/etc"; cut where too long */
	char name[CACHE_NAME_BYTES];
};

struct cache_user_key {
	__u64 inode;
	__u32 device;
	__u32 tgid;
};

/* cache_users: cache_user_key -> this; bytes */
struct cache_user {
	__u64 added, removed;
	__u64 reported;			/* of `added`, in records */
	char comm[TRACE_COMM_BYTES];
};

#endif
