/* SPDX-License-Identifier: MIT */
/*
 * The interface of the kernel module (doc/kmod.md): the calls of /dev/pmm, what read() gives, and
 * the ring that mmap() gives. For the module, for pmm and for programs that log by themselves.
 *
 * The same for 32-bit and 64-bit programs: fixed widths, each field aligned to its size, no
 * padding. Every structure that is passed by pointer begins with its size and with a version. A
 * structure of a newer program may be longer, if what the module does not know is 0 (else E2BIG); a
 * shorter one than here is refused (EINVAL), another version as well (EPROTONOSUPPORT). Reserved
 * fields are 0.
 * Times are nanoseconds since 1970, UTC (CLOCK_REALTIME). Process IDs are those of the caller's pid
 * namespace; one of which the process is not monitored means the last one that had it and whose log
 * is still there. Strings end with a 0 byte inside their field.
 */
#ifndef PMM_KMOD_H
#define PMM_KMOD_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define PMM_KMOD_VERSION	1u
#define PMM_KMOD_FILE_BYTES	128
#define PMM_KMOD_FUNCTION_BYTES	64
#define PMM_KMOD_COMM_BYTES	16

/* What was requested. */
enum pmm_kmod_kind {
	PMM_KMOD_MALLOC = 1,
	PMM_KMOD_CALLOC,
	/* the entry of `prev` is replaced; prev 0: like malloc */
	PMM_KMOD_REALLOC,
	PMM_KMOD_FREE,		/* the entry of `pointer` goes */
	PMM_KMOD_ALIGNED,	/* memalign, aligned_alloc, posix_memalign */
	PMM_KMOD_MMAP,
	/* all of a mapping, or the first `bytes` of it; anything else counts as foreign */
	PMM_KMOD_MUNMAP,
	PMM_KMOD_NR_KINDS
};

/*
 * Flag of a realloc: a PMM_KMOD_FREE of `prev` was logged before the memory was given back, so that
 * another thread that got it at once is not mistaken; `prev` is only shown.
 */
#define PMM_KMOD_PREV_GONE	0x1u

/*
 * One request, as PMM_RECORD_LOG takes it and PMM_READ_LOG gives it. A request without a pointer
 * (it failed) is refused with EINVAL, as is an unknown kind.
 */
struct pmm_kmod_record {
	__u32 size;
	__u32 version;
	__u16 kind;		/* enum pmm_kmod_kind */
	__u16 flags;
	__u32 line;		/* 0: not known */
	__u64 bytes;		/* requested */
	__u64 pointer;
	__u64 prev;		/* of a realloc: the pointer before */
	__u64 caller;		/* address of the call, 0: not known */
	__u64 time_ns;		/* 0: now */
	__u32 tid;		/* filled in by the module */
	__u32 reserved;
	char function[PMM_KMOD_FUNCTION_BYTES];
	char file[PMM_KMOD_FILE_BYTES];
};

/* A place in the source, for records of the ring. The same place gets the same number. */
struct pmm_kmod_site {
	__u32 size;
	__u32 version;
	__u32 line;
	__u32 id;		/* out: its number, from 1 */
	char function[PMM_KMOD_FUNCTION_BYTES];
	char file[PMM_KMOD_FILE_BYTES];
};

/* Bits of pmm_kmod_config.set: what a PMM_SET_CONFIG changes. */
#define PMM_KMOD_SET_INTERVAL	0x001u
#define PMM_KMOD_SET_SCAN	0x002u
#define PMM_KMOD_SET_START	0x004u
#define PMM_KMOD_SET_STOP	0x008u
#define PMM_KMOD_SET_CLEAR	0x010u
#define PMM_KMOD_SET_ENTRIES	0x020u	/* both limits of entries */
#define PMM_KMOD_SET_GROWTH	0x040u
#define PMM_KMOD_SET_RESIDENT	0x080u
#define PMM_KMOD_SET_LOGGED	0x100u
#define PMM_KMOD_SET_KEEP	0x200u
#define PMM_KMOD_SET_ALL	0x3ffu

/*
 * Changes all of what `set` names or, with an error, nothing. Everyone may start and clear the
 * monitoring of the calling process itself; all else takes CAP_SYS_ADMIN in the initial user
 * namespace, of the caller and of the opener (EPERM). No such process: ESRCH; out of range: EINVAL;
 * too many processes: EUSERS. PMM_GET_CONFIG fills in all but set and the pids.
 */
