/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols that are not exported: symbol tables of files, separate debug files, compressed symbols
 * in .gnu_debugdata.
 *
 * Files are hostile like everything of the process: they are read, not mapped, and belong to it by
 * device and inode and by their first bytes, which must be those that the process has in memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "src/entries/entries_custom.h"
#include "src/entries/entries_scan.h"
#include "src/entries/filecode.h"
#include "src/proc/debugfile.h"
#include "src/proc/elffile.h"
#include "src/proc/task.h"

#define HOST_DEBUG_DIR	"/usr/lib/debug"
#define MAX_NAMED	2u		/* objects named in a message */

/* ---- the file of an object ------------------------------------------------------------------- */

/* What could not be looked at is not what has no allocator. */
static void heed(struct scan *s, int rc)
{
	if (!s->error && elf_file_unseen(rc))
		s->error = rc;
}

/* Are the file's first bytes, with the program headers, where the process has it mapped? */
static bool same_start(const struct objects *o, const struct object *object, int fd)
{
	uint8_t file[512], memory[512];

	return pread(fd, file, sizeof(file), 0) == (ssize_t)sizeof(file) &&
	       !objects_read(o, object->map_start, memory, sizeof(memory)) &&
	       !memcmp(file, memory, sizeof(file));
}

/*
 * Open the file that the object was mapped from, also when that is deleted or in another mount
 * namespace; its contents are those that the process has mapped. 0, -ENOENT when it cannot be had,
 * or another -errno.
 */
static int open_file(const struct objects *o, const struct object *object, struct elf_file *file)
{
	char path[PATH_MAX + 64];
	struct stat st;
	int fd;

	if (!object->ino)
		return -ENOENT;
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)task_proc(o->pid), object->path);
	fd = filecode_open(path, &st);
	if (fd >= 0 && (st.st_ino != object->ino ||
			st.st_dev != makedev(object->dev_major, object->dev_minor))) {
		close(fd);
		fd = -ENOENT;
	}
	if (fd < 0) {
		char map[96];

		snprintf(map, sizeof(map), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
			 (int)task_proc(o->pid), object->map_start, object->map_end);
		fd = filecode_open(map, &st);
	}
	if (fd < 0)
		return elf_file_unseen(fd) ? fd : -ENOENT;
	if (!same_start(o, object, fd)) {
		close(fd);
		return -ENOENT;
	}
	return elf_file_open_fd(file, fd, path);
}

/* ---- its symbols ----------------------------------------------------------------------------- */

/* The symbols of one file with a symbol table; how many there were. */
static size_t read_symtab(struct scan *s, const struct object *object, const struct elf_file *f)
{
	uint64_t bias = object->start -
			(f->nr_code ? f->first_vaddr : object->start - object->bias);
	GElf_Shdr header;
	Elf_Data *data;
	Elf_Scn *scn;
	size_t nr;

	errno = 0;
	scn = elf_file_section(f, NULL, SHT_SYMTAB, &header);
	data = scn ? elf_getdata(scn, NULL) : NULL;
	nr = data && header.sh_entsize == sizeof(Elf64_Sym) ? data->d_size / sizeof(Elf64_Sym) : 0;
	for (size_t i = 1; i < nr && i < INT_MAX; i++) {
		struct object_symbol symbol = { 0 };
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym) || sym.st_shndx == SHN_UNDEF ||
		    sym.st_shndx == SHN_ABS)
			continue;
		symbol.address = bias + sym.st_value;
		symbol.size = sym.st_size;
		symbol.type = GELF_ST_TYPE(sym.st_info);
		symbol.name = elf_strptr(f->elf, header.sh_link, sym.st_name);
		if (!symbol.name || symbol.type == STT_TLS || symbol.type == STT_SECTION ||
		    symbol.type == STT_FILE || symbol.address < object->start ||
		    symbol.address >= object->end)
			continue;
		s->local = GELF_ST_BIND(sym.st_info) == STB_LOCAL;
		scan_symbol(s, &symbol);
	}
	s->local = false;
	heed(s, elf_file_trouble());
	return nr;
}

