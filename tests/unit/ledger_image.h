/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ledgers made by hand, for tests of the reader: a ledger file such as a process has.
 *
 *	struct image im = image_new();
 *	pmm_ref ctx = image_ctx(&im);
 *	image_record(&im, ctx, 1)->bytes_in = 100;
 */
#ifndef TESTS_UNIT_LEDGER_IMAGE_H
#define TESTS_UNIT_LEDGER_IMAGE_H

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "include/pmm/ledger.h"

#ifndef IMAGE_ARENA_OFF
#define IMAGE_ARENA_OFF	(128ull << 10)
#endif
#define IMAGE_SLOT	0u
#define IMAGE_SLOTS_OFF	(64ull << 10)

struct image {
	int fd;
	size_t bytes;
	uint64_t slot_off;
	unsigned char *file;
	struct pmm_tree *tree;
	struct pmm_ledger *l;
};

static inline void *image_at(const struct image *im, pmm_ref ref)
{
	return (unsigned char *)im->l + ((uint64_t)ref << PMM_REF_SHIFT);
}

/* Zeroed memory of the arena. */
static inline pmm_ref image_get(struct image *im, size_t bytes)
{
	uint64_t at = im->l->arena_used;

	im->l->arena_used += (bytes + 63) / 64 * 64;
	if (im->l->arena_used > im->l->arena_ready)
		abort();
	return (pmm_ref)(at >> PMM_REF_SHIFT);
}

static inline pmm_ref image_string(struct image *im, const void *s, size_t n)
{
	pmm_ref ref = image_get(im, n + 1);

	memcpy(image_at(im, ref), s, n);
	return ref;
}

/* Element of a chunked array, making the chunk and raising the number in use. */
static inline void *image_entry(struct image *im, pmm_ref *dir, uint32_t *nr_used, uint32_t nr,
				uint32_t shift, size_t bytes)
{
	if (!dir[nr >> shift])
		dir[nr >> shift] = image_get(im, bytes << shift);
	if (*nr_used <= nr)
		*nr_used = nr + 1;
	return (unsigned char *)image_at(im, dir[nr >> shift]) + (nr & ((1u << shift) - 1)) * bytes;
}

static inline void image_node(struct image *im, uint32_t nr, uint32_t parent, uint32_t module,
			      uint64_t pc)
{
	uint32_t chunks = 0, nodes = 0;
	pmm_ref *chunk = image_entry(im, im->l->node_dir, &chunks, nr >> PMM_NODE_SHIFT,
				     PMM_NODE_DIR_SHIFT, sizeof(*chunk));
	struct pmm_node *n = image_entry(im, chunk, &nodes, nr & ((1u << PMM_NODE_SHIFT) - 1),
					 PMM_NODE_SHIFT, sizeof(*n));

	if (im->l->nr_nodes <= nr)
		im->l->nr_nodes = nr + 1;
	*n = (struct pmm_node){ .frame = (uint64_t)module << 48 | pc, .parent = parent };
}

static inline void image_site(struct image *im, uint32_t nr, uint32_t node, uint32_t flags)
{
	struct pmm_site *s =
		image_entry(im, im->l->site_dir, &im->l->nr_sites, nr, PMM_SITE_SHIFT, sizeof(*s));

	*s = (struct pmm_site){ node, flags };
}

static inline struct pmm_thread *image_thread(struct image *im, uint32_t nr, uint32_t tid,
					      const char *name)
{
	struct pmm_thread *t = image_entry(im, im->l->thread_dir, &im->l->nr_threads, nr,
					   PMM_THREAD_SHIFT, sizeof(*t));

	t->tid = tid;
	strncpy(t->name, name, sizeof(t->name));
	return t;
}

static inline struct pmm_module *image_module(struct image *im, uint32_t nr, const char *path)
{
	struct pmm_module *m = image_entry(im, im->l->module_dir, &im->l->nr_modules, nr,
					   PMM_MODULE_SHIFT, sizeof(*m));

	m->path = image_string(im, path, strlen(path));
	m->path_len = (uint32_t)strlen(path);
	return m;
}

