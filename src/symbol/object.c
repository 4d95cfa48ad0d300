/*
 * The object file behind a module: its own file, separate debug file, symbols and DWARF, each opened when needed.
 *
 * A file whose build id is not the one that ran is not used. The separate debug file, found by that id, serves even
 * when the file itself is gone. DWARF comes first, then .symtab, then .dynsym with .gnu_debugdata.
 */
#include "src/symbol/object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "src/base/str.h"

#define VDSO_MAX_BYTES	65536

/* The kernel's own library, from our copy of it. */
static int open_vdso(struct elf_file *f)
{
	const Elf64_Ehdr *eh = (const void *)getauxval(AT_SYSINFO_EHDR);
	uint64_t size;
	void *image;

	if (!eh)
		return -ENOENT;
	size = eh->e_shoff + (uint64_t)eh->e_shnum * eh->e_shentsize;
	if (size > VDSO_MAX_BYTES)
		return -ENOENT;
	image = malloc(size);
	if (!image)
		return -ENOMEM;
	memcpy(image, eh, size);
	return elf_file_open_memory(f, image, size, "[vdso]");
}

/* Open the file at the path as the process saw it. */
static int open_main(struct object *o, const struct object_options *opt)
{
	static const char deleted[] = " (deleted)";
	struct str path = STR_INIT;
	int rc;

	if (!strcmp(o->path, "[vdso]") || str_starts(o->path, "linux-vdso.so"))
		return open_vdso(&o->main);
	if (o->path[0] != '/')
		return -ENOENT;
	str_add(&path, opt->root);
	str_add(&path, o->path);
	rc = str_error(&path) ? -ENOMEM : elf_file_open(&o->main, str_text(&path));
	if (rc == -ENOENT && str_ends(str_text(&path), deleted)) {
		path.s[path.len - strlen(deleted)] = '\0';
		rc = elf_file_open(&o->main, path.s);
	}
	str_fini(&path);
	return rc;
}

static enum symbol_state check_main(struct object *o, const struct object_options *opt)
{
	int rc = open_main(o, opt);

	if (rc)
		return rc == -ENOEXEC ? SYMBOL_FILE_BAD : SYMBOL_FILE_GONE;
	if (!o->build_id_len)
		return SYMBOL_FILE_UNCHECKED;
	if (elf_file_has_build_id(&o->main, o->build_id, o->build_id_len))
		return SYMBOL_FILE_OK;
	elf_file_close(&o->main);
	return SYMBOL_FILE_REPLACED;
}

static bool has_section(const struct elf_file *f, const char *name, unsigned type)
{
	GElf_Shdr header;

	return f->elf && elf_file_section(f, name, type, &header) && header.sh_type != SHT_NOBITS;
}

/* The file with the DWARF to use, NULL = none. */
static struct elf_file *dwarf_file(struct object *o)
{
	if (o->has_debug && elf_file_has_dwarf(&o->debug))
		return &o->debug;
	return o->has_main && elf_file_has_dwarf(&o->main) ? &o->main : NULL;
}

static void set_source(struct object *o, const struct elf_file *f)
{
	free(o->source);
	o->source = strdup(f->path);
}

static void judge(struct object *o, const struct object_options *opt)
{
	struct elf_file *dwarf = dwarf_file(o);

	o->quality = SYMBOL_NONE;
	if (dwarf && opt->full) {
		o->quality = SYMBOL_DWARF;
		set_source(o, dwarf);
	} else if (has_section(&o->main, NULL, SHT_SYMTAB)) {
		o->quality = SYMBOL_SYMTAB;
		set_source(o, &o->main);
	} else if (has_section(&o->debug, NULL, SHT_SYMTAB)) {
		o->quality = SYMBOL_SYMTAB;
		set_source(o, &o->debug);
	} else if (has_section(&o->main, ".gnu_debugdata", SHT_NULL)) {
		o->quality = SYMBOL_SYMTAB;
		set_source(o, &o->main);
	} else if (has_section(&o->main, NULL, SHT_DYNSYM)) {
		o->quality = SYMBOL_DYNSYM;
		set_source(o, &o->main);
	}
}

