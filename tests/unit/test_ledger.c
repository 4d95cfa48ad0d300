/*
 * Ledgers made by hand are read to the exact number; damaged ones are read without harm.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

#include "src/capture/capture.h"
#include "src/capture/ledger.h"
#include "tests/unit/ledger_image.h"

#define TOTAL(epoch, rising, bytes) ((uint64_t)(bytes) << 21 | (uint64_t)(rising) << 20 | (epoch))

static uint64_t damaged;

static struct heap *read_with(struct image *im, struct ledger_options *o)
{
	struct ledger_map *m = NULL;
	struct heap *h = NULL;
	struct err e = { 0 };
	char why[128];

	if (ledger_map_open_fd(im->fd, IMAGE_SLOT, &m, &e) || ledger_read(m, o, &h, &e))
		fail_msg("%s", e.text);
	ledger_map_close(m);
	if (heap_check(h, why, sizeof(why)))
		fail_msg("%s", why);
	return h;
}

static struct heap *read_image(struct image *im)
{
	struct ledger_options o = { .damaged = &damaged };

	return read_with(im, &o);
}

/* ---- sites ---------------------------------------------------------------------------------------------- */

static void an_empty_ledger_is_an_empty_heap(void **state)
{
	struct image im = image_new();
	struct heap *h = read_image(&im);

	(void)state;
	assert_string_equal(h->comm, "victim");
	assert_int_equal(h->pid, getpid());
	assert_int_equal(h->end, HEAP_RUNNING);
	assert_int_equal(h->nr_sites, 1);
	assert_int_equal(h->nr_map_sites, 1);
	assert_int_equal(h->nr_blocks, 0);
	assert_int_equal(h->live_bytes, 0);
	assert_int_equal(h->peak_bytes, 0);
	assert_int_equal(h->taken_ns, 10000000000);
	assert_int_equal(h->drift_blocks, 0);
	assert_int_equal(damaged, 0);
	heap_free(h);
	image_free(&im);
}

/* Blocks allocated by one thread and released by another: one of the two records is negative. */
static void contexts_that_share_a_site_add_up(void **state)
{
	struct image im = image_new();
	pmm_ref a = image_ctx(&im), b = image_ctx(&im);
	struct pmm_record *r;
	struct heap *h;

	(void)state;
	image_node(&im, 1, 0, 0, 0x1000);
	image_node(&im, 2, 1, 0, 0x2000);
	image_site(&im, 1, 2, 0);
	r = image_record(&im, a, 1);
	r->bytes_in = 1000;
	r->allocs = 10;
	r->max_bytes = 200;
	r->first_tick = 5;
	r->last_tick = 50;
	r->lifetime[3] = 1;
	r = image_record(&im, b, 1);
	r->bytes_in = 64;
	r->allocs = 1;
	r->bytes_out = 364;
	r->frees = 4;
	r->temporary = 1;
	r->max_bytes = 64;
	r->failed = 2;
	r->zero_size = 3;
	r->huge = 4;
	r->first_tick = 0;
	r->last_tick = 7;
	r->lifetime[3] = 2;
	h = read_image(&im);
	assert_int_equal(h->nr_sites, 2);
	assert_int_equal(h->sites[1].node, 2);
	assert_int_equal(h->sites[1].bytes_in, 1064);
	assert_int_equal(h->sites[1].bytes_out, 364);
	assert_int_equal(h->sites[1].live_bytes, 700);
	assert_int_equal(h->sites[1].live_blocks, 7);
	assert_int_equal(h->sites[1].max_bytes, 200);
	assert_int_equal(h->sites[1].first_ns, 0);
	assert_int_equal(h->sites[1].last_ns, 500000000);
	assert_int_equal(h->sites[1].lifetime[3], 3);
	assert_int_equal(h->live_bytes, 700);
	assert_int_equal(h->live_blocks, 7);
	assert_int_equal(h->allocs, 11);
	assert_int_equal(h->frees, 4);
	assert_int_equal(h->temporary, 1);
	assert_int_equal(h->failed, 2);
	assert_int_equal(h->zero_size, 3);
	assert_int_equal(h->huge, 4);
	assert_int_equal(h->nodes[2].parent, 1);
	assert_int_equal(h->nodes[2].pc, 0x2000);
	assert_int_equal(damaged, 0);
	heap_free(h);
	image_free(&im);
}

/* A thread that only released does not move the first allocation to tick 0. */
static void times_are_of_allocations(void **state)
{
	struct image im = image_new();
	pmm_ref a = image_ctx(&im), b = image_ctx(&im);
	struct pmm_record *r;
	struct heap *h;

	(void)state;
	image_site(&im, 1, 1, 0);
	image_node(&im, 1, 0, 0, 0x1000);
	r = image_record(&im, a, 1);
	r->frees = 1;
	r->first_tick = 0;
	r->last_tick = 90;
	r = image_record(&im, b, 1);
	r->allocs = 2;
	r->first_tick = 30;
	r->last_tick = 40;
	h = read_image(&im);
	assert_int_equal(h->sites[1].first_ns, 300000000);
	assert_int_equal(h->sites[1].last_ns, 400000000);
	heap_free(h);
	image_free(&im);
}

