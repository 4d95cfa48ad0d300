/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of a process without what was put into it.
 *
 * Uprobes and debuggers replace the first byte of an instruction by a breakpoint, in the process's
 * copy of the page. The kernel reads the instruction that it steps over, and puts back, from the
 * file; so that is where it is looked for here. A file that cannot be had is none.
 *
 * Jumps of agents that stay in the process are recognised by what these have noted (struct
 * pmm_attach). What is concluded of a function must be the same with a jump in it: of the
 * instructions under a jump, the rest that it does not cover is no instruction, and a branch among
 * them is not seen.
 */
#include "src/entries/filecode.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "arch/code_arch.h"
#include "src/entries/attached.h"
#include "src/proc/task.h"

#define NONE		SIZE_MAX

void filecode_init(struct filecode *f, pid_t pid)
{
	*f = (struct filecode){ .pid = pid, .open = NONE, .fd = -1 };
}

void filecode_fini(struct filecode *f)
{
	if (f->fd >= 0)
		close(f->fd);
	proc_maps_fini(&f->maps);
	filecode_init(f, f->pid);
}

static size_t mapping_of(const struct proc_maps *maps, uint64_t address)
{
	for (size_t i = 0; i < maps->nr; i++)
		if (address >= maps->v[i].start && address < maps->v[i].end)
			return i;
	return NONE;
}

int filecode_open(const char *path, struct stat *st)
{
	int fd = open(path, O_PATH | O_CLOEXEC), rc = -ENOENT;
	char self[40];

	if (fd < 0)
		return -errno;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	if (!fstat(fd, st) && S_ISREG(st->st_mode)) {
		rc = open(self, O_RDONLY | O_CLOEXEC);
		if (rc < 0)
			rc = -errno;
	}
	close(fd);
	return rc;
}

/* The kernel's link to the file itself takes CAP_CHECKPOINT_RESTORE; its path is the process's. */
static int open_mapped(const struct filecode *f, const struct proc_map *m)
{
	const int live = (int)task_proc(f->pid);
	char path[PATH_MAX + 64];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, live, m->start,
		 m->end);
	fd = filecode_open(path, &st);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/root%s", live, m->path);
	fd = filecode_open(path, &st);
	if (fd >= 0 && (st.st_ino != m->ino || st.st_dev != makedev(m->dev_major, m->dev_minor))) {
		close(fd);
		return -1;
	}
	return fd;
}

size_t filecode_read(struct filecode *f, uint64_t address, uint8_t *code, size_t nr)
{
	const struct proc_map *m;
	size_t i;
	ssize_t n;

	if (!f->maps.nr && proc_maps_read(f->pid, &f->maps, NULL))
		return 0;
	i = mapping_of(&f->maps, address);
	if (i == NONE)
		return 0;
	m = &f->maps.v[i];
	/* data may be read-only, too (RELRO): a byte of an address may look like a breakpoint */
	if (!m->ino || m->perms & PROC_MAP_WRITE || !(m->perms & PROC_MAP_EXEC))
		return 0;
	if (f->open != i) {
		if (f->fd >= 0)
			close(f->fd);
		f->fd = open_mapped(f, m);
		f->open = i;
	}
	nr = nr < m->end - address ? nr : m->end - address;
	n = f->fd < 0 ? 0 : pread(f->fd, code, nr, (off_t)(m->offset + (address - m->start)));
	return n < 0 ? 0 : (size_t)n;
}

uint64_t filecode_mend(uint8_t *code, size_t nr, const uint8_t *file, size_t nr_file)
{
	uint64_t set = 0;

	nr = nr < nr_file ? nr : nr_file;
	for (size_t i = 0; i < nr; i++) {
		bool call = arch_is_call_for_nop(code + i, file + i, nr - i);

		if (!call && (code[i] != ARCH_BREAKPOINT || file[i] == ARCH_BREAKPOINT))
			continue;
		memcpy(code + i, file + i, call ? ARCH_CALL_NOP : 1);
		if (i < 64)
			set |= 1ull << i;
	}
	return set;
}

/* ---- jumps ---------------------------------------------------------------------------------- */

static int compare_jumps(const void *a, const void *b)
{
	const struct jump *x = a, *y = b;

	if (x->generation != y->generation)
		return x->generation > y->generation ? -1 : 1;
	return x->patch.address < y->patch.address ? -1 : x->patch.address > y->patch.address;
}

static int add_all(struct jumps *j, const struct pmm_attach *record)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < record->nr_patches; i++)
		if (record->patch[i].applied)
			rc = vec_push(&j->v, (struct jump){ record->patch[i], record->generation });
	return rc;
}

int jumps_read(pid_t pid, struct jumps *j, struct err *e)
{
	struct attached *a = malloc(sizeof(*a));	/* too large for a stack */
	struct attached_walk walk = { 0 };
	struct proc_maps maps = { 0 };
	int rc = a ? proc_maps_read(pid, &maps, NULL) : -ENOMEM, is = 0;

	*j = (struct jumps){ 0 };
	while (!rc && (is = attached_next(pid, &maps, &walk, a)) > 0)
		rc = add_all(j, &a->record);
	proc_maps_fini(&maps);
	free(a);
	vec_sort(&j->v, compare_jumps);
	if (is < 0)
		return attached_unclear(pid, is, e);
	return rc ? err_set(e, rc,
			    "cannot see what an earlier pmm has left in process %d: %s",
			    (int)pid, strerror(-rc))
		  : 0;
}

void jumps_fini(struct jumps *j)
{
	vec_fini(&j->v);
}

bool jump_lift(const uint8_t *now, const uint8_t *patched, const uint8_t *original, size_t nr,
	       uint8_t *back)
{
	unsigned nr_others = 0;
	bool any = false;

	for (size_t i = 0; i < nr; i++) {
		bool known = now[i] == patched[i] || now[i] == original[i];

		if (!known && now[i] != ARCH_BREAKPOINT)
			return false;
		any |= known && now[i] != original[i];
		nr_others += !known;
		back[i] = known ? original[i] : ARCH_BREAKPOINT;
	}
	return any && nr_others <= 1;
}

/* The part of a jump that is within the code, if it is there. */
static bool lift_one(const struct pmm_patch *p, uint64_t address, uint8_t *code, size_t nr)
{
	uint64_t low = p->address > address ? p->address : address, end = p->address + p->nr_bytes;
	uint64_t high = end - address < nr ? end : address + nr;
	uint8_t back[PMM_PATCH_BYTES];

	if (end <= address || p->address >= address + nr ||
	    !jump_lift(code + (low - address), p->patched + (low - p->address),
		       p->original + (low - p->address), high - low, back))
		return false;
	memcpy(code + (low - address), back, high - low);
	return true;
}

const struct pmm_patch *jumps_lift(const struct jumps *j, uint64_t address, uint8_t *code,
				   size_t nr)
{
	const struct pmm_patch *first = NULL;

	vec_each(&j->v, jump)
		if (lift_one(&jump->patch, address, code, nr) &&
		    (!first || jump->patch.address < first->address))
			first = &jump->patch;
	return first;
}