void object_open(struct object *o, const struct object_options *opt)
{
	const uint8_t *id;
	size_t len;

	if (o->opened)
		return;
	o->opened = true;
	o->state = check_main(o, opt);
	if (o->state != SYMBOL_FILE_OK && o->build_id_len && !debug_file_by_id(&opt->search, o->build_id,
									       o->build_id_len, "", &o->main))
		o->has_main = true;	/* a copy of it elsewhere; state still tells of the path */
	o->has_main = o->main.elf != NULL;
	id = o->build_id_len ? o->build_id : o->main.build_id;
	len = o->build_id_len ? o->build_id_len : o->main.build_id_len;
	if (opt->full ? !o->has_main || !elf_file_has_dwarf(&o->main) :
			!has_section(&o->main, NULL, SHT_SYMTAB))
		o->has_debug = !debug_file_find(&opt->search, o->has_main ? &o->main : NULL, id, len, &o->debug);
	judge(o, opt);
}

static void open_dwarf(struct object *o, const struct object_options *opt)
{
	struct elf_file *f = dwarf_file(o);
	int rc;

	o->dwarf_tried = true;
	if (!opt->full || !f)
		return;
	rc = debug_file_alt(&opt->search, f, &o->alt);
	if (rc && rc != -ENODATA)
		return;		/* most names would be in the file that is not there */
	o->dwarf = dwarf_info_new(f, rc ? NULL : &o->alt);
	o->dwarf_shift = o->has_main ? o->main.first_vaddr - f->first_vaddr : 0;
}

static void open_symtab(struct object *o)
{
	struct elf_file *code = o->has_main ? &o->main : &o->debug;
	uint64_t shift = o->has_main && o->has_debug ? o->main.first_vaddr - o->debug.first_vaddr : 0;

	o->symtab_tried = true;
	if (o->has_main && symtab_add(&o->symtab, &o->main, SHT_SYMTAB, code, 0) >= 0)
		return;
	if (o->has_debug && symtab_add(&o->symtab, &o->debug, SHT_SYMTAB, code, shift) >= 0)
		return;
	if (!o->has_main)
		return;
	symtab_add(&o->symtab, &o->main, SHT_DYNSYM, code, 0);
	if (!debug_file_mini(&o->main, &o->mini))
		symtab_add(&o->symtab, &o->mini, SHT_SYMTAB, code, o->main.first_vaddr - o->mini.first_vaddr);
}

static const char *find_symbol(struct object *o, uint64_t address, uint64_t *entry)
{
	if (!o->symtab_tried)
		open_symtab(o);
	return symtab_find(&o->symtab, address, entry);
}

/*
 * What DWARF gives no linkage name the symbol table has: functions without debug information, static ones in C++ (_ZL1fv), and in C the name that
 * others call a function by (newlocale, where the source has __newlocale) and the compiler's for its copies (f.part.0).
 */
static void complete(struct object *o, uint64_t address, struct dwarf_frame *outer)
{
	const char *name;
	uint64_t entry;

	if (outer->linkage)
		return;
	name = find_symbol(o, address, &entry);
	if (!name || (outer->name && entry != outer->entry))
		return;
	outer->linkage = name;
	outer->entry = entry;
}

int object_find(struct object *o, const struct object_options *opt, uint64_t address, struct dwarf_frame *frames, int max)
{
	int nr = 0;

	object_open(o, opt);
	if (max < 1 || (!o->has_main && !o->has_debug))
		return 0;
	if (!o->dwarf_tried)
		open_dwarf(o, opt);
	if (o->dwarf)
		nr = dwarf_info_find(o->dwarf, address - o->dwarf_shift, frames, max);
	if (!nr) {
		frames[0] = (struct dwarf_frame){ 0 };
	} else if (frames[nr - 1].entry) {
		frames[nr - 1].entry += o->dwarf_shift;
	}
	complete(o, address, &frames[nr ? nr - 1 : 0]);
	return nr ? nr : frames[0].linkage != NULL;
}

void object_close(struct object *o)
{
	dwarf_info_free(o->dwarf);
	o->dwarf = NULL;
	symtab_fini(&o->symtab);
	if (o->opened) {
		elf_file_close(&o->alt);
		elf_file_close(&o->mini);
		elf_file_close(&o->debug);
		elf_file_close(&o->main);
	}
	o->opened = o->has_main = o->has_debug = o->dwarf_tried = o->symtab_tried = false;
}