static void mapping_sites_stand_apart(void **state)
{
	struct image im = image_new();
	pmm_ref a = image_ctx(&im);
	struct heap_site_point points[] = { { 10, 1, 0, 5, 1 }, { 10, 2, 0, 6, 1 }, { 20, 3, 0, 7, 1 } };
	struct ledger_options o = { .damaged = &damaged, .site_points = points, .nr_site_points = 3 };
	struct heap *h;

	(void)state;
	image_node(&im, 1, 0, 0, 0x1000);
	image_node(&im, 2, 0, 0, 0x2000);
	image_node(&im, 3, 0, 0, 0x3000);
	image_site(&im, 1, 1, 0);
	image_site(&im, 2, 2, PMM_SITE_MAPPING);
	image_site(&im, 3, 3, 0);
	image_record(&im, a, 1)->bytes_in = 100;
	image_record(&im, a, 2)->bytes_in = 8192;
	image_record(&im, a, 3)->bytes_in = 10;
	image_thread(&im, 0, 77, "main");
	image_block(&im, PMM_TABLE_HEAP, 0x10000, 10, 3, PMM_KIND_MALLOC, 0, 1);
	image_block(&im, PMM_TABLE_MAP, 0x7f0000000000, 8192, 2, PMM_KIND_MMAP, 0, 1);
	h = read_with(&im, &o);
	assert_int_equal(h->nr_sites, 3);
	assert_int_equal(h->nr_map_sites, 2);
	assert_int_equal(h->sites[2].node, 3);
	assert_int_equal(h->map_sites[1].node, 2);
	assert_int_equal(h->map_sites[1].live_bytes, 8192);
	assert_int_equal(h->live_bytes, 110);
	assert_int_equal(h->nr_blocks, 1);
	assert_int_equal(h->blocks[0].site, 2);
	assert_int_equal(h->nr_maps, 1);
	assert_int_equal(h->maps[0].site, 1);
	assert_int_equal(h->maps[0].address, 0x7f0000000000);
	assert_int_equal(h->nr_site_points, 2);
	assert_int_equal(h->site_points[0].site, 1);
	assert_int_equal(h->site_points[1].site, 2);
	assert_int_equal(h->site_points[1].live_bytes, 7);
	assert_int_equal(damaged, 0);
	heap_free(h);
	image_free(&im);
}

/* ---- the peak ------------------------------------------------------------------------------------------- */

/* Two sites; the first was changed since the seal (in a context of epoch 3), the second was not. */
static struct image peak_image(uint64_t total)
{
	struct image im = image_new();
	pmm_ref a = image_ctx(&im), b = image_ctx(&im);
	struct pmm_record *r;

	image_node(&im, 1, 0, 0, 0x1000);
	image_site(&im, 1, 1, 0);
	image_site(&im, 2, 1, 0);
	im.l->total = total;
	im.l->epoch = 3;
	im.l->peak_epoch = 2;
	im.l->peak_bytes = 1500;
	im.l->peak_tick = 20;
	r = image_record(&im, a, 1);
	r->bytes_in = 5000;
	r->bytes_out = 4900;
	r->allocs = 50;
	r->frees = 49;
	r->epoch = 3;
	r->at_peak_bytes = 1200;
	r->at_peak_blocks = 12;
	r->first_tick = 1;
	r->last_tick = 60;
	r = image_record(&im, b, 1);
	r->bytes_out = 50;
	r->frees = 0;
	r->epoch = 3;
	r->at_peak_bytes = -100;
	r->at_peak_blocks = -1;
	r = image_record(&im, b, 2);
	r->bytes_in = 400;
	r->allocs = 4;
	r->epoch = 2;
	r->at_peak_bytes = 77;		/* of an older peak: must not be used */
	r->at_peak_blocks = 7;
	r->first_tick = 1;
	r->last_tick = 2;
	return im;
}

static void a_sealed_peak_is_composed_of_saved_and_unchanged_values(void **state)
{
	struct image im = peak_image(TOTAL(3, 0, 450));
	struct heap *h = read_image(&im);

	(void)state;
	assert_int_equal(h->sites[1].peak_bytes, 1100);
	assert_int_equal(h->sites[1].peak_blocks, 11);
	assert_int_equal(h->sites[2].peak_bytes, 400);
	assert_int_equal(h->sites[2].peak_blocks, 4);
	assert_int_equal(h->peak_bytes, 1500);
	assert_int_equal(h->peak_ns, 200000000);
	assert_int_equal(h->live_bytes, 450);
	heap_free(h);
	image_free(&im);
}

