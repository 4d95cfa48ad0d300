/* SPDX-License-Identifier: MIT */
/*
 * The contract between pmm and the agent that it maps into a running process.
 *
 * The agent's injected form (libpmm_inject.so) is an ELF shared object that needs no symbols of
 * others: pmm itself maps its segments into the process, applies its R_X86_64_RELATIVE relocations
 * and calls inject_start() on one of the process's threads. Then it gives each allocator function a
 * slot in memory near it (struct pmm_entry) and, while all threads are stopped, overwrites
 * instructions at the function's beginning with a jump to it:
 *
 *     function:  its first instruction, left in place: a debugger with an int3 on it steps over a
 *                copy of it and continues behind it
 *                jmp slot.stub    (5 bytes)
 *     slot:      struct pmm_entry: data, read by the hook
 *                stub: undo what the first instruction did; load the entry's address into a
 *                register; jmp *entry.hook
 *                moved: the function's first instructions, adjusted; jmp function + n (entry.next)
 *                pointer: to the stub
 *
 * Of a function that begins with a jump or call only the displacement is overwritten, so that it
 * leads to the stub (through the pointer if it is indirect).
 *
 * A hook is called as if it were the function, with the program's return address on the stack, and
 * one more argument: the entry, in the register that pmm_role_register() names. It calls entry.next
 * to do the real work, or jumps there.
 *
 * What has to be undone later is in the record (struct pmm_attach_record). It is written before the
 * first byte of the program is changed, so that any later pmm can undo it: `pmm detach`, the next
 * `pmm attach`. The record is private memory of the process, of a memory file named
 * PMM_RECORD_NAME, by which it is found. A forked child has a copy, which describes what the child
 * inherited; the ledger is not mapped in the child, so pmm knows that no monitor watches it.
 *
 * No mapping may be lost when pmm is killed before it has recorded it. So all that pmm has the
 * process map is private memory of a memory file whose name begins with PMM_AGENT_NAME, by which it
 * is recognised from the first moment. Such files are sealed against writing: a descriptor of one
 * that a child has inherited changes nothing. The agent records what it maps itself, and unmaps it
 * itself (inject_leave()): a thread that was made to run that code runs it to the end, even if pmm
 * is killed meanwhile.
 *
 * Who works on a process: pmm_attach.owner.
 */
#ifndef PMM_INJECT_H
#define PMM_INJECT_H

#include <stdint.h>

#define PMM_INJECT_VERSION	7u
#define PMM_ATTACH_MAGIC	0x3148435441504d4dull	/* "MMPATCH1" */
/* memory files; mapped from PMM_AGENT_OFF on, so that none looks like a library */
#define PMM_AGENT_NAME		"pmm-agent"
#define PMM_RECORD_NAME		PMM_AGENT_NAME "-record"
#define PMM_AGENT_OFF		4096u
#define PMM_MAX_PATCHES		256
/* longest stretch of code that a patch may replace */
#define PMM_PATCH_BYTES		32

/* What a patched function does, in terms of its arguments. */
enum pmm_role {
	PMM_ROLE_NONE,
	PMM_ROLE_MALLOC,		/* (size): also valloc, pvalloc */
	PMM_ROLE_CALLOC,		/* (n, each) */
	PMM_ROLE_REALLOC,		/* (old, size) */
	PMM_ROLE_REALLOCARRAY,		/* (old, n, each) */
	/* (p, ...): also operator delete in all forms, whose further arguments are passed on */
	PMM_ROLE_FREE,
	PMM_ROLE_POSIX_MEMALIGN,	/* (out, align, size) */
	PMM_ROLE_MEMALIGN,		/* (align, size): memalign, aligned_alloc */
	PMM_ROLE_NEW,			/* (size): plain and array; may throw */
	PMM_ROLE_NEW_NOTHROW,		/* (size, nothrow) */
	PMM_ROLE_NEW_ALIGNED,		/* (size, align) */
	PMM_ROLE_NEW_ALIGNED_NOTHROW,	/* (size, align, nothrow) */
	PMM_ROLE_MMAP,			/* (addr, length, prot, flags, fd, offset); entry in r11 */
	PMM_ROLE_MUNMAP,		/* (addr, length) */
	PMM_ROLE_MREMAP,		/* (old, old_size, new_size, flags, new); entry in r9 */
	/* --alloc NAME=malloc/calloc(...): up to 6 arguments; entry in r11 */
	PMM_ROLE_CUSTOM_ALLOC,
	PMM_ROLE_CUSTOM_REALLOC,	/* --alloc NAME=realloc(...); entry in r11 */
	PMM_ROLE_CUSTOM_FREE,		/* --alloc NAME=free(...); entry in r11 */
	PMM_ROLE_PRCTL,			/* libc's prctl and ... */
	/* ... syscall, so that the agent stops before the program enters seccomp; entry in r11 */
	PMM_ROLE_SYSCALL,
	PMM_ROLE_USABLE_SIZE,		/* (p): malloc_usable_size; only where blocks are guarded */
	PMM_ROLE_SIGACTION,		/* (signal, new, old): likewise */
	/*
	 * Functions of an allocator like no other's: up to 6 arguments; entry in r11.
	 * STRING: returns a block that is a string, unless arg_pointer has memory for it.
	 */
	PMM_ROLE_STRING,
	/* of a block in its place: returns it or NULL (mi_expand) ... */
	PMM_ROLE_EXPAND,
	PMM_ROLE_XALLOCX,		/* ... or the bytes that it has now (xallocx) */
	PMM_NR_ROLES,
};

