/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines about system calls that change mappings and shared memory, their arguments decoded. */
#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "src/base/fmt.h"
#include "src/view/trace/trace_line.h"

struct named_value {
	const char *name;
	uint64_t value;
};

#define NAMED(prefix, name)	{ #name, prefix##name }
#define NR(array)		(sizeof(array) / sizeof((array)[0]))

/* linux/mman.h, asm-generic/mman-common.h: advice that this C library may not know has numbers. */
static const struct named_value advices[] = {
	NAMED(MADV_, NORMAL), NAMED(MADV_, RANDOM), NAMED(MADV_, SEQUENTIAL),
	NAMED(MADV_, WILLNEED), NAMED(MADV_, DONTNEED), NAMED(MADV_, FREE), NAMED(MADV_, REMOVE),
	NAMED(MADV_, DONTFORK), NAMED(MADV_, DOFORK), NAMED(MADV_, MERGEABLE),
	NAMED(MADV_, UNMERGEABLE), NAMED(MADV_, HUGEPAGE), NAMED(MADV_, NOHUGEPAGE),
	NAMED(MADV_, DONTDUMP), NAMED(MADV_, DODUMP), NAMED(MADV_, WIPEONFORK),
	NAMED(MADV_, KEEPONFORK), NAMED(MADV_, COLD), NAMED(MADV_, PAGEOUT),
	{ "POPULATE_READ", 22 }, { "POPULATE_WRITE", 23 }, { "DONTNEED_LOCKED", 24 },
	{ "COLLAPSE", 25 }, NAMED(MADV_, HWPOISON), { "GUARD_INSTALL", 102 },
	{ "GUARD_REMOVE", 103 },
};

/* Flags of mmap() beside shared, private and anonymous, which are words of their own. */
static const struct named_value map_flags[] = {
	NAMED(MAP_, FIXED), { "FIXED_NOREPLACE", 0x100000 }, NAMED(MAP_, GROWSDOWN),
	NAMED(MAP_, LOCKED), NAMED(MAP_, NORESERVE), NAMED(MAP_, POPULATE),
	NAMED(MAP_, NONBLOCK), NAMED(MAP_, STACK), NAMED(MAP_, HUGETLB), { "SYNC", 0x80000 },
};

static const struct named_value shm_commands[] = {
	NAMED(IPC_, RMID), NAMED(IPC_, SET), NAMED(IPC_, STAT), NAMED(IPC_, INFO),
	NAMED(SHM_, LOCK), NAMED(SHM_, UNLOCK), NAMED(SHM_, STAT), NAMED(SHM_, INFO),
};

/* The name of a value, NULL: it has none. */
static const char *name_of(const struct named_value *v, size_t nr, uint64_t value)
{
	for (size_t i = 0; i < nr; i++)
		if (v[i].value == value)
			return v[i].name;
	return NULL;
}

/* Both forms of a value that may have a name. */
static void add_named(struct str *text, struct event *e, const char *key,
		      const struct named_value *v, size_t nr, uint64_t value)
{
	const char *name = name_of(v, nr, value);
	struct str number = STR_INIT;

	str_addf(&number, "%llu", (unsigned long long)value);
	event_text(e, key, name ? name : str_text(&number));
	str_add(text, name ? name : str_text(&number));
	str_fini(&number);
}

/* "none", "r", "rw", "rwx". */
static void add_prot(struct str *text, struct event *e, uint64_t prot)
{
	struct str s = STR_INIT;

	if (!(prot & (PROT_READ | PROT_WRITE | PROT_EXEC)))
		str_add(&s, "none");
	if (prot & PROT_READ)
		str_addc(&s, 'r');
	if (prot & PROT_WRITE)
		str_addc(&s, 'w');
	if (prot & PROT_EXEC)
		str_addc(&s, 'x');
	event_text(e, "protection", str_text(&s));
	str_add(text, str_text(&s));
	str_fini(&s);
}

static void add_result(struct str *text, struct event *e, const struct trace_record *r)
{
	if (trace_failed(r)) {
		event_text(e, "error", trace_errno(r->a[5]));
		str_addf(text, " failed: %s", trace_errno(r->a[5]));
	}
}

static void add_address(struct str *text, struct event *e, const struct trace_record *r)
{
	add_result(text, e, r);
	if (trace_failed(r))
		return;
	event_u64(e, "result", UNIT_ADDRESS, r->a[5]);
	str_addf(text, " = 0x%llx", (unsigned long long)r->a[5]);
}

