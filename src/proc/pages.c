/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which pages a process has. */
#include "src/proc/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PAGE		4096ull
#define MAX_PAGEMAP	(64ull << 30)	/* address space looked at entry by entry */
#define MAX_IN_HASTE	(256ull << 20)	/* ... where only some pages are wanted */

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
#define IS_GUARD	(1u << 8)	/* since 6.15; without it they seem swapped */
#define NR_REGIONS	256

/* /proc/PID/pagemap: bits of an entry. */
#define ENTRY_PRESENT	(1ull << 63)
#define ENTRY_SWAPPED	(1ull << 62)
#define ENTRY_FILE	(1ull << 61)
#define NR_ENTRIES	768

int pages_open(pid_t pid)
{
	char path[48];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Joined with the last one where they touch. */
static int add(struct page_runs *to, size_t first, uint64_t start, uint64_t end)
{
	if (to->nr > first && vec_last(to)->end == start) {
		vec_last(to)->end = end;
		return 0;
	}
	return vec_push(to, (struct page_run){ start, end });
}

static int scan(int fd, uint64_t start, uint64_t end, bool changed, uint64_t max_pages,
		struct page_runs *to)
{
	const size_t first = to->nr;
	struct page_region regions[NR_REGIONS];
	const uint64_t without = IS_ZERO | IS_GUARD | (changed ? IS_FILE : 0);
	struct scan_arg a = {
		.size = sizeof(a),
		.start = start,
		.end = end,
		.vec = (uintptr_t)regions,
		.vec_len = NR_REGIONS,
		.max_pages = max_pages,
		.category_inverted = without,
		.category_mask = without,
		.category_anyof_mask = IS_PRESENT | IS_SWAPPED,
		.return_mask = IS_PRESENT | IS_SWAPPED,
	};

	while (a.start < end) {
		int n = ioctl(fd, SCAN, &a), rc = 0;

		if (n < 0 && errno == EINVAL && a.category_mask & IS_GUARD) {
			a.category_mask = a.category_inverted = without & ~(uint64_t)IS_GUARD;
			continue;
		}
		if (n < 0)
			return -errno;
		for (int i = 0; !rc && i < n; i++) {
			rc = add(to, first, regions[i].start, regions[i].end);
			if (max_pages)
				a.max_pages -= (regions[i].end - regions[i].start) / PAGE;
		}
		if (rc || (max_pages && !a.max_pages))
			return rc;
		if (a.walk_end <= a.start)
			return -EIO;
		a.start = a.walk_end;
	}
	return 0;
}

/* The same on older kernels. */
static int read_pagemap(int fd, uint64_t start, uint64_t end, bool changed, uint64_t max_pages,
			struct page_runs *to)
{
	const size_t first = to->nr;
	uint64_t entry[NR_ENTRIES], left = max_pages ? max_pages : UINT64_MAX;
	int rc = 0;

	if (end - start > (max_pages ? MAX_IN_HASTE : MAX_PAGEMAP))
		return -EOPNOTSUPP;
	while (!rc && start < end) {
		size_t want = (end - start) / PAGE < NR_ENTRIES ? (size_t)((end - start) / PAGE)
								: NR_ENTRIES;
		ssize_t n = pread(fd, entry, want * 8, (off_t)(start / PAGE * 8)) / 8;

		if (n <= 0)
			return -EIO;
		for (ssize_t i = 0; !rc && i < n && left; i++, start += PAGE)
			if (entry[i] & (ENTRY_PRESENT | ENTRY_SWAPPED) &&
			    !(changed && entry[i] & ENTRY_FILE)) {
				rc = add(to, first, start, start + PAGE);
				left--;
			}
		if (!left)
			break;
	}
	return rc;
}

int pages_find(int fd, uint64_t start, uint64_t end, bool changed, uint64_t max_pages,
	       struct page_runs *to)
{
	const size_t before = to->nr;
	int rc = fd < 0 ? -EBADF : scan(fd, start, end, changed, max_pages, to);

	if (rc == -ENOTTY) {
		to->nr = before;
		rc = read_pagemap(fd, start, end, changed, max_pages, to);
	}
	return rc;
}

int pages_open_shared(pid_t pid, const struct proc_map *m)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, m->start,
		 m->end);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/* A run of bytes of the file, as pages of the mapping. */
static int add_data(struct page_runs *to, size_t first, const struct proc_map *m, uint64_t data,
		    uint64_t hole, uint64_t max_pages)
{
	uint64_t start = m->start + ((data & ~(PAGE - 1)) - m->offset),
		 end = m->start + (((hole + PAGE - 1) & ~(PAGE - 1)) - m->offset), nr = 0;

	for (size_t i = first; i < to->nr; i++)
		nr += (to->v[i].end - to->v[i].start) / PAGE;
	if (end > m->end)
		end = m->end;
	if (max_pages && (end - start) / PAGE > max_pages - nr)
		end = start + (max_pages - nr) * PAGE;
	return end > start ? add(to, first, start, end) : 0;
}

bool pages_on_disk(pid_t pid, const struct proc_map *m)
{
	static const uint64_t in_memory[] = { TMPFS_MAGIC, RAMFS_MAGIC, HUGETLBFS_MAGIC };
	char path[PATH_MAX];
	struct statfs fs;
	int n = snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, m->path);

	if (m->dev_major)
		return true;
	if (m->path[0] != '/' || n >= (int)sizeof(path) || statfs(path, &fs))
		return false;
	for (size_t i = 0; i < sizeof(in_memory) / sizeof(in_memory[0]); i++)
		if ((uint64_t)fs.f_type == in_memory[i])
			return false;
	return true;
}

int pages_find_shared(int fd, const struct proc_map *m, bool in_memory, uint64_t max_pages,
		      struct page_runs *to)
{
	const uint64_t end = m->offset + (m->end - m->start);
	const size_t first = to->nr;
	off_t at = (off_t)m->offset;
	struct statfs fs;
	int rc = 0;

	if (in_memory && fstatfs(fd, &fs))
		return -errno;
	if (in_memory && fs.f_type != TMPFS_MAGIC)
		return -EOPNOTSUPP;
	while (!rc && (at = lseek(fd, at, SEEK_DATA)) >= 0 && (uint64_t)at < end) {
		off_t hole = lseek(fd, at, SEEK_HOLE);

		if (hole <= at)
			return hole < 0 && errno != ENXIO ? -errno : -EAGAIN;
		rc = add_data(to, first, m, (uint64_t)at, (uint64_t)hole, max_pages);
		at = hole;
	}
	if (at < 0 && errno != ENXIO)
		rc = -errno;
	return rc;
}
