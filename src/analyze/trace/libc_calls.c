/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Heaps of each process by their addresses; threads that have made an arena. */
#include "src/analyze/trace/libc_calls.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "src/kernel/event_class.h"

#define HEAP_BYTES	(64ull << 20)	/* HEAP_MAX_SIZE of 64-bit machines */
#define HEAP_FLAGS	(MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

enum libc_caller libc_caller_of(const char *function)
{
	static const char *const allocate[] = {
		"malloc", "calloc", "realloc", "reallocarray", "memalign", "aligned_alloc",
		"posix_memalign", "valloc", "pvalloc",
	};

	for (size_t i = 0; i < sizeof(allocate) / sizeof(*allocate); i++) {
		if (!strcmp(function, allocate[i]) ||
		    (!strncmp(function, "__libc_", 7) && !strcmp(function + 7, allocate[i])))
			return LIBC_ALLOCATES;
	}
	return !strcmp(function, "free") || !strcmp(function, "cfree") ||
	       !strcmp(function, "__libc_free") || !strcmp(function, "malloc_trim")
		       ? LIBC_FREES : LIBC_OTHER;
}

bool libc_calls_wants(uint32_t kind)
{
	return kind == TRACE_BRK || kind == TRACE_MMAP || kind == TRACE_MUNMAP ||
	       kind == TRACE_MPROTECT || kind == TRACE_MADVISE;
}

/* ---- heaps ---- */

static struct libc_heap *heap_at(struct libc_calls *c, pid_t tgid, uint64_t address)
{
	vec_each(&c->heaps, h)
		if (h->reserved && h->tgid == tgid && address - h->start < HEAP_BYTES)
			return h;
	return NULL;
}

static int heap_add(struct libc_calls *c, pid_t tgid, uint64_t reserved)
{
	struct libc_heap new = { .tgid = tgid, .reserved = reserved,
				 .start = (reserved + HEAP_BYTES - 1) & ~(HEAP_BYTES - 1) };

	vec_each(&c->heaps, h)
		if (!h->reserved) {
			*h = new;
			return 0;
		}
	return vec_push(&c->heaps, new);
}

static void forget_process(struct libc_calls *c, pid_t tgid)
{
	vec_each(&c->heaps, h)
		if (h->tgid == tgid)
			h->reserved = 0;
}

/* Has this thread made an arena already? It has now. */
static int thread_has_arena(struct libc_calls *c, const struct trace_record *r)
{
	uint32_t *known = hash_find(&c->threads, r->tid);

	if (known && *known == r->tgid)
		return 1;
	return hash_put(&c->threads, r->tid, r->tgid);
}

/* ---- records ---- */

static unsigned emit(struct trace_record *out, const struct trace_record *r, uint32_t kind,
		     uint64_t address, uint64_t bytes)
{
	*out = *r;
	out->kind = kind;
	out->a[0] = address;
	out->a[1] = bytes;
	for (int i = 2; i < TRACE_NR_ARGS; i++)
		out->a[i] = 0;
	return 1;
}

static int take_brk(const struct trace_record *r, struct trace_record *out)
{
	int64_t grown = (int64_t)r->a[3];

	if (!r->a[0] || !grown)		/* a question, or not known */
		return 0;
	return grown > 0 ? emit(out, r, TRACE_LIBC_SBRK_MORE, r->a[2], grown)
			 : emit(out, r, TRACE_LIBC_SBRK_LESS, r->a[5], -(uint64_t)grown);
}

static bool is_reservation(const struct trace_record *r)
{
	return !r->a[2] && (r->a[3] & 0xffffffff) == HEAP_FLAGS &&
	       (r->a[1] == 2 * HEAP_BYTES || (r->a[1] == HEAP_BYTES && !(r->a[5] % HEAP_BYTES)));
}

static int take_mmap(struct libc_calls *c, const struct trace_record *r, struct trace_record *out)
{
	if (is_reservation(r))
		return heap_add(c, r->tgid, r->a[5]);
	if (!(r->a[2] & PROT_WRITE) || !(r->a[3] & MAP_ANONYMOUS))
		return 0;
	return emit(out, r, TRACE_LIBC_MMAP, r->a[5], r->a[1]);
}

/* The first part that is opened makes a heap of a reservation. */
static int take_mprotect(struct libc_calls *c, const struct trace_record *r,
			 struct trace_record out[2])
{
	struct libc_heap *h = heap_at(c, r->tgid, r->a[0]);
	unsigned nr;
	int rc;

	if (!h || !(r->a[2] & PROT_WRITE))
		return 0;
	if (h->open)
		return emit(out, r, TRACE_LIBC_HEAP_MORE, r->a[0], r->a[1]);
	h->open = true;
	nr = emit(&out[0], r, TRACE_LIBC_HEAP_NEW, h->start, r->a[1]);
	rc = thread_has_arena(c, r);
	if (rc < 0)
		return rc;
	if (!rc)
		nr += emit(&out[1], r, TRACE_LIBC_ARENA_NEW, h->start, r->a[1]);
	return (int)nr;
}

static int take_munmap(struct libc_calls *c, const struct trace_record *r,
		       struct trace_record *out)
{
	struct libc_heap *h = heap_at(c, r->tgid, r->a[0]);

	if (h && r->a[0] == h->start && r->a[1] >= HEAP_BYTES) {
		h->reserved = 0;
		return emit(out, r, TRACE_LIBC_HEAP_FREE, r->a[0], r->a[1]);
	}
	vec_each(&c->heaps, other)	/* what was not aligned of a reservation */
		if (other->reserved && other->tgid == (pid_t)r->tgid &&
		    r->a[0] - other->reserved < 2 * HEAP_BYTES)
			return 0;
	return emit(out, r, TRACE_LIBC_MUNMAP, r->a[0], r->a[1]);
}

static int take_madvise(struct libc_calls *c, const struct trace_record *r,
			enum libc_caller caller, struct trace_record *out)
{
	if (r->a[2] != MADV_DONTNEED)
		return 0;
	return emit(out, r,
		    heap_at(c, r->tgid, r->a[0]) && caller == LIBC_FREES ? TRACE_LIBC_HEAP_LESS
									  : TRACE_LIBC_TRIM,
		    r->a[0], r->a[1]);
}

int libc_calls_take(struct libc_calls *c, const struct trace_record *r, enum libc_caller caller,
		    struct trace_record out[2])
{
	if (r->kind == TRACE_EXEC || (r->kind == TRACE_EXIT && r->a[2]))
		forget_process(c, r->tgid);
	if (!libc_calls_wants(r->kind) || (r->kind != TRACE_BRK && trace_failed(r)))
		return 0;
	if (caller == LIBC_OTHER || caller == LIBC_UNKNOWN) {
		c->others += caller == LIBC_OTHER;
		c->unknown += caller == LIBC_UNKNOWN;
		return 0;
	}
	switch (r->kind) {
	case TRACE_BRK:
		return take_brk(r, out);
	case TRACE_MMAP:
		return take_mmap(c, r, out);
	case TRACE_MPROTECT:
		return take_mprotect(c, r, out);
	case TRACE_MUNMAP:
		return take_munmap(c, r, out);
	default:
		return take_madvise(c, r, caller, out);
	}
}

void libc_calls_fini(struct libc_calls *c)
{
	vec_fini(&c->heaps);
	hash_fini(&c->threads);
}