static inline pmm_ref image_ctx(struct image *im)
{
	pmm_ref ref = image_get(im, sizeof(struct pmm_ctx));
	struct pmm_ctx *c = image_at(im, ref);

	c->number = im->l->nr_ctx;
	im->l->ctx[im->l->nr_ctx++] = ref;
	return ref;
}

static inline struct pmm_record *image_record(struct image *im, pmm_ref ctx, uint32_t site)
{
	pmm_ref ref = image_get(im, sizeof(struct pmm_record));
	struct pmm_record *r = image_at(im, ref);
	struct pmm_ctx *c = image_at(im, ctx);

	r->site = site;
	r->first_tick = UINT32_MAX;
	r->next = c->records;
	c->records = ref;
	return r;
}

/* Where a record counts its releases by lifetime. */
static inline uint64_t *image_lifetimes(struct image *im, struct pmm_record *r)
{
	if (!r->lifetimes)
		r->lifetimes = image_get(im, sizeof(struct pmm_lifetimes));
	return ((struct pmm_lifetimes *)image_at(im, r->lifetimes))->frees;
}

/* The table's word for an address; 16 leaves to a mid, so that a few blocks make several. */
#define IMAGE_MID_BITS 4
static inline uint64_t *image_word_of(struct image *im, unsigned table, uint64_t address)
{
	struct pmm_table *t = &im->l->table[table];
	uint64_t span = 1ull << (t->shift + PMM_LEAF_BITS + t->mid_bits),
		 base = address / span * span;
	struct pmm_mid *mid = NULL;
	pmm_ref ref, *leaf;

	for (ref = t->mids; ref; ref = mid->next) {
		mid = image_at(im, ref);
		if (mid->base == base)
			break;
	}
	if (!ref) {
		ref = image_get(im, sizeof(*mid) + (sizeof(pmm_ref) << t->mid_bits));
		mid = image_at(im, ref);
		mid->base = base;
		mid->nr_leaves = 1u << t->mid_bits;
		mid->next = t->mids;
		t->mids = ref;
	}
	leaf = &mid->leaf[(address - base) >> (t->shift + PMM_LEAF_BITS)];
	if (!*leaf)
		*leaf = image_get(im, PMM_LEAF_WORDS * sizeof(uint64_t));
	return (uint64_t *)image_at(im, *leaf) +
	       (address >> t->shift & ((1u << PMM_LEAF_BITS) - 1));
}

/* A stamp of its own for each small block. */
static inline uint32_t image_stamp(struct image *im, unsigned thread, uint32_t tick)
{
	uint32_t nr = im->l->nr_stamps;
	struct pmm_stamp *s = image_entry(im, im->l->stamp_dir, &im->l->nr_stamps, nr,
					  PMM_STAMP_SHIFT, sizeof(*s));

	*s = (struct pmm_stamp){ .tick = tick, .thread = (uint16_t)thread };
	return nr;
}

static inline uint64_t *image_block(struct image *im, unsigned table, uint64_t address,
				    uint64_t size, uint32_t site, unsigned kind, unsigned thread,
				    uint32_t tick)
{
	uint64_t *word = image_word_of(im, table, address);
	uint64_t sub = table == PMM_TABLE_HEAP ? address >> 3 & 3 : 0;

	word[0] = (uint64_t)site << PMM_WORD_SITE_SHIFT | sub << PMM_WORD_SUB_SHIFT |
		  (uint64_t)kind << PMM_WORD_KIND_SHIFT;
	if (size > PMM_SIZE_SMALL || table == PMM_TABLE_MAP) {
		word[0] |= pmm_time_of_tick(tick) | (uint64_t)PMM_SIZE_WIDE << PMM_WORD_SIZE_SHIFT;
		word[1] = size | (uint64_t)thread << PMM_WIDE_THREAD_SHIFT;
	} else {
		word[0] |= image_stamp(im, thread, tick) | size << PMM_WORD_SIZE_SHIFT;
	}
	return word;
}

/* A line of the source. */
static inline struct pmm_srcloc *image_srcloc(struct image *im, uint32_t nr, const char *file,
					      const char *function, uint32_t line)
{
	struct pmm_srcloc *s = image_entry(im, im->l->srcloc_dir, &im->l->nr_srclocs, nr,
					   PMM_SRCLOC_SHIFT, sizeof(*s));

	*s = (struct pmm_srcloc){ .file = image_string(im, file, strlen(file)),
				  .file_len = (uint32_t)strlen(file),
				  .line = line,
				  .function = image_string(im, function, strlen(function)),
				  .function_len = (uint32_t)strlen(function) };
	return s;
}