/*
 * The argument register that holds the entry: 0..5 for rdi rsi rdx rcx r8 r9, 6 for r11. Always one
 * behind the function's arguments.
 */
static inline int pmm_role_register(enum pmm_role role)
{
	switch (role) {
	case PMM_ROLE_MALLOC: case PMM_ROLE_NEW: case PMM_ROLE_USABLE_SIZE:
		return 1;
	case PMM_ROLE_CALLOC:
	case PMM_ROLE_REALLOC:
	case PMM_ROLE_MEMALIGN:
	case PMM_ROLE_NEW_NOTHROW:
	case PMM_ROLE_NEW_ALIGNED: case PMM_ROLE_MUNMAP:
		return 2;
	case PMM_ROLE_REALLOCARRAY:
	case PMM_ROLE_FREE:
	case PMM_ROLE_POSIX_MEMALIGN:
	case PMM_ROLE_NEW_ALIGNED_NOTHROW:
	case PMM_ROLE_SIGACTION:
		return 3;		/* operators delete have up to three arguments */
	case PMM_ROLE_MREMAP:
		return 5;
	default:
		return 6;
	}
}

/* One patched function; in memory that the program can execute and read. 64 bytes. */
struct pmm_entry {
	uint64_t next;			/* runs the function as it was */
	uint64_t hook;			/* the agent's, for this role */
	uint64_t function;		/* address of the function */
	uint32_t role;			/* enum pmm_role */
	uint32_t kind;			/* enum pmm_kind its blocks get */
	/* custom: which argument (0..5) is the size in bytes, -1 = none */
	int8_t arg_size;
	int8_t arg_count;		/* ... the number of elements to multiply it with */
	int8_t arg_pointer;		/* ... the block to be released or resized */
	uint8_t reserved0[5];
	/*
	 * NEW, NEW_ALIGNED: the same allocator's malloc(size) or memalign(align, size): its entry's
	 * `next` or, when it is not patched, its address. Called in place of the operator, since an
	 * exception cannot pass through a hook; when it fails, the hook jumps to the operator. 0 =
	 * none: the hook only jumps, nothing is recorded.
	 */
	uint64_t plain;
	uint64_t fixed_bytes;		/* custom: the size in bytes where arg_size is -1 */
	uint64_t guards;		/* 1 = some of its blocks may be guarded */
};

/* a slot: entry, stub at +64, moved instructions at +96, pointer at +248 */
#define PMM_ENTRY_SLOT_BYTES	256
#define PMM_ENTRY_STUB_OFF	64
#define PMM_ENTRY_MOVED_OFF	96
#define PMM_ENTRY_POINTER_OFF	248

#define PMM_GUARD_RANGES	3

/* Argument of inject_start(): in memory that pmm has mapped; 0 = unknown or not there. */
struct pmm_inject_args {
	uint32_t version;		/* PMM_INJECT_VERSION */
	uint32_t dense;			/* blocks may begin closer than 32 bytes to each other */
	/*
	 * the ledger's file, mapped shared and without access; unmapped by the agent if it fails to
	 * start
	 */
	uint64_t tree_start, tree_bytes;
	/* RLIMIT_AS was raised by that for it; lowered again likewise */
	uint64_t limit_raised_bytes;
	uint64_t limit_most_raised;	/* 1 = the hard limit, too */
	uint64_t single_threaded;	/* address of glibc's __libc_single_threaded */
	uint64_t find_object;		/* address of glibc's _dl_find_object */
	uint64_t vdso_clock;		/* address of the vdso's __vdso_clock_gettime */
	uint64_t mallinfo2;		/* address of glibc's mallinfo2, where malloc is glibc's */
	uint64_t allocator_path;	/* address of a NUL-terminated path */
	uint64_t record;		/* address of struct pmm_attach_record */
	/*
	 * of a program without .eh_frame_hdr: the segment with its .eh_frame, and what pmm has made
	 * in the header's place
	 */
	uint64_t frames_start, frames_end, index, index_bytes;
	/* text of /proc/PID/maps in the ledger's file, for a process whose root has no /proc */
	uint64_t maps_off, maps_bytes;
	/* set by inject_start() */
	int32_t error;			/* 0, else enum pmm_off_reason */
	uint32_t slot;			/* claimed in the tree */
	uint64_t private_start, private_bytes;	/* the agent's own mapping */
	/* of the guard pool, 0 = none */
	struct { uint64_t start, bytes; } guards[PMM_GUARD_RANGES];
	uint64_t rest_at;		/* inject_rest(), where blocks are guarded */
};