static void while_the_total_rises_the_peak_is_now(void **state)
{
	struct image im = peak_image(TOTAL(3, 1, 450));
	struct heap *h = read_image(&im);

	(void)state;
	assert_int_equal(h->sites[1].peak_bytes, 50);
	assert_int_equal(h->sites[1].peak_blocks, 1);
	assert_int_equal(h->sites[2].peak_bytes, 400);
	assert_int_equal(h->peak_bytes, 450);
	assert_int_equal(h->peak_ns, 600000000);
	heap_free(h);
	image_free(&im);
}

/* The thread that sealed the peak died before it wrote the epoch down: the word alone knows. */
static void a_seal_cut_short_counts(void **state)
{
	struct image im = peak_image(TOTAL(3, 0, 450));
	struct heap *h;

	(void)state;
	im.l->epoch = 2;
	im.l->peak_epoch = 1;
	h = read_image(&im);
	assert_int_equal(h->sites[1].peak_bytes, 1100);
	assert_int_equal(h->sites[2].peak_bytes, 400);
	heap_free(h);
	image_free(&im);
}

/* The word holds 20 bits of the epoch. */
static void epochs_wrap(void **state)
{
	struct image im = peak_image(TOTAL(1, 0, 450));
	struct heap *h;

	(void)state;
	im.l->epoch = (5u << 20) + 1;
	im.l->peak_epoch = 5u << 20;
	h = read_image(&im);
	assert_int_equal(h->sites[1].peak_bytes, 50);	/* changed long before the peak */
	heap_free(h);
	image_free(&im);
}

/* ---- blocks --------------------------------------------------------------------------------------------- */

static void blocks_of_all_tables_come_in_order(void **state)
{
	struct image im = image_new();
	pmm_ref a = image_ctx(&im);
	struct heap *h;

	(void)state;
	image_node(&im, 1, 0, 0, 0x1000);
	image_site(&im, 1, 1, 0);
	image_record(&im, a, 1)->allocs = 5;
	image_thread(&im, 0, 77, "main");
	image_thread(&im, 1, 78, "worker");
	image_block(&im, PMM_TABLE_HEAP, 0x55550001f010, 48, 1, PMM_KIND_CALLOC, 1, 250);
	image_block(&im, PMM_TABLE_HEAP, 0x555500000030, 17, 1, PMM_KIND_MALLOC, 0, 100);
	image_block(&im, PMM_TABLE_HEAP, 0x7fff00000000, 1, 1, PMM_KIND_NEW, 0, 3);
	image_block(&im, PMM_TABLE_DENSE, 0x555500000038, 8, 1, PMM_KIND_REALLOC, 0, 4);
	image_block(&im, PMM_TABLE_DENSE, 0x1000, 8, 1, PMM_KIND_REALLOC, 0, 4);
	h = read_image(&im);
	assert_int_equal(h->nr_blocks, 5);
	assert_int_equal(h->blocks[0].address, 0x1000);
	assert_int_equal(h->blocks[1].address, 0x555500000030);
	assert_int_equal(h->blocks[1].size_bytes, 17);
	assert_int_equal(h->blocks[1].birth_ns, 1000000000);
	assert_int_equal(h->blocks[1].kind, PMM_KIND_MALLOC);
	assert_int_equal(h->blocks[2].address, 0x555500000038);
	assert_int_equal(h->blocks[2].kind, PMM_KIND_REALLOC);
	assert_int_equal(h->blocks[3].address, 0x55550001f010);
	assert_int_equal(h->blocks[3].thread, 1);
	assert_int_equal(h->blocks[3].site, 1);
	assert_int_equal(h->blocks[4].address, 0x7fff00000000);
	assert_int_equal(h->ledger_slots_used, 5);
	assert_int_equal(h->ledger_slots, 5 * 256);
	assert_int_equal(damaged, 0);
	heap_free(h);
	image_free(&im);
}

/* All sixteen places a block can start at within a granule of 32 bytes. */
static void addresses_below_the_granule_are_kept(void **state)
{
	(void)state;
	for (unsigned sub = 0; sub < 16; sub++) {
		struct image im = image_new();
		struct heap *h;

		image_block(&im, PMM_TABLE_HEAP, 0x40000 + 2 * sub, 1, 0, PMM_KIND_MALLOC, 0, 0);
		h = read_image(&im);
		assert_int_equal(h->nr_blocks, 1);
		assert_int_equal(h->blocks[0].address, 0x40000 + 2 * sub);
		heap_free(h);
		image_free(&im);
	}
}

/* ---- the rest ------------------------------------------------------------------------------------------- */

