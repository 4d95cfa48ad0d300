/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Roots by mapping: what each of a process's mappings can hold, and the ELF objects among them.
 *
 * Writable data of objects, private and shared memory are roots; what only ever comes out of a file
 * (code, constants, archives), devices and the kernel's own pages are not. Of what is mapped
 * privately and may not be written any more (RELRO, say), those pages count that the process has
 * changed, or, where the kernel does not say, the RELRO segment.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "include/pmm/ledger.h"
#include "src/base/str.h"
#include "src/ledger/preload.h"
#include "src/roots/roots_priv.h"

#define MAX_PHDRS	64
#define ADDRESS_END	(1ull << 47)
#define AGENT_MIN_BYTES	(256ull << 10)	/* of its tables */
#define AGENT_MAX_BYTES	(256ull << 20)
/* of its object, which has 1 MiB: what states more is no agent */
#define AGENT_MAX_IMAGE	(16ull << 20)

/* ---- objects --------------------------------------------------------------------------------- */

static bool header_fits(const Elf64_Ehdr *eh)
{
	return !memcmp(eh->e_ident, ELFMAG, SELFMAG) && eh->e_ident[EI_CLASS] == ELFCLASS64 &&
	       (eh->e_type == ET_DYN || eh->e_type == ET_EXEC) &&
	       eh->e_phentsize == sizeof(Elf64_Phdr) && eh->e_phnum && eh->e_phnum <= MAX_PHDRS;
}

static bool segments_read(struct roots_object *o, const Elf64_Phdr *ph, unsigned nr, uint64_t base)
{
	uint64_t bias = 0;
	bool found = false;

	for (unsigned i = 0; i < nr && !found; i++)
		if (ph[i].p_type == PT_LOAD && ph[i].p_offset < ROOTS_PAGE) {
			bias = base - (ph[i].p_vaddr - ph[i].p_offset);
			found = true;
		}
	o->start = UINT64_MAX;
	for (unsigned i = 0; found && i < nr; i++) {
		uint64_t start = bias + ph[i].p_vaddr, end = start + ph[i].p_memsz;

		if (start >= ADDRESS_END || ph[i].p_memsz > ADDRESS_END - start)
			return false;
		if (ph[i].p_type == PT_GNU_RELRO) {
			o->relro_start = roots_page_down(start);
			o->relro_end = roots_page_up(end);
		}
		if (ph[i].p_type != PT_LOAD)
			continue;
		if (roots_page_down(start) < o->start)
			o->start = roots_page_down(start);
		if (roots_page_up(end) > o->end)
			o->end = roots_page_up(end);
	}
	return found && o->start < o->end;
}

static int object_read(struct roots_find *f, const struct proc_map *map)
{
	struct roots_object o = { .path = map->path,
				  .ino = map->ino,
				  .dev_major = map->dev_major,
				  .dev_minor = map->dev_minor };
	Elf64_Phdr ph[MAX_PHDRS];
	Elf64_Ehdr eh;
	size_t bytes;

	if (roots_read(f, map->start, &eh, sizeof(eh)) != sizeof(eh) || !header_fits(&eh))
		return 0;
	bytes = eh.e_phnum * sizeof(ph[0]);
	if (eh.e_phoff > map->end - map->start ||
	    roots_read(f, map->start + eh.e_phoff, ph, bytes) != bytes ||
	    !segments_read(&o, ph, eh.e_phnum, map->start))
		return 0;
	return vec_push(&f->objects, o);
}

int roots_objects_find(struct roots_find *f)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < f->maps->nr; i++) {
		const struct proc_map *m = &f->maps->v[i];

		if (m->ino && !m->offset && (m->perms & PROC_MAP_READ) &&
		    !(m->perms & PROC_MAP_SHARED) && m->path[0] == '/' &&
		    !str_starts(m->path, "/dev/"))
			rc = object_read(f, m);
	}
	return rc;
}

static bool is_object(const struct roots_find *f, const struct proc_map *m)
{
	vec_each(&f->objects, o)
		if (o->ino == m->ino && o->dev_major == m->dev_major &&
		    o->dev_minor == m->dev_minor)
			return true;
	return false;
}

/* ---- mappings -------------------------------------------------------------------------------- */

/* Files that live in memory: a mapping of one may show what was written through another mapping. */
static bool is_memory_file(const char *path)
{
	return str_starts(path, "/memfd:") || str_starts(path, "/SYSV") ||
	       str_starts(path, "/dev/shm/") || str_starts(path, "/dev/zero") ||
	       str_starts(path, "/dev/hugepages/") || str_starts(path, "/anon_hugepage") ||
	       str_starts(path, "[anon_shmem:");
}

static bool is_device(const char *path)
{
	return (str_starts(path, "/dev/") && !is_memory_file(path)) || str_starts(path, "/sys/") ||
	       str_starts(path, "/proc/");
}

