/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process's memory that says anything at all: thread records, lists of stacks, arenas, chunks,
 * ELF headers. What is found must be in order, within the mappings and outside of live blocks.
 *
 * The input is a list of 8-byte words. The first two say how blocks and threads lie. Each other one
 * sets a word of the memory: which one is in its high bits, and in the low bits how its value is
 * made (an address in the memory, a size, itself).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "include/pmm/ledger.h"
#include "src/roots/glibc/glibc_arenas.h"

#define BASE	0x10000000ull
#define BYTES	0x40000ull
#define RECORD	(BASE + 0x27000)
#define BINS	0x30100u
#define NR_BLOCKS 100

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t memory[BYTES / 8];

static size_t read_memory(void *arg, uint64_t address, void *to, size_t bytes)
{
	(void)arg;
	if (address < BASE || address >= BASE + BYTES)
		return 0;
	if (bytes > BASE + BYTES - address)
		bytes = BASE + BYTES - address;
	memcpy(to, (const char *)memory + (address - BASE), bytes);
	return bytes;
}

static void set(uint64_t offset, uint64_t value)
{
	memory[offset / 8] = value;
}

/* Chunks kept as if used: two in a thread's cache, one in a fast bin. */
static void begin_cached(void)
{
	set(0x27000 - 0x80, BASE + 0x12000);
	set(0x11ff8, 0x291);
	set(0x12000, 2ull << 32);		/* two of the third size */
	set(0x12090, BASE + 0x8010);
	set(0x8010, (BASE + 0x8050) ^ (BASE + 0x8010) >> 12);
	set(0x8050, (BASE + 0x8050) >> 12);
	set(BINS - 112 + 16 + 2 * 8, BASE + 0x9000);
	set(0x9010, (BASE + 0x9010) >> 12);
}

/* A thread with its stack, a C library with an arena, chunks: what the input then spoils. */
static void begin(void)
{
	static const unsigned char elf[] = { 0x7f, 'E', 'L', 'F', 2, 1, 1 };

	memset(memory, 0, sizeof(memory));
	set(0x27000, RECORD);
	set(0x27010, RECORD);
	set(0x27200, BASE + 0x20000);
	set(0x27208, 0x8000);
	set(0x27210, 0x1000);
	memcpy((char *)memory + 0x30000, elf, sizeof(elf));
	set(0x30010, 3);			/* ET_DYN */
	set(0x30020, 64);			/* e_phoff */
	set(0x30030, 56ull << 48);		/* e_phentsize */
	set(0x30038, 2);			/* e_phnum */
	set(0x30040, 1);			/* PT_LOAD ... */
	set(0x30068, 0x8000);			/* ... p_memsz */
	set(0x30078, 0x6474e552);		/* PT_GNU_RELRO */
	for (unsigned i = 0; i < 254; i++)
		set(BINS + i * 8, BASE + BINS + i / 2 * 16 - 16);
	set(BINS - 16, BASE + 0xf000);		/* top */
	set(BINS + 256 * 8, BASE + BINS - 112);	/* next */
	for (uint64_t at = 0; at < 0xf000; at += 0x40)
		set(at + 8, 0x41);
	set(0xf008, 0x1001);
	begin_cached();
}

static void spoil(uint64_t word)
{
	uint64_t at = (word >> 48) % (BYTES / 8), value = word & 0xffffffffffff;

	switch (word & 7) {
	case 1: value = BASE + (value >> 3) % BYTES; break;
	case 2: value = (value >> 3) & 0xfff1; break;
	case 3: value = BASE + at * 8 - 16; break;
	case 4: value = ~value; break;
	default: break;
	}
	memory[at] = value;
}

