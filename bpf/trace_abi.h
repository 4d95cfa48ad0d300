/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the programs in the kernel hand to pmm: records in a ring, counts in tables, and the
 * settings they start with. Included by both sides (bpf/ and src/kernel/); fixed width, 8-byte
 * fields aligned to 8, no pointers.
 *
 * A record is a struct trace_record, followed by what its flags say: TRACE_TEXT: `tail_bytes` of
 * text without a NUL; TRACE_STACK: a struct trace_regs and `tail_bytes` of stack, from regs.sp +
 * regs.skipped upwards.
 *
 * Times are of CLOCK_MONOTONIC, in ns. Process numbers are those of pmm's own pid namespace.
 */
#ifndef BPF_TRACE_ABI_H
#define BPF_TRACE_ABI_H

#include <linux/types.h>

/* What happened, and a[] of its record. Only ever appended to: captures have these numbers. */
enum trace_kind {
	TRACE_NONE,

	/* life */
	TRACE_EXEC,		/* parent; text: the file's name; second: arguments, NULs between */
	TRACE_FORK,		/* the parent's record; child's process, thread */
	/*
	 * wait status (TRACE_NOT_KNOWN: not known), peak resident bytes, 1 = the whole process, parent,
	 * ns since it began; sizes, parents and times that are 0 are not known
	 */
	TRACE_EXIT,
	TRACE_RENAME,		/* text: the new name */
	TRACE_OOM_SCORE,	/* oom_score_adj as int64, process it is of */

	/* calls: the arguments in their order, a[5] the result (-errno as int64) */
	/*
	 * address, bytes, prot, flags, fd | device << 32, result, offset, inode (0: no file); the fd is
	 * TRACE_NO_DESCRIPTOR where it is not known
	 */
	TRACE_MMAP,
	TRACE_MUNMAP,		/* address, bytes */
	TRACE_MREMAP,		/* address, old bytes, new bytes, flags, address asked for */
	TRACE_MPROTECT,		/* address, bytes, prot */
	TRACE_MADVISE,		/* address, bytes, advice */
	TRACE_BRK,		/* address asked for, start of the heap, break before (0 = not
				 * known), bytes grown as int64, -; the new break */
	TRACE_SHMGET,		/* key, bytes, flags */
	TRACE_SHMAT,		/* id, address, flags */
	TRACE_SHMDT,		/* address */
	TRACE_SHMCTL,		/* id, command */
	TRACE_MEMFD,		/* -, flags; text: its name */
	TRACE_SHM_OPEN,		/* -, flags, mode; text: path below /dev/shm */
	TRACE_SHM_UNLINK,	/* text: path below /dev/shm */

	/* faults */
	TRACE_FAULT,		/* address, ip, error code (TRACE_FAULT_*), device, inode */
	TRACE_FAULT_MAJOR,	/* the same, of a file */
	TRACE_SWAP_IN,		/* address, ip */

	/* reclaim */
	/* ns, bytes reclaimed, order, gfp, node; a[5] bytes free as pmm reads the record, or 0 */
	TRACE_RECLAIM,		/* direct; no node */
	TRACE_RECLAIM_MEMCG,	/* no node */
	TRACE_RECLAIM_SOFT,	/* over a group's soft limit; no node */
	TRACE_RECLAIM_NODE,
	TRACE_SHRINK,		/* ns, objects freed, shrinker's function, objects asked for */
	TRACE_KSWAPD_WAKE,	/* node, order */
	TRACE_KSWAPD_SLEEP,	/* node */
	TRACE_KSWAPD_CALL,	/* by an allocation: node, order, gfp */
	TRACE_THROTTLED,	/* ns, reason, node */
	TRACE_WRITEBACK,	/* counted only */

	/* compaction, migrate, thp */
	TRACE_COMPACTION,	/* ns, order as int64, status, gfp, mode */
	TRACE_KCOMPACTD_WAKE,	/* node, order */
	TRACE_KCOMPACTD_SLEEP,	/* node */
	TRACE_KCOMPACTD_CALL,	/* by an allocation or kswapd: node, order */
	TRACE_MIGRATE,		/* bytes moved, not moved, mode, reason, huge pages split, ns (0: not known) */
	TRACE_HUGE_FAULT,	/* order, gfp, bytes; 1 = there was none */
	TRACE_COLLAPSE,		/* enum huge_status, process whose memory it is, 1 = by itself, file */
	TRACE_KHUGEPAGED,	/* the same, of a range that was looked at; a[4] unmapped pages */
	TRACE_HUGE_SPLIT,	/* pages split to be migrated */

	/* oom */
	/* victim, its memcg, uid, oom_score_adj as int64, 1 = those are known; text: its name */
	TRACE_OOM,
	TRACE_OOM_SIZES,	/* victim, total_vm, anon, file, shmem, page tables; bytes */
	TRACE_OOM_REAPED,	/* victim */

	/* rss, cache */
	TRACE_RSS,		/* enum rss_kind, bytes now, change as int64, the same if it is growth */
	TRACE_CACHE_ADD,	/* device, inode, bytes, of all; text: struct cache_file.name */
	TRACE_CACHE_REMOVE,

	/* files */
	TRACE_OPEN,		/* -, flags, mode; a[5] fd or -errno; text: path */
	TRACE_UNLINK,		/* a[5] result; text: path; also rmdir, which has a[0] = 1 */
	TRACE_MKDIR,		/* -, mode; a[5] result; text: path */
	TRACE_RENAME_FILE,	/* a[5] result; text: old path; second: new path */

	/* stack */
	TRACE_STACK_GROWTH,	/* address, ip, depth, limit (0: none), enum stack_sort */
	TRACE_SEGV,		/* address, stack pointer, bits (stack_abi.h), the stack's top,
				 * its limit, its guard's bytes or the end of its neighbour */