/*
 * Symbols of libpmm_inject.so, looked up by pmm in the file:
 *     long inject_start(struct pmm_inject_args *args);
 *                                 called once, on a stack of at least 32 KiB; returns args->error
 *     long inject_rest(void *);   called before the agent is taken out, while no thread is in it:
 *                                 no more blocks are guarded, no access is stopped any more,
 *                                 signals are the program's. Number of guarded blocks that are
 *                                 still to be released: as long as there are any, the agent and the
 *                                 jumps of what releases blocks must stay
 *     long inject_leave(void *);  called when the code is the program's again and no thread is in
 *                                 the agent: unmaps what the agent has mapped itself. May be called
 *                                 again. The record is writable from then on
 *     const uint64_t inject_hooks[PMM_NR_ROLES];
 *                                 addresses of the hooks (relocated), 0 = none
 */

enum pmm_range_use {
	PMM_RANGE_NONE,
	PMM_RANGE_BLOB,			/* the agent's code and data, of a file PMM_AGENT_NAME */
	PMM_RANGE_SLOTS,		/* entries near a module, likewise */
	PMM_RANGE_PRIVATE,		/* the agent's tables; unmapped by itself */
	PMM_NR_RANGE_USES,
};

struct pmm_range {
	uint64_t start, bytes;
	uint32_t use;			/* enum pmm_range_use */
	uint32_t reserved;
};

#define PMM_MAX_RANGES	64

struct pmm_patch {
	uint64_t function;
	uint64_t address;		/* first byte overwritten */
	uint64_t entry;			/* its slot */
	uint32_t nr_bytes;		/* overwritten: 5, a jump, or 4, a displacement */
	/* bytes of whole instructions from `address` that the slot holds a copy of */
	uint32_t nr_moved;
	uint8_t original[PMM_PATCH_BYTES];
	uint8_t patched[PMM_PATCH_BYTES];
	/* offset of an instruction in `original` -> offset in the slot's copy, 0xff = none */
	uint8_t boundary[PMM_PATCH_BYTES];
	uint32_t applied;		/* 1 = may be in place, 0 = is not */
	uint32_t role;			/* enum pmm_role */
};

/*
 * What has to be undone. The agent writes to it in inject_start() and inject_leave(), pmm at other
 * times; in between it is read-only for the program. A reader outside the process trusts nothing in
 * it (src/entries/attached.c).
 */
struct pmm_attach {
	uint32_t version;		/* PMM_INJECT_VERSION */
	/* in its pid namespace; 0 = no monitor watches any more */
	uint32_t monitor_pid;
	/* its start time in clock ticks since boot, /proc/PID/stat field 22 */
	uint64_t monitor_start;
	uint64_t monitor_space;		/* that namespace: inode of /proc/PID/ns/pid */
	/*
	 * The pmm that works on the process: a random number; 0 = none. A pmm changes it only while
	 * it has stopped all threads. A pmm that makes the process map, unmap or write with fewer
	 * threads stopped first checks that the number is still its own, and holds a thread as long
	 * as it works: then no other pmm can stop all threads.
	 */
	uint64_t owner;
	/* of the ledger's file, by which its mapping is known; a forked child does not have it */
	uint64_t tree_inode;
	uint64_t ledger_at;		/* address of struct pmm_ledger in it */
	uint64_t limit_raised_bytes;	/* to be taken off RLIMIT_AS again ... */
	uint64_t limit_raised_to;	/* ... if it is still this */
	uint64_t limit_most_to;		/* the same of the hard limit; 0 = it was not raised */
	/* address of a uint32_t: calls that pass through frames of the agent unrecorded */
	uint64_t passing_at;
	uint64_t rest_at;		/* inject_rest(), where blocks are guarded */
	uint64_t leave_at;		/* inject_leave(), 0 = the agent has not started */
	uint64_t call_at;		/* code that calls a function (arch_call_code) */
	uint64_t stack_end;		/* of a stack for both */
	/*
	 * several agents in one process form a chain, each jumps to the one below: the highest is
	 * taken out first
	 */
	uint64_t generation;
	uint32_t nr_ranges, nr_patches;
	struct pmm_range range[PMM_MAX_RANGES];
	struct pmm_patch patch[PMM_MAX_PATCHES];
};

/*
 * The record as private memory of the process holds it. pmm may be killed in the middle of writing
 * its many pages. So pmm writes the copy that is not current, then the one word that makes it
 * current. The agent writes to the current copy.
 */
struct pmm_attach_record {
	uint64_t magic;			/* PMM_ATTACH_MAGIC, written last */
	uint64_t current;		/* pmm_attach_current() */
	struct pmm_attach copy[2];
};

/* The word after `nr` writes, which makes copy[nr % 2] the current one. */
static inline uint64_t pmm_attach_current(uint32_t nr)
{
	return nr | (uint64_t)~nr << 32;
}

_Static_assert(sizeof(struct pmm_entry) == 64, "layout");

/* mapped for it */
#define PMM_RECORD_BYTES	((sizeof(struct pmm_attach_record) + 4095) & ~4095ull)

#endif
