/*
 * What an address is that is in no block: for findings, so it may take its time.
 */
#include "agent/check/ways.h"

#include "agent/arena.h"
#include "agent/check/chunk.h"
#include "agent/module.h"

#define LINE_BYTES	128		/* of a line of /proc/self/maps as much as is needed: up to the path's start */
#define CHUNK_BYTES	512

/* The mapping that holds an address. */
struct mapping {
	uint64_t start, end;
	bool stack, heap;
};

static void line_parse(const char *s, struct mapping *m)
{
	s = str_number(s, 16, &m->start);
	s = str_number(s + 1, 16, &m->end);
	if (*s != ' ')
		m->end = 0;
	for (unsigned field = 0; field < 4 && *s; field++) {	/* access, offset, device, inode */
		s += *s == ' ';
		while (*s && *s != ' ')
			s++;
	}
	while (*s == ' ')
		s++;
	m->stack = str_starts(s, "[stack");
	m->heap = str_starts(s, "[heap]");
}

/* Read lines until one holds the address. False: there is none, or they cannot be read (*readable is false then). */
static bool lines_search(int fd, uint64_t address, struct mapping *m, bool *readable)
{
	char chunk[CHUNK_BYTES], line[LINE_BYTES];
	size_t nr = 0;
	long n;

	while ((n = sys3(read, fd, chunk, sizeof(chunk))) > 0) {
		*readable = true;
		for (long i = 0; i < n; i++) {
			if (chunk[i] != '\n') {
				line[nr] = chunk[i];
				nr += nr < sizeof(line) - 1;
				continue;
			}
			line[nr] = '\0';
			nr = 0;
			line_parse(line, m);
			if (address >= m->start && address < m->end)
				return true;
		}
	}
	*readable = *readable && !n;
	return false;
}

static bool mapping_find(uint64_t address, struct mapping *m, bool *readable)
{
	int fd = LOAD(A.confined) ? -1 : sys_open("/proc/thread-self/maps", SYS_O_RDONLY);
	bool found;

	*readable = false;
	if (fd < 0)
		return false;
	found = lines_search(fd, address, m, readable);
	sys1(close, fd);
	return found;
}

/* A thread's control block lies at the upper end of its stack, in the same mapping (glibc, musl); the first thread's is elsewhere. */
static bool is_threads_stack(const struct mapping *m, uint64_t address)
{
	uint32_t nr = LOAD(A.ledger->nr_ctx);

	for (uint32_t i = 0; i < nr && i < PMM_MAX_CTX; i++) {
		pmm_ref ref = LOAD_ACQUIRE(A.ledger->ctx[i]);
		const struct tctx *c = ref ? arena_at(ref) : NULL;

		if (c && LOAD(c->tp) > address && LOAD(c->tp) < m->end && LOAD(c->tid) != A.ledger->pid)
			return true;
	}
	return false;
}

enum pmm_finding_place place_of(uint64_t address, uint64_t sp)
{
	struct agent_module module;
	struct mapping m;
	bool readable;

	if (!mapping_find(address, &m, &readable))
		return readable ? PMM_PLACE_UNMAPPED : PMM_PLACE_UNKNOWN;
	if (m.stack || is_threads_stack(&m, address))
		return PMM_PLACE_STACK;
	if (module_find(address, &module))
		return PMM_PLACE_STATIC;
	if (m.heap)
		return PMM_PLACE_UNKNOWN;
	return sp >= m.start && sp <= address ? PMM_PLACE_STACK : PMM_PLACE_UNKNOWN;
}

bool place_is_chunk(uint64_t address)
{
	uint64_t before, size, next;

	if (address & 15 || LOAD(A.confined) || !sys_readable(address - 16))
		return LOAD(A.confined);
	before = *(const uint64_t *)(address - CHUNK_HEAD_BYTES);
	size = *(const uint64_t *)(address - 8);
	if (size & CHUNK_MAPPED)
		return chunk_mapped(address, before, size, ARCH_PAGE);
	next = address - CHUNK_HEAD_BYTES + chunk_bytes(size);
	return chunk_sized(size, 1ull << 40) && sys_readable(next + 8) && *(const uint64_t *)(next + 8) & CHUNK_BEFORE_USED;
}