/* Its separate debug file: the machine's, or the one in its own file system. */
static size_t read_debug_file(struct scan *s, const struct object *object, const struct elf_file *f)
{
	char dirs[96];
	struct debug_search search = { .dirs = dirs, .error = &s->error };
	struct elf_file debug = { .fd = -1 };
	size_t nr = 0;

	snprintf(dirs, sizeof(dirs), HOST_DEBUG_DIR ":/proc/%d/root" HOST_DEBUG_DIR,
		 (int)s->objects.pid);
	if (!debug_file_find(&search, f, f->build_id, f->build_id_len, &debug)) {
		nr = read_symtab(s, object, &debug);
		elf_file_close(&debug);
	}
	return nr;
}

static size_t read_mini(struct scan *s, const struct object *object, const struct elf_file *f)
{
	struct elf_file mini = { .fd = -1 };
	int rc = debug_file_mini(f, &mini);
	size_t nr = 0;

	heed(s, rc);
	if (!rc) {
		nr = read_symtab(s, object, &mini);
		elf_file_close(&mini);
	}
	return nr;
}

/* For people: what was looked at, the first few by name. */
static void note(struct scan *s, const struct object *object, const char *what)
{
	if (s->nr_looked++ < MAX_NAMED)
		str_addf(&s->looked, "%s'%s' (%s)", *str_text(&s->looked) ? ", " : "", object->path,
			 what);
}

/*
 * Symbol table of its file; where that has none, or not what is wanted, also what stands in for it.
 */
static void read_object(struct scan *s, size_t number, bool (*satisfied)(const struct scan *s))
{
	const struct object *object = &s->objects.v[number];
	struct elf_file f = { .fd = -1 };
	bool table, debug = false;
	int rc = open_file(&s->objects, object, &f);

	s->object = number;
	if (rc) {
		heed(s, rc);
		note(s, object, "its file cannot be read");
		return;
	}
	table = read_symtab(s, object, &f) > 1;
	if (!satisfied(s)) {
		debug = read_debug_file(s, object, &f) > 1;
		debug |= !satisfied(s) && read_mini(s, object, &f) > 1;
	}
	note(s, object,
	     table   ? debug ? "symbol table and debug file" : "symbol table, no debug file"
	     : debug ? "no symbol table, but a debug file"
		     : "no symbol table, no debug file");
	elf_file_close(&f);
}

/* ---- what is wanted -------------------------------------------------------------------------- */

static bool customs_found(const struct scan *s)
{
	for (size_t i = 0; i < s->nr_custom; i++)
		if (!s->custom_found[i])
			return false;
	return true;
}

static bool all_found(const struct scan *s)
{
	return scan_has_allocator(s) && customs_found(s);
}

static bool may_have_custom(const struct scan *s, const struct object *object)
{
	for (size_t i = 0; i < s->nr_custom; i++)
		if (!s->custom_found[i] && entries_custom_object(&s->custom[i], object))
			return true;
	return false;
}

/* Functions given by their address in the file. */
static void addresses_add(struct scan *s)
{
	for (size_t i = 0; i < s->nr_custom; i++) {
		const struct entries_custom *c = &s->custom[i];
		uint64_t address;

		for (size_t k = 0; entries_custom_address(c, &address) && k < s->objects.nr; k++) {
			const struct object *o = &s->objects.v[k];
			struct object_symbol symbol = { .name = c->name,
							.address = o->bias + address,
							.type = STT_FUNC };

			if ((c->module ? entries_custom_object(c, o) : o->is_program) &&
			    symbol.address >= o->start && symbol.address < o->end &&
			    !s->custom_found[i]) {
				s->object = k;
				scan_symbol(s, &symbol);
			}
		}
	}
}

int scan_files(struct scan *s)
{
	addresses_add(s);
	for (size_t i = 0; i < s->objects.nr; i++)
		if (s->objects.v[i].is_program)
			read_object(s, i, all_found);
	s->only_custom = true;
	for (size_t i = 0; !customs_found(s) && i < s->objects.nr; i++)
		if (!s->objects.v[i].is_program && s->objects.v[i].ino &&
		    may_have_custom(s, &s->objects.v[i]))
			read_object(s, i, customs_found);
	if (s->nr_looked > MAX_NAMED)
		str_addf(&s->looked, ", in the same way in %u others", s->nr_looked - MAX_NAMED);
	str_addf(&s->looked, "%sin the exported symbols of %zu objects",
		 s->nr_looked ? ", and " : "", s->objects.nr);
	return s->error;
}
