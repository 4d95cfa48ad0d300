/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF shared object laid out by hand: LOAD segments, RELATIVE relocations, two symbols, nothing
 * else (gABI, x86-64 psABI).
 */
#include "src/inject/image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/elf_arch.h"
#include "arch/remote_arch.h"
#include "src/base/io.h"

#define PAGE		4096ull
#define MAX_FILE	(16u << 20)
#define MAX_SPAN	(16u << 20)

static int bad(struct err *e, const char *path, const char *what)
{
	err_set(e, -EBADMSG, "the agent '%s' is damaged: %s", path, what);
	err_hint(e, "install pmm again");
	return -EBADMSG;
}

static int file_read(const char *path, uint8_t **out, size_t *nr, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	struct stat st;

	*out = NULL;
	if (fd < 0 || fstat(fd, &st)) {
		rc = err_set(e, -errno, "cannot read the agent '%s': %s", path, strerror(errno));
		goto out;
	}
	if (st.st_size < (off_t)sizeof(Elf64_Ehdr) || st.st_size > MAX_FILE) {
		rc = bad(e, path, "its size makes no sense");
		goto out;
	}
	*nr = (size_t)st.st_size;
	*out = malloc(*nr);
	if (!*out)
		rc = err_set(e, -ENOMEM, "out of memory");
	else if ((rc = io_pread(fd, *out, *nr, 0)) == -ENODATA)
		rc = bad(e, path, "it cannot be read to its end");
	else if (rc)
		err_set(e, rc, "cannot read the agent '%s': %s", path, strerror(-rc));
out:
	if (fd >= 0)
		close(fd);
	return rc;
}

static bool inside(uint64_t off, uint64_t bytes, uint64_t whole)
{
	return off <= whole && bytes <= whole - off;
}

/* One LOAD segment into place. */
static bool segment_lay(struct image *im, const uint8_t *file, size_t nr_file, const Elf64_Phdr *ph)
{
	struct image_part *part = &im->part[im->nr_parts];
	uint64_t start = ph->p_vaddr & ~(PAGE - 1);
	uint64_t end = (ph->p_vaddr + ph->p_memsz + PAGE - 1) & ~(PAGE - 1);

	if (im->nr_parts == IMAGE_MAX_PARTS || !inside(ph->p_offset, ph->p_filesz, nr_file) ||
	    ph->p_filesz > ph->p_memsz || !inside(ph->p_vaddr, ph->p_memsz, im->nr_bytes) ||
	    !inside(start, end - start, im->nr_bytes))
		return false;
	memcpy(im->bytes + ph->p_vaddr, file + ph->p_offset, ph->p_filesz);
	*part = (struct image_part){ start, end - start, 0 };
	part->prot = (ph->p_flags & PF_R ? PROT_READ : 0) | (ph->p_flags & PF_W ? PROT_WRITE : 0) |
		     (ph->p_flags & PF_X ? PROT_EXEC : 0);
	im->nr_parts++;
	return true;
}

/* 0, -EBADMSG, -ENOMEM. */
static int lay_out(struct image *im, const uint8_t *file, size_t nr_file, const Elf64_Ehdr *eh)
{
	const Elf64_Phdr *ph = (const Elf64_Phdr *)(file + eh->e_phoff);
	uint64_t span = 0;

	for (unsigned i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && ph[i].p_vaddr + ph[i].p_memsz > span)
			span = ph[i].p_vaddr + ph[i].p_memsz;
	if (!span || span > MAX_SPAN)
		return -EBADMSG;
	im->call = (span + PAGE - 1) & ~(PAGE - 1);
	im->nr_bytes = im->call + PAGE;
	im->bytes = calloc(1, im->nr_bytes);
	if (!im->bytes)
		return -ENOMEM;
	for (unsigned i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_TLS ||
		    (ph[i].p_type == PT_LOAD && !segment_lay(im, file, nr_file, &ph[i])))
			return -EBADMSG;
	if (im->nr_parts == IMAGE_MAX_PARTS)
		return -EBADMSG;
	memcpy(im->bytes + im->call, arch_call_code, sizeof(arch_call_code));
	im->part[im->nr_parts++] = (struct image_part){ im->call, PAGE, PROT_READ | PROT_EXEC };
	return 0;
}

/* ---- what the dynamic section says ---------------------------------------------------------- */

struct dynamic {
	uint64_t symtab, strtab, strsz, hash, rela, relasz;
};

static bool dynamic_read(const struct image *im, const uint8_t *file, const Elf64_Ehdr *eh,
			 struct dynamic *d)
{
	const Elf64_Phdr *ph = (const Elf64_Phdr *)(file + eh->e_phoff);