struct pmm_kmod_config {
	__u32 size;
	__u32 version;
	__u32 set;
	__u32 scan;			/* 0: processes are not looked at; 1 */
	__u32 interval_ms;		/* between two looks: 10 to 3600000 */
	__s32 start_pid;
	__s32 stop_pid;
	__s32 clear_pid;
	__u64 entries_per_process;	/* 1 to 16777216 */
	__u64 entries_in_all;
	/* alerts; 0: none */
	__u64 growth_bytes;		/* resident memory gained steadily within the window */
	__u64 resident_bytes;
	__u64 logged_bytes;		/* outstanding */
	__u32 keep_s;			/* the log of a dead process stays for so long */
	__u32 window;			/* samples that growth is judged by; set at load only */
	__u64 reserved[4];
};

enum pmm_kmod_state {
	PMM_KMOD_RUNNING = 1,
	PMM_KMOD_ZOMBIE,	/* ended, not yet waited for */
	PMM_KMOD_EXITED,
	PMM_KMOD_KILLED,	/* by a signal */
};

/* Bits of pmm_kmod_process.flags. */
#define PMM_KMOD_BY_ITSELF	0x1u	/* the process itself has begun, nobody else asked for it */
#define PMM_KMOD_HAS_RING	0x2u
#define PMM_KMOD_SEEN		0x4u	/* the figures are of a look at it; else they are 0 */
#define PMM_KMOD_OVER_GROWTH	0x10u	/* above the limit at the last look */
#define PMM_KMOD_OVER_RESIDENT	0x20u
#define PMM_KMOD_OVER_LOGGED	0x40u

/* A monitored process. Figures are those of the last look at it while it ran. */
struct pmm_kmod_process {
	__s32 pid, ppid;
	__u32 state;			/* enum pmm_kmod_state */
	__u32 status;			/* as wait() gives it, when it has ended */
	__u32 flags;
	__u32 threads;
	char comm[PMM_KMOD_COMM_BYTES];
	__u64 number;			/* of the monitoring, from 1; never used again */
	__u64 since_ns;			/* monitored since */
	__u64 seen_ns;			/* the last look */
	/* shared: of files and shmem */
	__u64 virtual_bytes, resident_bytes, shared_bytes;
	__u64 code_bytes, data_bytes, stack_bytes;
	__u64 swap_bytes, page_table_bytes;
	__u64 minor_faults, major_faults;
	__s64 growth_bytes_per_s;	/* of resident memory, over the samples there are */
	__u32 samples;
	__u32 alerts;
	/*
	 * The log. At any time
	 *	allocations = entries + frees + replaced + evicted + over_limit + no_memory
	 *	allocated_bytes = entry_bytes + freed_bytes + lost_bytes
	 */
	__u64 entries, entry_bytes;	/* outstanding */
	__u64 peak_entries, peak_bytes;	/* the most of each that ever was */
	__u64 allocations, frees;	/* records taken: a realloc is one of each */
	__u64 allocated_bytes;		/* of all allocations */
	__u64 freed_bytes;		/* of entries that were freed, and of parts unmapped */
	__u64 lost_bytes;		/* of the other four */
	__u64 double_frees;		/* of what was freed shortly before */
	__u64 foreign_frees;		/* of what no entry is of */
	/* entries whose pointer was handed out again without a free */
	__u64 replaced;
	/* entries, the oldest, that gave way because memory was short */
	__u64 evicted;
	/* frees that may be of such ones: as many as were evicted, the rest is foreign */
	__u64 evicted_frees;
	__u64 over_limit;		/* allocations without an entry: too many */
	__u64 no_memory;		/* allocations without an entry: no memory for it */
	__u64 overflows;		/* records lost because the ring was full */
	__u64 torn;			/* records that a thread began and never finished */
	__u64 bad;			/* records that made no sense */
	__u64 sites_lost;		/* records whose place is not known: too many places */
};

/*
 * The monitored processes: at most `capacity` of them are written, `count` is how many there
 * are. Without CAP_SYS_ADMIN as above, only the caller's own. Elements have `element_bytes`.
 */
struct pmm_kmod_pids {
	__u32 size;
	__u32 version;
	__u32 capacity;
	__u32 count;			/* out */
	__u32 element_bytes;		/* of one, as here or more: the rest is 0 */
	__u32 reserved;
	__u64 processes;		/* address of the array */
};

/*
 * Outstanding entries of one process, oldest first, in pieces: `count` of at most `capacity`, 0 at
 * the end. An open file reads one log at a time; PMM_KMOD_RESTART, or another pid, begins anew.
 * Entries that come meanwhile are at the end. Needs what monitoring that process would.
 */
