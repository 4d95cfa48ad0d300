/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzer of the ledger reader: a sound ledger is written over in places that the input chooses.
 *
 * Input: flags (1 byte: bit 0 = as running, bit 1 = blocks from frozen tables), then writes of 11
 * bytes each: what (1), where (2), value (8). `what` 0-8 aims at a structure of the ledger, others
 * at any place of header and arena. Whatever comes out must pass heap_check().
 */
#include <stdio.h>
#include <stdlib.h>

#include "src/ledger/ledger_heap.h"
#include "tests/unit/ledger_image.h"

#define ARENA_BYTES	(256u << 10)
#define WRITE_BYTES	11
#define MAX_WRITES	512

static struct image im;
static unsigned char *sound;		/* the image before it is written over */
static size_t sound_bytes;
static pmm_ref ctx[2], record;

static void add_stacks(void)
{
	image_module(&im, 1, "/lib/a.so")->end = 1 << 20;
	for (uint32_t i = 1; i < 20; i++)
		image_node(&im, i, i / 2, i & 1, 0x1000 * i);
	for (uint32_t i = 1; i < 8; i++) {
		image_site(&im, i, i + 10, i == 5 ? PMM_SITE_MAPPING : 0);
		for (unsigned k = 0; k < 2; k++)
			image_record(&im, ctx[k], i)->bytes_in = 100 * i;
	}
	record = ((struct pmm_ctx *)image_at(&im, ctx[0]))->records;
}

static void add_findings(void)
{
	for (uint32_t i = 0; i < 4; i++)
		*image_finding(&im, i) = (struct pmm_finding){
			.type = PMM_FINDING_OVERRUN + i,
			.by = PMM_BY_ACCESS,
			.count = 1,
			.first_tick = i,
			.last_tick = 9,
			.site = 1,
			.thread = 1,
			.block = 0x7f0000300ff0,
			.block_bytes = 16,
			.kind = PMM_KIND_NEW,
			.alloc_site = 2,
			.free_site = 6,
			.function = "memcpy",
		};
	for (uint32_t i = 0; i < 4; i++)
		image_guard(&im, i, 0x7f0000300ff0 + 0x2000 * i, 16, i + 1, i & 1, i);
}

static void add_srclocs(void)
{
	for (uint32_t i = 1; i < 4; i++) {
		image_srcloc(&im, i, "dir/a.c", "f", i);
		image_node(&im, 20 + i, i, PMM_SRCLOC_MODULE, i);
		image_site(&im, 8 + i, 20 + i, PMM_SITE_SRCLOC);
		image_record(&im, ctx[0], 8 + i)->bytes_in = 100 * i;
	}
	im.l->compiled_in = 1;
}

static void make_sound(void)
{
	im = image_new_sized(ARENA_BYTES);
	ctx[0] = image_ctx(&im);
	ctx[1] = image_ctx(&im);
	add_stacks();
	image_thread(&im, 0, 100, "main");
	image_thread(&im, 1, 101, "worker")->current = 1;
	for (unsigned i = 0; i < 20; i++)
		image_block(&im, PMM_TABLE_HEAP, 0x40000 + 48 * i, i, i % 5, PMM_KIND_MALLOC, i & 1,
			    i);
	image_block(&im, PMM_TABLE_HEAP, 0x7f0000000010, 99, 1, PMM_KIND_NEW, 0, 1);
	image_block(&im, PMM_TABLE_DENSE, 0x40038, 8, 2, PMM_KIND_CALLOC, 0, 1);
	image_block(&im, PMM_TABLE_MAP, 0x7f0000000000, 4096, 5, PMM_KIND_MMAP, 0, 1);
	add_findings();
	add_srclocs();
	im.l->cmdline = image_string(&im, "a\0b", 4);
	im.l->cmdline_len = 4;
	sound_bytes = im.bytes;
	sound = malloc(sound_bytes);
	memcpy(sound, im.file, sound_bytes);
}

