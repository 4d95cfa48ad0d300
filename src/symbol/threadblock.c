/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a module's thread-local variables are for a thread: TLS variant II (Drepper, "ELF Handling
 * For Thread-Local Storage").
 *
 * The program's own block ends at the thread pointer. Where a library's is the loader keeps to
 * itself, but relocations tell the library: one makes a word a variable's distance from the thread
 * pointer, another one the library's number, with which the thread's vector (dtv) has the block.
 */
#include "src/symbol/variables.h"

#include <errno.h>

#include "arch/elf_arch.h"
#include "src/symbol/symbolizer.h"

#define DTV_AT		8		/* in a thread's record */
#define DTV_ENTRY	16		/* bytes */
#define MAX_MODULES	65536
#define MAX_STATIC	(1ull << 32)	/* bytes of static blocks; further away nothing is one */

struct seeking {
	const struct elf_file *file;
	uint64_t bias, thread_pointer;
	const struct dwarf_memory *m;
	uint64_t start;
};

static bool word_at(const struct seeking *k, uint64_t address, uint64_t *word)
{
	return k->m->read(k->m->arg, address, word, sizeof(*word)) == sizeof(*word);
}

static bool by_number(struct seeking *k, uint64_t place)
{
	uint64_t number, dtv, block;

	if (!word_at(k, place, &number) || !number || number > MAX_MODULES ||
	    !word_at(k, k->thread_pointer + DTV_AT, &dtv) ||
	    !word_at(k, dtv + number * DTV_ENTRY, &block) || block + 1 < 2)
		return false;
	k->start = block;
	return true;
}

/* `offset`: of the variable meant, in the block. */
static bool by_distance(struct seeking *k, uint64_t place, uint64_t offset)
{
	uint64_t distance;

	if (!word_at(k, place, &distance) || distance < -MAX_STATIC)
		return false;
	k->start = k->thread_pointer + distance - offset;
	return true;
}

/* Offset of the variable that a relocation means; false: it is another module's. */
static bool offset_of(Elf_Data *symbols, const GElf_Rela *r, uint64_t *offset)
{
	size_t number = GELF_R_SYM(r->r_info);
	GElf_Sym s;

	*offset = (uint64_t)r->r_addend;
	if (!number)
		return true;
	if (!symbols || number > INT32_MAX || !gelf_getsym(symbols, (int)number, &s) ||
	    s.st_shndx == SHN_UNDEF)
		return false;
	*offset += s.st_value;
	return true;
}

static bool by_relocation(struct seeking *k, const GElf_Rela *r, Elf_Data *symbols)
{
	uint64_t offset;

	switch (GELF_R_TYPE(r->r_info)) {
	case ARCH_RELOC_TLS_MODULE:
		return offset_of(symbols, r, &offset) && by_number(k, k->bias + r->r_offset);
	case ARCH_RELOC_TLS_DISTANCE:
		return offset_of(symbols, r, &offset) &&
		       by_distance(k, k->bias + r->r_offset, offset);
	case ARCH_RELOC_TLS_DESC:
		return offset_of(symbols, r, &offset) &&
		       by_distance(k, k->bias + r->r_offset + 8, offset);
	default:
		return false;
	}
}

static bool by_relocations(struct seeking *k)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr h;

	while ((scn = elf_nextscn(k->file->elf, scn))) {
		Elf_Data *data, *symbols;
		GElf_Rela r;

		if (!gelf_getshdr(scn, &h) || h.sh_type != SHT_RELA || !(h.sh_flags & SHF_ALLOC))
			continue;
		data = elf_getdata(scn, NULL);
		symbols = elf_getdata(elf_getscn(k->file->elf, h.sh_link), NULL);
		for (size_t i = 0; data && i < data->d_size / sizeof(Elf64_Rela) && i < INT32_MAX;
		     i++)
			if (gelf_getrela(data, (int)i, &r) && by_relocation(k, &r, symbols))
				return true;
	}
	return false;
}

static bool segment(const struct elf_file *f, GElf_Phdr *ph)
{
	size_t nr;

	if (elf_getphdrnum(f->elf, &nr))
		return false;
	for (size_t i = 0; i < nr; i++)
		if (gelf_getphdr(f->elf, (int)i, ph) && ph->p_type == PT_TLS)
			return ph->p_memsz && ph->p_memsz <= MAX_STATIC;
	return false;
}

bool symbol_thread_block(struct symbolizer *sym, uint32_t module, bool first,
			 uint64_t thread_pointer, const struct dwarf_memory *m, uint64_t *start,
			 uint64_t *end)
{
	struct symbol_object *o = module < sym->modules.nr ? sym->modules.v[module].object : NULL;
	struct seeking k = { .thread_pointer = thread_pointer, .m = m };
	GElf_Phdr ph;

	if (o)
		object_open(&o->object, &sym->options);
	if (!o || !o->object.has_main || !segment(&o->object.main, &ph))
		return false;
	k.file = &o->object.main;
	k.bias = sym->modules.v[module].bias;
	errno = 0;
	if (first) {
		uint64_t align = ph.p_align ? ph.p_align : 1, behind = -ph.p_vaddr & (align - 1);

		k.start = thread_pointer -
			  (((ph.p_memsz - behind + align - 1) & ~(align - 1)) + behind);
	} else if (!by_relocations(&k)) {
		return false;
	}
	*start = k.start;
	*end = k.start + ph.p_memsz;
	return true;
}