#define PMM_KMOD_RESTART	0x1u
struct pmm_kmod_log {
	__u32 size;
	__u32 version;
	__s32 pid;
	__u32 flags;
	__u32 capacity;
	__u32 count;			/* out */
	__u64 records;			/* address of an array of struct pmm_kmod_record */
};

#define PMM_KMOD_IOC		0xbb
#define PMM_RECORD_LOG		_IOW(PMM_KMOD_IOC, 1, struct pmm_kmod_record)
#define PMM_SET_CONFIG		_IOW(PMM_KMOD_IOC, 2, struct pmm_kmod_config)
#define PMM_GET_CONFIG		_IOWR(PMM_KMOD_IOC, 3, struct pmm_kmod_config)
#define PMM_MONITORED_PIDS	_IOWR(PMM_KMOD_IOC, 4, struct pmm_kmod_pids)
#define PMM_ADD_SITE		_IOWR(PMM_KMOD_IOC, 5, struct pmm_kmod_site)
#define PMM_READ_LOG		_IOWR(PMM_KMOD_IOC, 6, struct pmm_kmod_log)
/* take what is in this file's ring into the log now; returns how many records */
#define PMM_DRAIN		_IO(PMM_KMOD_IOC, 7)
/* signal this eventfd (its number is the argument; -1: none any more) at each event */
#define PMM_SET_EVENTFD		_IO(PMM_KMOD_IOC, 8)

/*
 * What read() of the device gives: whole events, those since it was opened; poll() says when there
 * are some. Without CAP_SYS_ADMIN those of the opener's own process only. A file keeps 256 events;
 * `lost` counts those before this one that did not find room.
 */
enum pmm_kmod_event_type {
	PMM_KMOD_EVENT_STARTED = 1,
	PMM_KMOD_EVENT_STOPPED,
	PMM_KMOD_EVENT_EXEC,		/* another program: its log begins anew */
	PMM_KMOD_EVENT_ENDED,		/* value: wait status */
	/* a dead process's time is up, or its place was needed */
	PMM_KMOD_EVENT_FORGOTTEN,
	/* alerts, when a limit is passed: value and limit in bytes */
	PMM_KMOD_EVENT_GROWTH,
	PMM_KMOD_EVENT_RESIDENT,
	PMM_KMOD_EVENT_LOGGED,
};

struct pmm_kmod_event {
	__u32 size;			/* of this event */
	__u32 type;			/* enum pmm_kmod_event_type */
	__s32 pid;
	__u32 reserved;
	__u64 number;			/* of the monitoring */
	__u64 time_ns;
	__u64 value, limit;
	__u64 lost;
	char comm[PMM_KMOD_COMM_BYTES];
};

/*
 * The ring: mmap(NULL, PMM_KMOD_RING_BYTES(slots), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) with
 * a power of two; it has more slots if more fit into the pages. One a file, for the process that
 * has opened it; a forked child does not have the mapping. pmm/kmod_ring.h writes into it.
 *
 * Slot i begins with sequence i. A writer that finds sequence = position takes the position by
 * raising `head`, fills the slot, and sets sequence = position + 1 (release). The module reads it
 * (acquire) and sets sequence = position + slots. A slot that is behind: the ring is full, and the
 * writer raises `overflows`.
 */
struct pmm_kmod_slot {
	__u32 sequence;
	__u32 site;			/* of PMM_ADD_SITE, 0: not known */
	__u64 bytes, pointer, prev, caller, time_ns;
	__u32 tid;			/* 0: not known */
	__u16 kind, flags;
	__u64 reserved;
};

struct pmm_kmod_ring {
	__u32 version;
	__u32 slots;
	__u32 off;			/* the module's: nothing shall be written */
	__u32 tail;			/* the module's: positions before it are read */
	__u32 pad0[12];
	__u32 head;			/* writers' */
	__u32 pad1[15];
	__u32 overflows;		/* writers' */
	__u32 pad2[15];
};

#define PMM_KMOD_HEAD_BYTES	4096	/* slots begin here */
#define PMM_KMOD_MIN_SLOTS	64
#define PMM_KMOD_MAX_SLOTS	262144
#define PMM_KMOD_RING_BYTES(slots)                                                                 \
	(PMM_KMOD_HEAD_BYTES + (unsigned long)(slots) * sizeof(struct pmm_kmod_slot))

#endif
