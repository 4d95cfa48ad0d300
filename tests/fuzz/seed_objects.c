/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Seeds for fuzz_objects: a small ELF object with two dynamic symbols and a PLT slot, with the one
 * hash table and with the other.
 */
#include <elf.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct file {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[2];
	Elf64_Dyn dyn[9];
	Elf64_Sym sym[3];
	char strings[32];
	uint32_t hash[2 + 1 + 3];	/* buckets, chains */
	uint32_t gnu_hash[4 + 2 + 1 + 2];	/* head, filter, bucket, chain */
	Elf64_Rela jmprel[1];
	uint64_t slot;
};

int main(int argc, char **argv)
{
	struct file f = {
		.eh = { .e_ident = ELFMAG,
			.e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = offsetof(struct file, ph),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 2 },
		.ph = { { .p_type = PT_LOAD,
			  .p_flags = PF_R | PF_X,
			  .p_filesz = 4096,
			  .p_memsz = 4096,
			  .p_align = 4096 },
			{ .p_type = PT_DYNAMIC,
			  .p_vaddr = offsetof(struct file, dyn),
			  .p_memsz = sizeof(f.dyn) } },
		.dyn = { { DT_SYMTAB, { offsetof(struct file, sym) } },
			 { DT_STRTAB, { offsetof(struct file, strings) } },
			 { DT_STRSZ, { sizeof(f.strings) } },
			 { DT_HASH, { offsetof(struct file, hash) } },
			 { DT_GNU_HASH, { offsetof(struct file, gnu_hash) } },
			 { DT_JMPREL, { offsetof(struct file, jmprel) } },
			 { DT_PLTRELSZ, { sizeof(f.jmprel) } },
			 { DT_DEBUG, { 0 } } },
		.sym = { { 0 },
			 { .st_name = 1,
			   .st_info = STT_FUNC,
			   .st_shndx = 1,
			   .st_value = 0x10,
			   .st_size = 16 },
			 { .st_name = 8,
			   .st_info = STT_FUNC,
			   .st_shndx = 1,
			   .st_value = 0x20,
			   .st_size = 16 } },
		.strings = "\0malloc\0free",
		.hash = { 1, 3, 1, 0, 2, 0 },
		.gnu_hash = { 1, 1, 1, 6, 0xffffffff, 0xffffffff, 1, 2, 3 },
		.jmprel = { { .r_offset = offsetof(struct file, slot),
			      .r_info = ELF64_R_INFO(2, R_X86_64_JUMP_SLOT) } },
	};

	f.eh.e_ident[EI_CLASS] = ELFCLASS64;
	f.eh.e_ident[EI_DATA] = ELFDATA2LSB;
	for (int i = 0; argc > 1 && i < 2; i++) {
		char path[4096];
		FILE *out;

		if (i)
			f.dyn[3].d_tag = DT_NULL + 0x6fffff00;	/* no DT_HASH */
		snprintf(path, sizeof(path), "%s/object%d", argv[1], i);
		out = fopen(path, "w");
		if (!out || fwrite(&f, sizeof(f), 1, out) != 1 || fclose(out))
			return 1;
	}
	return argc > 1 ? 0 : 2;
}