static void names_modules_and_threads_come_along(void **state)
{
	struct image im = image_new();
	struct pmm_ctx *c = image_at(&im, image_ctx(&im));
	struct pmm_module *m = image_module(&im, 1, "/lib/libx.so");
	struct pmm_thread *t = image_thread(&im, 0, 77, "a\xffz");
	struct heap *h;

	(void)state;
	m->start = 0x7000;
	m->end = 0x9000;
	m->bias = 0x7000;
	m->unload_tick = 9;
	m->build_id_len = 2;
	m->build_id[1] = 0xab;
	image_node(&im, 1, 0, 1, 0x7123);
	image_node(&im, 2, 1, 0, PMM_FRAME_TRUNCATED);
	t->current = 1;
	t->allocs = 5;
	c->thread = 0;
	c->allocs = 100;
	c->base_allocs = 90;
	c->untracked_frees = 3;
	c->skipped_allocs = 2;
	c->skipped_bytes = 20;
	c->class[2].calls[PMM_KIND_CALLOC] = 6;
	c->class[2].failed = 1;
	im.l->cmdline = image_string(&im, "prog\0a b\0\0it's", 14);
	im.l->cmdline_len = 14;
	im.l->exe = image_string(&im, "/bin/prog", 9);
	im.l->exe_len = 9;
	im.l->allocator = image_string(&im, "/lib/libc.so.6", 14);
	im.l->allocator_len = 14;
	im.l->allocator_view = (struct pmm_allocator_view){ .tick = 7, .valid = 1, .used_bytes = 99 };
	im.l->mapping = (struct pmm_mapping_totals){ .brk_start = 1000, .brk_now = 1500, .brk_max = 3000 };
	im.l->state = PMM_STATE_EXITED;
	im.l->end_tick = 800;
	im.l->start_tick = 100;
	im.l->forked = 1;
	im.l->dropped[PMM_DROP_NESTED] = 4;
	im.l->off_reason = PMM_OFF_NO_MEMORY;
	h = read_image(&im);
	assert_string_equal(h->cmdline, "prog 'a b' '' 'it'\\''s'");
	assert_string_equal(h->exe, "/bin/prog");
	assert_string_equal(h->allocator.path, "/lib/libc.so.6");
	assert_int_equal(h->allocator.used_bytes, 99);
	assert_int_equal(h->allocator.taken_ns, 70000000);
	assert_int_equal(h->nr_modules, 2);
	assert_string_equal(h->modules[1].path, "/lib/libx.so");
	assert_int_equal(h->modules[1].bias, 0x7000);
	assert_int_equal(h->modules[1].unload_ns, 90000000);
	assert_int_equal(h->modules[1].build_id[1], 0xab);
	assert_int_equal(h->nodes[1].module, 1);
	assert_int_equal(h->nodes[1].pc, 0x7123);
	assert_int_equal(h->nodes[2].module, 0);
	assert_int_equal(h->nodes[2].pc, PMM_FRAME_TRUNCATED);
	assert_int_equal(h->nr_threads, 1);
	assert_string_equal(h->threads[0].name, "a?z");
	assert_int_equal(h->threads[0].allocs, 15);
	assert_true(h->threads[0].alive);
	assert_int_equal(h->class[2].calls[PMM_KIND_CALLOC], 6);
	assert_int_equal(h->class[2].failed, 1);
	assert_int_equal(h->untracked_frees, 3);
	assert_int_equal(h->skipped_bytes, 20);
	assert_int_equal(h->mapping.brk_growth_bytes, 500);
	assert_int_equal(h->mapping.brk_peak_bytes, 2000);
	assert_int_equal(h->end, HEAP_EXITED);
	assert_int_equal(h->taken_ns, 8000000000);
	assert_int_equal(h->attach_ns, 1000000000);
	assert_true(h->forked);
	assert_int_equal(h->dropped[PMM_DROP_NESTED], 4);
	assert_int_equal(h->off_reason, PMM_OFF_NO_MEMORY);
	heap_free(h);
	image_free(&im);
}

/* ---- getting at it -------------------------------------------------------------------------------------- */

static int open_code(struct image *im, unsigned slot)
{
	struct ledger_map *m = NULL;
	struct err e = { 0 };
	int rc = ledger_map_open_fd(im->fd, slot, &m, &e);

	if (rc)
		assert_string_not_equal(e.text, "");
	else
		ledger_map_close(m);
	return rc;
}

static void what_is_no_ledger_is_refused(void **state)
{
	struct image im = image_new();

	(void)state;
	assert_int_equal(open_code(&im, IMAGE_SLOT), 0);
	assert_int_equal(open_code(&im, 2), -EBADMSG);
	assert_int_equal(open_code(&im, 0), -EAGAIN);
	im.l->version = 9;
	assert_int_equal(open_code(&im, IMAGE_SLOT), -EPROTO);
	im.l->version = PMM_LEDGER_VERSION;
	im.l->arena_end = im.tree->slot_bytes + PMM_PAGE;
	assert_int_equal(open_code(&im, IMAGE_SLOT), -EBADMSG);
	im.l->arena_end = im.tree->slot_bytes;
	im.tree->slot_bytes *= 2;	/* slots end beyond the file */
	assert_int_equal(open_code(&im, IMAGE_SLOT), -EBADMSG);
	im.tree->slot_bytes /= 2;
	im.tree->magic++;
	assert_int_equal(open_code(&im, IMAGE_SLOT), -EBADMSG);
	image_free(&im);
}