static uint64_t make_blocks(struct heap_block *b, uint64_t how)
{
	uint64_t at = BASE + 16, nr = 0;

	while (nr < NR_BLOCKS && at < BASE + 0x1f000) {
		how = how * 6364136223846793005u + 1442695040888963407u;
		b[nr] = (struct heap_block){ .address = at,
					     .size_bytes = how >> 33 & 0x7f,
					     .kind = PMM_KIND_MALLOC };
		if (!(how >> 40 & 7))
			b[nr].kind = PMM_KIND_OTHER;
		at += 0x40 << (how >> 50 & 3);
		if (how >> 52 & 1 && b[nr].size_bytes < 0x38)
			at = b[nr].address + 16 + (b[nr].size_bytes & ~15ull);
		nr++;
	}
	return nr;
}

static void check(const struct memory *m, const struct heap *h)
{
	for (size_t i = 0; i < m->roots.nr; i++) {
		const struct memory_range *r = &m->roots.v[i];
		uint64_t b = roots_block_from(h, r->start);

		while (b < h->nr_blocks && !h->blocks[b].size_bytes)
			b++;
		if (r->start >= r->end || r->start < BASE || r->end > BASE + BYTES ||
		    r->kind >= MEMORY_NR_KINDS || (i && r->start < r[-1].end) ||
		    (b < h->nr_blocks && h->blocks[b].address < r->end))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct memory_ops ops = { read_memory };
	static char none[] = "", heap_name[] = "[heap]", libc[] = "/lib/libc.so.6",
		    stack[] = "[stack]";
	struct proc_map map[] = {
		{ .start = BASE, .end = BASE + 0x10000, .perms = 3, .path = heap_name },
		{ .start = BASE + 0x10000, .end = BASE + 0x20000, .perms = 3, .path = none },
		{ .start = BASE + 0x20000, .end = BASE + 0x28000, .perms = 3, .path = none },
		{ .start = BASE + 0x28000, .end = BASE + 0x30000, .perms = 3, .path = stack },
		{ .start = BASE + 0x30000,
		  .end = BASE + 0x38000,
		  .perms = 3,
		  .path = libc,
		  .ino = 5 },
		{ .start = BASE + 0x38000,
		  .end = BASE + 0x40000,
		  .perms = 3 | PROC_MAP_SHARED,
		  .path = none,
		  .ino = 6 },
	};
	struct proc_maps maps = { map, sizeof(map) / sizeof(map[0]) };
	struct heap_block blocks[NR_BLOCKS];
	struct heap h = { .blocks = blocks, .allocator.path = libc, .exe = none };
	uint64_t word[2];
	struct process_copy_thread t[2] = { { .tid = 1, .words = word, .nr_words = 2 },
					{ .tid = 2, .words = word, .nr_words = 2 } };
	struct precopy_move move = { .tid = 1 };
	struct memory m = { .ops = &ops };
	struct roots_find f = { .memory = &m,
				.heap = &h,
				.maps = &maps,
				.threads = t,
				.nr_threads = 2,
				.moves = &move,
				.nr_moves = 1 };

	if (size < sizeof(word))
		return 0;
	memcpy(word, data, sizeof(word));
	begin();
	for (size_t i = sizeof(word); i + 8 <= size; i += 8) {
		uint64_t w;

		memcpy(&w, data + i, sizeof(w));
		spoil(w);
	}
	h.nr_blocks = make_blocks(blocks, word[0]);
	f.complete = word[0] & 1;
	f.names_break = word[0] & 2;
	t[0].regs.fs_base = RECORD;
	t[0].regs.rsp = BASE + 0x20000 + (word[1] & 0xffff);
	t[1].regs.fs_base = word[0] & 4 ? RECORD : word[1];
	t[1].regs.rsp = word[0] & 8 ? word[1] : BASE + 0x2a000;
	move = (struct precopy_move){ BASE + (word[1] >> 16 & 0xffff), word[1] >> 40, word[0] >> 40,
				      t[0].regs.rsp + (word[0] >> 4 & 0xfff), 1 };
	if (!roots_join(&f))
		check(&m, &h);
	roots_find_fini(&f);
	memory_fini(&m);
	return 0;
}
