/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory read while all threads are stopped. */
#include "src/ptrace/withheld.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/ptrace/stop.h"

#define HUGE_BYTES	((size_t)2 << 20)
#define MANY_BYTES	(2 * HUGE_BYTES)

int withheld_begin(struct withheld *w, pid_t pid, size_t bytes)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	*w = (struct withheld){ .pid = pid,
				.mem = open(path, O_RDONLY | O_CLOEXEC),
				.pagemap = pages_open(pid) };
	if (bytes)
		w->room = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (w->room == MAP_FAILED)
		w->room = NULL;
	w->room_bytes = w->room ? bytes : 0;
	return w->pagemap < 0 ? w->pagemap : 0;
}

/*
 * Much of it in huge pages, where they are to be had: to fill small ones takes longer than to copy
 * what comes in.
 */
static uint8_t *take_memory(size_t bytes)
{
	uint8_t *p = bytes < MANY_BYTES ? malloc(bytes)
					: aligned_alloc(HUGE_BYTES, (bytes + HUGE_BYTES - 1) &
									    ~(HUGE_BYTES - 1));

	if (p && bytes >= MANY_BYTES)
		madvise(p, bytes, MADV_HUGEPAGE);
	return p;
}

/* Of a bounded amount, which has been seen to. */
static uint8_t *take_room(struct withheld *w, size_t bytes)
{
	uint8_t *at;

	if (w->room_bytes - w->room_used < bytes)
		return take_memory(bytes);
	at = w->room + w->room_used;
	w->room_used += bytes;
	return at;
}

static void drop(const struct withheld *w, struct withheld_piece *p)
{
	if (!w->room || p->bytes < w->room || p->bytes >= w->room + w->room_bytes)
		free(p->bytes);
}

/* Where the pages are: mapped in the process, or in the file of a mapping. */
struct source {
	const struct proc_map *m;
	int fd;			/* -1 = in the process */
};

/*
 * Of a file, what the process would see there; without a fault, which takes longer and gives it
 * pages.
 */
static bool read_run(const struct withheld *w, const struct source *from,
		     const struct page_run *run, void *to)
{
	size_t bytes = run->end - run->start, done = 0;
	ssize_t n = 1;

	if (from->fd < 0)
		return stop_read_some(w->pid, w->mem, run->start, to, bytes) == bytes;
	for (; done < bytes && n > 0; done += n > 0 ? (size_t)n : 0)
		n = pread(from->fd, (char *)to + done, bytes - done,
			  (off_t)(from->m->offset + (run->start - from->m->start) + done));
	/* a last page of which the file has a part */
	memset((char *)to + done, 0, bytes - done);
	return n >= 0;
}

static int add_piece(struct withheld *w, const struct source *from, const struct page_run *run,
		     bool bounded)
{
	size_t bytes = run->end - run->start;
	struct withheld_piece p = { run->start, run->end,
				    bounded ? take_room(w, bytes) : take_memory(bytes) };
	int rc = !p.bytes			    ? -ENOMEM
		 : !read_run(w, from, run, p.bytes) ? -EIO
						    : vec_push(&w->pieces, p);

	if (rc)
		drop(w, &p);
	return rc;
}

static void drop_from(struct withheld *w, size_t nr)
{
	while (w->pieces.nr > nr)
		drop(w, &w->pieces.v[--w->pieces.nr]);
}

/* Read what w->runs has. How many bytes, or -errno and none is added. */
static int64_t add_runs(struct withheld *w, const struct source *from, bool bounded)
{
	const size_t before = w->pieces.nr;
	uint64_t bytes = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < w->runs.nr; i++) {
		rc = add_piece(w, from, &w->runs.v[i], bounded);
		bytes += w->runs.v[i].end - w->runs.v[i].start;
	}
	if (rc) {
		drop_from(w, before);
		return rc;
	}
	w->bytes += bytes;
	return (int64_t)bytes;
}

int64_t withheld_add(struct withheld *w, uint64_t start, uint64_t end, uint64_t max_pages)
{
	int rc;

	w->runs.nr = 0;
	rc = pages_find(w->pagemap, start, end, false, max_pages, &w->runs);
	return rc ? rc : add_runs(w, &(struct source){ .fd = -1 }, max_pages != 0);
}

static bool is_whole(const struct page_runs *runs, const struct proc_map *m)
{
	return runs->nr == 1 && runs->v[0].start == m->start && runs->v[0].end == m->end;
}

/*
 * A mapping that is all in the page table need not be looked for, which takes longer. Where the
 * file cannot be looked at, what is in the page table is added.
 */
int64_t withheld_add_shared(struct withheld *w, const struct proc_map *m, uint64_t max_pages,
			    enum withheld_rest *rest)
{
	struct source from = { .m = m, .fd = -1 };
	struct page_runs file = { 0 };
	int64_t bytes;
	int fd, rc, file_rc;

	w->runs.nr = 0;
	*rest = WITHHELD_REST_ZERO;
	rc = pages_find(w->pagemap, m->start, m->end, false, max_pages, &w->runs);
	if (!rc && is_whole(&w->runs, m))
		return add_runs(w, &from, max_pages != 0);
	fd = pages_open_shared(w->pid, m);
	file_rc = fd < 0 ? fd : pages_find_shared(fd, m, true, max_pages, &file);
	if (!file_rc) {
		vec_fini(&w->runs);
		w->runs = file;
		from.fd = fd;
		rc = 0;
	} else {
		vec_fini(&file);
		*rest = file_rc == -EOPNOTSUPP || pages_on_disk(w->pid, m)
				? WITHHELD_REST_ON_DISK
				: WITHHELD_REST_UNKNOWN;
	}
	bytes = rc ? rc : add_runs(w, &from, max_pages != 0);
	if (fd >= 0)
		close(fd);
	return bytes;
}

static int by_address(const void *a, const void *b)
{
	const struct withheld_piece *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void close_all(struct withheld *w)
{
	if (w->pid && w->mem >= 0)
		close(w->mem);
	if (w->pid && w->pagemap >= 0)
		close(w->pagemap);
	w->pid = 0;
	vec_fini(&w->runs);
}

void withheld_order(struct withheld *w)
{
	close_all(w);
	vec_sort(&w->pieces, by_address);
}

const uint8_t *withheld_find(const struct withheld *w, uint64_t address, size_t *bytes)
{
	size_t i = vec_while(&w->pieces, p, p->end <= address);
	const struct withheld_piece *p;

	if (i == w->pieces.nr)
		return NULL;
	p = &w->pieces.v[i];
	if (p->start > address) {
		if (p->start - address < *bytes)
			*bytes = p->start - address;
		return NULL;
	}
	if (p->end - address < *bytes)
		*bytes = p->end - address;
	return p->bytes + (address - p->start);
}

void withheld_fini(struct withheld *w)
{
	close_all(w);
	drop_from(w, 0);
	vec_fini(&w->pieces);
	if (w->room)
		munmap(w->room, w->room_bytes);
	*w = (struct withheld){ 0 };
}