static bool is_anonymous(const struct proc_map *m)
{
	return (!m->ino && (!m->path[0] || str_starts(m->path, "[anon:"))) ||
	       str_starts(m->path, "/anon_hugepage") || str_starts(m->path, "/dev/zero");
}

static bool is_ledger(const struct proc_map *m)
{
	return str_starts(m->path, "/memfd:" PMM_MEMFD_NAME);
}

/* The kind of a mapping's range; ROOTS_NONE: none. */
static unsigned kind_of(const struct roots_find *f, const struct proc_map *m)
{
	bool writable = m->perms & PROC_MAP_WRITE;

	if (!(m->perms & (PROC_MAP_READ | PROC_MAP_WRITE)) || is_ledger(m) || is_device(m->path))
		return ROOTS_NONE;
	if (m->perms & PROC_MAP_SHARED)
		return writable || is_memory_file(m->path) ? MEMORY_SHARED : ROOTS_NONE;
	if (!strcmp(m->path, "[heap]"))
		return MEMORY_BREAK;
	if (str_starts(m->path, "[stack"))
		return MEMORY_STACK;
	if (is_anonymous(m))
		return MEMORY_ANONYMOUS;
	if (!m->ino || (m->perms & PROC_MAP_EXEC && !writable))
		return ROOTS_NONE;	/* the kernel's pages ([vdso], [vvar]); code */
	return is_object(f, m) ? MEMORY_DATA : MEMORY_FILE;
}

/* A mapping's pages that are there. */
static int pages_add(struct roots_find *f, const struct roots_spans *pages, unsigned kind)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < pages->nr; i++)
		rc = vec_push(&f->ranges, (struct memory_range){ .start = pages->v[i].start,
								 .end = pages->v[i].end,
								 .kind = (uint8_t)kind });
	return rc;
}

static int relro_add(struct roots_find *f, const struct proc_map *m, unsigned kind)
{
	int rc = 0;

	vec_each(&f->objects, o) {
		struct memory_range r = { .start = o->relro_start > m->start ? o->relro_start
									     : m->start,
					  .end = o->relro_end < m->end ? o->relro_end : m->end,
					  .kind = (uint8_t)kind };

		if (!rc && r.start < r.end)
			rc = vec_push(&f->ranges, r);
	}
	return rc;
}

static int range_add(struct roots_find *f, const struct proc_map *m, unsigned kind)
{
	bool constant = (kind == MEMORY_DATA || kind == MEMORY_FILE) &&
			!(m->perms & PROC_MAP_WRITE);
	bool large = kind == MEMORY_SHARED && m->end - m->start >= ROOTS_TRIM_BYTES;
	struct roots_spans pages = { 0 };
	int rc = -EOPNOTSUPP;

	if (f->pages && constant)
		rc = f->pages->there(f->pages->arg, m->start, m->end, true, &pages);
	else if (f->pages && large)
		rc = f->pages->shared(f->pages->arg, m, &pages);
	if (!rc)
		rc = pages_add(f, &pages, kind);
	else if (rc == -ENOMEM)
		;
	else if (constant)
		rc = relro_add(f, m, kind);
	else
		rc = vec_push(&f->ranges, (struct memory_range){ .start = m->start,
								 .end = m->end,
								 .kind = (uint8_t)kind });
	vec_fini(&pages);
	return rc;
}

/* ---- what is pmm's --------------------------------------------------------------------------- */

/*
 * Does a private anonymous mapping begin at an address, and do such reach to its end without a gap?
 */
static bool is_mapped(const struct proc_maps *maps, uint64_t start, uint64_t bytes)
{
	uint64_t at = 0;

	for (size_t i = 0; i < maps->nr; i++) {
		const struct proc_map *m = &maps->v[i];

		if (m->start == (at ? at : start) && is_anonymous(m))
			at = m->end;
		else if (at)
			break;
	}
	return at >= start + bytes;
}

/*
 * The first page from `at` on that can be written to: what an agent notes is not in its code. *map
 * is where to go on in the list.
 */
static uint64_t next_writable(const struct proc_maps *maps, size_t *map, uint64_t at)
{
	const struct proc_map *m = &maps->v[*map], *end = maps->v + maps->nr;

	while (m < end && (m->end <= at || !(m->perms & PROC_MAP_WRITE)))
		m++;
	*map = (size_t)(m - maps->v);
	if (m == end)
		return ADDRESS_END;
	return m->start > at ? m->start : at;
}

/*
 * The agent's own tables: their address and size stand side by side in its data (struct agent,
 * private_start).
 */