/* This process has the image mapped, so it is found through /proc like a traced one. */
static void a_process_is_found_by_its_mapping(void **state)
{
	struct image im = image_new();
	struct ledger_map *m = NULL;
	struct err e = { 0 };

	(void)state;
	if (ledger_map_open_pid(getpid(), &m, &e))
		fail_msg("%s", e.text);
	assert_int_equal(m->slot, IMAGE_SLOT);
	assert_int_equal(m->pid, getpid());
	ledger_map_close(m);
	im.tree->slot[IMAGE_SLOT].state = PMM_SLOT_REPLACED;
	assert_int_equal(ledger_map_open_pid(getpid(), &m, &e), -ENOENT);
	image_free(&im);
	assert_int_equal(ledger_map_open_pid(getpid(), &m, &e), -ENOENT);
	assert_non_null(strstr(e.text, "not tracked"));
	assert_string_equal(e.hint, "start it with 'pmm run'");
	assert_int_equal(ledger_map_open_pid(0x7ffffff0, &m, &e), -ESRCH);
}

/* Pages nobody has touched must stay untouched: reading a hole through a mapping would fill it. */
static void reading_allocates_nothing(void **state)
{
	struct image im = image_new();
	struct stat before, after;
	struct heap *h;

	(void)state;
	image_block(&im, PMM_TABLE_HEAP, 0x40000, 1, 0, PMM_KIND_MALLOC, 0, 0);
	assert_int_equal(fallocate(im.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				   (off_t)(im.slot_off + IMAGE_ARENA_OFF + (512 << 10)), 512 << 10), 0);
	im.l->exe = (pmm_ref)((IMAGE_ARENA_OFF + (600 << 10)) >> PMM_REF_SHIFT);
	im.l->exe_len = 100;
	fstat(im.fd, &before);
	h = read_image(&im);
	fstat(im.fd, &after);
	assert_int_equal(h->nr_blocks, 1);
	assert_string_equal(h->exe, "");
	assert_int_equal(after.st_blocks, before.st_blocks);
	heap_free(h);
	image_free(&im);
}

static void fill(struct image *im)
{
	image_node(im, 1, 0, 0, 0x1000);
	image_site(im, 1, 1, 0);
	image_record(im, image_ctx(im), 1)->bytes_in = 4711;
	image_block(im, PMM_TABLE_HEAP, 0x40000, 4711, 1, PMM_KIND_MALLOC, 0, 0);
}

/* A file that may shrink is not mapped: cut short, it is an error and no SIGBUS. */
static void a_file_that_may_shrink_is_not_mapped(void **state)
{
	struct image sealed = image_new(), im = sealed;
	struct ledger_map *m = NULL;
	uint64_t word;
	struct heap *h;

	(void)state;
	fill(&sealed);
	im.fd = memfd_create("loose", MFD_CLOEXEC);
	assert_int_equal(write(im.fd, im.file, im.bytes), im.bytes);
	h = read_image(&im);
	assert_int_equal(h->live_bytes, 4711);
	assert_int_equal(h->blocks[0].size_bytes, 4711);
	heap_free(h);
	assert_int_equal(ledger_map_open_fd(im.fd, IMAGE_SLOT, &m, NULL), 0);
	assert_null(m->base);
	assert_int_equal(ftruncate(im.fd, 4096), 0);
	assert_int_equal(ledger_map_read(m, IMAGE_ARENA_OFF, &word, sizeof(word)), -EIO);
	ledger_map_close(m);
	close(im.fd);
	image_free(&sealed);
}

/* Without capabilities and monitor the ledger is read out of the process's memory. Runs in a child. */
static int read_as_nobody(struct image *im)
{
	struct ledger_options o = { .running = true };
	struct ledger_map *m = NULL;
	struct heap *h = NULL;

	if (!getuid() && (setgid(65534) || setuid(65534)))
		return 10;
	prctl(PR_SET_DUMPABLE, 1);
	im->tree->slot[IMAGE_SLOT].pid = (uint32_t)getpid();
	if (ledger_map_open_pid(getpid(), &m, NULL))
		return 11;
	if (!m->is_memory || m->base || ledger_map_ask_view(m, 1) != -EROFS)
		return 12;
	if (ledger_read(m, &o, &h, NULL))
		return 13;
	return h->live_bytes == 4711 && h->nr_blocks == 1 && h->blocks[0].address == 0x40000 ? 0 : 14;
}

