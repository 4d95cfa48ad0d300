/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The object file behind a module: its own file, separate debug file, symbols and DWARF, each
 * opened when needed.
 *
 * A file whose build id is not the one that ran is not used. The separate debug file, found by that
 * id, serves even when the file itself is gone. DWARF comes first, then .symtab, then .dynsym
 * with.gnu_debugdata.
 */
#include "src/symbol/object.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/str.h"

static void failed(const struct object_options *opt, int rc)
{
	if (!*opt->search.error)
		*opt->search.error = rc;
}

/*
 * What libelf and libdw have met since errno was 0. Where they give less than there is, nothing
 * else says so.
 */
static void heed(const struct object_options *opt)
{
	int rc = elf_file_trouble();

	if (rc)
		failed(opt, rc);
}

/* Open the file at the path as the process saw it. */
static int open_main(struct object *o, const struct object_options *opt)
{
	static const char deleted[] = " (deleted)";
	struct str path = STR_INIT;
	int rc;

	if (!strcmp(o->path, "[vdso]") || str_starts(o->path, "linux-vdso.so"))
		return elf_file_open_vdso(&o->main);
	if (o->by_fd) {
		rc = fcntl(o->fd, F_DUPFD_CLOEXEC, 0);
		return rc < 0 ? -errno : elf_file_open_fd(&o->main, rc, o->path);
	}
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

	if (elf_file_unseen(rc))
		failed(opt, rc);
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

/*
 * Has it DWARF that is not too much to read, beside that of other files? `more`: that of the file
 * that it shares some with.
 */
static bool has_dwarf(struct object *o, const struct object_options *opt, const struct elf_file *f,
		      uint64_t more)
{
	const uint64_t others = *opt->held_bytes - o->held_bytes, bytes = f->bounds.debug_bytes;

	if (!f->elf || !elf_file_has_dwarf(f))
		return false;
	if (bytes <= opt->max_bytes && others + more <= opt->max_bytes - bytes)
		return true;
	if (!o->too_large) {
		o->too_large = strdup(f->path);
		o->too_large_bytes = bytes < UINT64_MAX - others - more ? bytes + others + more
									: UINT64_MAX;
	}
	return false;
}

/* Count what is read from now on. */
static void hold(struct object *o, const struct object_options *opt, uint64_t bytes)
{
	*opt->held_bytes += bytes - o->held_bytes;
	o->held_bytes = bytes;
}

/* The file with the DWARF to use, NULL = none. */
static struct elf_file *dwarf_file(struct object *o, const struct object_options *opt)
{
	if (!opt->full)
		return NULL;
	if (o->has_debug && has_dwarf(o, opt, &o->debug, 0))
		return &o->debug;
	return o->has_main && has_dwarf(o, opt, &o->main, 0) ? &o->main : NULL;
}

static void set_source(struct object *o, const struct object_options *opt, const struct elf_file *f)
{
	free(o->source);
	o->source = strdup(f->path);
	if (!o->source)
		failed(opt, -ENOMEM);
}

static void judge(struct object *o, const struct object_options *opt)
{
	struct elf_file *dwarf = dwarf_file(o, opt);

	o->quality = SYMBOL_NONE;
	if (dwarf) {
		o->quality = SYMBOL_DWARF;
		set_source(o, opt, dwarf);
	} else if (has_section(&o->main, NULL, SHT_SYMTAB)) {
		o->quality = SYMBOL_SYMTAB;
		set_source(o, opt, &o->main);
	} else if (has_section(&o->debug, NULL, SHT_SYMTAB)) {
		o->quality = SYMBOL_SYMTAB;
		set_source(o, opt, &o->debug);
	} else if (has_section(&o->main, ".gnu_debugdata", SHT_NULL)) {
		o->quality = SYMBOL_SYMTAB;
		set_source(o, opt, &o->main);
	} else if (has_section(&o->main, NULL, SHT_DYNSYM)) {
		o->quality = SYMBOL_DYNSYM;
		set_source(o, opt, &o->main);
	}
}

void object_open(struct object *o, const struct object_options *opt)
{
	const uint8_t *id;
	bool needed;
	size_t len;

	if (o->opened)
		return;
	o->opened = true;
	o->state = check_main(o, opt);
	if (o->state != SYMBOL_FILE_OK && o->build_id_len &&
	    !debug_file_by_id(&opt->search, o->build_id, o->build_id_len, "", &o->main))
		o->has_main = true;	/* a copy of it elsewhere; state is still about the path */
	o->has_main = o->main.elf != NULL;
	errno = 0;
	id = o->build_id_len ? o->build_id : o->main.build_id;
	len = o->build_id_len ? o->build_id_len : o->main.build_id_len;
	needed = opt->full ? !o->has_main || !elf_file_has_dwarf(&o->main)
			   : !has_section(&o->main, NULL, SHT_SYMTAB);
	heed(opt);
	if (needed)
		o->has_debug = !debug_file_find(&opt->search, o->has_main ? &o->main : NULL, id,
						len, &o->debug);
	errno = 0;
	judge(o, opt);
	heed(opt);
}

static void open_dwarf(struct object *o, const struct object_options *opt)
{
	struct elf_file *f;
	int rc;

	errno = 0;
	f = dwarf_file(o, opt);
	heed(opt);
	o->dwarf_tried = true;
	if (!f) {
		judge(o, opt);		/* others have been opened since */
		return;
	}
	rc = o->alt.elf ? 0 : debug_file_alt(&opt->search, f, &o->alt);
	if ((rc && rc != -ENODATA) || (!rc && !has_dwarf(o, opt, &o->alt, f->bounds.debug_bytes)))
		return;		/* most names would be in the file that is not there */
	hold(o, opt, f->bounds.debug_bytes + (rc ? 0 : o->alt.bounds.debug_bytes));
	o->dwarf = dwarf_info_new(f, rc ? NULL : &o->alt, &opt->search.stop);
	if (!o->dwarf && elf_file_unseen(-errno))
		failed(opt, -errno);
	o->dwarf_shift = o->has_main ? o->main.first_vaddr - f->first_vaddr : 0;
}

/* False when there is no such table. */
static bool add_symbols(struct object *o, const struct object_options *opt,
			const struct elf_file *f, unsigned type, uint64_t shift)
{
	int rc;

	errno = 0;
	rc = symtab_add(&o->symtab, f, type, o->has_main ? &o->main : &o->debug, shift);
	heed(opt);
	if (rc == -ENOMEM)
		failed(opt, rc);
	return rc >= 0;
}

static void open_symtab(struct object *o, const struct object_options *opt)
{
	uint64_t shift = o->has_main && o->has_debug ? o->main.first_vaddr - o->debug.first_vaddr
						     : 0;
	int rc;

	o->symtab_tried = true;
	if (o->has_main && add_symbols(o, opt, &o->main, SHT_SYMTAB, 0))
		return;
	if (o->has_debug && add_symbols(o, opt, &o->debug, SHT_SYMTAB, shift))
		return;
	if (!o->has_main)
		return;
	add_symbols(o, opt, &o->main, SHT_DYNSYM, 0);
	rc = debug_file_mini(&o->main, &o->mini);
	if (elf_file_unseen(rc))
		failed(opt, rc);
	if (!rc)
		add_symbols(o, opt, &o->mini, SHT_SYMTAB,
			    o->main.first_vaddr - o->mini.first_vaddr);
}

static const char *find_symbol(struct object *o, const struct object_options *opt, uint64_t address,
			       uint64_t *entry)
{
	const char *name;

	if (!o->symtab_tried)
		open_symtab(o, opt);
	errno = 0;
	name = symtab_find(&o->symtab, address, entry);
	heed(opt);
	return name;
}

/*
 * What DWARF gives no linkage name the symbol table has: functions without debug information,
 * static ones in C++ (_ZL1fv), and in C the name that others call a function by (newlocale, where
 * the source has __newlocale) and the compiler's for its copies (f.part.0).
 */
static void complete(struct object *o, const struct object_options *opt, uint64_t address,
		     struct dwarf_frame *outer)
{
	const char *name;
	uint64_t entry;

	if (outer->linkage)
		return;
	name = find_symbol(o, opt, address, &entry);
	if (!name || (outer->name && entry != outer->entry))
		return;
	outer->linkage = name;
	outer->entry = entry;
}

int object_find(struct object *o, const struct object_options *opt, uint64_t address,
		struct dwarf_frame *frames, int max)
{
	int nr = 0;

	object_open(o, opt);
	if (max < 1 || (!o->has_main && !o->has_debug))
		return 0;
	if (!o->dwarf_tried)
		open_dwarf(o, opt);
	if (o->dwarf)
		nr = dwarf_info_find(o->dwarf, address - o->dwarf_shift, frames, max);
	if (o->dwarf && dwarf_info_error(o->dwarf))
		failed(opt, dwarf_info_error(o->dwarf));
	if (!nr) {
		frames[0] = (struct dwarf_frame){ 0 };
	} else if (frames[nr - 1].entry) {
		frames[nr - 1].entry += o->dwarf_shift;
	}
	complete(o, opt, address, &frames[nr ? nr - 1 : 0]);
	return nr ? nr : frames[0].linkage != NULL;
}

const char *object_directory(struct object *o, const struct object_options *opt, uint64_t address)
{
	/* what a kept answer did not need may not be open yet */
	object_open(o, opt);
	if ((o->has_main || o->has_debug) && !o->dwarf_tried)
		open_dwarf(o, opt);
	return o->dwarf ? dwarf_info_directory(o->dwarf, address - o->dwarf_shift) : NULL;
}

struct dwarf_info *object_dwarf(struct object *o, const struct object_options *opt)
{
	object_open(o, opt);
	if (!o->dwarf_tried && (o->has_main || o->has_debug))
		open_dwarf(o, opt);
	return o->dwarf;
}

struct datatab *object_data(struct object *o, const struct object_options *opt)
{
	int rc;

	object_open(o, opt);
	if (o->data_tried)
		return &o->data;
	o->data_tried = true;
	errno = 0;
	rc = o->has_main ? datatab_add(&o->data, &o->main, SHT_SYMTAB, 0) : -ENOENT;
	if (rc == -ENOENT && o->has_debug)
		rc = datatab_add(&o->data, &o->debug, SHT_SYMTAB,
				 o->has_main ? o->main.first_vaddr - o->debug.first_vaddr : 0);
	if (rc == -ENOENT && o->has_main)
		rc = datatab_add(&o->data, &o->main, SHT_DYNSYM, 0);
	heed(opt);
	if (rc == -ENOMEM)
		failed(opt, rc);
	return &o->data;
}

Dwarf_CFI *object_cfi(struct object *o, const struct object_options *opt)
{
	object_open(o, opt);
	if (!o->cfi && o->has_main) {
		errno = 0;
		o->cfi = dwarf_getcfi_elf(o->main.elf);
		heed(opt);
	}
	return o->cfi;
}

void object_trim(struct object *o)
{
	dwarf_info_free(o->dwarf);
	o->dwarf = NULL;
	o->dwarf_tried = false;
}

void object_close(struct object *o, const struct object_options *opt)
{
	object_trim(o);
	hold(o, opt, 0);
	symtab_fini(&o->symtab);
	datatab_fini(&o->data);
	dwarf_vars_fini(&o->vars);
	if (o->cfi)
		dwarf_cfi_end(o->cfi);
	o->cfi = NULL;
	o->data_tried = false;
	if (o->opened) {
		elf_file_close(&o->alt);
		elf_file_close(&o->mini);
		elf_file_close(&o->debug);
		elf_file_close(&o->main);
	}
	o->opened = o->has_main = o->has_debug = o->symtab_tried = false;
}