	*d = (struct dynamic){ 0 };
	for (unsigned i = 0; i < eh->e_phnum; i++) {
		const Elf64_Dyn *dyn;

		if (ph[i].p_type != PT_DYNAMIC)
			continue;
		if (!inside(ph[i].p_vaddr, ph[i].p_memsz, im->nr_bytes))
			return false;
		dyn = (const Elf64_Dyn *)(im->bytes + ph[i].p_vaddr);
		for (uint64_t n = ph[i].p_memsz / sizeof(*dyn); n-- && dyn->d_tag != DT_NULL; dyn++)
			switch (dyn->d_tag) {
			case DT_SYMTAB: d->symtab = dyn->d_un.d_ptr; break;
			case DT_STRTAB: d->strtab = dyn->d_un.d_ptr; break;
			case DT_STRSZ: d->strsz = dyn->d_un.d_val; break;
			case DT_HASH: d->hash = dyn->d_un.d_ptr; break;
			case DT_RELA: d->rela = dyn->d_un.d_ptr; break;
			case DT_RELASZ: d->relasz = dyn->d_un.d_val; break;
			case DT_JMPREL:
			case DT_NEEDED:
			case DT_INIT:
			case DT_INIT_ARRAY:
				return false;
			default: break;
			}
		return inside(d->symtab, 0, im->nr_bytes) &&
		       inside(d->strtab, d->strsz, im->nr_bytes) && d->strsz &&
		       inside(d->hash, 8, im->nr_bytes) && d->hash &&
		       inside(d->rela, d->relasz, im->nr_bytes);
	}
	return false;
}

/* Value of a symbol; the hash table (DT_HASH) only serves to count them. */
static uint64_t symbol_value(const struct image *im, const struct dynamic *d, const char *name)
{
	uint32_t nr = ((const uint32_t *)(im->bytes + d->hash))[1];
	const Elf64_Sym *sym = (const Elf64_Sym *)(im->bytes + d->symtab);
	size_t length = strlen(name) + 1;

	if (!inside(d->symtab, nr * sizeof(*sym), im->nr_bytes))
		return 0;
	for (uint32_t i = 1; i < nr; i++)
		if (sym[i].st_shndx != SHN_UNDEF && inside(sym[i].st_name, length, d->strsz) &&
		    !memcmp(im->bytes + d->strtab + sym[i].st_name, name, length) &&
		    inside(sym[i].st_value, 8, im->nr_bytes))
			return sym[i].st_value;
	return 0;
}

/*
 * Apply the relocations for address 0: the addends. image_place() adds the base to the same words.
 */
static bool relocate(struct image *im, const struct dynamic *d, uint64_t base)
{
	const Elf64_Rela *r = (const Elf64_Rela *)(im->bytes + d->rela);

	for (uint64_t n = d->relasz / sizeof(*r); n--; r++) {
		uint64_t value = base + (uint64_t)r->r_addend;

		if (ELF64_R_TYPE(r->r_info) != ARCH_RELOC_RELATIVE ||
		    !inside(r->r_offset, sizeof(value), im->nr_bytes))
			return false;
		memcpy(im->bytes + r->r_offset, &value, sizeof(value));
	}
	return true;
}

int image_load(const char *path, struct image *im, struct err *e)
{
	const Elf64_Ehdr *eh;
	uint8_t *file = NULL;
	size_t nr = 0;
	struct dynamic d;
	int rc;

	*im = (struct image){ 0 };
	rc = file_read(path, &file, &nr, e);
	if (rc)
		goto out;
	eh = (const Elf64_Ehdr *)file;
	if (memcmp(eh->e_ident, ELFMAG, SELFMAG) || eh->e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh->e_machine != ARCH_ELF_MACHINE || eh->e_type != ET_DYN ||
	    eh->e_phentsize != sizeof(Elf64_Phdr) ||
	    !inside(eh->e_phoff, eh->e_phnum * sizeof(Elf64_Phdr), nr))
		rc = bad(e, path, "it is no shared object for " ARCH_NAME);
	else if ((rc = lay_out(im, file, nr, eh)) == -ENOMEM)
		err_set(e, rc, "out of memory");
	else if (rc || !dynamic_read(im, file, eh, &d))
		rc = bad(e, path, "its segments make no sense");
	else if (!relocate(im, &d, 0))
		rc = bad(e, path, "it needs more than RELATIVE relocations");
	if (!rc) {
		im->start = symbol_value(im, &d, "inject_start");
		im->hooks = symbol_value(im, &d, "inject_hooks");
		im->rela = d.rela;
		im->relasz = d.relasz;
		if (!im->start || !im->hooks || !inside(im->hooks, 8 * PMM_NR_ROLES, im->nr_bytes))
			rc = bad(e, path, "it lacks its entry points");
	}
out:
	free(file);
	if (rc)
		image_fini(im);
	return rc;
}

uint64_t image_append(struct image *im, const void *bytes, size_t nr)
{
	uint64_t at = im->nr_bytes, room = (nr + PAGE - 1) & ~(PAGE - 1);
	uint8_t *more = im->nr_parts < IMAGE_MAX_PARTS ? realloc(im->bytes, at + room) : NULL;

	if (!more)
		return 0;
	memset(more + at, 0, room);
	memcpy(more + at, bytes, nr);
	im->bytes = more;
	im->nr_bytes += room;
	im->part[im->nr_parts++] = (struct image_part){ at, room, PROT_READ };
	return at;
}

void image_place(struct image *im, uint64_t base)
{
	struct dynamic d = { .rela = im->rela, .relasz = im->relasz };

	relocate(im, &d, base);
	im->base = base;
}

uint64_t image_hook(const struct image *im, enum pmm_role role)
{
	uint64_t address;

	memcpy(&address, im->bytes + im->hooks + 8 * (unsigned)role, sizeof(address));
	return address;
}

void image_fini(struct image *im)
{
	free(im->bytes);
	*im = (struct image){ 0 };
}
