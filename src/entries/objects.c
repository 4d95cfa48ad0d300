/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ELF objects that a process has mapped (gABI program headers, auxiliary vector getauxval(3)).
 */
#include "src/entries/objects.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/elf_arch.h"
#include "src/base/str.h"
#include "src/base/vec.h"
#include "src/proc/proc.h"
#include "src/proc/task.h"

#define PAGE		4096ull
#define MAX_PHDRS	64
#define MAX_DYNAMIC	4096		/* entries */
#define MAX_LINKS	65536		/* of the loader's list */
#define ADDRESS_END	(1ull << 47)

struct reader {
	struct objects *o;
	struct proc_maps maps;
	uint64_t phdr, vdso;		/* of the auxiliary vector */
	VEC(struct object) found;
	struct err *e;
};

int objects_read(const struct objects *o, uint64_t at, void *to, size_t bytes)
{
	char *p = to;

	while (bytes) {
		ssize_t n = at < ADDRESS_END ? pread(o->mem, p, bytes, (off_t)at) : -1;

		if (n < 0 && at < ADDRESS_END && errno == EINTR)
			continue;
		if (n < 0 && at < ADDRESS_END && errno == ENOMEM)
			return -ENOMEM;
		if (n <= 0)
			return -EFAULT;
		p += n;
		at += (uint64_t)n;
		bytes -= (size_t)n;
	}
	return 0;
}

/* ---- one object ------------------------------------------------------------------------------ */

/*
 * The loader makes addresses of these absolute where it may write to the section; musl's and the
 * kernel's (vdso) stay as they are.
 */
static uint64_t dynamic_address(const struct object *object, uint64_t value)
{
	return value >= object->start && value < object->end ? value : value + object->bias;
}

/* 0, also where it cannot be read; -ENOMEM. */
static int dynamic_read(struct reader *r, struct object *object, const Elf64_Phdr *ph)
{
	size_t nr = ph->p_memsz / sizeof(Elf64_Dyn);
	Elf64_Dyn *dyn;

	if (nr > MAX_DYNAMIC)
		nr = MAX_DYNAMIC;
	dyn = calloc(nr + 1, sizeof(*dyn));
	if (!dyn)
		return -ENOMEM;
	if (objects_read(r->o, object->bias + ph->p_vaddr, dyn, nr * sizeof(*dyn)))
		nr = 0;
	for (size_t i = 0; i < nr && dyn[i].d_tag != DT_NULL; i++) {
		uint64_t value = dyn[i].d_un.d_val, address = dynamic_address(object, value);

		switch (dyn[i].d_tag) {
		case DT_SYMTAB: object->symbols = address; break;
		case DT_STRTAB: object->strings = address; break;
		case DT_STRSZ: object->strings_bytes = value; break;
		case DT_HASH: object->hash = address; break;
		case DT_GNU_HASH: object->gnu_hash = address; break;
		case DT_JMPREL: object->jmprel = address; break;
		case DT_PLTRELSZ: object->jmprel_bytes = value; break;
		case DT_DEBUG: object->debug = value; break;
		default: break;
		}
	}
	free(dyn);
	return 0;
}

static const struct proc_map *map_at(const struct reader *r, uint64_t address)
{
	size_t i = vec_while(&r->maps, map, map->end <= address);

	return i < r->maps.nr && r->maps.v[i].start <= address ? &r->maps.v[i] : NULL;
}

/*
 * Where the segments are when the file's first byte is at `base`; false when no code is there: a
 * file that is only looked at.
 */
static bool segments_place(const struct reader *r, struct object *object, const Elf64_Phdr *ph,
			   unsigned nr, uint64_t base)
{
	bool has_code = false, has_first = false;

	for (unsigned i = 0; i < nr && !has_first; i++)
		if (ph[i].p_type == PT_LOAD && ph[i].p_offset < PAGE) {
			object->bias = base - (ph[i].p_vaddr - ph[i].p_offset);
			has_first = true;
		}
	object->start = object->code_start = UINT64_MAX;
	for (unsigned i = 0; i < nr; i++) {
		uint64_t start = object->bias + ph[i].p_vaddr;
		const struct proc_map *map;

		if (ph[i].p_type != PT_LOAD || !ph[i].p_memsz)
			continue;
		if (start >= ADDRESS_END || ph[i].p_memsz > ADDRESS_END - start)
			return false;
		if (start < object->start)
			object->start = start;
		if (start + ph[i].p_memsz > object->end)
			object->end = start + ph[i].p_memsz;
		map = ph[i].p_flags & PF_X ? map_at(r, start) : NULL;
		if (!map || !(map->perms & PROC_MAP_EXEC))
			continue;
		has_code = true;
		if (start < object->code_start)
			object->code_start = start;
		if (start + ph[i].p_memsz > object->code_end)
			object->code_end = start + ph[i].p_memsz;
	}
	return has_first && has_code;
}

static bool header_fits(const Elf64_Ehdr *eh)
{
	return !memcmp(eh->e_ident, ELFMAG, SELFMAG) && eh->e_ident[EI_CLASS] == ELFCLASS64 &&
	       eh->e_machine == ARCH_ELF_MACHINE &&
	       (eh->e_type == ET_DYN || eh->e_type == ET_EXEC) &&
	       eh->e_phentsize == sizeof(Elf64_Phdr) && eh->e_phnum && eh->e_phnum <= MAX_PHDRS;
}

static char *path_of(const struct proc_map *map)
{
	static const char deleted[] = " (deleted)";
	char *path = strdup(map->path);

	if (path && str_ends(path, deleted))
		path[strlen(path) - strlen(deleted)] = '\0';
	return path;
}