/* A heap error with a number; complete as soon as its type is set. */
static inline struct pmm_finding *image_finding(struct image *im, uint32_t nr)
{
	im->tree->check.level = PMM_CHECK_GUARD;
	return image_entry(im, im->l->finding_dir, &im->l->check.nr_findings, nr, PMM_FINDING_SHIFT,
			   sizeof(struct pmm_finding));
}

/* A live guarded block in a run. */
static inline struct pmm_guard *image_guard(struct image *im, uint32_t run, uint64_t address,
					    uint64_t size, uint32_t site, unsigned thread,
					    uint32_t tick)
{
	struct pmm_guard *g;

	im->tree->check.level = PMM_CHECK_GUARD;
	g = image_entry(im, im->l->guard_dir, &im->l->check.nr_guards, run, PMM_GUARD_SHIFT,
			sizeof(*g));
	*g = (struct pmm_guard){ .address = address,
				 .size_bytes = size,
				 .state = PMM_GUARD_LIVE,
				 .kind = PMM_KIND_MALLOC,
				 .site = site,
				 .tick = tick,
				 .thread = (uint16_t)thread,
				 .pid = im->l->pid,
				 .pages = 1 };
	return g;
}

static inline struct image image_new_sized(uint64_t arena_bytes)
{
	static const unsigned shifts[PMM_NR_TABLES] = { 5, 3, 11 };
	uint64_t slot_bytes = IMAGE_ARENA_OFF + arena_bytes;
	struct image im = { .bytes = IMAGE_SLOTS_OFF + slot_bytes };

	im.fd = memfd_create(PMM_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (im.fd < 0 || ftruncate(im.fd, (off_t)im.bytes) ||
	    fcntl(im.fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		abort();
	im.file = mmap(NULL, im.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, im.fd, 0);
	if (im.file == MAP_FAILED)
		abort();
	im.slot_off = IMAGE_SLOTS_OFF;
	im.tree = (struct pmm_tree *)im.file;
	*im.tree = (struct pmm_tree){
		.magic = PMM_TREE_MAGIC,
		.version = PMM_LEDGER_VERSION,
		.byte_order = PMM_BYTE_ORDER_MARK,
		.word_bytes = 8,
		.nr_slots = 1,
		.slot_bytes = slot_bytes,
		.slots_off = IMAGE_SLOTS_OFF,
		.limit_bytes = 1 << 30,
		.max_frames = 128,
		.start_realtime_ns = 1700000000000000000ull,
		.start_monotonic_ns = UINT64_MAX,
		.tick = 1000,
	};
	im.tree->slot[IMAGE_SLOT] = (struct pmm_slot){ PMM_SLOT_LIVE, (uint32_t)getpid() };
	im.l = (struct pmm_ledger *)(im.file + im.slot_off);
	memset(im.l, 0, IMAGE_ARENA_OFF + arena_bytes);		/* backing for header and arena */
	im.l->magic = PMM_LEDGER_MAGIC;
	im.l->version = PMM_LEDGER_VERSION;
	im.l->header_bytes = sizeof(*im.l);
	im.l->state = PMM_STATE_RUNNING;
	im.l->pid = (uint32_t)getpid();
	memcpy(im.l->comm, "victim", 7);
	im.l->arena_off = im.l->arena_used = IMAGE_ARENA_OFF;
	im.l->arena_ready = im.l->arena_end = slot_bytes;
	im.l->nr_nodes = im.l->nr_sites = im.l->nr_modules = im.l->nr_stamps = 1;
	for (unsigned t = 0; t < PMM_NR_TABLES; t++) {
		im.l->table[t].shift = shifts[t];
		im.l->table[t].mid_bits = IMAGE_MID_BITS;
	}
	return im;
}

static inline struct image image_new(void)
{
	return image_new_sized(1 << 20);
}

static inline void image_free(struct image *im)
{
	munmap(im->file, im->bytes);
	close(im->fd);
}

#endif
