/*
 * An ELF file opened for reading: its identity, its build id and where its code lies.
 */
#ifndef TARGET_ELFFILE_H
#define TARGET_ELFFILE_H

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_FILE_BUILD_ID_MAX	64
#define ELF_FILE_CODE_MAX	8

struct elf_file {
	Elf *elf;			/* NULL: not open */
	int fd;
	char *path;			/* owned */
	void *image;			/* owned: bytes that were in memory, not in a file */
	uint64_t size_bytes;
	int64_t mtime_ns;
	uint8_t build_id[ELF_FILE_BUILD_ID_MAX];
	size_t build_id_len;		/* 0: none */
	uint64_t first_vaddr;		/* of the lowest segment; tells how a debug file is shifted */
	struct { uint64_t lo, hi; } code[ELF_FILE_CODE_MAX];	/* executable segments, ELF addresses */
	int nr_code;
};

/* Open a regular file. 0; -ENOENT, -EACCES, ... from open; -ENOEXEC if it is no ELF file. */
int elf_file_open(struct elf_file *f, const char *path);

/* The same for an open descriptor, which it owns from here on, also on error. */
int elf_file_open_fd(struct elf_file *f, int fd, const char *path);

/*
 * Both again, reading instead of mapping: a file that shrinks meanwhile is an error and not a SIGBUS. For the symbols of files that
 * somebody else may change; costs memory for what is read.
 */
int elf_file_copy(struct elf_file *f, const char *path);
int elf_file_copy_fd(struct elf_file *f, int fd, const char *path);

/* The same for bytes from malloc(), which it owns from here on, also on error. */
int elf_file_open_memory(struct elf_file *f, void *image, size_t size, const char *path);

/* Close it. All zero or closed is fine. */
void elf_file_close(struct elf_file *f);

bool elf_file_has_build_id(const struct elf_file *f, const uint8_t *id, size_t len);

/* Does an ELF address lie in an executable segment? Yes if none is known. */
bool elf_file_is_code(const struct elf_file *f, uint64_t address);

/* The first section of that name (type SHT_NULL: any; name NULL: any), NULL = none. */
Elf_Scn *elf_file_section(const struct elf_file *f, const char *name, unsigned type, GElf_Shdr *header);

/* Does it have DWARF? */
bool elf_file_has_dwarf(const struct elf_file *f);

#endif
