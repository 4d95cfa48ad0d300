/* Memory that a process keeps from its copies, read while all threads stand still. */
#include "src/target/withheld.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/str.h"

#define PAGE		4096u
#define NR_ENTRIES	4096u
#define ENTRY_PRESENT	(1ull << 63)	/* /proc/PID/pagemap */
#define ENTRY_SWAPPED	(1ull << 62)

static bool size_pages(pid_t pid, uint64_t *pages)
{
	char path[64];
	bool found;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	f = fopen(path, "re");
	found = f && fscanf(f, "%" SCNu64, pages) == 1;
	if (f)
		fclose(f);
	return found;
}

bool withheld_any(pid_t pid, pid_t copy)
{
	uint64_t all, copied;

	return !size_pages(pid, &all) || !size_pages(copy, &copied) || all != copied;
}

bool withheld_readable(const struct proc_map *m)
{
	bool device = str_starts(m->path, "/dev/") && !str_starts(m->path, "/dev/shm/") && !str_starts(m->path, "/dev/zero");

	return m->perms & PROC_MAP_READ && !device && m->path[0] != '[';
}

static int open_proc(pid_t pid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int add_piece(struct withheld *w, int mem, uint64_t start, uint64_t end)
{
	struct withheld_piece p = { start, end, malloc(end - start) };
	ssize_t n = p.bytes ? pread(mem, p.bytes, end - start, (off_t)start) : -1;
	int rc = !p.bytes ? -ENOMEM : n != (ssize_t)(end - start) ? -EIO : vec_push(&w->pieces, p);

	if (rc)
		free(p.bytes);
	return rc;
}

/* Runs of pages that there are. */
static int add_pages(struct withheld *w, int mem, int pagemap, const struct proc_map *m)
{
	uint64_t entry[NR_ENTRIES], run = 0;
	int rc = 0;

	for (uint64_t at = m->start; !rc && at < m->end; ) {
		size_t left = (size_t)((m->end - at) / PAGE), want = left < NR_ENTRIES ? left : NR_ENTRIES;
		ssize_t n = pread(pagemap, entry, want * 8, (off_t)(at / PAGE * 8)) / 8;

		if (n <= 0)
			return -EIO;
		for (ssize_t i = 0; !rc && i < n; i++, at += PAGE) {
			bool there = entry[i] & (ENTRY_PRESENT | ENTRY_SWAPPED);

			if (there && !run)
				run = at;
			if (!there && run) {
				rc = add_piece(w, mem, run, at);
				run = 0;
			}
		}
	}
	return !rc && run ? add_piece(w, mem, run, m->end) : rc;
}

static void drop_from(struct withheld *w, size_t nr)
{
	while (w->pieces.nr > nr)
		free(w->pieces.v[--w->pieces.nr].bytes);
}

int withheld_add(struct withheld *w, pid_t pid, const struct proc_map *m)
{
	int mem = open_proc(pid, "mem"), pagemap = open_proc(pid, "pagemap");
	int rc = mem < 0 ? mem : pagemap < 0 ? pagemap : 0;
	size_t before = w->pieces.nr;

	if (!rc)
		rc = add_pages(w, mem, pagemap, m);
	if (rc)
		drop_from(w, before);
	if (mem >= 0)
		close(mem);
	if (pagemap >= 0)
		close(pagemap);
	return rc;
}

void withheld_read(const struct withheld *w, uint64_t address, void *to, size_t bytes)
{
	const uint64_t end = address + bytes;
	size_t i = vec_while(&w->pieces, p, p->end <= address);

	memset(to, 0, bytes);
	for (; i < w->pieces.nr && w->pieces.v[i].start < end; i++) {
		const struct withheld_piece *p = &w->pieces.v[i];
		uint64_t from = p->start > address ? p->start : address, until = p->end < end ? p->end : end;

		memcpy((uint8_t *)to + (from - address), p->bytes + (from - p->start), until - from);
	}
}

void withheld_fini(struct withheld *w)
{
	drop_from(w, 0);
	vec_fini(&w->pieces);
}