static int object_read(struct reader *r, const struct proc_map *map)
{
	struct object object = {
		.map_start = map->start, .map_end = map->end, .ino = map->ino,
		.dev_major = map->dev_major, .dev_minor = map->dev_minor, .order = UINT32_MAX,
		.is_vdso = map->start == r->vdso,
	};
	Elf64_Phdr ph[MAX_PHDRS];
	Elf64_Ehdr eh;

	int rc = objects_read(r->o, map->start, &eh, sizeof(eh));

	if (!rc && header_fits(&eh) && eh.e_phoff <= map->end - map->start)
		rc = objects_read(r->o, map->start + eh.e_phoff, ph, eh.e_phnum * sizeof(ph[0]));
	else
		rc = rc ? rc : -EFAULT;
	if (rc || !segments_place(r, &object, ph, eh.e_phnum, map->start))
		return rc == -ENOMEM ? rc : 0;
	for (unsigned i = 0; i < eh.e_phnum; i++) {
		object.has_loader |= ph[i].p_type == PT_INTERP;
		if (ph[i].p_type == PT_DYNAMIC && dynamic_read(r, &object, &ph[i]))
			return -ENOMEM;
	}
	object.is_program = r->phdr >= object.start && r->phdr < object.end;
	object.path = path_of(map);
	if (!object.path || vec_push(&r->found, object)) {
		free(object.path);
		return -ENOMEM;
	}
	return 0;
}

/* ---- the loader's list ----------------------------------------------------------------------- */

static struct object *find_bias(struct objects *o, uint64_t bias, uint64_t dynamic)
{
	for (size_t i = 0; i < o->nr; i++)
		if (o->v[i].bias == bias && dynamic >= o->v[i].start && dynamic < o->v[i].end)
			return &o->v[i];
	return NULL;
}

/*
 * Walk r_debug.r_map (<link.h>): the program, what is preloaded, its libraries as symbols are
 * looked up. glibc's loader makes the list before it maps the libraries, and says until they are
 * all there that it adds some; what is in the list and was not mapped has been added since.
 */
static void links_read(struct objects *o, uint64_t debug)
{
	struct r_debug d;
	struct link_map link;
	uint64_t at;

	if (!debug || objects_read(o, debug, &d, sizeof(d)))
		return;
	o->linked = d.r_map && d.r_state != RT_ADD;
	at = (uint64_t)d.r_map;
	for (unsigned n = 0; at && n < MAX_LINKS && !objects_read(o, at, &link, sizeof(link));
	     n++) {
		struct object *object = find_bias(o, link.l_addr, (uint64_t)link.l_ld);

		if (object && object->order == UINT32_MAX)
			object->order = n;
		o->linked &= object != NULL;
		at = (uint64_t)link.l_next;
	}
}

/*
 * Where the loader's list does not tell: the program, then by falling address, since libraries are
 * mapped downwards.
 */
static int compare_order(const void *a, const void *b)
{
	const struct object *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	if (x->is_program != y->is_program)
		return x->is_program ? -1 : 1;
	return x->start > y->start ? -1 : x->start < y->start;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void auxv_read(struct reader *r)
{
	Elf64_auxv_t v[64];
	size_t nr = proc_auxv(r->o->pid, v, sizeof(v)) / sizeof(v[0]);

	for (size_t i = 0; i < nr && v[i].a_type != AT_NULL; i++) {
		if (v[i].a_type == AT_PHDR)
			r->phdr = v[i].a_un.a_val;
		else if (v[i].a_type == AT_SYSINFO_EHDR)
			r->vdso = v[i].a_un.a_val;
	}
}

static int memory_open(struct reader *r)
{
	char path[48];
	int code;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)task_proc(r->o->pid));
	r->o->mem = open(path, O_RDONLY | O_CLOEXEC);
	if (r->o->mem >= 0)
		return 0;
	code = errno == ENOENT ? -ESRCH : -errno;
	err_set(r->e, code,
		code == -ESRCH ? "there is no process %d"
			       : "cannot read the memory of process %d: %s",
		(int)r->o->pid, strerror(-code));
	if (code == -EACCES || code == -EPERM)
		err_hint(r->e, "run as root or as the process's own user");
	return code == -EPERM ? -EACCES : code;
}

static int maps_walk(struct reader *r)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < r->maps.nr; i++) {
		const struct proc_map *map = &r->maps.v[i];

		if (map->offset < PAGE && map->perms & PROC_MAP_READ &&
		    (map->ino || map->start == r->vdso))
			rc = object_read(r, map);
	}
	r->o->v = r->found.v;
	r->o->nr = r->found.nr;
	return rc;
}

int objects_open(pid_t pid, struct objects *o, struct err *e)
{
	struct reader r = { .o = o, .e = e };
	int rc;

	*o = (struct objects){ .pid = pid, .mem = -1 };
	rc = memory_open(&r);
	if (!rc)
		rc = proc_maps_read(pid, &r.maps, e);
	if (rc)
		return rc;
	auxv_read(&r);
	rc = maps_walk(&r);
	/* the memory opened is no longer the process's, or not filled yet */
	if (!rc && r.maps.nr && !o->nr)
		rc = err_set(e, -EAGAIN, "process %d is being replaced by another program (exec)",
			     (int)pid);
	proc_maps_fini(&r.maps);
	for (size_t i = 0; !rc && i < o->nr; i++)
		if (o->v[i].is_program)
			links_read(o, o->v[i].debug);
	vec_qsort(o->v, o->nr, sizeof(*o->v), compare_order);
	return rc;
}

void objects_close(struct objects *o)
{
	for (size_t i = 0; i < o->nr; i++)
		free(o->v[i].path);
	free(o->v);
	if (o->mem >= 0)
		close(o->mem);
	*o = (struct objects){ .mem = -1 };
}