static int agent_tables(struct roots_find *f, const struct roots_object *agent)
{
	uint64_t words[ROOTS_PAGE / 8 + 1] = { 0 };
	size_t map = 0;

	for (uint64_t at = next_writable(f->maps, &map, agent->start); at < agent->end;
	     at = next_writable(f->maps, &map, at + ROOTS_PAGE)) {
		size_t n = roots_read(f, at, words, ROOTS_PAGE + 8) / 8;

		for (size_t i = 0; i + 1 < n; i++) {
			uint64_t start = words[i], bytes = words[i + 1];

			if (start & (ROOTS_PAGE - 1) || !start || start >= ADDRESS_END ||
			    bytes < AGENT_MIN_BYTES || bytes > AGENT_MAX_BYTES ||
			    !is_mapped(f->maps, start, bytes))
				continue;
			return vec_push(&f->own,
					(struct memory_range){ .start = start,
							       .end = roots_page_up(start + bytes),
							       .kind = ROOTS_NONE });
		}
	}
	return 0;
}

static int own_add(struct roots_find *f, uint64_t start, uint64_t end, uint64_t what)
{
	if (start >= end || end > ADDRESS_END || start & (ROOTS_PAGE - 1))
		return 0;
	if (what == PMM_OWN_TABLES)
		return vec_push(&f->own, (struct memory_range){ .start = start,
								.end = roots_page_up(end),
								.kind = ROOTS_NONE });
	if (what == PMM_OWN_POOL)
		f->pool = (struct memory_span){ start, end };
	return 0;
}

/*
 * The tables and the pool of its check form, which are noted in its data (struct pmm_own,
 * include/pmm/check.h).
 */
static int check_tables(struct roots_find *f, const struct roots_object *agent)
{
	uint64_t words[ROOTS_PAGE / 8 + 3] = { 0 };
	size_t map = 0;
	int rc = 0;

	for (uint64_t at = next_writable(f->maps, &map, agent->start); at < agent->end;
	     at = next_writable(f->maps, &map, at + ROOTS_PAGE)) {
		size_t n = roots_read(f, at, words, ROOTS_PAGE + 24) / 8;

		for (size_t i = 0; !rc && i + 3 < n; i++)
			if (words[i] == (PMM_OWN_TAG ^ (at + i * 8)))
				rc = own_add(f, words[i + 1], words[i + 2], words[i + 3]);
	}
	return rc;
}

static int own_find(struct roots_find *f)
{
	int rc = 0;

	vec_each(&f->objects, o) {
		if (rc || !preload_is_agent(o->path) || o->end - o->start > AGENT_MAX_IMAGE)
			continue;
		rc = vec_push(&f->own, (struct memory_range){ .start = o->start,
							      .end = o->end,
							      .kind = ROOTS_NONE });
		if (!rc)
			rc = agent_tables(f, o);
		if (!rc)
			rc = check_tables(f, o);
	}
	return rc;
}

/* ---- all ------------------------------------------------------------------------------------- */

/*
 * What is between an object's first and last address is its data, bss included, which the kernel
 * shows as anonymous or the break.
 */
static int data_mark(struct roots_find *f)
{
	struct roots_ranges marks = { 0 };
	int rc = 0;

	vec_each(&f->objects, o)
		if (!rc)
			rc = vec_push(&marks, (struct memory_range){ .start = o->start,
								     .end = o->end,
								     .kind = MEMORY_DATA });
	if (!rc)
		rc = roots_paint(&f->ranges, &marks);
	vec_fini(&marks);
	return rc;
}

/*
 * A core file does not name the break: it is the first private memory behind the program, which is
 * the lowest object.
 */
static void break_name(struct roots_find *f)
{
	const struct roots_object *program = f->objects.v;
	size_t i;

	vec_each(&f->objects, o)
		if (o->start < program->start)
			program = o;
	if (!program)
		return;
	for (i = roots_range_at(&f->ranges, program->end); i < f->ranges.nr; i++)
		if (f->ranges.v[i].kind == MEMORY_BREAK)
			return;
	i = roots_range_at(&f->ranges, program->end);
	if (i == f->ranges.nr || f->ranges.v[i].kind != MEMORY_ANONYMOUS)
		return;
	do
		f->ranges.v[i].kind = MEMORY_BREAK;
	while (++i < f->ranges.nr && f->ranges.v[i].kind == MEMORY_ANONYMOUS &&
	       f->ranges.v[i].start == f->ranges.v[i - 1].end);
}

int roots_maps_find(struct roots_find *f)
{
	int rc = own_find(f);

	for (size_t i = 0; !rc && i < f->maps->nr; i++) {
		const struct proc_map *m = &f->maps->v[i];
		unsigned kind = kind_of(f, m);

		if (m->perms & PROC_MAP_EXEC)
			rc = vec_push(&f->memory->code, (struct memory_span){ m->start, m->end });
		if (!rc && kind != ROOTS_NONE)
			rc = range_add(f, m, kind);
	}
	if (!rc)
		rc = roots_ranges_order(&f->ranges);
	if (!rc)
		rc = data_mark(f);
	if (!rc && !f->names_break)
		break_name(f);
	return rc ? rc : roots_paint(&f->ranges, &f->own);
}
