/* SPDX-License-Identifier: GPL-2.0-or-later */
/* src/kernel/event_ring.c: the ring is a file with the pages of such a map, written to here. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/kernel/event_ring.h"

#define BYTES	4096u
#define MAX	200u

struct written {
	int fd;
	unsigned char *map;		/* consumer's page, producer's, data */
	unsigned long *producer;
	size_t page;
};

struct got {
	unsigned nr;
	size_t bytes[64];
	unsigned char first[64], last[64];
	int refuse_at;			/* 0: never */
};

static struct written written_new(void)
{
	struct written w = { .fd = memfd_create("ring", MFD_CLOEXEC),
			     .page = sysconf(_SC_PAGESIZE) };

	assert_true(w.fd >= 0);
	assert_int_equal(ftruncate(w.fd, 2 * w.page + BYTES), 0);
	w.map = mmap(NULL, 2 * w.page + BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, w.fd, 0);
	assert_ptr_not_equal(w.map, MAP_FAILED);
	w.producer = (unsigned long *)(w.map + w.page);
	return w;
}

static void written_free(struct written *w)
{
	munmap(w->map, 2 * w->page + BYTES);
	close(w->fd);
}

static unsigned long consumed(const struct written *w)
{
	return *(const unsigned long *)w->map;
}

/* A record of n bytes, all of them `value`; where its word of size and flags is. */
static uint32_t *record(struct written *w, size_t n, unsigned char value, uint32_t flags)
{
	unsigned char *data = w->map + 2 * w->page;
	uint32_t *head = (uint32_t *)(data + *w->producer % BYTES);

	*head = (uint32_t)n | flags;
	for (size_t i = 0; i < n; i++)
		data[(*w->producer + BPF_RINGBUF_HDR_SZ + i) % BYTES] = value;
	*w->producer += (n + BPF_RINGBUF_HDR_SZ + 7) / 8 * 8;
	return head;
}

static int take(void *arg, const void *data, size_t bytes)
{
	struct got *g = arg;
	const unsigned char *p = data;

	g->bytes[g->nr] = bytes;
	g->first[g->nr] = bytes ? p[0] : 0;
	g->last[g->nr] = bytes ? p[bytes - 1] : 0;
	for (size_t i = 1; i < bytes; i++)
		assert_int_equal(p[i], p[0]);
	g->nr++;
	return g->refuse_at && g->nr == (unsigned)g->refuse_at ? -EIO : 0;
}

static void records_in_their_order(void **state)
{
	struct written w = written_new();
	struct got got = { 0 };
	struct event_ring r;

	(void)state;
	assert_int_equal(event_ring_open(&r, w.fd, BYTES, MAX), 0);
	assert_int_equal(event_ring_read(&r, take, &got), 0);
	assert_int_equal(got.nr, 0);
	record(&w, 16, 1, 0);
	record(&w, 13, 2, 0);
	record(&w, 0, 0, 0);
	record(&w, 24, 3, BPF_RINGBUF_DISCARD_BIT);
	record(&w, MAX + 1, 4, 0);		/* none of ours */
	record(&w, MAX, 5, 0);
	assert_int_equal(event_ring_read(&r, take, &got), 0);
	assert_int_equal(got.nr, 4);
	assert_int_equal(got.bytes[0], 16);
	assert_int_equal(got.bytes[1], 13);
	assert_int_equal(got.first[1], 2);
	assert_int_equal(got.bytes[2], 0);
	assert_int_equal(got.bytes[3], MAX);
	assert_int_equal(got.last[3], 5);
	assert_int_equal(consumed(&w), *w.producer);
	event_ring_close(&r);
	event_ring_close(&r);
	written_free(&w);
}

static void round_and_round(void **state)
{
	struct written w = written_new();
	struct got got;
	struct event_ring r;

	(void)state;
	assert_int_equal(event_ring_open(&r, w.fd, BYTES, MAX), 0);
	for (unsigned i = 0; i < 1000; i++) {		/* some lie across the end */
		size_t n = 1 + i * 7 % MAX;

		got = (struct got){ 0 };
		record(&w, n, (unsigned char)i, 0);
		record(&w, n / 2 + 1, (unsigned char)(i + 1), 0);
		assert_int_equal(event_ring_read(&r, take, &got), 0);
		assert_int_equal(got.nr, 2);
		assert_int_equal(got.bytes[0], n);
		assert_int_equal(got.first[0], (unsigned char)i);
		assert_int_equal(got.bytes[1], n / 2 + 1);
		assert_int_equal(got.last[1], (unsigned char)(i + 1));
	}
	assert_int_equal(consumed(&w), *w.producer);
	event_ring_close(&r);
	written_free(&w);
}

/* What comes after one that is being written waits for it. */
static void one_that_is_not_complete(void **state)
{
	struct written w = written_new();
	struct got got = { 0 };
	unsigned long before;
	uint32_t *busy;
	struct event_ring r;

	(void)state;
	assert_int_equal(event_ring_open(&r, w.fd, BYTES, MAX), 0);
	record(&w, 8, 1, 0);
	before = *w.producer;
	busy = record(&w, 8, 2, BPF_RINGBUF_BUSY_BIT);
	record(&w, 8, 3, 0);
	assert_int_equal(event_ring_read(&r, take, &got), 0);
	assert_int_equal(got.nr, 1);
	assert_int_equal(consumed(&w), before);
	*busy = 8;
	assert_int_equal(event_ring_read(&r, take, &got), 0);
	assert_int_equal(got.nr, 3);
	assert_int_equal(got.first[1], 2);
	assert_int_equal(got.first[2], 3);
	event_ring_close(&r);
	written_free(&w);
}

/* Reading ends, and goes on behind the record that ended it. */
static void refused(void **state)
{
	struct written w = written_new();
	struct got got = { .refuse_at = 2 };
	struct event_ring r;

	(void)state;
	assert_int_equal(event_ring_open(&r, w.fd, BYTES, MAX), 0);
	for (unsigned char i = 1; i <= 3; i++)
		record(&w, 8, i, 0);
	assert_int_equal(event_ring_read(&r, take, &got), -EIO);
	assert_int_equal(got.nr, 2);
	assert_int_equal(event_ring_read(&r, take, &got), 0);
	assert_int_equal(got.nr, 3);
	assert_int_equal(got.first[2], 3);
	event_ring_close(&r);
	written_free(&w);
}

static void what_is_no_ring(void **state)
{
	struct event_ring r;

	(void)state;
	assert_int_equal(event_ring_open(&r, -1, BYTES, MAX), -EBADF);
	event_ring_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_in_their_order),
		cmocka_unit_test(round_and_round),
		cmocka_unit_test(one_that_is_not_complete),
		cmocka_unit_test(refused),
		cmocka_unit_test(what_is_no_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