static void a_ledger_is_read_through_memory(void **state)
{
	struct image im = image_new();
	int status = 0;
	pid_t child;

	(void)state;
	fill(&im);
	child = fork();
	if (!child)
		_exit(read_as_nobody(&im));
	waitpid(child, &status, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	image_free(&im);
}

/* Somebody who answers at the next tick, as the agent does. */
static void *answer_view(void *arg)
{
	struct image *im = arg;

	while (!__atomic_load_n(&im->l->want_view, __ATOMIC_ACQUIRE))
		;
	__atomic_store_n(&im->l->want_view, 0, __ATOMIC_RELEASE);
	im->l->allocator_view.tick = im->tree->tick;
	__atomic_store_n(&im->l->allocator_view.valid, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void a_view_is_asked_for(void **state)
{
	struct image im = image_new();
	struct ledger_map *m = NULL;
	pthread_t thread;

	(void)state;
	im.l->allocator_view.tick = im.tree->tick - 1;
	assert_int_equal(ledger_map_open_fd(im.fd, IMAGE_SLOT, &m, NULL), 0);
	assert_int_equal(ledger_map_ask_view(m, 3), 0);
	assert_int_equal(im.l->want_view, 1);
	im.l->want_view = 0;
	pthread_create(&thread, NULL, answer_view, &im);
	assert_int_equal(ledger_map_ask_view(m, 10000), 1);
	pthread_join(thread, NULL);
	ledger_map_close(m);
	image_free(&im);
}

static void an_arena_that_grows_is_followed(void **state)
{
	struct image im = image_new();
	struct ledger_map *m = NULL;
	uint64_t word = 0;

	(void)state;
	im.l->arena_ready = IMAGE_ARENA_OFF + PMM_PAGE;
	*(uint64_t *)((unsigned char *)im.l + IMAGE_ARENA_OFF + 3 * PMM_PAGE) = 42;
	assert_int_equal(ledger_map_open_fd(im.fd, IMAGE_SLOT, &m, NULL), 0);
	assert_int_equal(ledger_map_read(m, IMAGE_ARENA_OFF + 3 * PMM_PAGE, &word, 8), -EFAULT);
	im.l->arena_ready = IMAGE_ARENA_OFF + 4 * PMM_PAGE;
	assert_int_equal(ledger_map_read(m, IMAGE_ARENA_OFF + 3 * PMM_PAGE, &word, 8), 0);
	assert_int_equal(word, 42);
	assert_int_equal(ledger_map_read(m, IMAGE_ARENA_OFF + 4 * PMM_PAGE - 4, &word, 8), -EFAULT);
	assert_int_equal(ledger_map_read(m, UINT64_MAX - 3, &word, 8), -EFAULT);
	ledger_map_close(m);
	image_free(&im);
}

/* ---- damage --------------------------------------------------------------------------------------------- */

static void rings_and_wild_references_are_cut(void **state)
{
	struct image im = image_new();
	pmm_ref a = image_ctx(&im);
	struct pmm_record *r;
	struct pmm_mid *mid;
	struct heap *h;

	(void)state;
	image_node(&im, 1, 1, 9, 0x2000);			/* own parent, no such module */
	image_site(&im, 1, 77, 0);				/* no such node */
	r = image_record(&im, a, 1);
	r->allocs = 1;
	r->bytes_in = 10;
	r->next = ((struct pmm_ctx *)image_at(&im, a))->records;	/* its own successor */
	image_block(&im, PMM_TABLE_HEAP, 0x40000, 10, 1, PMM_KIND_MALLOC, 999, 0);
	image_block(&im, PMM_TABLE_HEAP, 0x40020, 10, 55555, PMM_KIND_MALLOC, 0, 0);
	image_block(&im, PMM_TABLE_HEAP, 0x40040, 10, 1, PMM_KIND_NONE, 0, 0);
	mid = image_at(&im, im.l->table[PMM_TABLE_HEAP].mids);
	mid->next = im.l->table[PMM_TABLE_HEAP].mids;
	mid->leaf[3] = 0xffffffff;
	im.l->exe = 0xffffffff;
	im.l->exe_len = 100;
	h = read_image(&im);
	assert_int_equal(h->sites[1].allocs, 1);
	assert_int_equal(h->sites[1].node, 0);
	assert_int_equal(h->nodes[1].parent, 0);
	assert_int_equal(h->nodes[1].module, 0);
	assert_int_equal(h->nr_blocks, 2);
	assert_int_equal(h->blocks[0].thread, 0);
	assert_int_equal(h->blocks[1].site, 0);
	assert_string_equal(h->exe, "");
	assert_true(damaged >= 8);
	assert_int_equal(h->drift_blocks, damaged);
	heap_free(h);
	image_free(&im);
}

/* Every leaf of every mid is the same page: the output must not outgrow what the arena could hold. */
static void shared_leaves_do_not_multiply(void **state)
{
	struct image im = image_new_sized(256 << 10);
	struct pmm_mid *mid;
	struct heap *h;

	(void)state;
	image_block(&im, PMM_TABLE_HEAP, 0x40000, 1, 0, PMM_KIND_MALLOC, 0, 0);
	mid = image_at(&im, im.l->table[PMM_TABLE_HEAP].mids);
	for (unsigned i = 0; i < 64; i++) {
		pmm_ref ref = image_get(&im, sizeof(*mid) + (sizeof(pmm_ref) << IMAGE_MID_BITS));
		struct pmm_mid *more = image_at(&im, ref);

		more->base = (uint64_t)(i + 100) << (5 + PMM_LEAF_BITS + IMAGE_MID_BITS);
		more->nr_leaves = 1 << IMAGE_MID_BITS;
		more->next = im.l->table[PMM_TABLE_HEAP].mids;
		for (unsigned k = 0; k < 1 << IMAGE_MID_BITS; k++)
			more->leaf[k] = mid->leaf[0];
		im.l->table[PMM_TABLE_HEAP].mids = ref;
	}
	h = read_image(&im);
	assert_int_equal(h->nr_blocks, (256 << 10) / 4096 + 1);
	assert_true(damaged > 0);
	heap_free(h);
	image_free(&im);
}

/* ---- while it runs -------------------------------------------------------------------------------------- */

struct writer {
	struct pmm_ctx *ctx;
	struct pmm_record *record;
	bool stop;
};

/*
 * Keeps the record's first and last word in step between events, as the agent would, and like a program does something
 * else in between.
 */
static void *write_events(void *arg)
{
	struct writer *w = arg;
	uint64_t *last = &w->record->lifetime[PMM_NR_LIFETIMES - 1];

	while (!__atomic_load_n(&w->stop, __ATOMIC_RELAXED)) {
		__atomic_store_n(&w->ctx->seq, w->ctx->seq + 1, __ATOMIC_SEQ_CST);
		__atomic_store_n(&w->record->bytes_in, w->record->bytes_in + 16, __ATOMIC_RELEASE);
		__atomic_store_n(last, *last + 1, __ATOMIC_RELEASE);
		__atomic_store_n(&w->ctx->seq, w->ctx->seq + 1, __ATOMIC_SEQ_CST);
		for (unsigned i = 0; i < 2000; i++)
			__asm__ volatile("");
	}
	return NULL;
}

/* Also when another thread stays in the middle of an event and has many records. */
static void a_record_is_read_between_events(void **state)
{
	struct image im = image_new();
	pmm_ref stopped = image_ctx(&im), a = image_ctx(&im);
	struct ledger_options o = { .running = true, .pid = getpid() };
	struct writer w = { .ctx = image_at(&im, a) };
	unsigned torn = 0;
	bool moved = false;
	pthread_t thread;

	(void)state;
	image_node(&im, 1, 0, 0, 0x1000);
	image_site(&im, 1, 1, 0);
	((struct pmm_ctx *)image_at(&im, stopped))->seq = 7;
	for (unsigned i = 2; i < 100; i++) {
		image_site(&im, i, 1, 0);
		image_record(&im, stopped, i);
	}
	w.record = image_record(&im, a, 1);
	pthread_create(&thread, NULL, write_events, &w);
	for (unsigned i = 0; i < 400; i++) {
		struct heap *h = read_with(&im, &o);

		torn += (uint64_t)h->sites[1].live_bytes != 16 * h->sites[1].lifetime[HEAP_NR_LIFETIMES - 1];
		assert_int_equal(h->live_bytes, h->sites[1].live_bytes);
		moved |= h->drift_blocks > 0;
		heap_free(h);
	}
	__atomic_store_n(&w.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	assert_true(moved);
	assert_in_range(torn, 0, 10);	/* the writer may lose its processor in the middle */
	image_free(&im);
}

/* Peaks are sealed all the time: the records are added up again, not added twice. */
static void *write_epochs(void *arg)
{
	struct image *im = arg;

	while (__atomic_load_n(&im->l->want_view, __ATOMIC_RELAXED) == 0) {
		__atomic_store_n(&im->l->total, im->l->total + 1, __ATOMIC_RELAXED);
		for (unsigned i = 0; i < 1000; i++)
			__asm__ volatile("");
	}
	return NULL;
}

static void peaks_sealed_meanwhile_start_over(void **state)
{
	struct image im = image_new();
	struct ledger_options o = { .running = true, .pid = getpid(), .damaged = &damaged };
	pmm_ref a = image_ctx(&im);
	pthread_t thread;

	(void)state;
	image_node(&im, 1, 0, 0, 0x1000);
	for (unsigned i = 1; i < 50; i++) {
		image_site(&im, i, 1, 0);
		image_record(&im, a, i)->allocs = 1;
	}
	pthread_create(&thread, NULL, write_epochs, &im);
	for (unsigned i = 0; i < 50; i++) {
		struct heap *h = read_with(&im, &o);

		assert_int_equal(h->allocs, 49);
		assert_int_equal(damaged, 0);
		heap_free(h);
	}
	im.l->want_view = 1;
	pthread_join(thread, NULL);
	image_free(&im);
}

/* A thread stopped in the middle of an event must not hold the reader up. */
static void a_context_in_the_middle_is_not_waited_for(void **state)
{
	struct image im = image_new();
	pmm_ref a = image_ctx(&im);
	struct ledger_options o = { .running = true, .pid = getpid() };
	struct heap *h;

	(void)state;
	((struct pmm_ctx *)image_at(&im, a))->seq = 7;
	image_node(&im, 1, 0, 0, 0x1000);
	for (unsigned i = 1; i < 1000; i++) {
		image_site(&im, i, 1, 0);
		image_record(&im, a, i)->allocs = 1;
	}
	h = read_with(&im, &o);
	assert_int_equal(h->allocs, 999);
	assert_true(h->drift_blocks > 0);
	heap_free(h);
	image_free(&im);
}

/* ---- looks ---------------------------------------------------------------------------------------------- */

static void totals_add_up_contexts(void **state)
{
	struct image im = image_new();
	struct pmm_ctx *a = image_at(&im, image_ctx(&im)), *b = image_at(&im, image_ctx(&im));
	struct ledger_totals t;
	struct ledger_map *m;

	(void)state;
	a->allocs = 10;
	a->bytes_in = 1000;
	b->frees = 4;
	b->bytes_out = 300;
	b->temporary = 1;
	b->untracked_frees = 2;
	assert_int_equal(ledger_map_open_fd(im.fd, IMAGE_SLOT, &m, NULL), 0);
	assert_int_equal(ledger_totals(m, &t), 0);
	assert_int_equal(t.live_bytes, 700);
	assert_int_equal(t.live_blocks, 6);
	assert_int_equal(t.allocs, 10);
	assert_int_equal(t.frees, 4);
	assert_int_equal(t.untracked_frees, 2);
	assert_int_equal(t.time_ns, 10000000000);
	ledger_map_close(m);
	image_free(&im);
}

static void top_sites_are_the_largest_in_order(void **state)
{
	static const uint32_t bytes[] = { 0, 50, 900, 10, 700, 300 };
	struct image im = image_new();
	pmm_ref a = image_ctx(&im), b = image_ctx(&im);
	struct ledger_top_site top[3];
	struct ledger_top *t;
	struct ledger_map *m;

	(void)state;
	for (uint32_t i = 1; i < 6; i++) {
		image_site(&im, i, 1, i == 2 ? PMM_SITE_MAPPING : 0);
		image_record(&im, a, i)->bytes_in = bytes[i];
	}
	assert_int_equal(ledger_map_open_fd(im.fd, IMAGE_SLOT, &m, NULL), 0);
	t = ledger_top_new(m);
	assert_int_equal(ledger_top_sites(t, top, 3), 3);
	assert_int_equal(top[0].site, 4);
	assert_int_equal(top[0].live_bytes, 700);
	assert_int_equal(top[1].site, 5);
	assert_int_equal(top[2].site, 1);
	/* another thread releases what site 4 holds, and a new site appears */
	image_record(&im, b, 4)->bytes_out = 695;
	image_site(&im, 6, 1, 0);
	image_record(&im, b, 6)->bytes_in = 400;
	assert_int_equal(ledger_top_sites(t, top, 3), 3);
	assert_int_equal(top[0].site, 6);
	assert_int_equal(top[1].site, 5);
	assert_int_equal(top[2].site, 1);
	assert_int_equal(top[2].live_bytes, 50);
	ledger_top_free(t);
	ledger_map_close(m);
	image_free(&im);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_ledger_is_an_empty_heap),
		cmocka_unit_test(contexts_that_share_a_site_add_up),
		cmocka_unit_test(times_are_of_allocations),
		cmocka_unit_test(mapping_sites_stand_apart),
		cmocka_unit_test(a_sealed_peak_is_composed_of_saved_and_unchanged_values),
		cmocka_unit_test(while_the_total_rises_the_peak_is_now),
		cmocka_unit_test(a_seal_cut_short_counts),
		cmocka_unit_test(epochs_wrap),
		cmocka_unit_test(blocks_of_all_tables_come_in_order),
		cmocka_unit_test(addresses_below_the_granule_are_kept),
		cmocka_unit_test(names_modules_and_threads_come_along),
		cmocka_unit_test(what_is_no_ledger_is_refused),
		cmocka_unit_test(a_process_is_found_by_its_mapping),
		cmocka_unit_test(reading_allocates_nothing),
		cmocka_unit_test(a_file_that_may_shrink_is_not_mapped),
		cmocka_unit_test(a_ledger_is_read_through_memory),
		cmocka_unit_test(a_view_is_asked_for),
		cmocka_unit_test(an_arena_that_grows_is_followed),
		cmocka_unit_test(rings_and_wild_references_are_cut),
		cmocka_unit_test(shared_leaves_do_not_multiply),
		cmocka_unit_test(a_record_is_read_between_events),
		cmocka_unit_test(peaks_sealed_meanwhile_start_over),
		cmocka_unit_test(a_context_in_the_middle_is_not_waited_for),
		cmocka_unit_test(totals_add_up_contexts),
		cmocka_unit_test(top_sites_are_the_largest_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
