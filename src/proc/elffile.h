/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF file opened for reading: its identity, its build id and where its code is.
 */
#ifndef PROC_ELFFILE_H
#define PROC_ELFFILE_H

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/proc/elf_bounds.h"

#define ELF_FILE_BUILD_ID_MAX	64
#define ELF_FILE_CODE_MAX	8

struct elf_file {
	Elf *elf;			/* NULL: not open */
	int fd;
	char *path;			/* owned */
	void *image;			/* owned: bytes that were in memory, not in a file */
	uint64_t size_bytes;
	struct elf_bounds bounds;
	int64_t mtime_ns;
	uint8_t build_id[ELF_FILE_BUILD_ID_MAX];
	size_t build_id_len;		/* 0: none */
	/* of the lowest segment; shows how a debug file is shifted */
	uint64_t first_vaddr;
	/* executable segments, ELF addresses */
	struct { uint64_t lo, hi; } code[ELF_FILE_CODE_MAX];
	int nr_code;
};

/*
 * Open a regular file. 0; -ENOENT, -EACCES, ... from open; -ENOMEM, -EIO when it cannot be looked
 * at; -ENOEXEC if it is no ELF file, or one beyond the bounds of elf_bounds.h. A file that is cut
 * short later gives less, and nothing worse.
 */
int elf_file_open(struct elf_file *f, const char *path);

/* The same for an open descriptor, which it owns from here on, also on error. */
int elf_file_open_fd(struct elf_file *f, int fd, const char *path);

/* The same for bytes from malloc(), which it owns from here on, also on error. */
int elf_file_open_memory(struct elf_file *f, void *image, size_t size, const char *path);

/* The kernel's own library, from our copy of it. -ENOENT: there is none. */
int elf_file_open_vdso(struct elf_file *f);

/*
 * Does an error of these say nothing of the file, but that it could not be looked at: no memory, no
 * descriptors, a failing disk?
 */
bool elf_file_unseen(int rc);

/*
 * libelf and libdw give less, without saying so, when they cannot read or have no memory; what they
 * asked the C library for leaves its error. Set errno to 0, call them (also through the functions
 * below), then ask: 0, or the -errno that elf_file_unseen() knows. errno is 0 afterwards.
 */
int elf_file_trouble(void);

/* Close it. All zero or closed is fine. */
void elf_file_close(struct elf_file *f);

bool elf_file_has_build_id(const struct elf_file *f, const uint8_t *id, size_t len);

/* Is an ELF address in an executable segment? Yes if none is known. */
bool elf_file_is_code(const struct elf_file *f, uint64_t address);

/* The first section of that name (type SHT_NULL: any; name NULL: any), NULL = none. */
Elf_Scn *elf_file_section(const struct elf_file *f, const char *name, unsigned type,
			  GElf_Shdr *header);

/*
 * The symbol table of that type: its data for gelf_getsym(), how many symbols (at most INT_MAX),
 * the section of their names. NULL = it is not there, or not in this file.
 */
Elf_Data *elf_file_symbols(const struct elf_file *f, unsigned type, size_t *nr, size_t *strings);

/* The bytes of a section as they are in the file. NULL = it is not there, or larger than that. */
Elf_Data *elf_file_small(const struct elf_file *f, const char *name, uint64_t max_bytes);

/* Does it have DWARF? */
bool elf_file_has_dwarf(const struct elf_file *f);

#endif