static void add_number(struct str *text, struct event *e, const struct trace_record *r,
		       const char *key)
{
	add_result(text, e, r);
	if (trace_failed(r))
		return;
	event_u64(e, key, UNIT_NUMBER, r->a[5]);
	str_addf(text, " = %llu", (unsigned long long)r->a[5]);
}

static void add_range(struct str *text, struct event *e, const struct trace_record *r)
{
	event_u64(e, "address", UNIT_ADDRESS, r->a[0]);
	event_u64(e, "size_bytes", UNIT_BYTES, r->a[1]);
	str_addf(text, "%s at 0x%llx", fmt_bytes(r->a[1]).s, (unsigned long long)r->a[0]);
}

/* What glibc reserves for an arena of malloc, twice as much as one heap of it (malloc/arena.c). */
#define ARENA_BYTES	(128ull << 20)
#define ARENA_FLAGS	(MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

static bool is_arena(const struct trace_record *r)
{
	return r->a[1] == ARENA_BYTES && !r->a[2] && (r->a[3] & 0xffffffff) == ARENA_FLAGS;
}

/* The file by its path, where that is known. */
static void add_file(struct str *text, struct event *e, const struct trace_record *r,
		     const char *path)
{
	if ((uint32_t)r->a[4] != TRACE_NO_DESCRIPTOR)
		event_u64(e, "descriptor", UNIT_NUMBER, (uint32_t)r->a[4]);
	event_u64(e, "offset_bytes", UNIT_BYTES, r->a[6]);
	if (r->a[7]) {
		event_u64(e, "inode", UNIT_NUMBER, r->a[7]);
		if (*path)
			event_text(e, "file", path);
	}
	if (*path)
		str_addf(text, " of %s", path);
	else
		str_addf(text, " of descriptor %d", (int)r->a[4]);
	if (r->a[6])
		str_addf(text, " from %s", fmt_bytes(r->a[6]).s);
}

static void describe_mmap(struct str *text, struct event *e, const struct trace_record *r,
			  const char *path)
{
	uint64_t flags = r->a[3];
	struct str names = STR_INIT;

	event_u64(e, "size_bytes", UNIT_BYTES, r->a[1]);
	str_addf(text, "%s ", fmt_bytes(r->a[1]).s);
	add_prot(text, e, r->a[2]);
	str_addf(&names, "%s%s", (flags & MAP_TYPE) == MAP_PRIVATE ? "private" : "shared",
		 flags & MAP_ANONYMOUS ? " anonymous" : "");
	for (size_t i = 0; i < NR(map_flags); i++)
		if (flags & map_flags[i].value)
			str_addf(&names, " %s", map_flags[i].name);
	event_text(e, "flags", str_text(&names));
	str_addf(text, " %s", str_text(&names));
	str_fini(&names);
	if (!(flags & MAP_ANONYMOUS))
		add_file(text, e, r, path);
	add_address(text, e, r);
	if (is_arena(r) && !trace_failed(r)) {
		event_u64(e, "malloc_arena", UNIT_BOOL, true);
		str_add(text, ", for an arena of malloc");
	}
}

static void describe_mremap(struct str *text, struct event *e, const struct trace_record *r)
{
	event_u64(e, "address", UNIT_ADDRESS, r->a[0]);
	event_u64(e, "old_bytes", UNIT_BYTES, r->a[1]);
	event_u64(e, "size_bytes", UNIT_BYTES, r->a[2]);
	str_addf(text, "%s at 0x%llx to %s", fmt_bytes(r->a[1]).s, (unsigned long long)r->a[0],
		 fmt_bytes(r->a[2]).s);
	add_address(text, e, r);
}

static void describe_brk(struct str *text, struct event *e, const struct trace_record *r)
{
	int64_t grown = (int64_t)r->a[3];
	uint64_t heap = r->a[5] - r->a[1];

	event_u64(e, "result", UNIT_ADDRESS, r->a[5]);
	if (r->a[2])			/* the break before is known */
		event_u64(e, "grown_bytes", UNIT_SIGNED, r->a[3]);
	event_u64(e, "heap_bytes", UNIT_BYTES, heap);
	event_u64(e, "refused", UNIT_BOOL, r->a[0] > r->a[5]);
	if (r->a[0] > r->a[5])
		str_addf(text, "refused 0x%llx, ", (unsigned long long)r->a[0]);
	if (grown)
		str_addf(text, "%c%s, ", grown < 0 ? '-' : '+',
			 fmt_bytes(grown < 0 ? -r->a[3] : r->a[3]).s);
	str_addf(text, "heap %s, break 0x%llx", fmt_bytes(heap).s, (unsigned long long)r->a[5]);
}

