/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ledger is found and opened in every way there is, and read without a trace. Also of
 * src/ledger/launched.c.
 */
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/unit/unit.h"

#include "src/ledger/launched.h"
#include "src/ledger/ledger_find.h"
#include "src/ledger/ledger_heap.h"
#include "tests/unit/ledger_image.h"

static struct heap *read_image(struct image *im)
{
	struct ledger_options o = { 0 };
	struct ledger_map *m = NULL;
	struct heap *h = NULL;

	assert_int_equal(ledger_map_open_fd(im->fd, IMAGE_SLOT, &m, NULL), 0);
	assert_int_equal(ledger_read(m, &o, &h, NULL), 0);
	ledger_map_close(m);
	return h;
}

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
	assert_int_equal(open_code(&im, 1), -EBADMSG);
	im.l->magic = 0;
	assert_int_equal(open_code(&im, IMAGE_SLOT), -EAGAIN);
	im.l->magic = PMM_LEDGER_MAGIC;
	im.l->version = PMM_LEDGER_VERSION + 1;
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
	assert_int_equal(launched_refuse(getpid(), &e), -EBUSY);
	assert_false(ledger_awaited(getpid()));
	im.tree->slot[IMAGE_SLOT].state = PMM_SLOT_REPLACED;
	assert_int_equal(ledger_map_open_pid(getpid(), &m, &e), -ENOENT);
	image_free(&im);
	assert_int_equal(ledger_map_open_pid(getpid(), &m, &e), -ENOENT);
	assert_non_null(strstr(e.text, "not tracked"));
	assert_non_null(strstr(e.hint, "start it with 'pmm run -- COMMAND'"));
	assert_int_equal(launched_refuse(getpid(), &e), 0);
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
				   (off_t)(im.slot_off + IMAGE_ARENA_OFF + (512 << 10)), 512 << 10),
			 0);
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

/*
 * Without capabilities and monitor the ledger is read out of the process's memory. Runs in a
 * child.
 */
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
	return h->live_bytes == 4711 && h->nr_blocks == 1 && h->blocks[0].address == 0x40000 ? 0
											     : 14;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_ledger_is_refused),
		cmocka_unit_test(a_process_is_found_by_its_mapping),
		cmocka_unit_test(reading_allocates_nothing),
		cmocka_unit_test(a_file_that_may_shrink_is_not_mapped),
		cmocka_unit_test(a_ledger_is_read_through_memory),
		cmocka_unit_test(a_view_is_asked_for),
		cmocka_unit_test(an_arena_that_grows_is_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