/* Where a write goes: a byte offset in the file. */
static size_t place_of(unsigned what, unsigned where)
{
	const uint64_t slot = im.slot_off;
	uint64_t at;

	switch (what) {
	case 0:
		at = slot + (where & 1
				     ? offsetof(struct pmm_ledger, check) +
					       where / 2 * 4 % (sizeof(struct pmm_check_state) + 64)
				     : where / 2 * 8 % offsetof(struct pmm_ledger, node_dir));
		break;
	case 1:
		at = slot + ((uint64_t)ctx[where & 1] << PMM_REF_SHIFT) + (where >> 1) % 32 * 8;
		break;
	case 2:
		at = slot + ((uint64_t)record << PMM_REF_SHIFT) +
		     where % (sizeof(struct pmm_record) / 4) * 4;
		break;
	case 3:
		at = slot + ((uint64_t)im.l->table[where % PMM_NR_TABLES].mids << PMM_REF_SHIFT) +
		     where / 4 % 32 * 4;
		break;
	case 4:
		at = where * 8 % sizeof(struct pmm_tree);
		break;
	case 5:
		at = slot + offsetof(struct pmm_ledger, node_dir) + where * 4;
		break;
	case 6:
		at = slot + ((uint64_t)im.l->finding_dir[0] << PMM_REF_SHIFT) +
		     where % (sizeof(struct pmm_finding) / 4 * 4) * 4;
		break;
	case 7:
		at = slot + ((uint64_t)im.l->guard_dir[0] << PMM_REF_SHIFT) +
		     where % (sizeof(struct pmm_guard) / 4 * 4) * 4;
		break;
	case 8:
		at = where & 1 ? slot + offsetof(struct pmm_ledger, nr_srclocs) + where / 2 % 4 * 4
			       : slot + ((uint64_t)im.l->srcloc_dir[0] << PMM_REF_SHIFT) +
					 where / 2 % (sizeof(struct pmm_srcloc)) * 4;
		break;
	default:
		at = slot + IMAGE_ARENA_OFF + where * 8 % ARENA_BYTES;
	}
	return at <= sound_bytes - 8 ? at : 0;
}

static void use(struct ledger_map *m, unsigned flags)
{
	struct ledger_frozen frozen = { .arena = (unsigned char *)im.l + IMAGE_ARENA_OFF,
					.arena_off = IMAGE_ARENA_OFF,
					.bytes = ARENA_BYTES };
	struct ledger_options o = { .running = flags & 1, .frozen = flags & 2 ? &frozen : NULL };
	struct ledger_top_site top[4];
	struct ledger_top *t = ledger_top_new(m);
	struct ledger_totals totals;
	struct heap *h = NULL;
	char why[256];

	memcpy(frozen.table, im.l->table, sizeof(frozen.table));
	ledger_totals(m, &totals);
	if (t)
		ledger_top_sites(t, top, 4);
	ledger_top_free(t);
	if (ledger_read(m, &o, &h, NULL))
		return;
	if (heap_check(h, why, sizeof(why))) {
		fprintf(stderr, "%s\n", why);
		abort();
	}
	heap_free(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Write over the ledger as the input says, or put back what was there before: the whole image would
 * take longer than reading it.
 */
static void write_over(const uint8_t *data, size_t size, size_t *places)
{
	for (size_t i = 1, n = 0; i + WRITE_BYTES <= size && n < MAX_WRITES;
	     i += WRITE_BYTES, n++) {
		places[n] = place_of(data[i] % 10, data[i + 1] | data[i + 2] << 8);
		memcpy(im.file + places[n], data + i + 3, 8);
	}
}

static void put_back(size_t size, const size_t *places)
{
	for (size_t i = 1, n = 0; i + WRITE_BYTES <= size && n < MAX_WRITES; i += WRITE_BYTES, n++)
		memcpy(im.file + places[n], sound + places[n], 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ledger_map *m = NULL;
	size_t places[MAX_WRITES];

	if (!sound)
		make_sound();
	write_over(data, size, places);
	if (!ledger_map_open_fd(im.fd, IMAGE_SLOT, &m, NULL)) {
		use(m, size ? data[0] : 0);
		ledger_map_close(m);
	}
	put_back(size, places);
	return 0;
}
