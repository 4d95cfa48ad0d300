/*
 * Which pages a process has: so that what was only reserved, terabytes perhaps, is neither read nor, by being read, filled.
 *
 * Private memory is asked for with PAGEMAP_SCAN (Linux 6.7, Documentation/admin-guide/mm/pagemap.rst) or in /proc/PID/pagemap, of the
 * copy and of the process itself: a copy lacks what is not inherited (MADV_DONTFORK), and the process may have given back some since.
 * Shared memory is asked of its file (lseek(2), SEEK_DATA). Where the kernel does not answer the whole mapping counts.
 */
#include "src/capture/scene_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MAX_PAGEMAP	(64ull << 30)	/* address space looked at entry by entry */

/* linux/fs.h, which Debian 12 has without this. */
struct page_region { uint64_t start, end, categories; };
struct scan_arg {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
#define SCAN		_IOWR('f', 16, struct scan_arg)
#define IS_FILE		(1u << 2)
#define IS_PRESENT	(1u << 3)
#define IS_SWAPPED	(1u << 4)
#define IS_ZERO		(1u << 5)
#define NR_REGIONS	512

/* /proc/PID/pagemap: bits of an entry. */
#define ENTRY_PRESENT	(1ull << 63)
#define ENTRY_SWAPPED	(1ull << 62)
#define ENTRY_FILE	(1ull << 61)
#define NR_ENTRIES	4096

/* ---- private memory ------------------------------------------------------------------------------------------ */

static int add(struct scene_ranges *to, uint64_t start, uint64_t end)
{
	return vec_push(to, (struct memory_range){ .start = start, .end = end });
}

static int scan(int fd, uint64_t start, uint64_t end, bool changed, struct scene_ranges *to)
{
	struct page_region regions[NR_REGIONS];
	struct scan_arg a = {
		.size = sizeof(a), .start = start, .end = end, .vec = (uintptr_t)regions, .vec_len = NR_REGIONS,
		.category_inverted = IS_ZERO | (changed ? IS_FILE : 0), .category_mask = IS_ZERO | (changed ? IS_FILE : 0),
		.category_anyof_mask = IS_PRESENT | IS_SWAPPED, .return_mask = IS_PRESENT | IS_SWAPPED,
	};

	while (a.start < end) {
		int n = ioctl(fd, SCAN, &a), rc = 0;

		if (n < 0)
			return -errno;
		for (int i = 0; !rc && i < n; i++)
			rc = add(to, regions[i].start, regions[i].end);
		if (rc || a.walk_end <= a.start)
			return rc;
		a.start = a.walk_end;
	}
	return 0;
}

/* The same on older kernels. */
static int look(int fd, uint64_t start, uint64_t end, bool changed, struct scene_ranges *to)
{
	uint64_t entry[NR_ENTRIES];
	int rc = 0;

	if (end - start > MAX_PAGEMAP)
		return -EOPNOTSUPP;
	while (!rc && start < end) {
		size_t want = (end - start) / SCENE_PAGE < NR_ENTRIES ? (size_t)((end - start) / SCENE_PAGE) : NR_ENTRIES;
		ssize_t n = pread(fd, entry, want * 8, (off_t)(start / SCENE_PAGE * 8)) / 8;

		if (n <= 0)
			return -EIO;
		for (ssize_t i = 0; !rc && i < n; i++, start += SCENE_PAGE)
			if (entry[i] & (ENTRY_PRESENT | ENTRY_SWAPPED) && !(changed && entry[i] & ENTRY_FILE))
				rc = add(to, start, start + SCENE_PAGE);
	}
	return rc;
}

static int there_in(int fd, uint64_t start, uint64_t end, bool changed, struct scene_ranges *to)
{
	size_t before = to->nr;
	int rc = fd < 0 ? -EBADF : scan(fd, start, end, changed, to);

	if (rc == -ENOTTY) {
		to->nr = before;
		rc = look(fd, start, end, changed, to);
	}
	return rc;
}

static int by_start(const void *a, const void *b)
{
	const struct memory_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int pages_there(void *arg, uint64_t start, uint64_t end, bool changed, struct scene_spans *to)
{
	struct scene_pagemaps *p = arg;
	struct scene_ranges found = { 0 };
	int rc = there_in(p->process, start, end, changed, &found);

	if (!rc && p->has_copy)
		rc = there_in(p->copy, start, end, changed, &found);
	vec_sort(&found, by_start);
	for (size_t i = 0; !rc && i < found.nr; i++)
		rc = scene_span_add(to, found.v[i].start > start ? found.v[i].start : start,
				    found.v[i].end < end ? found.v[i].end : end);
	vec_fini(&found);
	return rc;
}

/* ---- shared memory ------------------------------------------------------------------------------------------- */

static int pages_shared(void *arg, const struct proc_map *m, struct scene_spans *to)
{
	struct scene_pagemaps *p = arg;
	uint64_t end = m->offset + (m->end - m->start);
	off_t at = (off_t)m->offset, hole;
	char path[96];
	int fd, rc = 0;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)p->pid, m->start, m->end);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	while (!rc && (at = lseek(fd, at, SEEK_DATA)) >= 0 && (uint64_t)at < end) {
		hole = lseek(fd, at, SEEK_HOLE);
		if (hole <= at)
			break;
		rc = scene_span_add(to, scene_page_down(m->start + ((uint64_t)at - m->offset)),
				    (uint64_t)hole < end ? scene_page_up(m->start + ((uint64_t)hole - m->offset)) : m->end);
		at = hole;
	}
	if (at < 0 && errno != ENXIO)
		rc = -errno;
	close(fd);
	return rc;
}

/* ---- all ------------------------------------------------------------------------------------------------------- */

static int pagemap_open(pid_t pid)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

void scene_pagemaps_open(struct scene_pagemaps *p, pid_t pid, pid_t copy)
{
	*p = (struct scene_pagemaps){
		.pages = { .there = pages_there, .shared = pages_shared, .arg = p },
		.pid = pid, .has_copy = copy != 0, .process = pagemap_open(pid), .copy = copy ? pagemap_open(copy) : -1,
	};
}

void scene_pagemaps_close(struct scene_pagemaps *p)
{
	if (p->process >= 0)
		close(p->process);
	if (p->copy >= 0)
		close(p->copy);
	p->process = p->copy = -1;
}

static bool may_trim(const struct memory_range *r)
{
	return r->kind != MEMORY_SHARED && r->end - r->start >= SCENE_TRIM_BYTES;
}

int scene_pages_trim(struct scene_find *f)
{
	struct scene_ranges to = { 0 };
	int rc = 0;

	if (!f->pages)
		return 0;
	for (size_t i = 0; !rc && i < f->ranges.nr; i++) {
		struct memory_range r = f->ranges.v[i];
		struct scene_spans there = { 0 };

		if (!may_trim(&r) || f->pages->there(f->pages->arg, scene_page_down(r.start), scene_page_up(r.end), false, &there)) {
			rc = vec_push(&to, r);
			vec_fini(&there);
			continue;
		}
		for (size_t k = 0; !rc && k < there.nr; k++) {
			struct memory_range one = r;

			one.start = there.v[k].start > r.start ? there.v[k].start : r.start;
			one.end = there.v[k].end < r.end ? there.v[k].end : r.end;
			rc = vec_push(&to, one);
		}
		vec_fini(&there);
	}
	if (rc) {
		vec_fini(&to);
		return rc;
	}
	vec_fini(&f->ranges);
	f->ranges = to;
	return 0;
}
