/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Seeds for fuzz_core: a small core with two threads, vector registers, a mapped file of which only
 * the beginning is in it, and anonymous memory; the same with its number of segments in a section
 * header.
 */
#include <elf.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/procfs.h>

#define NOTE(type, member)	struct { Elf64_Nhdr head; char owner[8]; type text; } member

struct file {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[4];
	Elf64_Shdr sh;
	struct {
		NOTE(struct elf_prstatus, first);
		NOTE(struct elf_prpsinfo, process);
		NOTE(int32_t, signal);
		NOTE(struct { uint64_t v[6]; }, auxiliary);
		NOTE(
			struct {
				uint64_t nr;
				uint64_t page;
				uint64_t entry[6];
				char names[24];
			},
			files);
		NOTE(struct { uint8_t v[832]; }, vectors);
		NOTE(struct elf_prstatus, second);
	} notes;
	char memory[256];
};

#define HEAD(name, number, member)                                                                 \
	{                                                                                          \
		.head = { sizeof(name), sizeof(((struct file *)0)->notes.member.text), number },   \
		.owner = name                                                                      \
	}

int main(int argc, char **argv)
{
	struct file f = {
		.eh = { .e_ident = ELFMAG, .e_type = ET_CORE, .e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
			.e_phoff = offsetof(struct file, ph), .e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 4,
			.e_shoff = offsetof(struct file, sh) },
		.ph = { { .p_type = PT_NOTE, .p_offset = offsetof(struct file, notes),
		.p_filesz = sizeof(f.notes) },
			{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x1000,
			  .p_memsz = 8192,
			  .p_offset = offsetof(struct file, memory), .p_filesz = 64 },
			{ .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = 0x4000,
			  .p_memsz = 256,
			  .p_offset = offsetof(struct file, memory), .p_filesz = 256 },
			{ .p_type = PT_LOAD, .p_vaddr = 0x8000, .p_memsz = 4096 } },
		.sh = { .sh_info = 4 },
		.notes = {
			.first = HEAD("CORE", NT_PRSTATUS, first), .process = HEAD("CORE",
			NT_PRPSINFO, process),
			.signal = HEAD("CORE", NT_SIGINFO, signal), .auxiliary = HEAD("CORE",
			NT_AUXV, auxiliary),
			.files = HEAD("CORE", NT_FILE, files), .vectors = HEAD("LINUX",
			NT_X86_XSTATE, vectors),
			.second = HEAD("CORE", NT_PRSTATUS, second),
		},
	};

	f.eh.e_ident[EI_CLASS] = ELFCLASS64;
	f.eh.e_ident[EI_DATA] = ELFDATA2LSB;
	memcpy(f.notes.auxiliary.text.v,
	       (const uint64_t[6]){ AT_EXECFN, 0x4010, AT_SYSINFO_EHDR, 0x8000 },
	       sizeof(f.notes.auxiliary.text));
	f.notes.files.text.nr = 2;
	f.notes.files.text.page = 4096;
	memcpy(f.notes.files.text.entry,
	       (const uint64_t[6]){ 0x1000, 0x3000, 0, 0x10000, 0x12000, 1 },
	       sizeof(f.notes.files.text.entry));
	memcpy(f.notes.files.text.names, "/bin/sh\0/etc/passwd", 20);
	for (int i = 0; argc > 1 && i < 2; i++) {
		char path[4096];
		FILE *out;

		if (i)
			f.eh.e_phnum = PN_XNUM;
		snprintf(path, sizeof(path), "%s/core%d", argv[1], i);
		out = fopen(path, "w");
		if (!out || fwrite(&f, sizeof(f), 1, out) != 1 || fclose(out))
			return 1;
	}
	return argc > 1 ? 0 : 2;
}