static void describe_shmget(struct str *text, struct event *e, const struct trace_record *r)
{
	event_u64(e, "key", UNIT_ADDRESS, (uint32_t)r->a[0]);
	event_u64(e, "size_bytes", UNIT_BYTES, r->a[1]);
	event_u64(e, "mode", UNIT_NUMBER, r->a[2] & 0777);
	event_u64(e, "creates", UNIT_BOOL, !!(r->a[2] & IPC_CREAT));
	if ((uint32_t)r->a[0] == IPC_PRIVATE)
		str_add(text, "private");
	else
		str_addf(text, "key 0x%x", (uint32_t)r->a[0]);
	str_addf(text, ", %s, mode %03o%s%s", fmt_bytes(r->a[1]).s, (unsigned)r->a[2] & 0777,
		 r->a[2] & IPC_CREAT ? " CREAT" : "", r->a[2] & IPC_EXCL ? " EXCL" : "");
	add_number(text, e, r, "id");
}

static void describe_shmat(struct str *text, struct event *e, const struct trace_record *r)
{
	event_u64(e, "id", UNIT_NUMBER, r->a[0]);
	event_u64(e, "read_only", UNIT_BOOL, !!(r->a[2] & SHM_RDONLY));
	str_addf(text, "segment %llu%s", (unsigned long long)r->a[0],
		 r->a[2] & SHM_RDONLY ? " read-only" : "");
	add_address(text, e, r);
}

static void describe_shmdt(struct str *text, struct event *e, const struct trace_record *r)
{
	event_u64(e, "address", UNIT_ADDRESS, r->a[0]);
	str_addf(text, "0x%llx", (unsigned long long)r->a[0]);
	add_result(text, e, r);
}

static void describe_shmctl(struct str *text, struct event *e, const struct trace_record *r)
{
	event_u64(e, "id", UNIT_NUMBER, r->a[0]);
	str_addf(text, "segment %llu ", (unsigned long long)r->a[0]);
	add_named(text, e, "operation", shm_commands, NR(shm_commands), r->a[1]);
	add_result(text, e, r);
}

/* shm_open(), shm_unlink() and memfd_create(). */
static void describe_name(struct str *text, struct event *e, const struct trace_record *r,
			  const char *name)
{
	event_text(e, "name", name);
	str_addf(text, "'%s'", name);
	if (r->kind == TRACE_SHM_OPEN)
		event_u64(e, "creates", UNIT_BOOL, !!(r->a[1] & O_CREAT));
	if (r->kind == TRACE_SHM_OPEN && r->a[1] & O_CREAT)
		str_addf(text, " CREAT%s mode %03o", r->a[1] & O_EXCL ? " EXCL" : "",
			 (unsigned)r->a[2] & 0777);
	if (r->kind == TRACE_SHM_UNLINK)
		add_result(text, e, r);
	else
		add_number(text, e, r, "descriptor");
}

void trace_describe_call(struct str *text, struct event *e, const struct trace_record *r,
			 const char *tail)
{
	switch (r->kind) {
	case TRACE_MMAP:
		describe_mmap(text, e, r, tail);
		break;
	case TRACE_MREMAP:
		describe_mremap(text, e, r);
		break;
	case TRACE_MUNMAP:
	case TRACE_MPROTECT:
	case TRACE_MADVISE:
		add_range(text, e, r);
		if (r->kind != TRACE_MUNMAP)
			str_addc(text, ' ');
		if (r->kind == TRACE_MPROTECT)
			add_prot(text, e, r->a[2]);
		if (r->kind == TRACE_MADVISE)
			add_named(text, e, "advice", advices, NR(advices), r->a[2]);
		add_result(text, e, r);
		break;
	case TRACE_BRK:
		describe_brk(text, e, r);
		break;
	case TRACE_SHMGET:
		describe_shmget(text, e, r);
		break;
	case TRACE_SHMAT:
		describe_shmat(text, e, r);
		break;
	case TRACE_SHMDT:
		describe_shmdt(text, e, r);
		break;
	case TRACE_SHMCTL:
		describe_shmctl(text, e, r);
		break;
	default:
		describe_name(text, e, r, tail);
		break;
	}
}