	/* kernel */
	TRACE_KERNEL_ALLOC,	/* address, bytes, caller, enum kmem_sort; from min_bytes on */

	/* pmc: samples, which stand for `weight` events: instruction, 1 = it is the kernel's */
	TRACE_CYCLES,
	TRACE_INSTRUCTIONS,
	TRACE_LLC_REFERENCES,
	TRACE_LLC_MISSES,
	TRACE_DTLB_MISSES,
	TRACE_CPU_CLOCK,
	TRACE_PAGE_FAULTS,

	/* files */
	TRACE_EXEC_FAILED,	/* a[5] -errno; text: path */

	/*
	 * libc: its probes with their arguments in their order, a[5] the probe's number; or what
	 * calls of malloc say of the same, a[5] 0
	 */
	TRACE_LIBC_SBRK_MORE,	/* address, bytes */
	TRACE_LIBC_SBRK_LESS,
	TRACE_LIBC_HEAP_NEW,	/* heap, bytes */
	TRACE_LIBC_HEAP_MORE,
	TRACE_LIBC_HEAP_LESS,
	TRACE_LIBC_HEAP_FREE,
	TRACE_LIBC_ARENA_NEW,	/* arena, bytes */
	TRACE_LIBC_ARENA_REUSE,	/* arena, the one avoided */
	TRACE_LIBC_ARENA_FREE_LIST, /* arena */
	TRACE_LIBC_ARENA_WAIT,	/* mutex, arena, the one avoided */
	TRACE_LIBC_ARENA_RETRY,	/* bytes, arena that had none */
	TRACE_LIBC_RETRY,	/* bytes; of realloc the block, of memalign the alignment */
	TRACE_LIBC_MALLOPT,	/* value, the one before, 1 = it was dynamic; or parameter, value */
	TRACE_LIBC_DOUBLE_FREE,	/* block, size class */
	TRACE_LIBC_MMAP,	/* address, bytes: a block of its own mapping; no probe */
	TRACE_LIBC_MUNMAP,
	TRACE_LIBC_TRIM,	/* address, bytes given back inside a heap; no probe */

	TRACE_NR_KINDS
};

enum trace_flags {
	TRACE_TEXT = 1,
	TRACE_STACK = 2,
	TRACE_COMPAT = 4,	/* a 32-bit process */
	TRACE_CUT = 8,		/* the text or the stack was longer */
	TRACE_NO_ROOM = 16,	/* the ring was filling: registers, and no stack */
};

#define TRACE_NO_DESCRIPTOR	0xffffffffu
#define TRACE_NOT_KNOWN		(~0ull)

#define TRACE_COMM_BYTES	16
#define TRACE_TEXT_MAX		512
#define TRACE_TEXT_SECOND	256	/* where a second text begins, of records that have two */
#define TRACE_STACK_MAX		65536
#define TRACE_NR_ARGS		8

struct trace_record {
	__u64 time_ns;
	__u32 kind;
	__u32 flags;
	__u32 tgid, tid;
	__u32 uid;
	__u32 tail_bytes;
	__u64 memcg;		/* inode of its memory control group's directory; 0 = not known */
	__u64 weight;		/* events it stands for: 1 unless sampled */
	__u64 a[TRACE_NR_ARGS];
	char comm[TRACE_COMM_BYTES];
};

/* User registers that unwinding needs, in this order (arch/trace_arch.h: which those are). */
#define TRACE_NR_REGS	10

struct trace_regs {
	__u64 ip, sp;
	__u64 saved[TRACE_NR_REGS - 2];
	/* pages of the copy that were not there: bit k is its page k; their bytes are 0 */
	__u64 missing;
	__u64 skipped;		/* the copy begins so many bytes above sp */
};

/* Counted for each kind on each CPU. */
struct trace_counts {
	__u64 seen;		/* wanted by the filters */
	__u64 lost;		/* the ring was full */
	__u64 dropped;		/* a table was full, or a program was interrupted by itself */
	__u64 unpaired;		/* an end without its beginning */
};

enum trace_filters {
	TRACE_ONLY_TARGETS = 1,	/* processes of the table `targets` */
	TRACE_FOLLOW = 2,	/* children of targets become targets */
	TRACE_ONLY_MEMCG = 4,
	TRACE_ONLY_UID = 8,
	TRACE_ONLY_COMM = 16,
	TRACE_MEMCG_BELOW = 32,	/* and those of groups below it */
	/* not a filter: page faults are counted by program, and the tables by file stay empty */
	TRACE_FAULTS_BY_PROGRAM = 64,
};

struct trace_config {
	__u32 filters;		/* enum trace_filters: all of them must hold */
	__u32 uid;
	__u64 memcg;
	char comm[TRACE_COMM_BYTES];
	__u64 ns_dev, ns_ino;	/* of pmm's pid namespace; 0 = the first one */
	__u32 self;		/* pmm's own process: never traced */
	__u32 stack_bytes;	/* copied at most: 0 .. TRACE_STACK_MAX */
	__u64 min_ns, min_bytes;	/* shorter and smaller events are counted only */
	__u32 sample;		/* 1 of so many faults has a stack */
	__u32 nr_args;		/* of the group's tracepoint that differs between kernels */
	__u64 kmem_sample;	/* 1 of so many objects of the kernel is followed: a power of two */
	__u64 kinds[2];		/* bit k: records of kind k are wanted */
};

/* targets: process -> this */
struct trace_target {
	/* when its program began: time of the fork's or exec's record; 0: it was there before */
	__u64 begun_ns;
};

#endif
